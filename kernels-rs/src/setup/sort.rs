//! The order of 64-bit keys by a radix sort, least significant digit first; equal keys keep their order.
//!
//! A pass sorts by one digit. Each warp owns [`KEYS_PER_WARP`] consecutive keys and counts their digits; the running
//! sums of the counts, digit by digit and warp by warp within a digit, say where each warp puts its keys of each digit.
//! A warp goes through its keys 32 at a time, and the lanes that hold the same digit find each other by votes, so
//! nothing depends on timing.

use crate::reduce::FULL_WARP;
use cuda_std::prelude::*;

/// Bits of a key that one pass sorts by.
pub const DIGIT_BITS: u32 = 8;
/// Values of a digit.
pub const DIGITS: usize = 1 << DIGIT_BITS;
/// Keys a warp takes, in rows of 32.
pub const KEYS_PER_WARP: usize = 32 * ROWS;
const ROWS: usize = 32;

/// Number of this thread's warp in the grid, its lane, and its warp's counters in shared memory, `[DIGITS]`.
#[inline(always)]
unsafe fn place_in_grid() -> (usize, usize, *mut u32) {
    let (index, thread) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    let counters = shared_array![u32; 2048];
    (index / 32, index % 32, counters.add(thread / 32 * DIGITS))
}

/// A key of this lane and the lanes that have the same digit, in the order of the keys.
struct Row {
    key: u64,
    digit: usize,
    /// Position of the key.
    i: usize,
    /// Whether there is a key for this lane.
    active: bool,
    /// The lanes with the same digit, a bit each.
    peers: u32,
}

/// Row `row` of a warp's keys; nothing if it lies past the last key, for all lanes alike, which call it together.
#[inline(always)]
unsafe fn row(warp: usize, lane: usize, row: usize, keys: View<u64>, shift: u32) -> Option<Row> {
    let first = warp * KEYS_PER_WARP + 32 * row;
    if first >= keys.len() {
        return None;
    }
    let i = first + lane;
    let active = i < keys.len();
    let key = if active { keys.at(i) } else { 0 };
    let digit = (key >> shift) as usize % DIGITS;
    let mut peers = warp::warp_vote_ballot(FULL_WARP, active);
    for bit in 0..DIGIT_BITS {
        let has = digit >> bit & 1 == 1;
        let having = warp::warp_vote_ballot(FULL_WARP, has);
        peers &= if has { having } else { !having };
    }
    Some(Row { key, digit, i, active, peers })
}

impl Row {
    /// How many lanes below have the same digit.
    #[inline(always)]
    fn rank(&self, lane: usize) -> u32 {
        (self.peers & ((1 << lane) - 1)).count_ones()
    }
}

/// Computes: how many of each warp's keys have each digit.
///
/// Parameters: `shift`, bits below the digit; `keys [n]`; `counts [DIGITS][n_warps]`.
/// Thread mapping: a warp per [`KEYS_PER_WARP`] keys; blocks of 256.
/// Memory moved: 8 B per key and 4 B per counter, a counter for every 4 keys. 9 votes per key.
#[kernel]
pub unsafe fn digit_counts(shift: u32, keys: View<u64>, counts: ViewMut<u32>) {
    let n_warps = counts.len() / DIGITS;
    let (warp, lane, counters) = place_in_grid();
    if warp >= n_warps {
        return;
    }
    for d in 0..DIGITS / 32 {
        *counters.add(32 * d + lane) = 0;
    }
    warp::sync_warp(FULL_WARP);
    for r in 0..ROWS {
        let Some(row) = row(warp, lane, r, keys, shift) else { break };
        if row.active && row.rank(lane) == 0 {
            *counters.add(row.digit) += row.peers.count_ones();
        }
        warp::sync_warp(FULL_WARP);
    }
    for d in 0..DIGITS / 32 {
        let digit = 32 * d + lane;
        counts.set(digit * n_warps + warp, *counters.add(digit));
    }
}

/// What a pass writes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sorted {
    /// The keys, sorted by this digit, `[n]`.
    pub keys: ViewMut<u64>,
    /// What stood beside them, `[n]`.
    pub order: ViewMut<u32>,
}

/// Computes: the keys and what stands beside them, sorted by one digit.
///
/// Parameters: `shift`, bits below the digit; `keys, order [n]`; `starts [DIGITS][n_warps] + 1`, the running sums of
/// the counts. Thread mapping: as [`digit_counts`]. Memory moved: 12 B read and 12 B written per key, 8 B per counter.
///
/// # Safety
/// See the crate's section on safety; there are fewer than 2^32 keys.
#[kernel]
pub unsafe fn digit_scatter(shift: u32, keys: View<u64>, order: View<u32>, starts: View<u64>, to: Sorted) {
    let n_warps = starts.len() / DIGITS;
    let (warp, lane, places) = place_in_grid();
    if warp >= n_warps {
        return;
    }
    for d in 0..DIGITS / 32 {
        let digit = 32 * d + lane;
        *places.add(digit) = starts.at(digit * n_warps + warp) as u32;
    }
    warp::sync_warp(FULL_WARP);
    for r in 0..ROWS {
        let Some(row) = row(warp, lane, r, keys, shift) else { break };
        let rank = row.rank(lane);
        let first = if row.active { *places.add(row.digit) } else { 0 };
        warp::sync_warp(FULL_WARP);
        if row.active {
            if rank == 0 {
                *places.add(row.digit) = first + row.peers.count_ones();
            }
            let place = (first + rank) as usize;
            to.keys.set(place, row.key);
            to.order.set(place, order.at(row.i));
        }
        warp::sync_warp(FULL_WARP);
    }
}

/// Computes: `order_i = i`. Parameters: `order [n]`. Thread mapping: an item per entry. Memory moved: 4 B per entry.
#[kernel(items)]
pub unsafe fn identity(i: usize, order: ViewMut<u32>) {
    order.set(i, i as u32);
}
