//! What is said, and how: one line of result, colours and progress on a terminal alone, completions.

use crate::{Folder, GOOD, SOLVE};

/// Each result once, in ten lines of 80 columns; how it ended comes last.
#[test]
fn a_solution_is_summed_up_in_ten_lines() {
    let folder = Folder::new();
    let run = folder.solve(GOOD, &[]).done();
    let summary = folder.summary("out");
    let iterations = summary["solver"]["iterations"].as_u64().unwrap();
    let last = run.out.lines().last().unwrap();
    assert!(last.starts_with(&format!("case: converged in {iterations} iterations, ")), "{last}");
    let results = &summary["results"];
    let number = |value: &serde_json::Value| warpfem_text::engineering(value.as_f64().unwrap());
    let [u, nodal] = [number(&results["max_displacement"]), number(&results["von_mises_nodal"]["max"])];
    let found = [
        format!("largest displacement {u} at (4.000, "),
        format!("largest von Mises stress {nodal} at ("),
        "equations solved: displacements right to ".into(),
        " digits, mesh error unknown".into(),
        "force balance error ".into(),
        "report: out/case.html; VTU, CSV, PNG, JSON beside it".into(),
    ];
    found.iter().for_each(|line| assert_eq!(run.words().matches(line).count(), 1, "{line}:\n{}", run.out));
    assert!(run.out.lines().next().unwrap().ends_with(&format!(" on {}", summary["device"].as_str().unwrap())));
    let short = folder.solve(GOOD, &["--max-iterations", "5"]).out;
    assert!(short.lines().last().unwrap().starts_with("case: not converged after 5 iterations, "), "{short}");
    let ring = "[mesh]\ngenerate = { kind = \"annulus\", element = \"quad4\", radii = [1.0, 2.0], cells = [3, 12] }\n\
                [analysis]\nkind = \"laplace\"\n[[material]]\nname = \"steel\"\nconductivity = 50.0\n\
                [[support]]\non = \"inner\"\nvalue = 0.0\n[[support]]\non = \"outer\"\nvalue = 1.0\n";
    let out = folder.solve(ring, &["--method", "cg"]).done();
    out.tells(&[" potential 0 at (", " to 1.000 at ("]);
    assert!(lines_but_warnings(&out.out) <= 10, "{}", out.out);
}

/// Lines of a summary, warnings aside; none is longer than 80 columns.
fn lines_but_warnings(out: &str) -> usize {
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let mut in_warning = false;
    let mut count = 0;
    for line in out.lines() {
        in_warning =
            line.starts_with("  warning: ") || line.contains("more warning") || in_warning && line.starts_with("    ");
        count += usize::from(!in_warning);
    }
    count
}

#[test]
fn many_supports_and_warnings_leave_ten_lines_and_three_warnings() {
    let folder = Folder::new();
    let sides = ["xmax", "ymin", "ymax", "zmin"].map(|side| format!("[[support]]\non = \"{side}\"\nfix = \"xyz\"\n"));
    let zero = "[[pressure]]\non = \"zmax\"\nvalue = 0.0\n".repeat(4);
    let case = format!("{GOOD}{}{zero}", sides.concat());
    let short = folder.solve(&case, &[]).done();
    assert!(lines_but_warnings(&short.out) <= 10, "{}", short.out);
    assert_eq!(short.out.matches("  warning: ").count(), 3, "{}", short.out);
    let n = folder.summary("out")["warnings"].as_array().unwrap().len();
    let more = format!("{} more warnings: --verbose, or the report", n - 3);
    short.tells(&[&more, "all reactions (", "each of the 5: --verbose"]);
    let verbose = folder.solve(&case, &["--verbose"]).done();
    lines_but_warnings(&verbose.out);
    assert_eq!(verbose.out.matches("  warning: ").count(), n, "{}", verbose.out);
    assert_eq!(verbose.out.matches("  reaction of ").count(), 5, "{}", verbose.out);
    verbose.tells(&["times: read ", "wrote out/case.vtu"]);
}

/// Every page of help fits a terminal of 80 columns.
#[test]
fn help_fits_80_columns() {
    let folder = Folder::new();
    let mut pages = vec![vec![]];
    while let Some(page) = pages.pop() {
        let out = folder.run(&[&page[..], &["--help"]].concat()).done().out;
        for line in out.lines() {
            assert!(line.chars().count() <= 80, "{page:?}: {line}");
        }
        let commands = out.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or("");
        let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
            let name: &'static str = name.to_owned().leak();
            pages.push([&page[..], &[name]].concat());
        }
    }
}

#[test]
fn units_label_the_numbers_of_a_case_that_names_them() {
    let folder = Folder::new();
    let case = GOOD.replace("kind = \"elasticity\"", "kind = \"elasticity\"\nunits = \"SI\"");
    let run = folder.solve(&case, &[]).done();
    for (before, unit) in
        [("largest displacement ", " m at ("), ("von Mises stress ", " Pa at ("), ("loads (", ") N; ")]
    {
        let line = run.out.lines().find(|line| line.contains(before)).unwrap();
        assert!(line.contains(unit), "{line}");
    }
    assert!(lines_but_warnings(&run.out) <= 10, "{}", run.out);
    let report = folder.text("out/case.html");
    assert!(report.contains(" Pa</dd>") && report.contains("Loads and reactions [N]"));
}

#[test]
fn paths_can_be_pasted() {
    let folder = Folder::new();
    folder.write("my part.toml", GOOD);
    let out = folder.run(&["check", "my part.toml", "--device", "cpu"]).done().out;
    assert!(out.ends_with("ready: warpfem solve 'my part.toml' --device cpu\n"), "{out}");
    let run = folder.run(&["solve", "my part.toml", "--device", "cpu"]).done();
    run.says(&["report: 'results/my part/my part.html'; VTU"]);
}

#[test]
fn shells_can_complete() {
    let folder = Folder::new();
    for (shell, word) in [("bash", "complete -F"), ("zsh", "#compdef warpfem"), ("fish", "complete -c warpfem")] {
        folder.run(&["completions", shell]).done().says(&[word, "solve", "verify", "preconditioner"]);
    }
    // Names of devices, which the shell would take for files; those with a number are taken all the same.
    folder.run(&["completions", "bash"]).done().says(&["compgen -W \"auto cpu cuda emulate\""]);
    folder.run(&["check", "nope.toml", "--device", "cuda:1"]).refused(2, &["cannot read the case file"]);
    folder.run(&["completions", "csh"]).refused(2, &["possible values: bash"]);
}

#[test]
fn results_that_take_the_place_of_others_say_so() {
    let folder = Folder::new();
    assert!(!folder.solve(GOOD, &["--verbose"]).done().out.contains("replaced"));
    assert!(!folder.solve(GOOD, &[]).done().out.contains("replaced"), "results of the same model");
    let run = folder.solve(GOOD, &["--verbose"]).done();
    run.says(&["  wrote out/case.vtu (replaced)\n", "out/summary.json (replaced)\n"]);
    folder.write("other.toml", &GOOD.replace("[8, 2, 2]", "[4, 2, 2]"));
    let run = folder.run(&["solve", "other.toml", "-o", "out", "--device", "cpu"]).done();
    run.tells(&["JSON beside it (replaced results of case: 81 nodes, 192 elements)"]);
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
                let is_coloured = text.contains("\x1b[1;3") || text.contains("\x1b[3");
                assert!(!is_coloured, "{environment:?} {arguments:?}: {text:?}");
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
