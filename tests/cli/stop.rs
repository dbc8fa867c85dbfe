//! Runs that are cut short: Ctrl-C, and a reader that goes away.
#![cfg(unix)]

use crate::terminal::{endless, interrupt, interrupt_iteration, is_on_its_way, send, signal};
use crate::{FILES, Folder, GOOD, Run, SOLVE};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What is said where nothing is left.
const STOPPED: &str = "interrupted; nothing was written\n";

#[test]
fn ctrl_c_before_the_iteration_leaves_nothing() {
    let folder = Folder::new();
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [200, 40, 40]"));
    let run = interrupt(&folder, &SOLVE, |shown| shown.contains(" setup "), || ());
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(130), "", STOPPED), "{run:?}");
    assert_eq!(folder.names("."), ["case.toml"]);
}

#[test]
fn ctrl_c_in_the_iteration_ends_it_and_marks_the_results() {
    let folder = Folder::new();
    let run = interrupt_iteration(&folder, "out", || ());
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(run.err.contains("it was told to stop") && run.err.contains("marked as not converged"), "{run:?}");
    assert_eq!(folder.names("out"), FILES);
    let summary = folder.summary("out");
    assert_eq!(summary["solver"]["ending"], "cancelled");
    assert_eq!(summary["solver"]["converged"], false);
    assert!(summary["solver"]["iterations"].as_u64().unwrap() > 0, "{summary}");
}

/// What asks a program to end, or tells it that its terminal has gone, ends it at once.
#[test]
fn other_signals_leave_nothing_and_have_their_own_exit_codes() {
    for (number, code) in [(libc::SIGTERM, 143), (libc::SIGHUP, 129)] {
        let folder = Folder::new();
        let mut command = endless(&folder, "out");
        handle(&mut command, libc::SIGHUP, libc::SIG_DFL);
        let run = signal(command, number, is_on_its_way, |_| ());
        assert_eq!((run.code, run.err.as_str()), (Some(code), "terminated; nothing was written\n"), "{run:?}");
        assert_eq!(folder.names("."), ["case.toml"]);
    }
}

#[test]
fn what_nohup_ignores_is_ignored() {
    let folder = Folder::new();
    let mut command = endless(&folder, "out");
    handle(&mut command, libc::SIGHUP, libc::SIG_IGN);
    let run = signal(command, libc::SIGTERM, is_on_its_way, |process| {
        send(libc::SIGHUP, process);
        // Signals that wait are taken in no order.
        std::thread::sleep(Duration::from_millis(200));
    });
    assert_eq!(run.code, Some(143), "{run:?}");
}

/// Sets what a program does at first about a signal.
pub(crate) fn handle(command: &mut Command, number: i32, action: libc::sighandler_t) {
    // SAFETY: the call may be made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::signal(number, action);
            Ok(())
        });
    }
}

/// At any time at all: nothing is left, or everything is, and never a file that is not whole.
#[test]
fn signals_in_every_phase_leave_all_or_nothing() {
    const MOMENTS: u32 = 12;
    let folder = Folder::new();
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [40, 8, 8]"));
    let start = Instant::now();
    folder.run(&SOLVE).done();
    let whole = start.elapsed();
    let all = folder.names("out");
    let mut endings = Vec::new();
    for moment in 0..MOMENTS {
        std::fs::remove_dir_all(folder.path("out")).unwrap_or_default();
        // From when it shows something, as it listens then; it may have ended in the meantime.
        let number = if moment % 3 == 2 { libc::SIGTERM } else { libc::SIGINT };
        let wait = |_| std::thread::sleep(whole * moment / MOMENTS);
        let run = signal(folder.command(&SOLVE), number, |shown| !shown.is_empty(), wait);
        let left = if folder.path("out").exists() { folder.names("out") } else { Vec::new() };
        match run.code {
            Some(130 | 143) if left.is_empty() => {
                assert!(run.err.ends_with("; nothing was written\n"), "{moment}: {run:?}");
            }
            // Of an iterate that is still 0 there is no picture.
            Some(130) if run.out.contains("still 0") => {
                let rest: Vec<&String> = all.iter().filter(|name| !name.ends_with(".png")).collect();
                assert_eq!(left.iter().collect::<Vec<_>>(), rest, "{moment}: {run:?}");
            }
            Some(0 | 130) => assert_eq!(left, all, "{moment}: {run:?}"),
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
    for arguments in [&["devices"][..], &["--help"], &SOLVE] {
        let run = unread(&folder, arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
    }
    assert_eq!(folder.names("out"), FILES);
    assert_eq!(unread(&folder, &[&SOLVE[..], &["--max-iterations", "2"]].concat()).code, Some(5));
}
