//! Sums of all counts before each, in three launches: the sum of each tile of counts, what lies before each tile by one
//! block, and the sums within each tile from there on. Whole numbers, so the order of summation is no matter.

use crate::reduce::{BLOCK, FULL_WARP};
use cuda_std::prelude::*;

/// Counts a thread adds up.
const ITEMS: usize = 4;
/// Counts a block adds up.
pub const TILE: usize = ITEMS * BLOCK;
const WARPS: usize = BLOCK / 32;

/// Computes: the sum of `value` over the threads before this one, and over the block.
///
/// Thread mapping: every thread of a one-dimensional block of [`BLOCK`] threads takes part.
/// Memory: 8 words of shared memory; 2 barriers.
#[inline(always)]
unsafe fn block_scan(value: u64) -> (u64, u64) {
    let totals = shared_array![u64; 8];
    let thread = thread::thread_idx_x() as usize;
    let (warp, lane) = (thread / 32, thread % 32);
    let mut sum = value;
    let mut delta = 1;
    while delta < 32 {
        let (below, valid) = warp::warp_shuffle_up(FULL_WARP, sum, delta, 32);
        if valid {
            sum += below;
        }
        delta *= 2;
    }
    thread::sync_threads();
    if lane == 31 {
        *totals.add(warp) = sum;
    }
    thread::sync_threads();
    let (mut before, mut total) = (sum - value, 0);
    for w in 0..WARPS {
        if w < warp {
            before += *totals.add(w);
        }
        total += *totals.add(w);
    }
    (before, total)
}

/// Position of the first count of this thread, and its counts; 0 past the end.
#[inline(always)]
unsafe fn own(counts: View<u32>) -> (usize, [u64; ITEMS]) {
    let first = ITEMS * thread::index_1d() as usize;
    let mut own = [0; ITEMS];
    for k in 0..ITEMS {
        if first + k < counts.len() {
            own[k] = u64::from(counts.at(first + k));
        }
    }
    (first, own)
}

#[inline(always)]
fn add_up(own: [u64; ITEMS]) -> u64 {
    let mut sum = 0;
    for k in 0..ITEMS {
        sum += own[k];
    }
    sum
}

/// Computes: `sums[tile]`, the sum of each tile's counts.
///
/// Parameters: `counts [n]`; `sums [n_blocks]`. Thread mapping: a block of [`BLOCK`] per [`TILE`].
/// Memory moved: 4 B per count, 8 B per tile.
#[kernel]
pub unsafe fn tile_sums(counts: View<u32>, sums: ViewMut<u64>) {
    let (_, own) = own(counts);
    let (_, total) = block_scan(add_up(own));
    if thread::thread_idx_x() == 0 {
        sums.set(thread::block_idx_x() as usize, total);
    }
}

/// Computes: replaces each sum by the sum of all before it.
///
/// Parameters: `sums [n_tiles]`. Thread mapping: one block of [`BLOCK`]. Memory moved: 16 B per tile.
#[kernel]
pub unsafe fn scan_sums(sums: ViewMut<u64>) {
    let mut carry = 0;
    let mut first = 0;
    while first < sums.len() {
        let i = first + thread::thread_idx_x() as usize;
        let value = if i < sums.len() { sums.at(i) } else { 0 };
        let (before, total) = block_scan(value);
        if i < sums.len() {
            sums.set(i, carry + before);
        }
        carry += total;
        first += BLOCK;
    }
}

/// Computes: `out_i = sum_{j < i} counts_j`.
///
/// Parameters: `counts [n]`; `sums [n_blocks]` before each tile; `out [n + 1]`.
/// Thread mapping: a block of [`BLOCK`] per [`TILE`] of `out`. Memory moved: 4 B read and 8 B written per count.
#[kernel]
pub unsafe fn scan_tiles(counts: View<u32>, sums: View<u64>, out: ViewMut<u64>) {
    let (first, own) = own(counts);
    let (before, _) = block_scan(add_up(own));
    let mut sum = sums.at(thread::block_idx_x() as usize) + before;
    for k in 0..ITEMS {
        if first + k < out.len() {
            out.set(first + k, sum);
        }
        sum += own[k];
    }
}
