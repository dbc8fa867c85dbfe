//! Signals that end the program.
//!
//! The first Ctrl-C in the iteration of a solution ends the iteration; its results are written and marked, and the exit
//! code is 130. At any other time, and the second time, it ends the program at once. SIGTERM and SIGHUP always do. No
//! half-written file is left.

use super::mpi;
#[cfg(unix)]
use super::threads;
use crate::output;
use indicatif::{ProgressBar, WeakProgressBar};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
#[cfg(unix)]
use std::thread::Builder;

const INTERRUPT: i32 = 2;

/// The exit code of a run that Ctrl-C ended: 128 and the signal's number, as shells have it.
pub const INTERRUPTED: u8 = 128 + INTERRUPT as u8;

#[cfg(unix)]
const STACK: usize = 128 << 10;

/// No iteration runs, or none whose results would be written.
const AWAY: u8 = 0;
/// An iteration runs, and looks now and then whether to go on.
const ITERATING: u8 = 1;
/// It has been asked to end.
const ASKED: u8 = 2;
/// It knows.
const HEARD: u8 = 3;

static STAGE: AtomicU8 = AtomicU8::new(AWAY);

/// Whether an iteration has ended because it was asked to.
static HEEDED: AtomicBool = AtomicBool::new(false);

/// The bar on the terminal, to be taken away before the last word.
static BAR: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// A bar is drawn from now on.
pub fn draws(bar: &ProgressBar) {
    if let Ok(mut drawn) = BAR.lock() {
        *drawn = Some(bar.downgrade());
    }
}

/// Listens from now on. To be called before any other thread starts: those made later do not take signals.
///
/// # Errors
/// Those of starting a thread.
#[cfg(unix)]
pub fn listen() -> io::Result<()> {
    // SAFETY: the set is initialised before it is read, and lives as long as the calls that are given it. A write beyond
    // the limit of a file's size fails from now on with an error that is reported.
    let signals = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, libc::SIGINT);
        libc::sigaddset(&mut signals, libc::SIGTERM);
        // `nohup` ignores it.
        if !is_ignored(libc::SIGHUP) {
            libc::sigaddset(&mut signals, libc::SIGHUP);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &signals, std::ptr::null_mut());
        signals
    };
    threads::spawn(Builder::new().name("signals".into()).stack_size(STACK), move || {
        loop {
            let mut signal = 0;
            // SAFETY: both places live as long as the call.
            if unsafe { libc::sigwait(&signals, &mut signal) } == 0 {
                arrived(signal);
            }
        }
    })
}

/// Whether whoever started the program has a signal ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: without a new action the call only writes the present one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Listens from now on.
///
/// # Errors
/// Those of starting a thread.
#[cfg(not(unix))]
pub fn listen() -> io::Result<()> {
    ctrlc::set_handler(|| arrived(INTERRUPT)).map_err(io::Error::other)
}

fn arrived(signal: i32) {
    let is_asked =
        signal == INTERRUPT && STAGE.compare_exchange(ITERATING, ASKED, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if !is_asked {
        end(signal);
    }
}

fn end(signal: i32) -> ! {
    let written = output::discard_unfinished();
    let what = if signal == INTERRUPT { "interrupted" } else { "terminated" };
    if mpi::speaks() {
        say(&if written { what.into() } else { format!("{what}; nothing was written") });
    }
    std::process::exit(128 + signal);
}

/// Says so on stderr, where the bar was.
fn say(text: &str) {
    let bar = BAR.lock().ok().and_then(|bar| bar.as_ref()?.upgrade());
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    // There is nowhere left to report that stderr is closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// An iteration whose results will be written runs from now on.
pub fn iteration_runs() {
    // One that has been asked to end stays asked.
    let _ = STAGE.compare_exchange(AWAY, ITERATING, Ordering::Relaxed, Ordering::Relaxed);
}

/// The iteration has ended. If it was asked to end and had no time to hear, the program ends.
pub fn iteration_ended() {
    if STAGE.swap(AWAY, Ordering::Relaxed) == ASKED {
        end(INTERRUPT);
    }
}

pub fn is_asked() -> bool {
    if STAGE.compare_exchange(ASKED, HEARD, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        HEEDED.store(true, Ordering::Relaxed);
    }
    STAGE.load(Ordering::Relaxed) == HEARD
}

/// Whether Ctrl-C has ended an iteration of this run.
pub fn was_heeded() -> bool {
    HEEDED.load(Ordering::Relaxed)
}
