//! Operations on several vectors at once: dot products of all pairs of two sets, and linear combinations of a set.
//!
//! A pass over memory serves many results: 16 dot products from 8 vectors, 4 sums from 8. The host tiles larger sets.

use crate::real::fma;
use crate::reduce::{BLOCK, FULL_WARP, sum_strided};
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;
use cuda_std::prelude::*;

/// Vectors of each of the two sets of [`gram`].
pub const TILE: usize = 4;
/// Dot products of a launch.
pub const SUMS: usize = TILE * TILE;
/// Vectors that [`combine`] adds up.
pub const INPUTS: usize = 8;
/// Combinations that it makes of them.
pub const OUTPUTS: usize = 4;
/// Vectors that products with a matrix take at once.
pub const WIDTH: usize = 8;
/// Those of them that a thread has where there are few rows: then the others are other threads'.
pub const NARROW: usize = 2;
const WARPS: usize = BLOCK / 32;
/// Threads of the last block that add up the partial sums of one dot product.
const SHARES: usize = BLOCK / SUMS;

/// Some vectors of one length, `[n]` each; an empty one stands for none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Vectors<T: DeviceCopy, const N: usize>(pub [View<T>; N]);

impl<const N: usize> Vectors<f64, N> {
    /// Entry i of each; 0 of those that are none.
    #[inline(always)]
    unsafe fn entries(self, i: usize) -> [f64; N] {
        let mut entries = [0.0; N];
        for k in 0..N {
            if !self.0[k].is_empty() {
                entries[k] = self.0[k].at(i);
            }
        }
        entries
    }
}

/// The same, to be written.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VectorsMut<T: DeviceCopy, const N: usize>(pub [ViewMut<T>; N]);

impl<T: DeviceCopy, const N: usize> Vectors<T, N> {
    /// Those of a part of W.
    #[inline(always)]
    pub(crate) fn part<const W: usize>(self, part: usize) -> [View<T>; W] {
        let mut found: [View<T>; W] = core::array::from_fn(|m| self.0[m]);
        // Compared one by one, as a place that is computed would take the array to memory.
        for other in 1..N / W {
            if part == other {
                found = core::array::from_fn(|m| self.0[other * W + m]);
            }
        }
        found
    }
}

impl<T: DeviceCopy, const N: usize> VectorsMut<T, N> {
    /// Those of a part of W.
    #[inline(always)]
    pub(crate) fn part<const W: usize>(self, part: usize) -> [ViewMut<T>; W] {
        let mut found: [ViewMut<T>; W] = core::array::from_fn(|m| self.0[m]);
        for other in 1..N / W {
            if part == other {
                found = core::array::from_fn(|m| self.0[other * W + m]);
            }
        }
        found
    }
}

/// Where [`gram`] leaves its sums.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GramSums {
    /// Partial sums, `[n_blocks][SUMS]`.
    pub partials: ViewMut<f64>,
    /// One counter, 0 before and after the launch.
    pub ticket: ViewMut<u32>,
    /// The sums of several launches, `[any]`.
    pub sums: ViewMut<f64>,
    /// Where those of this one begin.
    pub first: usize,
}

/// Computes: `sums[first + TILE i + j] = x_i . y_j`, the same bits every time; 0 where one of them is none.
///
/// Parameters: `x, y [TILE][n]`. Thread mapping: a grid-stride loop, blocks of [`BLOCK`]. The block that takes the last
/// ticket adds up what all blocks have left. Memory moved: `2 TILE` words per entry; `SUMS` words per block, twice.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn gram(n: usize, x: Vectors<f64, TILE>, y: Vectors<f64, TILE>, to: GramSums) {
    let load = |i| (x.entries(i), y.entries(i));
    let sums = sum_strided(n, load, |_, (x, y), sums: &mut [f64; SUMS]| {
        for i in 0..TILE {
            for j in 0..TILE {
                sums[TILE * i + j] = fma(x[i], y[j], sums[TILE * i + j]);
            }
        }
    });
    let blocks = thread::grid_dim_x() as usize;
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_idx_x() as usize);
    let (shared, last) = (shared_array![f64; BLOCK], shared_array![u32; 1]);
    let (warp, lane) = (thread / 32, thread % 32);
    let sum = warp_sums(sums, lane);
    if lane % 2 == 0 {
        *shared.add(lane / 2 * WARPS + warp) = sum;
    }
    thread::sync_threads();
    if thread < SUMS {
        to.partials.set(block * SUMS + thread, shared_sum(shared, thread * WARPS, WARPS));
    }
    thread::sync_threads();
    if thread == 0 {
        // As in `sum_over_grid`; the barrier has passed the other threads' partial sums on to this one.
        thread::device_fence();
        *last = u32::from(atomic::add(to.ticket, 0, 1) as usize + 1 == blocks);
        thread::device_fence();
    }
    thread::sync_threads();
    if *last == 0 {
        return;
    }
    let (of, share) = (thread % SUMS, thread / SUMS);
    let (mut from, mut sum) = (share, 0.0);
    while from < blocks {
        sum += to.partials.at(from * SUMS + of);
        from += SHARES;
    }
    *shared.add(of * SHARES + share) = sum;
    thread::sync_threads();
    if thread < SUMS {
        to.sums.set(to.first + thread, shared_sum(shared, thread * SHARES, SHARES));
    }
    if thread == 0 {
        to.ticket.set(0, 0);
    }
}

/// The sum of `count` words of shared memory.
#[inline(always)]
unsafe fn shared_sum(shared: *mut f64, first: usize, count: usize) -> f64 {
    let mut sum = 0.0;
    for k in 0..count {
        sum += *shared.add(first + k);
    }
    sum
}

/// Computes: the sums over the warp; lane l gets number `l / 2`.
///
/// Thread mapping: every lane of a warp. Two lanes share their sums out, then two pairs theirs, and so on: 16 shuffles
/// where [`warp_sum`](crate::reduce) would take 80.
#[inline(always)]
unsafe fn warp_sums(mut sums: [f64; SUMS], lane: usize) -> f64 {
    share_out::<8>(&mut sums, lane);
    share_out::<4>(&mut sums, lane);
    share_out::<2>(&mut sums, lane);
    share_out::<1>(&mut sums, lane);
    sums[0] + warp::warp_shuffle_xor(FULL_WARP, sums[0], 1, 32).0
}

/// Of `2 HALF` sums the lane keeps the lower or the upper half, and gives the other to the lane `2 HALF` away.
#[inline(always)]
unsafe fn share_out<const HALF: usize>(sums: &mut [f64; SUMS], lane: usize) {
    let keeps_upper = lane & (2 * HALF) != 0;
    for k in 0..HALF {
        let (lower, upper) = (sums[k], sums[k + HALF]);
        let (keep, give) = if keeps_upper { (upper, lower) } else { (lower, upper) };
        sums[k] = keep + warp::warp_shuffle_xor(FULL_WARP, give, 2 * HALF as u32, 32).0;
    }
}

/// The coefficients of [`combine`], of each input for each output.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Coefficients(pub [[f64; OUTPUTS]; INPUTS]);

/// Computes: `y_j = beta y_j + sum_k x_k c_kj` of each y that is there; with `beta = 0` what y was does not count.
///
/// Parameters: `x [INPUTS][n]`, `y [OUTPUTS][n]`. Thread mapping: an item per entry.
/// Memory moved: a word per entry and input; one per output, two unless `beta = 0`.
#[kernel(items, cpu = combine_range)]
pub unsafe fn combine(i: usize, x: Vectors<f64, INPUTS>, c: Coefficients, beta: f64, y: VectorsMut<f64, OUTPUTS>) {
    let x = x.entries(i);
    for j in 0..OUTPUTS {
        if !y.0[j].is_empty() {
            let mut sum = if beta == 0.0 { 0.0 } else { beta * y.0[j].at(i) };
            for k in 0..INPUTS {
                sum = fma(x[k], c.0[k][j], sum);
            }
            y.0[j].set(i, sum);
        }
    }
}

/// The items of `combine` in a range: an output at a time, four inputs at a time.
#[cfg(not(target_arch = "nvptx64"))]
unsafe fn combine_range(
    items: Range<usize>,
    x: Vectors<f64, INPUTS>,
    c: Coefficients,
    beta: f64,
    y: VectorsMut<f64, OUTPUTS>,
) {
    /// Entries that stay in the first cache.
    const AT_ONCE: usize = 256;
    for start in items.clone().step_by(AT_ONCE) {
        let rows = start..items.end.min(start + AT_ONCE);
        for (j, y) in y.0.iter().enumerate().filter(|(_, y)| !y.is_empty()) {
            assert!(rows.end <= y.len(), "rows past the end");
            let y = core::slice::from_raw_parts_mut(y.as_mut_ptr().add(rows.start), rows.len());
            if beta == 0.0 {
                y.fill(0.0);
            } else if beta != 1.0 {
                y.iter_mut().for_each(|y| *y *= beta);
            }
            // An empty vector has coefficients of 0: any other may stand in for it.
            let there = |k: usize| if x.0[k].is_empty() { 0 } else { k };
            for first in (0..INPUTS).step_by(4).filter(|first| !x.0[*first].is_empty()) {
                let [x0, x1, x2, x3] = [0, 1, 2, 3].map(|k| x.0[there(first + k)].slice(rows.clone()));
                let factors = [0, 1, 2, 3].map(|k| if x.0[first + k].is_empty() { 0.0 } else { c.0[first + k][j] });
                add_four(y, factors, x0, x1, x2, x3);
            }
        }
    }
}

/// `y += sum_k c_k x_k`, all of one length.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(never)]
fn add_four(y: &mut [f64], c: [f64; 4], x0: &[f64], x1: &[f64], x2: &[f64], x3: &[f64]) {
    for ((((y, x0), x1), x2), x3) in y.iter_mut().zip(x0).zip(x1).zip(x2).zip(x3) {
        *y = fma(*x3, c[3], fma(*x2, c[2], fma(*x1, c[1], fma(*x0, c[0], *y))));
    }
}

/// `x_i . y_j` of four vectors with two, all of one length: what the CPU does of [`gram`].
#[cfg(not(target_arch = "nvptx64"))]
#[inline(never)]
pub fn inner_products(x: [&[f64]; 4], y: [&[f64]; 2]) -> [[f64; 2]; 4] {
    const LANES: usize = 2;
    let n = x[0].len();
    // Said once, so that no access below is checked.
    let (x, y) = (x.map(|x| &x[..n]), y.map(|y| &y[..n]));
    let mut sums = [[[0.0; LANES]; 2]; 4];
    let whole = n - n % LANES;
    for start in (0..whole).step_by(LANES) {
        for i in 0..4 {
            for j in 0..2 {
                for lane in 0..LANES {
                    sums[i][j][lane] = fma(x[i][start + lane], y[j][start + lane], sums[i][j][lane]);
                }
            }
        }
    }
    for k in whole..n {
        for i in 0..4 {
            for j in 0..2 {
                sums[i][j][0] = fma(x[i][k], y[j][k], sums[i][j][0]);
            }
        }
    }
    sums.map(|sums| sums.map(|lanes| lanes[0] + lanes[1]))
}
