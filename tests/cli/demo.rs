//! `demo`: a crane hook out of nothing, and files to go on from.

use crate::{Folder, repository};

#[test]
fn a_newcomer_gets_a_solved_hook_and_can_go_on() {
    let folder = Folder::new();
    let run = folder.run(&["demo", "-o", "first", "--device", "cpu"]).done();
    for name in ["hook.msh", "hook.toml"] {
        let kept = std::fs::read(repository(&format!("meshes/{name}"))).unwrap();
        assert_eq!(folder.read(&format!("first/{name}")), kept);
    }
    for name in ["hook.vtu", "hook_nodes.csv", "hook_elements.csv", "hook.png", "hook.html", "summary.json"] {
        assert!(folder.read(&format!("first/{name}")).len() > 500, "{name}");
    }
    let summary = folder.summary("first");
    assert_eq!((&summary["case"], &summary["solver"]["converged"]), (&"hook".into(), &true.into()));
    // The force of the case, as its author has it, is what the shank holds.
    let reaction = folder.number("first", "/results/reactions/shank/2");
    assert!((reaction - 10e3).abs() < 1e-2, "{reaction}");
    assert!(run.out.contains("hook: ") && run.out.contains(summary["device"].as_str().unwrap()));
    // The whole is short, and what it says to try works as it is written.
    assert!(run.out.lines().count() <= 10 && !run.out.contains("warning"), "{}", run.out);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    let command: Vec<&str> = run.out.split("warpfem ").nth(1).unwrap().split_whitespace().collect();
    std::fs::remove_file(folder.path("first/hook.html")).unwrap();
    folder.run(&[&command[..], &["--device", "cpu"]].concat()).done();
    assert!(folder.read("first/hook.html").len() > 500, "{command:?}");
}

#[test]
fn a_case_that_somebody_has_changed_is_left_alone() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("first")).unwrap();
    folder.write("first/hook.toml", "# mine\n");
    let demo = ["demo", "-o", "first", "--device", "cpu"];
    folder.run(&demo).refused(2, &["first/hook.toml has been changed", "`-o`"]);
    assert_eq!(folder.read("first/hook.toml"), b"# mine\n");
    folder.write("file", "");
    folder.run(&["demo", "-o", "file/below"]).refused(8, &["is a file, not a folder"]);
}

#[test]
fn quiet_is_quiet() {
    let folder = Folder::new();
    let run = folder.run(&["demo", "-o", "first", "--device", "cpu", "--quiet"]).done();
    assert_eq!(run.out, "");
    // Again, over its own files.
    folder.run(&["demo", "-o", "first", "--device", "cpu", "--quiet"]).done();
}
