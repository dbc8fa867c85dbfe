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
        assert!(folder.read(&format!("first/{name}")).len() > 500 && run.out.contains(name), "{}", run.out);
    }
    let summary = folder.summary("first");
    assert_eq!((&summary["case"], &summary["solver"]["converged"]), (&"bracket".into(), &true.into()));
    // The force of the case, as its author has it, is what the bolts hold.
    let reaction = summary["results"]["reactions"]["bolts"][2].as_f64().unwrap();
    assert!((reaction - 1500.0).abs() < 1e-3, "{reaction}");
    assert!(run.out.contains("bracket: ") && run.out.contains(summary["device"].as_str().unwrap()));
    // What it says to try works as it is written.
    let try_next: Vec<&str> = run.out.lines().filter(|line| line.starts_with("  warpfem ")).collect();
    assert_eq!(try_next.len(), 3, "{}", run.out);
    let words = |line: &str| line.split(" #").next().unwrap().split_whitespace().skip(1).map(String::from).collect();
    let init: Vec<String> = words(try_next[1]);
    assert_eq!(init[0], "init");
    folder.run(&init.iter().map(String::as_str).collect::<Vec<_>>()).done();
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
