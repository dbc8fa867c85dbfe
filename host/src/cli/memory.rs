//! The memory of a program: large arrays in huge pages, and what is free given back.

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes from which on an array is large: a few huge pages, so that the ends that are not whole ones matter little.
const LARGE: usize = 4 << 20;

/// The system's allocator, which asks for huge pages where an array is large; for the `global_allocator` of a program.
///
/// A first access to each page of memory stops at the operating system. Huge pages of 2 MiB are 512 times fewer; most
/// systems give them to programs that ask.
#[derive(Debug)]
pub struct HugePages;

/// Gives free memory back to the operating system. The C library keeps what a solution has freed for whoever asks in the same
/// thread, and the results are written by others.
pub(super) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks for huge pages for these bytes.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
fn advise(place: *mut u8, bytes: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE && !place.is_null() {
        // The largest of usual pages; of larger ones the advice is refused.
        const PAGE: usize = 64 << 10;
        let to_next = place.align_offset(PAGE);
        // SAFETY: all of it is of this allocation, and the advice changes nothing in it. One that is refused does no harm.
        unsafe {
            libc::madvise(place.add(to_next).cast(), bytes - to_next, libc::MADV_HUGEPAGE);
        }
    }
    place
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        advise(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        advise(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's.
        advise(unsafe { System.realloc(place, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}
