//! Runs that are cut short: Ctrl-C, and a reader that goes away.
#![cfg(unix)]

use crate::{Folder, GOOD, Run};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What is said where nothing is left.
const STOPPED: &str = "interrupted; nothing was written\n";

/// Starts a solution that takes many seconds, as it ends where no precision goes on, and interrupts it after a while: sooner or later it is ready for that.
fn interrupt(folder: &Folder, cells: &str, until: impl Fn(&Run) -> bool) -> Run {
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", cells));
    let endless = ["--tolerance", "1e-300", "--max-iterations", "4000000000"];
    let solve = ["solve", "case.toml", "-o", "out", "--device", "cpu"];
    let interrupted = |after: u64| -> Run {
        let mut command = folder.command(&[&solve[..], &endless].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after));
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        child.wait_with_output().unwrap().into()
    };
    [300, 1000, 3000, 10_000].into_iter().map(interrupted).find(until).unwrap()
}

#[test]
fn ctrl_c_before_the_iteration_leaves_nothing() {
    let folder = Folder::new();
    let run = interrupt(&folder, "cells = [200, 40, 40]", |run| run.code.is_some());
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(130), "", STOPPED), "{run:?}");
    assert_eq!(folder.names("."), ["case.toml"]);
}

#[test]
fn ctrl_c_in_the_iteration_ends_it_and_marks_the_results() {
    let folder = Folder::new();
    let run = interrupt(&folder, "cells = [60, 16, 16]", |run| run.code == Some(5) && !run.out.contains("still 0"));
    assert!(run.err.contains("it was told to stop") && run.err.contains("marked as not converged"), "{run:?}");
    assert_eq!(folder.names("out"), ["case.csv", "case.html", "case.png", "case.vtu", "summary.json"]);
    let summary = folder.summary("out");
    assert_eq!(summary["solver"]["ending"], "cancelled");
    assert_eq!(summary["solver"]["converged"], false);
    assert!(summary["solver"]["iterations"].as_u64().unwrap() > 0, "{summary}");
}

/// At any time at all: nothing is left, or everything is, and never a file that is not whole.
#[test]
fn ctrl_c_in_every_phase_leaves_all_or_nothing() {
    const MOMENTS: u32 = 12;
    let folder = Folder::new();
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [40, 8, 8]"));
    let solve = ["solve", "case.toml", "-o", "out", "--device", "cpu"];
    let start = Instant::now();
    folder.run(&solve).done();
    let whole = start.elapsed();
    let all = folder.names("out");
    let mut endings = Vec::new();
    for moment in 0..MOMENTS {
        std::fs::remove_dir_all(folder.path("out")).unwrap_or_default();
        let mut command = folder.command(&solve);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A process needs some milliseconds until it listens.
        std::thread::sleep(Duration::from_millis(50) + whole * moment / MOMENTS);
        // It may have ended by now.
        let _ =
            std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        let run: Run = child.wait_with_output().unwrap().into();
        let left = if folder.path("out").exists() { folder.names("out") } else { Vec::new() };
        match run.code {
            Some(130) => assert!(left.is_empty() && run.err == STOPPED, "{moment}: {left:?} {run:?}"),
            // Of an iterate that is still 0 there is no picture.
            Some(5) if run.out.contains("still 0") => {
                let rest: Vec<&String> = all.iter().filter(|name| !name.ends_with(".png")).collect();
                assert_eq!(left.iter().collect::<Vec<_>>(), rest, "{moment}: {run:?}");
            }
            Some(0 | 5) => assert_eq!(left, all, "{moment}: {run:?}"),
            _ => panic!("{moment}: {run:?}"),
        }
        endings.push(run.code);
    }
    // Which phases the moments met is up to the machine's speed.
    assert!(endings.iter().any(|code| *code != Some(0)), "{endings:?}");
}

/// Runs with a stdout that nobody reads.
fn unread(folder: &Folder, arguments: &[&str]) -> Run {
    let mut child = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    folder.write("case.toml", GOOD);
    for arguments in [&["devices"][..], &["--help"], &["solve", "case.toml", "-o", "out", "--device", "cpu"]] {
        let run = unread(&folder, arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
    }
    assert_eq!(folder.names("out"), ["case.csv", "case.html", "case.png", "case.vtu", "summary.json"]);
    let short = ["solve", "case.toml", "-o", "out", "--device", "cpu", "--max-iterations", "2"];
    assert_eq!(unread(&folder, &short).code, Some(5));
}
