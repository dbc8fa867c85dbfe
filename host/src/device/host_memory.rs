//! The host's memory: how much can be had, and in what pages.

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes that can be had: what the system calls available, less where the control group allows less. `None` where
/// there is no saying.
pub fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let system = 1024 * in_kib(&meminfo, "MemAvailable:")?;
    let number = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok();
    Some(number("memory.max").map_or(system, |limit: u64| system.min(limit)))
}

/// The figure of a line of `/proc/meminfo`.
fn in_kib(meminfo: &str, key: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

/// The system's allocator, which asks for pages of 2 MiB instead of 4 KiB where an array is large and the system leaves that to
/// programs; for the `global_allocator` of a program.
///
/// The first access to a page stops at the operating system, and with small pages a product, which reads a matrix from end to
/// end, waits for address translations, and the prefetcher stops at each page's end. On two cores of an EPYC that is 13 % (hex8) and
/// 22 % (tet4) of its time.
#[derive(Debug)]
pub struct HugePages;

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        advised(unsafe { System.realloc(place, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }
}

/// The place of an allocation, for which huge pages are asked for if it is large.
#[cfg(target_os = "linux")]
fn advised(place: *mut u8, bytes: usize) -> *mut u8 {
    /// Some huge pages fit in it.
    const LARGE: usize = 4 << 20;
    if bytes >= LARGE && !place.is_null() {
        // SAFETY: advice changes no content; the first and the last page may be shared with others. From the start of a page on:
        // a mapping of which a part has advice does not grow in place. If the system does not take it, pages stay as they are.
        unsafe {
            let before = place.addr() % libc::sysconf(libc::_SC_PAGESIZE) as usize;
            libc::madvise(place.sub(before).cast(), before + bytes, libc::MADV_HUGEPAGE);
        }
    }
    place
}

#[cfg(not(target_os = "linux"))]
fn advised(place: *mut u8, _: usize) -> *mut u8 {
    place
}

/// Gives free memory back to the system: the C library keeps what is freed for whoever asks in the same thread.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_meminfo_is_found() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   17000000 kB\n";
        assert_eq!(in_kib(text, "MemAvailable:"), Some(17_000_000));
        assert_eq!(in_kib(text, "SwapFree:"), None);
    }

    /// Grown and made smaller, an array keeps its content.
    #[test]
    fn huge_pages_leave_an_array_as_it_is() {
        let layout = |bytes: usize| Layout::from_size_align(bytes, 8).unwrap();
        let sizes = [100, 5 << 20, 80 << 20, (33 << 20) + 12_345, 1 << 20];
        // SAFETY: each layout is that of the last allocation, and what is read and written lies in it.
        unsafe {
            let mut place = HugePages.alloc_zeroed(layout(sizes[0]));
            *place.add(77) = 7;
            for pair in sizes.windows(2) {
                place = HugePages.realloc(place, layout(pair[0]), pair[1]);
                assert_eq!([*place.add(76), *place.add(77)], [0, 7], "{} bytes", pair[1]);
                *place.add(pair[1] - 1) = 1;
            }
            HugePages.dealloc(place, layout(1 << 20));
            let zeros = HugePages.alloc_zeroed(layout(9 << 20));
            assert!((0..9 << 20).step_by(1000).all(|i| *zeros.add(i) == 0));
            HugePages.dealloc(zeros, layout(9 << 20));
        }
    }
}
