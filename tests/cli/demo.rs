//! `demo`: a crane hook out of nothing, and files to go on from.

use crate::{Folder, repository};

#[test]
fn a_newcomer_gets_a_solved_hook_and_can_go_on() {
    let folder = Folder::new();
    let run = folder.run(&["demo", "-o", "first", "--device", "cpu"]).done();
    for name in ["hook.msh", "hook.toml"] {
        assert_eq!(
            folder.read(&format!("first/{name}")),
            std::fs::read(repository(&format!("meshes/{name}"))).unwrap()
        );
    }
    for name in ["hook.vtu", "hook_nodes.csv", "hook_elements.csv", "hook.png", "hook.html", "summary.json"] {
        assert!(folder.read(&format!("first/{name}")).len() > 500 && run.out.contains(name), "{}", run.out);
    }
    let summary = folder.summary("first");
    assert_eq!((&summary["case"], &summary["solver"]["converged"]), (&"hook".into(), &true.into()));
    // The force of the case, as its author has it, is what the shank holds.
    let reaction = summary["results"]["reactions"]["shank"][2].as_f64().unwrap();
    assert!((reaction - 10e3).abs() < 1e-3, "{reaction}");
    assert!(run.out.contains("hook: ") && run.out.contains(summary["device"].as_str().unwrap()));
    // What it says to try works as it is written.
    let try_next: Vec<&str> = run.out.lines().filter(|line| line.starts_with("  warpfem ")).collect();
    assert_eq!(try_next.len(), 3, "{}", run.out);
    let words = |line: &str| line.split(" #").next().unwrap().split_whitespace().skip(1).map(String::from).collect();
    let init: Vec<String> = words(try_next[1]);
    assert_eq!(init[0], "init");
    folder.run(&init.iter().map(String::as_str).collect::<Vec<_>>()).done();
    assert!(String::from_utf8(folder.read("mine.toml")).unwrap().contains("shank"));
}

#[test]
fn a_case_that_somebody_has_changed_is_left_alone() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("first")).unwrap();
    folder.write("first/hook.toml", "# mine\n");
    let demo = ["demo", "-o", "first", "--device", "cpu"];
    folder.run(&demo).refused(2, &["first/hook.toml is there already", "`-o`"]);
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
