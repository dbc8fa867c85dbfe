//! Modal studies: what `check` says of them, and what is refused.

use crate::bad_case::refused;
use crate::{Folder, good_but};

/// The good case as a modal study, with more of `[analysis]`.
fn modal(more: &str) -> String {
    good_but("kind = \"elasticity\"", &format!("kind = \"elasticity\"\nstudy = \"modal\"\n{more}"))
}

#[test]
fn check_says_what_is_solved_and_what_plays_no_part() {
    let folder = Folder::new();
    folder.write("case.toml", &modal("modes = 4\nshift = 100.0"));
    let run = folder.run(&["check", "case.toml", "--device", "cpu"]).done();
    run.tells(&[
        "study 4 modes of vibration, shift 100",
        "warning: neither loads nor the stress that they make change the natural frequencies here: gravity, force on xmax",
        "solver amg: LOBPCG finds the lowest modes",
        "no estimate of time for modes",
        "ready: warpfem solve case.toml",
    ]);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    // Nothing has to hold it.
    let free = modal("").replace("[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", "");
    folder.write("case.toml", &free);
    folder.run(&["check", "case.toml"]).done().tells(&["study 10 modes of vibration"]);
}

#[test]
fn what_does_not_go_with_modes_is_refused() {
    refused(&modal("modes = 100000"), 2, &["case.toml:7:9: `modes` is 100000, and the model has "]);
    refused(&modal("").replace("density = 7850.0\n", ""), 4, &["needs the density of material `steel`"]);
    let folder = Folder::new();
    let why = "does not go with study `modal`, which LOBPCG solves";
    for (flags, words) in [
        (["--method", "direct"], ["method `direct`", "available here: auto, cg"]),
        (["--precision", "mixed"], ["precision `mixed`", "available here: auto, double"]),
        (["--operator", "matrix_free"], ["operator `matrix_free`", "available here: auto, assembled"]),
    ] {
        folder.solve(&modal(""), &flags).refused(2, &[words[0], why, words[1]]);
    }
    folder.solve(&modal(""), &["--field", "reaction_force"]).refused(2, &["reaction_force", "displacement"]);
}
