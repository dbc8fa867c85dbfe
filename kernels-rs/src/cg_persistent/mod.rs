//! Many iterations of conjugate gradients in one launch, for small systems: every thread keeps its entries of the
//! vectors in registers, and blocks wait for one another at the grid's barrier instead of for the next launch.
//!
//! An iteration of launches waits three times until every thread of the device has ended and the next have begun; on
//! small systems that is most of its time. Here it waits twice at the barrier, once for each of the two sums:
//!
//! | line of the algorithm (Saad 2003, alg. 9.1) | here |
//! | --- | --- |
//! | `p = z + beta p` | `Neighbours::turn`: at the block rows that the block's rows name; `Own::turn`: in its own |
//! | `q = K p` | `Kept::product` |
//! | `p . q` | `Own::turn` |
//! | `alpha = r.z / p.q`, `u += alpha p`, `r -= alpha q`, `z = M^-1 r`, `r . z`, `r . r` | `Own::advance` |
//! | `beta = new r.z / r.z`, `|r| <= eps` | every thread, from the sums |
//!
//! Every block keeps the direction at all block rows that its rows name, and of the matrix as much as it has room for,
//! in its shared memory from one iteration to the next. So what it reads of other blocks in an iteration is z at these
//! block rows, each once and all at the same time, and the sums.
//!
//! To wait without a counter, by looking at the word of every other block until all have changed, took a third longer.

mod kept;
mod neighbours;
mod room;

use crate::blas::quotient;
use crate::real::{Real, fma};
use crate::reduce::{BLOCK, block_sum, warp_sum};
use crate::sparse::Ebw;
use crate::sparse::sliced::Sliced;
use cuda_std::prelude::*;
use kept::Kept;

/// Rows of a slice: those of a warp.
pub const SLICE: usize = 32;
/// Warps of a block.
pub const WARPS: usize = BLOCK / 32;
/// Slices of a block at most, where rows have one unknown: every thread keeps one entry of each vector. With two,
/// systems of up to twice the size fit, but on an H200 they took longer than launches did.
const MAX_SLICES: usize = BLOCK / SLICE;
/// Sums of an iteration: `p . q`, `r . z` and `r . r`.
pub const N_SUMS: usize = 3;
/// Where in [`CgRun::history`] the iterations begin.
pub const HISTORY: usize = 2;
/// Numbers that it holds of each: `r . r` and `r . z` after it, and its `p . q`.
pub const RECORD: usize = 3;

/// Slices of rows with `size` unknowns each that a block can have at most.
pub const fn max_slices(size: usize) -> usize {
    MAX_SLICES / size
}

/// The vectors of the iteration, `[n]` each.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CgVectors<T: DeviceCopy> {
    /// The inverse of the diagonal.
    pub inverse: View<f32>,
    /// The solution.
    pub u: ViewMut<T>,
    /// The residual.
    pub r: ViewMut<T>,
    /// 0 before; scratch.
    pub z: ViewMut<T>,
    /// The direction.
    pub p: ViewMut<T>,
}

/// How far to go, and what blocks tell one another.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CgRun {
    /// Iterations at most.
    pub steps: usize,
    /// Where `r . r` is not above the first or `r . z` not above the second, the iteration ends.
    pub enough: [f64; 2],
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: usize,
    /// The word of [`thread::sync_grid`].
    pub barrier: ViewMut<u32>,
    /// The blocks' sums, `[N_SUMS][n_blocks]`.
    pub partials: ViewMut<f64>,
    /// How it went, `[HISTORY + RECORD steps]`: the number of iterations done, the last `p . q`, and the [`RECORD`] of
    /// each iteration.
    pub history: ViewMut<f64>,
    /// The device-resident scalars, `[n_scalars]`.
    pub scalars: ViewMut<f64>,
    /// Index of `r . z`.
    pub rho: u32,
}

/// The rows of a block: whole slices, and their columns.
#[derive(Clone, Copy)]
struct Part {
    n_rows: usize,
    first_slice: usize,
    end_slice: usize,
    first_column: usize,
    end_column: usize,
}

impl Part {
    #[inline(always)]
    unsafe fn of_this_block(n_rows: usize, a: Sliced) -> Part {
        let (block, n_blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
        let n_slices = n_rows.div_ceil(SLICE);
        let [first_slice, end_slice] = [block, block + 1].map(|block| block * n_slices / n_blocks);
        let [first_column, end_column] = [first_slice, end_slice].map(|i| a.slice_start.at(i) as usize);
        Part { n_rows, first_slice, end_slice, first_column, end_column }
    }

    #[inline(always)]
    fn n_slices(self) -> usize {
        self.end_slice - self.first_slice
    }

    /// Columns of its slices.
    #[inline(always)]
    fn n_columns(self) -> usize {
        self.end_column - self.first_column
    }

    /// Block columns that its rows name.
    #[inline(always)]
    fn n_entries(self) -> usize {
        self.n_columns() * SLICE
    }

    /// Where they start.
    #[inline(always)]
    fn first_entry(self) -> usize {
        self.first_column * SLICE
    }

    /// The place of this thread's entry in vectors with `D` unknowns per row, if it has one.
    #[inline(always)]
    fn entry<const D: usize>(self) -> Option<usize> {
        let i = D * SLICE * self.first_slice + thread::thread_idx_x() as usize;
        (i < D * usize::min(SLICE * self.end_slice, self.n_rows)).then_some(i)
    }
}

/// This thread's entries of the vectors.
#[derive(Default)]
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
        let mut own = Own { place: part.entry::<D>(), ..Own::default() };
        if let Some(i) = own.place {
            own.inverse = T::from_f64(v.inverse.at(i).into());
            (own.u, own.r, own.p) = (v.u.at(i), v.r.at(i), v.p.at(i));
        }
        own
    }

    /// Computes: `p = z + beta p`; this thread's part of `p . q`.
    #[inline(always)]
    fn turn(&mut self, beta: T, q: T) -> f64 {
        if self.place.is_none() {
            return 0.0;
        }
        self.p = fma(beta, self.p, self.z);
        self.p.to_f64() * q.to_f64()
    }

    /// Computes: `u += alpha p`, `r -= alpha q`, `z = M^-1 r`; this thread's parts of `r . z` and `r . r`. Stores z for
    /// other blocks, and p for those without room for their neighbours: until the next sum all have read what was
    /// there.
    #[inline(always)]
    unsafe fn advance(&mut self, alpha: T, q: T, v: &CgVectors<T>) -> [f64; 2] {
        let Some(i) = self.place else { return [0.0; 2] };
        self.u = fma(alpha, self.p, self.u);
        self.r = fma(-alpha, q, self.r);
        self.z = self.inverse * self.r;
        v.z.set(i, self.z);
        v.p.set(i, self.p);
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

/// Computes: the sums of `terms` over the grid, in every thread, the same bits in each; writes before it are seen by
/// all threads after.
///
/// Memory moved: 8 M bytes written per block, and read by every block: a warp for each sum.
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
    let totals = shared_array![f64; N_SUMS];
    let (m, lane) = ((thread::thread_idx_x() / 32) as usize, thread::thread_idx_x() % 32);
    if m < M {
        let [total] = warp_sum([sum_of_blocks((place + m) * n_blocks, n_blocks as u32, lane, run.partials)]);
        if lane == 0 {
            *totals.add(m) = total;
        }
    }
    thread::sync_threads();
    core::array::from_fn(|m| {
        // Written before the barrier, and not again before all have passed the next.
        *totals.add(m)
    })
}

/// Computes: the sum of the entries `lane`, `lane + 32`, .. of `n` from `first` on.
#[inline(always)]
unsafe fn sum_of_blocks(first: usize, n: u32, lane: u32, partials: ViewMut<f64>) -> f64 {
    let (mut total, mut i) = (0.0, lane);
    while i < n {
        // All at the same time, to wait once, if there are no more than 288 blocks.
        let terms: [f64; 9] = core::array::from_fn(|k| {
            let i = i + 32 * k as u32;
            if i < n { partials.at(first + i as usize) } else { 0.0 }
        });
        for k in 0..terms.len() {
            total += terms[k];
        }
        i += 32 * terms.len() as u32;
    }
    total
}

/// Computes: iterations of conjugate gradients with a diagonal preconditioner, until `r . r` is small enough, `steps`
/// are done, or `p . q` is not positive: then the iteration in which that showed is not done.
///
/// Parameters: a matrix with slices of 32 block rows, see [`Ebw`], no more than [`max_slices`] for each block;
/// [`CgVectors`], of which `u`, `r` and `p` are the state before and after; [`CgRun`]. Thread mapping: blocks of
/// [`BLOCK`], all of them resident: a cooperative launch.
/// Memory moved, in an iteration: two words written per unknown, one word read for every unknown of each block's
/// neighbours, and the part of the matrix that shared memory has no room for, from the second-level cache where it fits
/// there. A block without room for its neighbours reads two words and the index for every block in its rows too. On an
/// H200, in f64, an iteration of a whole solution takes 6.4 us (tet4) and 8.7 us (hex8) at 27,783 unknowns, 6.9 and 9.2
/// us at 46,875: half of what launches by a graph take. With the direction gathered for every block instead of kept,
/// and the blocks' sums read in three goes, it took 8.9 and 12.5 us at 27,783.
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
    let part = Part::of_this_block(n_rows, a.sliced);
    let starts = shared_array![usize; MAX_SLICES + 1];
    let thread = thread::thread_idx_x() as usize;
    if thread <= part.n_slices() {
        *starts.add(thread) = a.sliced.slice_start.at(part.first_slice + thread) as usize;
    }
    let mut own = Own::load::<D>(part, &v);
    let mut rho = run.scalars.at(run.rho as usize);
    let kept = Kept::new(part, a, values, v.p, run.shared_bytes);
    // The first direction is p as it is.
    let mut beta = T::ONE;
    let (mut done, mut pq) = (0, 0.0);
    while done < run.steps {
        let q = kept.product(&v, beta, starts);
        [pq] = sum_for_all([own.turn(beta, q)], 0, &run);
        if pq <= 0.0 || pq.is_nan() {
            // The direction stays as it is.
            (own.z, beta) = (T::ZERO, T::ONE);
            break;
        }
        let terms = own.advance(T::from_f64(quotient(rho, pq)), q, &v);
        let [next, square] = sum_for_all(terms, 1, &run);
        if thread::first() {
            let first = HISTORY + RECORD * done;
            run.history.set(first, square);
            run.history.set(first + 1, next);
            run.history.set(first + 2, pq);
        }
        beta = T::from_f64(quotient(next, rho));
        (rho, done) = (next, done + 1);
        if square <= run.enough[0] || next <= run.enough[1] || square.is_nan() {
            break;
        }
    }
    own.store(beta, &v);
    if thread::first() {
        run.scalars.set(run.rho as usize, rho);
        run.history.set(0, done as f64);
        run.history.set(1, pq);
    }
}
