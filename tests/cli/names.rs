//! Names that bring along what terminals and browsers obey: escape codes, and characters that turn the direction of
//! writing. They are shown written out.

use crate::{Folder, Run, good_but};

/// Clears the screen, reads from right to left, and is a C1 control character.
const NASTY: &str = "b\u{1b}[2J\u{202e}o\u{9b}dy";
/// What is shown of it.
const SHOWN: &str = "b\\u{1b}[2J\\u{202e}o\\u{9b}dy";

fn assert_harmless(text: &str) {
    let harmful = |c: char| c.is_control() && !"\n\t".contains(c) || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(harmful), "{text:?}");
}

fn assert_shown(run: &Run) {
    let all = format!("{}{}", run.out, run.err);
    assert_harmless(&all);
    assert!(all.contains(SHOWN), "{all}");
}

#[test]
fn names_of_groups_and_files_are_shown_written_out() {
    let folder = Folder::new();
    folder.run(&["mesh", "box", "--cells", "2", "2", "2", "--ascii", "-o", "box.msh"]).done();
    let mesh = folder.text("box.msh");
    assert!(mesh.contains("\"body\""));
    let name = format!("{NASTY}.msh");
    folder.write(&name, &mesh.replace("\"body\"", &format!("\"{NASTY}\"")));
    assert_shown(&folder.run(&["info", &name]));
    assert_shown(&folder.run(&["init", &name, "-o", "case.toml"]));
    assert_shown(&folder.run(&["check", "case.toml"]));
    assert_shown(&folder.run(&["info", &format!("no {NASTY}")]));
    // Here clap leaves the code out.
    assert_harmless(&folder.run(&["info", "box.msh", NASTY]).err);
}

#[test]
fn names_in_a_case_are_shown_written_out() {
    let folder = Folder::new();
    // As TOML writes them.
    let name = NASTY.replace('\u{1b}', "\\u001b").replace('\u{202e}', "\\u202e").replace('\u{9b}', "\\u009b");
    assert_shown(&folder.solve(&good_but("on = \"body\"", &format!("on = \"{name}\"")), &[]));
    let case = good_but("name = \"steel\"", &format!("name = \"{name}\""));
    let run = folder.solve(&case.replace("0.3", "0.4999"), &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_shown(&run);
    let page = folder.text("out/case.html");
    assert_harmless(&page);
    assert!(page.contains(SHOWN));
}
