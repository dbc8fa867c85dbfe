//! Ctrl-C: while an iteration runs it ends the iteration, whose results so far are then written and marked; at any
//! other time, and the second time, it ends the program, which leaves no half-written file.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use warpfem::output;

/// The exit code where nothing is written: 128 and the signal's number, as shells have it.
const INTERRUPTED: i32 = 130;

/// There is nothing that would be worth writing, or it is being written.
const AWAY: u8 = 0;
/// An iteration runs, and looks now and then whether to go on.
const ITERATING: u8 = 1;
/// It has been asked to end.
const ASKED: u8 = 2;

static STAGE: AtomicU8 = AtomicU8::new(AWAY);

/// Listens from now on.
pub fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if STAGE.compare_exchange(ITERATING, ASKED, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            let written = output::discard_unfinished();
            say(if written { "interrupted" } else { "interrupted; nothing was written" });
            std::process::exit(INTERRUPTED);
        }
    })
}

/// Says so on stderr, over the bar where one is drawn.
fn say(text: &str) {
    let mut out = io::stderr();
    let clear = if out.is_terminal() { "\r\x1b[2K" } else { "" };
    // There is nowhere left to report that stderr is closed.
    let _ = writeln!(out, "{clear}{text}");
}

/// An iteration runs from now on.
pub fn iteration_runs() {
    // One that has been asked to end stays asked.
    let _ = STAGE.compare_exchange(AWAY, ITERATING, Ordering::Relaxed, Ordering::Relaxed);
}

/// The iteration has ended.
pub fn iteration_ended() {
    STAGE.store(AWAY, Ordering::Relaxed);
}

/// Whether the iteration has been asked to end.
pub fn is_asked() -> bool {
    STAGE.load(Ordering::Relaxed) == ASKED
}
