//! Many iterations of conjugate gradients in one launch: the blocks stay, and wait for one another at the grid's barrier
//! instead of for the next launch.
//!
//! An iteration of launches waits three times until every thread of the device has ended and the next have begun; on small
//! systems that is most of its time. Here it waits twice at a barrier, once for each of the two sums:
//!
//! | line of the algorithm (Saad 2003, alg. 9.1) | here |
//! | --- | --- |
//! | `p = z + beta p`, `q = K p`, `p . q` | [`products`]: every row forms the entries of p that it needs |
//! | `alpha = r.z / p.q`, `u += alpha p`, `r -= alpha q`, `z = M^-1 r`, `r . z`, `r . r` | [`update`] |
//! | `beta = new r.z / r.z`, `|r| <= eps` | every thread, from the sums |
//!
//! As p is formed where it is read, its old entries must outlive the pass: two arrays take turns.

use crate::real::{Real, fma};
use crate::reduce::{BLOCK, block_sum};
use crate::sparse::Ebw;
use cuda_std::prelude::*;

/// Rows of a slice: those of a warp.
pub const SLICE: usize = 32;
/// Warps of a block.
pub const WARPS: usize = BLOCK / 32;
/// Sums of an iteration: `p . q`, `r . z` and `r . r`.
pub const N_SUMS: usize = 3;
const FULL_WARP: u32 = u32::MAX;

/// The vectors of the iteration, `[n]` each.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CgVectors<T: DeviceCopy> {
    /// The inverse of the diagonal.
    pub inverse: View<T>,
    /// The solution.
    pub u: ViewMut<T>,
    /// The residual.
    pub r: ViewMut<T>,
    /// 0 before; scratch.
    pub z: ViewMut<T>,
    /// Scratch.
    pub q: ViewMut<T>,
    /// The direction.
    pub p: ViewMut<T>,
    /// Scratch.
    pub other_p: ViewMut<T>,
}

/// How far to go, and what blocks tell one another.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CgRun {
    /// Iterations at most.
    pub steps: usize,
    /// Where `r . r` is not above this, the iteration ends.
    pub enough: f64,
    /// Warps that share a slice of rows: 1, 2, 4 or 8.
    pub warps_per_slice: usize,
    /// The word of [`thread::sync_grid`].
    pub barrier: ViewMut<u32>,
    /// The blocks' sums, `[N_SUMS][n_blocks]`.
    pub partials: ViewMut<f64>,
    /// `r . r` after each iteration, `[steps]`.
    pub history: ViewMut<f64>,
    /// The device-resident scalars, `[n_scalars]`.
    pub scalars: ViewMut<f64>,
    /// Index of `r . z`.
    pub rho: u32,
    /// Index of the number of iterations done, which the last `p . q` and `r . r` follow.
    pub done: u32,
}

/// The part of the rows that is this block's: whole slices.
#[derive(Clone, Copy)]
struct Part {
    n_rows: usize,
    first_slice: usize,
    end_slice: usize,
}

impl Part {
    #[inline(always)]
    fn of_this_block(n_rows: usize) -> Part {
        let (block, n_blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
        let n_slices = n_rows.div_ceil(SLICE);
        let start = |block: usize| block * n_slices / n_blocks;
        Part { n_rows, first_slice: start(block), end_slice: start(block + 1) }
    }

    /// Does `work` with every entry of vectors of `D` unknowns per row that is this thread's.
    #[inline(always)]
    unsafe fn each_entry<const D: usize>(self, mut work: impl FnMut(usize)) {
        let mut i = D * SLICE * self.first_slice + thread::thread_idx_x() as usize;
        let end = D * usize::min(SLICE * self.end_slice, self.n_rows);
        while i < end {
            work(i);
            i += BLOCK;
        }
    }
}

/// The direction, as it is until the next one is stored: `p = z + beta old`.
#[derive(Clone, Copy)]
struct Direction<T: DeviceCopy> {
    z: ViewMut<T>,
    beta: T,
    old: ViewMut<T>,
}

impl<T: Real> Direction<T> {
    /// The `D` entries of a row.
    #[inline(always)]
    unsafe fn of_row<const D: usize>(self, row: usize) -> [T; D] {
        core::array::from_fn(|i| {
            // SAFETY: `row` is a row of the matrix, by contract.
            unsafe { fma(self.beta, self.old.at(D * row + i), self.z.at(D * row + i)) }
        })
    }
}

/// Computes: the sums of `terms` over the grid, in every thread, the same bits in each.
///
/// Memory moved: 8 M bytes written per block, and read by every warp.
#[inline(always)]
unsafe fn sum_for_all<const M: usize>(terms: [f64; M], place: usize, run: &CgRun) -> [f64; M] {
    let (block, n_blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let sums = block_sum(terms);
    if thread::thread_idx_x() == 0 {
        for m in 0..M {
            run.partials.set((place + m) * n_blocks + block, sums[m]);
        }
    }
    thread::sync_grid(run.barrier);
    let mut totals = [0.0; M];
    let mut i = (thread::thread_idx_x() % 32) as usize;
    while i < n_blocks {
        for m in 0..M {
            totals[m] += run.partials.at((place + m) * n_blocks + i);
        }
        i += 32;
    }
    let mut distance = 16;
    while distance > 0 {
        for total in &mut totals {
            *total += warp::warp_shuffle_xor(FULL_WARP, *total, distance, 32).0;
        }
        distance /= 2;
    }
    totals
}

/// Computes: `p = z + beta old` into `new`, `q = K p`, and this thread's part of `p . q`.
///
/// Thread mapping: a lane per row of a slice; `warps_per_slice` warps share its columns and add up in shared memory.
#[inline(always)]
unsafe fn products<const D: usize, T: Real>(
    part: Part,
    warps_per_slice: usize,
    a: Ebw<D, SLICE>,
    values: View<T>,
    direction: Direction<T>,
    new: ViewMut<T>,
    q: ViewMut<T>,
) -> f64 {
    let shared = shared_array![T; 3 * BLOCK];
    let thread = thread::thread_idx_x() as usize;
    let (warp, lane) = (thread / 32, thread % 32);
    let (share, at_once) = (warp % warps_per_slice, WARPS / warps_per_slice);
    let mut sum = 0.0;
    let mut first = part.first_slice;
    while first < part.end_slice {
        let slice = first + warp / warps_per_slice;
        let row = SLICE * slice + lane;
        let mut y = [T::ZERO; D];
        if slice < part.end_slice {
            let (start, end) = a.sliced.slice(slice);
            let mut add = |k: usize, x: [T; D]| {
                for j in 0..D {
                    for i in 0..D {
                        // SAFETY: k is below the end of the slice.
                        let value = unsafe { values.stream((k * D * D + D * j + i) * SLICE + lane) };
                        y[i] = fma(value, x[j], y[i]);
                    }
                }
            };
            // Two at a time: what takes long is to wait for an index and then for what it points to.
            let mut k = start + share;
            while k < end {
                let next = k + warps_per_slice;
                let column = a.sliced.columns.stream(k * SLICE + lane) as usize;
                let other = a.sliced.columns.stream(usize::min(next, end - 1) * SLICE + lane) as usize;
                let (x, other_x) = (direction.of_row::<D>(column), direction.of_row::<D>(other));
                add(k, x);
                if next < end {
                    add(next, other_x);
                }
                k = next + warps_per_slice;
            }
        }
        if warps_per_slice > 1 {
            for i in 0..D {
                *shared.add(i * BLOCK + thread) = y[i];
            }
            thread::sync_threads();
            for i in 0..D {
                if share == 0 {
                    for other in 1..warps_per_slice {
                        y[i] += *shared.add(i * BLOCK + thread + 32 * other);
                    }
                }
            }
            thread::sync_threads();
        }
        if share == 0 && slice < part.end_slice && row < part.n_rows {
            let p = direction.of_row::<D>(row);
            for i in 0..D {
                q.set(D * row + i, y[i]);
                new.set(D * row + i, p[i]);
                sum = fma(p[i].to_f64(), y[i].to_f64(), sum);
            }
        }
        first += at_once;
    }
    sum
}

/// Computes: `u += alpha p`, `r -= alpha q`, `z = M^-1 r`, and this thread's parts of `r . z` and `r . r`.
#[inline(always)]
unsafe fn update<const D: usize, T: Real>(part: Part, alpha: T, v: &CgVectors<T>, p: ViewMut<T>) -> [f64; 2] {
    let mut sums = [0.0; 2];
    part.each_entry::<D>(|i| {
        // SAFETY: the entries of this block's rows are below n, by contract.
        unsafe {
            v.u.set(i, fma(alpha, p.at(i), v.u.at(i)));
            let residual = fma(-alpha, v.q.at(i), v.r.at(i));
            v.r.set(i, residual);
            let inverse = v.inverse.at(i);
            v.z.set(i, inverse * residual);
            let residual = residual.to_f64();
            sums[0] = fma(residual * inverse.to_f64(), residual, sums[0]);
            sums[1] = fma(residual, residual, sums[1]);
        }
    });
    sums
}

/// The quotient; 0 where the numerator or the denominator is, as in [`crate::blas::Ratio`].
#[inline(always)]
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if numerator == 0.0 || denominator == 0.0 { 0.0 } else { numerator / denominator }
}

/// Computes: iterations of conjugate gradients with a diagonal preconditioner, until `r . r` is small enough, `steps` are
/// done, or `p . q` is not positive: then the iteration in which that showed is not done.
///
/// Parameters: a matrix with slices of 32 block rows, see [`Ebw`]; [`CgVectors`], of which `u`, `r` and `p` are the state before and
/// after; [`CgRun`]. Thread mapping: blocks of [`BLOCK`], all of them resident: a cooperative launch.
/// Memory moved: the matrix and twelve words per unknown and iteration, as much as three launches.
///
/// # Safety
/// See the crate's section on safety. All blocks run at the same time.
#[kernel(launch_bounds(256, 2), D = [1, 2, 3], T = [f32, f64])]
pub unsafe fn cg_persistent<const D: usize, T: Real>(
    n_rows: usize,
    a: Ebw<D, 32>,
    values: View<T>,
    v: CgVectors<T>,
    run: CgRun,
) {
    let part = Part::of_this_block(n_rows);
    let mut rho = run.scalars.at(run.rho as usize);
    // The first direction is p as it is.
    let mut direction = Direction { z: v.z, beta: T::ONE, old: v.p };
    let mut new = v.other_p;
    let (mut done, mut pq, mut rr) = (0, 0.0, 0.0);
    while done < run.steps {
        let own = products(part, run.warps_per_slice, a, values, direction, new, v.q);
        [pq] = sum_for_all([own], 0, &run);
        if !(pq > 0.0) {
            break;
        }
        let own = update::<D, T>(part, T::from_f64(ratio(rho, pq)), &v, new);
        let [next, square] = sum_for_all(own, 1, &run);
        if thread::first() {
            run.history.set(done, square);
        }
        let beta = T::from_f64(ratio(next, rho));
        (rho, rr, done) = (next, square, done + 1);
        (direction, new) = (Direction { z: v.z, beta, old: new }, direction.old);
        if !(rr > run.enough) {
            break;
        }
    }
    part.each_entry::<D>(|i| {
        // SAFETY: the entries of this block's rows are below n, by contract; no other block reads p any more.
        unsafe { v.p.set(i, fma(direction.beta, direction.old.at(i), v.z.at(i))) }
    });
    if thread::first() {
        let place = run.done as usize;
        run.scalars.set(run.rho as usize, rho);
        run.scalars.set(place, done as f64);
        run.scalars.set(place + 1, pq);
        run.scalars.set(place + 2, rr);
    }
}
