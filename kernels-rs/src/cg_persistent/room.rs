//! The dynamic shared memory of a block, taken piece by piece.

use crate::reduce::BLOCK;
use cuda_std::prelude::*;

/// Pieces start at multiples of this many bytes.
const ALIGNMENT: usize = 16;

/// What is left of the block's dynamic shared memory.
#[derive(Clone, Copy)]
pub(super) struct Room {
    taken: usize,
    bytes: usize,
}

impl Room {
    /// All of it.
    #[inline(always)]
    pub(super) fn new(bytes: usize) -> Self {
        Room { taken: 0, bytes }
    }

    /// Takes room for `n` values, if it is there.
    #[inline(always)]
    pub(super) fn take<U>(&mut self, n: usize) -> Option<*mut U> {
        let end = self.taken + (n * size_of::<U>()).next_multiple_of(ALIGNMENT);
        if end > self.bytes {
            return None;
        }
        let start = shared::dynamic_shared_mem::<u8>().wrapping_add(self.taken);
        self.taken = end;
        Some(start.cast())
    }

    /// Takes room for as many pieces of `length` values as there can be, at most `n`; how many, and where.
    #[inline(always)]
    pub(super) fn take_most<U>(&mut self, n: usize, length: usize) -> (usize, *mut U) {
        let start = shared::dynamic_shared_mem::<u8>().wrapping_add(self.taken);
        let n = usize::min(n, (self.bytes - self.taken) / (length * size_of::<U>()));
        (n, start.cast())
    }
}

/// This thread's share of `n` pieces of work for the block.
#[inline(always)]
pub(super) fn share(n: usize, mut work: impl FnMut(usize)) {
    let mut i = thread::thread_idx_x() as usize;
    while i < n {
        work(i);
        i += BLOCK;
    }
}
