//! Programs on a terminal, whose progress tells what they are at.
#![cfg(unix)]

use crate::{Folder, GOOD, Run};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Output, Stdio};
use std::ptr::null_mut;

/// A terminal: our end of it and a program's.
pub(crate) fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let mut size = libc::winsize { ws_row: 40, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both places receive a descriptor that nobody else has; the name is not wanted.
    unsafe {
        assert_eq!(libc::openpty(&mut ours, &mut theirs, null_mut(), null_mut(), &raw mut size), 0);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

/// Runs a program and interrupts it, as Ctrl-C does, once what its terminal has shown `is_time`, after some deed.
pub(crate) fn interrupt(folder: &Folder, arguments: &[&str], is_time: impl Fn(&str) -> bool, deed: impl Fn()) -> Run {
    signal(folder.command(arguments), libc::SIGINT, is_time, |_| deed())
}

/// Sends a signal to a process.
pub(crate) fn send(signal: i32, process: u32) {
    // SAFETY: the call takes numbers alone; the process is a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(process as i32, signal) }, 0);
}

/// Runs a program and sends it a signal once what its terminal has shown `is_time`, after some deed to its process.
pub(crate) fn signal(mut command: Command, number: i32, is_time: impl Fn(&str) -> bool, deed: impl Fn(u32)) -> Run {
    let (mut terminal, theirs) = terminal();
    command.env("NO_COLOR", "1").env("TERM", "xterm").stdout(Stdio::piped()).stderr(theirs);
    let child = command.spawn().unwrap();
    // Ours of the other end's descriptor is closed, so that the end comes with the child's.
    drop(command);
    let (mut shown, mut piece) = (String::new(), [0; 4096]);
    let mut is_interrupted = false;
    // The end of a terminal is an error.
    while let Ok(n @ 1..) = terminal.read(&mut piece) {
        shown += &String::from_utf8_lossy(&piece[..n]);
        if !is_interrupted && is_time(&shown) {
            deed(child.id());
            send(number, child.id());
            is_interrupted = true;
        }
    }
    assert!(is_interrupted, "{shown:?}");
    let output = child.wait_with_output().unwrap();
    // What is said ends in a new line, and before it the bar is wiped away.
    let lines = shown.split_inclusive("\r\n").filter_map(|line| line.strip_suffix("\r\n"));
    let said: String = lines.map(|line| line.rsplit("\x1b[2K").next().unwrap_or("").to_owned() + "\n").collect();
    Output { stderr: said.into_bytes(), ..output }.into()
}

/// Interrupts a solution, which would iterate for many seconds, as it ends where no precision goes on, once it has left
/// the start behind.
pub(crate) fn interrupt_iteration(folder: &Folder, dir: &str, deed: impl Fn()) -> Run {
    signal(endless(folder, dir), libc::SIGINT, is_on_its_way, |_| deed())
}

/// A solution that would iterate for many seconds.
pub(crate) fn endless(folder: &Folder, dir: &str) -> Command {
    folder.write("case.toml", &GOOD.replace("cells = [8, 2, 2]", "cells = [80, 24, 24]"));
    let solve = ["solve", "case.toml", "-o", dir, "--device", "cpu", "--preconditioner", "none"];
    folder.command(&[&solve[..], &["--tolerance", "1e-300", "--max-iterations", "4000000000"]].concat())
}

/// Whether an iteration has left the start behind.
pub(crate) fn is_on_its_way(shown: &str) -> bool {
    let mut errors = shown.split(", error ").skip(1).filter_map(|rest| rest.split([',', ' ']).next());
    errors.any(|error| error.parse().is_ok_and(|error: f64| error < 0.1))
}
