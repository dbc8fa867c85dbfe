//! What only a CPU can do.

/// Asks for `n` values from the one at `first` on to be brought near (into the second cache) before they are read; a
/// hint, for any places.
#[inline(always)]
pub fn prefetch<T>(values: &[T], first: usize, n: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        const LINE: usize = 64;
        let first = values.as_ptr().wrapping_add(first).cast::<i8>();
        for byte in (0..n * size_of::<T>()).step_by(LINE) {
            // SAFETY: a hint reads nothing, and every x86-64 has it.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(first.wrapping_add(byte)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, first, n);
}
