//! Threads, started so that too little memory is an error.

use std::hint::black_box;
use std::io;
use std::sync::mpsc;
use std::thread::Builder;

/// Bytes that must be free: a stack, and what a new thread allocates before it runs.
const FREE: usize = 4 << 20;

/// Starts a thread and waits until it runs. A new thread allocates its stack for signals by itself, and the standard
/// library aborts the program where that fails: there must be room before, and nobody may take it meanwhile.
///
/// # Errors
/// Those of starting a thread.
pub fn spawn(builder: Builder, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Vec::<u8>::new().try_reserve_exact(FREE).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let (runs, has_begun) = mpsc::channel();
    builder.spawn(move || {
        // The allocator sets memory aside for a thread when it allocates first.
        drop(black_box(Box::new(0)));
        let _ = runs.send(());
        run();
    })?;
    // The channel closes only after the word.
    let _ = has_begun.recv();
    Ok(())
}
