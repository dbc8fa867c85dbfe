//! Short lists in global memory, each handled by one thread.

use core::ops::Range;
use cuda_std::prelude::*;

/// The places of list `i`, of lists that lie one behind the other and have these starts.
#[inline(always)]
pub unsafe fn range(starts: View<u64>, i: usize) -> Range<usize> {
    starts.at(i) as usize..starts.at(i + 1) as usize
}

/// The first place from `low` to `high` of which `is_below` is not true, where it is true up to some place and not from
/// there on.
#[inline(always)]
pub fn bisect(mut low: usize, mut high: usize, is_below: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = (low + high) / 2;
        if is_below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Lists up to this length are sorted by insertion, which is the fastest where it is all in the first-level cache.
/// Longer ones are sorted by a heap: one node that a mesh's every cell shares must not take the square of their number.
pub const SHORT: usize = 64;

/// Part of an array, with room for what is put into it, that belongs to one thread.
#[derive(Clone, Copy)]
pub struct List {
    array: ViewMut<u32>,
    start: usize,
}

impl List {
    /// The list from position `start` on.
    #[inline(always)]
    pub fn new(array: ViewMut<u32>, start: usize) -> Self {
        List { array, start }
    }

    /// Entry `i`.
    #[inline(always)]
    pub unsafe fn at(self, i: usize) -> u32 {
        self.array.at(self.start + i)
    }

    /// Writes entry `i`.
    #[inline(always)]
    pub unsafe fn set(self, i: usize, value: u32) {
        self.array.set(self.start + i, value);
    }

    /// Puts `value` in its place among the first `len` entries, which ascend, unless it is there. Returns how many
    /// there are then.
    #[inline(always)]
    pub unsafe fn insert(self, len: usize, value: u32) -> usize {
        let place = bisect(0, len, |place| self.at(place) < value);
        if place < len && self.at(place) == value {
            return len;
        }
        let mut i = len;
        while i > place {
            self.set(i, self.at(i - 1));
            i -= 1;
        }
        self.set(place, value);
        len + 1
    }

    /// Sorts the first `len` entries.
    #[inline(always)]
    pub unsafe fn sort(self, len: usize) {
        if len > SHORT {
            self.heap_sort(len);
            return;
        }
        for last in 1..len {
            let value = self.at(last);
            let mut i = last;
            while i > 0 && self.at(i - 1) > value {
                self.set(i, self.at(i - 1));
                i -= 1;
            }
            self.set(i, value);
        }
    }

    /// Sorts the first `len` entries in at most `2 len log2(len)` steps (Williams 1964, Floyd 1964).
    #[inline(always)]
    unsafe fn heap_sort(self, len: usize) {
        let mut root = len / 2;
        let mut end = len;
        while end > 1 {
            let value;
            if root > 0 {
                root -= 1;
                value = self.at(root);
            } else {
                end -= 1;
                value = self.at(end);
                self.set(end, self.at(0));
            }
            self.sift(root, end, value);
        }
    }

    /// Puts `value` at `root` of the heap of the first `end` entries, or below.
    #[inline(always)]
    unsafe fn sift(self, root: usize, end: usize, value: u32) {
        let mut hole = root;
        loop {
            let mut child = 2 * hole + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && self.at(child + 1) > self.at(child) {
                child += 1;
            }
            if self.at(child) <= value {
                break;
            }
            self.set(hole, self.at(child));
            hole = child;
        }
        self.set(hole, value);
    }

    /// Takes repetitions out of the first `len` entries, which ascend. Returns how many are left.
    #[inline(always)]
    pub unsafe fn dedup(self, len: usize) -> usize {
        let mut kept = 0;
        for i in 0..len {
            let value = self.at(i);
            if kept == 0 || self.at(kept - 1) != value {
                self.set(kept, value);
                kept += 1;
            }
        }
        kept
    }
}
