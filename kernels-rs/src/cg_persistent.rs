//! Many iterations of conjugate gradients in one launch, for small systems: every thread keeps its entries of the vectors
//! in registers, and blocks wait for one another at the grid's barrier instead of for the next launch.
//!
//! An iteration of launches waits three times until every thread of the device has ended and the next have begun; on small
//! systems that is most of its time. Here it waits twice at the barrier, once for each of the two sums:
//!
//! | line of the algorithm (Saad 2003, alg. 9.1) | here |
//! | --- | --- |
//! | `q = K p` | `products`: as p is read, `p = z + beta p_old` |
//! | `p = z + beta p`, `p . q` | `Own::turn` |
//! | `alpha = r.z / p.q`, `u += alpha p`, `r -= alpha q`, `z = M^-1 r`, `r . z`, `r . r` | `Own::advance` |
//! | `beta = new r.z / r.z`, `|r| <= eps` | every thread, from the sums |
//!
//! To wait without a counter, by looking at the word of every other block until all have changed, took a third longer.
//!
//! As p is formed where it is read, its old entries must outlive the pass: two arrays take turns.

use crate::blas::quotient;
use crate::real::{Real, fma};
use crate::reduce::{BLOCK, block_sum};
use crate::sparse::Ebw;
use cuda_std::prelude::*;

/// Rows of a slice: those of a warp.
pub const SLICE: usize = 32;
/// Warps of a block.
pub const WARPS: usize = BLOCK / 32;
/// Slices of a block at most, where rows have one unknown: every thread keeps one entry of each vector. With two, systems of
/// up to twice the size fit, but on an H200 they took longer than launches did.
const MAX_SLICES: usize = BLOCK / SLICE;
/// Sums of an iteration: `p . q`, `r . z` and `r . r`.
pub const N_SUMS: usize = 3;
const FULL_WARP: u32 = u32::MAX;

/// Slices of rows with `size` unknowns each that a block can have at most.
pub const fn max_slices(size: usize) -> usize {
    MAX_SLICES / size
}

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
    /// How many warps share a slice of rows, as a power of two: 0 to 3.
    pub sharing: u32,
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

/// The rows of a block: whole slices.
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

    /// The place of this thread's entry in vectors with `D` unknowns per row, if it has one.
    #[inline(always)]
    fn entry<const D: usize>(self) -> Option<usize> {
        let i = D * SLICE * self.first_slice + thread::thread_idx_x() as usize;
        (i < D * usize::min(SLICE * self.end_slice, self.n_rows)).then_some(i)
    }
}

/// This thread's entries of the vectors.
struct Own<T> {
    place: Option<usize>,
    inverse: T,
    u: T,
    r: T,
    z: T,
    p: T,
}

impl<T: Real> Own<T> {
    #[inline(always)]
    unsafe fn load<const D: usize>(part: Part, v: &CgVectors<T>) -> Self {
        let place = part.entry::<D>();
        let mut own = Own { place, inverse: T::ZERO, u: T::ZERO, r: T::ZERO, z: T::ZERO, p: T::ZERO };
        if let Some(i) = place {
            (own.inverse, own.u, own.r, own.p) = (v.inverse.at(i), v.u.at(i), v.r.at(i), v.p.at(i));
        }
        own
    }

    /// Computes: `p = z + beta p`, into `new` too; this thread's part of `p . q`.
    #[inline(always)]
    unsafe fn turn(&mut self, beta: T, q: *const T, new: ViewMut<T>) -> f64 {
        let Some(i) = self.place else { return 0.0 };
        self.p = fma(beta, self.p, self.z);
        new.set(i, self.p);
        self.p.to_f64() * (*q.add(thread::thread_idx_x() as usize)).to_f64()
    }

    /// Computes: `u += alpha p`, `r -= alpha q`, `z = M^-1 r`; this thread's parts of `r . z` and `r . r`.
    #[inline(always)]
    unsafe fn advance(&mut self, alpha: T, q: *const T, z: ViewMut<T>) -> [f64; 2] {
        let Some(i) = self.place else { return [0.0; 2] };
        self.u = fma(alpha, self.p, self.u);
        self.r = fma(-alpha, *q.add(thread::thread_idx_x() as usize), self.r);
        self.z = self.inverse * self.r;
        z.set(i, self.z);
        let residual = self.r.to_f64();
        [residual * self.inverse.to_f64() * residual, residual * residual]
    }

    /// Stores the state: u, r, and `p = z + beta p`.
    #[inline(always)]
    unsafe fn store(&self, beta: T, v: &CgVectors<T>) {
        if let Some(i) = self.place {
            v.u.set(i, self.u);
            v.r.set(i, self.r);
            v.p.set(i, fma(beta, self.p, self.z));
        }
    }
}

/// Computes: the sums of `terms` over the grid, in every thread, the same bits in each; writes before it are seen by all
/// threads after.
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

/// What [`products`] keeps in shared memory.
#[derive(Clone, Copy)]
struct Scratch<T> {
    /// The first column of each of the block's slices and the end of the last, `[MAX_SLICES + 1]`.
    starts: *mut usize,
    /// The warps' parts of their rows' products, `[3][BLOCK]`.
    sums: *mut T,
    /// `K p` in the block's rows, `[BLOCK]`.
    q: *mut T,
}

/// Computes: `q = K (z + beta old)` in the block's rows.
///
/// Thread mapping: a lane per row of a slice; `2^sharing` warps share its columns and add up in shared memory.
#[inline(always)]
unsafe fn products<const D: usize, T: Real>(
    part: Part,
    sharing: u32,
    a: Ebw<D, SLICE>,
    values: View<T>,
    [z, old]: [ViewMut<T>; 2],
    beta: T,
    scratch: Scratch<T>,
) {
    let thread = thread::thread_idx_x() as usize;
    let (warp, lane) = (thread / 32, thread % 32);
    let warps_per_slice = 1 << sharing;
    let (share, at_once) = (warp & (warps_per_slice - 1), WARPS >> sharing);
    let n_slices = part.end_slice - part.first_slice;
    let mut first = 0;
    while first < n_slices {
        let slice = first + (warp >> sharing);
        let mut y = [T::ZERO; D];
        if slice < n_slices {
            let (start, end) = (*scratch.starts.add(slice), *scratch.starts.add(slice + 1));
            let mut k = start + share;
            while k < end {
                let column = a.sliced.columns.stream(k * SLICE + lane) as usize;
                let p: [T; D] = core::array::from_fn(|j| {
                    // SAFETY: a column of the matrix, by contract.
                    unsafe { fma(beta, old.at(D * column + j), z.at(D * column + j)) }
                });
                for j in 0..D {
                    for i in 0..D {
                        y[i] = fma(values.stream((k * D * D + D * j + i) * SLICE + lane), p[j], y[i]);
                    }
                }
                k += warps_per_slice;
            }
        }
        for i in 0..D {
            *scratch.sums.add(i * BLOCK + thread) = y[i];
        }
        thread::sync_threads();
        if share == 0 && slice < n_slices {
            for i in 0..D {
                for other in 1..warps_per_slice {
                    y[i] += *scratch.sums.add(i * BLOCK + thread + 32 * other);
                }
                *scratch.q.add(D * (SLICE * slice + lane) + i) = y[i];
            }
        }
        thread::sync_threads();
        first += at_once;
    }
}

/// Computes: iterations of conjugate gradients with a diagonal preconditioner, until `r . r` is small enough, `steps` are
/// done, or `p . q` is not positive: then the iteration in which that showed is not done.
///
/// Parameters: a matrix with slices of 32 block rows, see [`Ebw`], no more than [`max_slices`] for each block; [`CgVectors`], of
/// which `u`, `r` and `p` are the state before and after; [`CgRun`]. Thread mapping: blocks of [`BLOCK`], all of them
/// resident: a cooperative launch.
/// Memory moved: the matrix, from the second-level cache where it fits there, and two words per unknown that are written
/// and gathered. On an H200 an iteration takes 6.9 us where there is little to move, and 10 us (tet4) or 13.5 us (hex8) at 27,783 unknowns:
/// a third less than launches by a graph.
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
    let scratch = Scratch {
        starts: shared_array![usize; MAX_SLICES + 1],
        sums: shared_array![T; 3 * BLOCK],
        q: shared_array![T; BLOCK],
    };
    let thread = thread::thread_idx_x() as usize;
    if thread <= part.end_slice - part.first_slice {
        *scratch.starts.add(thread) = a.sliced.slice_start.at(part.first_slice + thread) as usize;
    }
    let mut own = Own::load::<D>(part, &v);
    let mut rho = run.scalars.at(run.rho as usize);
    thread::sync_threads();
    // The first direction is p as it is.
    let mut beta = T::ONE;
    let (mut old, mut new) = (v.p, v.other_p);
    let (mut done, mut pq, mut rr) = (0, 0.0, 0.0);
    while done < run.steps {
        products(part, run.sharing, a, values, [v.z, old], beta, scratch);
        let term = own.turn(beta, scratch.q, new);
        [pq] = sum_for_all([term], 0, &run);
        if pq <= 0.0 || pq.is_nan() {
            // The direction stays as it is.
            (own.z, beta) = (T::ZERO, T::ONE);
            break;
        }
        let terms = own.advance(T::from_f64(quotient(rho, pq)), scratch.q, v.z);
        let [next, square] = sum_for_all(terms, 1, &run);
        if thread::first() {
            run.history.set(done, square);
        }
        beta = T::from_f64(quotient(next, rho));
        (rho, rr, done) = (next, square, done + 1);
        (old, new) = (new, old);
        if rr <= run.enough || rr.is_nan() {
            break;
        }
    }
    own.store(beta, &v);
    if thread::first() {
        let place = run.done as usize;
        run.scalars.set(run.rho as usize, rho);
        run.scalars.set(place, done as f64);
        run.scalars.set(place + 1, pq);
        run.scalars.set(place + 2, rr);
    }
}
