//! Sees to it that every attempt ends, and that none asks for much more memory than its file is long.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// No mutant of a few kilobytes takes that long, on a machine with other work too.
const LONGEST: Duration = Duration::from_secs(600);
/// Nor an array of so many bytes: the models made of it have some hundred nodes.
const LARGEST: usize = 64 << 20;

/// The system's allocator, noting the largest array that was asked for.
struct Noting;

static LARGEST_SEEN: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// Notes an array. Those of whole pages are what a library works in: how large they are is a matter of the machine's caches.
fn note(layout: Layout, size: usize) {
    if layout.align() < 4096 {
        LARGEST_SEEN.fetch_max(size, Ordering::Relaxed);
    }
}

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(layout, size);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What is tried at the moment, and since when.
type Trying = Arc<Mutex<Option<(usize, Instant)>>>;

/// Watches attempts.
pub struct Watch {
    what: &'static str,
    trying: Trying,
    failures: Vec<String>,
}

impl Watch {
    /// Watches attempts at this kind of file.
    pub fn new(what: &'static str) -> Watch {
        let trying = Trying::default();
        let watched = trying.clone();
        std::thread::spawn(move || {
            // Ends when the watch has.
            while Arc::strong_count(&watched) > 1 {
                std::thread::sleep(Duration::from_millis(200));
                if let Some((number, since)) = *watched.lock().unwrap()
                    && since.elapsed() > LONGEST
                {
                    eprintln!("{what} {number} does not end");
                    std::process::abort();
                }
            }
        });
        Watch { what, trying, failures: Vec::new() }
    }

    /// What becomes of a mutant; 1 if that is a panic, or an array that is too large.
    pub fn attempt(&mut self, number: usize, bytes: &[u8], attempt: impl Fn(&[u8]) -> u8) -> u8 {
        *self.trying.lock().unwrap() = Some((number, Instant::now()));
        LARGEST_SEEN.store(0, Ordering::Relaxed);
        let ended = panic::catch_unwind(AssertUnwindSafe(|| attempt(bytes)));
        *self.trying.lock().unwrap() = None;
        let largest = LARGEST_SEEN.load(Ordering::Relaxed);
        if ended.is_err() || largest > LARGEST {
            let place = std::env::temp_dir().join(format!("warpfem-{}-{number}", self.what));
            std::fs::write(&place, bytes).unwrap();
            let how = if ended.is_err() { "panic".into() } else { format!("an array of {largest} bytes") };
            self.failures.push(format!("{}: {how}", place.display()));
        }
        ended.unwrap_or(1)
    }

    /// Fails if an attempt has.
    pub fn done(self) {
        let (what, n) = (self.what, self.failures.len());
        assert!(n == 0, "{n} times a {what} went wrong:\n{}", self.failures.join("\n"));
    }
}
