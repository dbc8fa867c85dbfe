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
    look_for_room()?;
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

/// Fails where the system has no room for a thread. The allocator may have kept what was freed, so it is not asked.
fn look_for_room() -> io::Result<()> {
    #[cfg(unix)]
    {
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: memory at a place of the system's choice, which nobody uses before it is given back.
        unsafe {
            let place = libc::mmap(std::ptr::null_mut(), FREE, rights, kind, -1, 0);
            if place == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            libc::munmap(place, FREE);
        }
    }
    Ok(())
}
