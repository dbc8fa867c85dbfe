//! What is said, and how: one line of result, colours and progress on a terminal alone, completions.

use crate::{Folder, GOOD};

/// The result's line comes last, and names what the summary holds.
#[test]
fn a_solution_ends_with_its_result_in_a_line() {
    let folder = Folder::new();
    let out = folder.solve(GOOD, &[]).done().out;
    let (line, summary) = (out.lines().last().unwrap(), folder.summary("out"));
    let iterations = summary["solver"]["iterations"].as_u64().unwrap();
    assert!(line.starts_with(&format!("case: converged in {iterations} iterations, max |u| ")), "{line}");
    let results = &summary["results"];
    let number = |value: &serde_json::Value| warpfem_text::engineering(value.as_f64().unwrap());
    let [u, nodal] = [number(&results["max_displacement"]), number(&results["von_mises_nodal"]["max"])];
    let centre = number(&results["von_mises"]["max"]);
    let found = format!(", max |u| {u}, max von Mises {nodal} (mean at the node; {centre} at element centres");
    assert!(line.contains(&found), "{line}");
    // Places and the device are above it.
    assert!(out.contains(&format!("  largest displacement {u} at (4.000, ")), "{out}");
    assert!(out.contains(&format!("  largest von Mises stress {nodal} at (")), "{out}");
    assert!(out.lines().next().unwrap().ends_with(&format!(" on {}", summary["device"].as_str().unwrap())), "{out}");
    let short = folder.solve(GOOD, &["--max-iterations", "5"]).out;
    assert!(short.lines().last().unwrap().starts_with("case: not converged after 5 iterations, "), "{short}");
    let ring = "[mesh]\ngenerate = { kind = \"annulus\", element = \"quad4\", radii = [1.0, 2.0], cells = [3, 12] }\n\
                [analysis]\nkind = \"laplace\"\n[[material]]\nname = \"steel\"\nconductivity = 50.0\n\
                [[support]]\non = \"inner\"\nvalue = 0.0\n[[support]]\non = \"outer\"\nvalue = 1.0\n";
    let out = folder.solve(ring, &["--method", "cg"]).done().out;
    assert!(out.lines().last().unwrap().contains(" iterations, potential 0 to 1.000, "), "{out}");
}

#[test]
fn shells_can_complete() {
    let folder = Folder::new();
    for (shell, word) in [("bash", "complete -F"), ("zsh", "#compdef warpfem"), ("fish", "complete -c warpfem")] {
        let script = folder.run(&["completions", shell]).done().out;
        assert!([word, "solve", "verify", "preconditioner"].iter().all(|word| script.contains(word)), "{shell}");
    }
    // Names of devices, which the shell would take for files; those with a number are taken all the same.
    let bash = folder.run(&["completions", "bash"]).done().out;
    assert!(bash.contains("compgen -W \"auto cpu cuda emulate\""), "{bash}");
    folder.run(&["check", "nope.toml", "--device", "cuda:1"]).refused(2, &["cannot read the case file"]);
    folder.run(&["completions", "csh"]).refused(2, &["possible values: bash"]);
}

#[test]
fn results_that_take_the_place_of_others_say_so() {
    let folder = Folder::new();
    assert!(!folder.solve(GOOD, &[]).done().out.contains("replaced"));
    let out = folder.solve(GOOD, &[]).done().out;
    assert!(
        out.contains("  wrote out/case.vtu (replaced)\n") && out.contains("out/summary.json (replaced)\n"),
        "{out}"
    );
    folder.write("other.toml", &GOOD.replace("[8, 2, 2]", "[4, 2, 2]"));
    let out = folder.run(&["solve", "other.toml", "-o", "out", "--device", "cpu"]).done().out;
    let lines = ["  wrote out/other.vtu\n", "out/summary.json (replaced that of case: 81 nodes, 192 elements)\n"];
    assert!(lines.iter().all(|line| out.contains(line)), "{out}");
}

#[cfg(target_os = "linux")]
mod terminal {
    use super::*;
    use crate::terminal::terminal;
    use std::io::Read;

    /// The exit code and what a terminal gets of a run with this environment.
    fn shown(folder: &Folder, arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
        let (mut terminal, theirs) = terminal();
        let mut command = folder.command(arguments);
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color").envs(environment.iter().copied());
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let mut child = command.spawn().unwrap();
        // Ours of the other end's descriptors are closed, so that the end comes with the child's.
        drop(command);
        let mut bytes = Vec::new();
        // The end of a terminal is an error.
        let _ = terminal.read_to_end(&mut bytes);
        (child.wait().unwrap().code(), String::from_utf8_lossy(&bytes).into_owned())
    }

    const SOLVE: [&str; 6] = ["solve", "case.toml", "-o", "out", "--device", "cpu"];

    #[test]
    fn progress_and_colours_are_for_terminals() {
        let folder = Folder::new();
        folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [40, 12, 12]"));
        let (code, text) = shown(&folder, &SOLVE, &[]);
        assert_eq!(code, Some(0), "{text}");
        for word in ["assembly ", "preconditioner ", "error ", "\x1b[1;32mconverged\x1b[0m in "] {
            assert!(text.contains(word), "{word:?} is not in {text:?}");
        }
        let (code, text) = shown(&folder, &[&SOLVE[..], &["--max-iterations", "3"]].concat(), &[]);
        assert_eq!(code, Some(5));
        assert!(text.contains("\x1b[1;31mnot converged\x1b[0m after 3") && text.contains("\x1b[1;31merror\x1b[0m: "));
    }

    #[test]
    fn nobody_who_wants_no_colours_gets_any() {
        let folder = Folder::new();
        folder.write("case.toml", GOOD);
        folder.write("bad.toml", "[mesh]\nfile = 1\n");
        for environment in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            for arguments in [&SOLVE[..], &["solve", "bad.toml"], &["solve", "case.toml", "--device", "cpu:7"]] {
                // Many libraries take a terminal in CI for one with colours.
                let (_, text) = shown(&folder, arguments, &[environment, ("CI", "true")]);
                assert!(
                    !text.contains("\x1b[1;3") && !text.contains("\x1b[3"),
                    "{environment:?} {arguments:?}: {text:?}"
                );
            }
        }
    }

    #[test]
    fn quiet_is_quiet_on_a_terminal_too() {
        let folder = Folder::new();
        folder.write("case.toml", GOOD);
        assert_eq!(shown(&folder, &[&SOLVE[..], &["--quiet"]].concat(), &[]), (Some(0), String::new()));
    }
}
