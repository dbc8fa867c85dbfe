//! Runs that are cut short: Ctrl-C, and a reader that goes away.
#![cfg(unix)]

use crate::{Folder, GOOD, Run};
use std::process::Stdio;
use std::time::Duration;

/// Starts a solution that never ends and interrupts it after a while.
fn interrupt(folder: &Folder, after: Duration) -> Run {
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [40, 12, 12]"));
    let endless = ["--tolerance", "1e-300", "--max-iterations", "4000000000"];
    let solve = ["solve", "case.toml", "-o", "out", "--device", "cpu"];
    let mut command = folder.command(&[&solve[..], &endless].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait_with_output().unwrap().into()
}

#[test]
fn ctrl_c_leaves_no_half_written_file() {
    let folder = Folder::new();
    // A busy machine may take its time to start the program, which a signal ends at once until it is ready for it.
    let runs = [300, 1000, 3000, 10_000].map(Duration::from_millis).into_iter().map(|after| interrupt(&folder, after));
    let run = runs.into_iter().find(|run| run.code.is_some()).unwrap();
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(130), "", ""), "{run:?}");
    assert_eq!(folder.names("."), ["case.toml"]);
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
    assert_eq!(folder.names("out"), ["case.csv", "case.png", "case.vtu", "summary.json"]);
    let short = ["solve", "case.toml", "-o", "out", "--device", "cpu", "--max-iterations", "2"];
    assert_eq!(unread(&folder, &short).code, Some(5));
}
