//! `demo`: a bracket out of nothing, and files to go on from.

use crate::{Folder, repository};

#[test]
fn a_newcomer_gets_a_solved_bracket_and_can_go_on() {
    let folder = Folder::new();
    let run = folder.run(&["demo", "-o", "first", "--device", "cpu"]).done();
    for name in ["bracket.msh", "bracket.toml"] {
        assert_eq!(
            folder.read(&format!("first/{name}")),
            std::fs::read(repository(&format!("meshes/{name}"))).unwrap()
        );
    }
    for name in
        ["bracket.vtu", "bracket_nodes.csv", "bracket_elements.csv", "bracket.png", "bracket.html", "summary.json"]
    {
        assert!(folder.read(&format!("first/{name}")).len() > 500, "{name}");
    }
    let summary = folder.summary("first");
    assert_eq!((&summary["case"], &summary["solver"]["converged"]), (&"bracket".into(), &true.into()));
    // The force of the case, as its author has it, is what the bolts hold.
    let reaction = summary["results"]["reactions"]["bolts"][2].as_f64().unwrap();
    assert!((reaction - 1500.0).abs() < 1e-3, "{reaction}");
    assert!(run.out.contains("bracket: ") && run.out.contains(summary["device"].as_str().unwrap()));
    // The whole is short, and what it says to try works as it is written.
    let of_warnings =
        |line: &&str| line.starts_with("  warning: ") || line.starts_with("    ") && !line.contains("nodal");
    assert!(run.out.lines().filter(|line| !of_warnings(line)).count() <= 10, "{}", run.out);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    let init = run.out.split("warpfem init ").nth(1).unwrap().trim();
    folder.run(&["init", init, "-o", "mine.toml"]).done();
    assert!(String::from_utf8(folder.read("mine.toml")).unwrap().contains("bolts"));
}

#[test]
fn a_bracket_that_somebody_has_changed_is_left_alone() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("first")).unwrap();
    folder.write("first/bracket.toml", "# mine\n");
    let demo = ["demo", "-o", "first", "--device", "cpu"];
    folder.run(&demo).refused(2, &["first/bracket.toml is there already", "`-o`"]);
    assert_eq!(folder.read("first/bracket.toml"), b"# mine\n");
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
