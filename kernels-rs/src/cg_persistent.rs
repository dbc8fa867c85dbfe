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
use crate::reduce::{BLOCK, block_sum, warp_sum};
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
/// Where in [`CgRun::history`] the iterations begin.
pub const HISTORY: usize = 2;

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
    /// Columns of slices for which a block has room in its dynamic shared memory, at [`kept_bytes`] each.
    pub room: usize,
    /// The word of [`thread::sync_grid`].
    pub barrier: ViewMut<u32>,
    /// The blocks' sums, `[N_SUMS][n_blocks]`.
    pub partials: ViewMut<f64>,
    /// How it went, `[HISTORY + steps]`: the number of iterations done, the last `p . q`, and `r . r` after each iteration.
    pub history: ViewMut<f64>,
    /// The device-resident scalars, `[n_scalars]`.
    pub scalars: ViewMut<f64>,
    /// Index of `r . z`.
    pub rho: u32,
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
    let (m, lane) = ((thread::thread_idx_x() / 32) as usize, (thread::thread_idx_x() % 32) as usize);
    if m < M {
        let mut total = 0.0;
        let mut i = lane;
        while i < n_blocks {
            total += run.partials.at((place + m) * n_blocks + i);
            i += 32;
        }
        let [total] = warp_sum([total]);
        if lane == 0 {
            *totals.add(m) = total;
        }
    }
    thread::sync_threads();
    core::array::from_fn(|m| {
        // SAFETY: written before the barrier, and not again before all have passed the next.
        unsafe { *totals.add(m) }
    })
}

/// Bytes of a column of a slice, with `size` unknowns per row and values of `value_bytes`.
pub const fn kept_bytes(size: usize, value_bytes: usize) -> usize {
    SLICE * (size * size * value_bytes + size_of::<u32>())
}

/// The first columns of a block's slices, in its dynamic shared memory: as many as it has room for.
#[derive(Clone, Copy)]
struct Kept<const D: usize, T: Real> {
    a: Ebw<D, SLICE>,
    all: View<T>,
    first: usize,
    end: usize,
    /// `[end - first][D D][SLICE]`
    values: *mut T,
    /// `[end - first][SLICE]`
    columns: *mut u32,
}

impl<const D: usize, T: Real> Kept<D, T> {
    /// Copies columns from `first` on, of `end - first` that the block has.
    #[inline(always)]
    unsafe fn load(a: Ebw<D, SLICE>, all: View<T>, [first, end]: [usize; 2], room: usize) -> Self {
        let n = usize::min(end - first, room);
        let values = shared::dynamic_shared_mem::<T>();
        let columns = values.add(n * D * D * SLICE).cast::<u32>();
        let mut i = thread::thread_idx_x() as usize;
        while i < n * D * D * SLICE {
            *values.add(i) = all.stream(first * D * D * SLICE + i);
            i += BLOCK;
        }
        let mut i = thread::thread_idx_x() as usize;
        while i < n * SLICE {
            *columns.add(i) = a.sliced.columns.stream(first * SLICE + i);
            i += BLOCK;
        }
        Kept { a, all, first, end: first + n, values, columns }
    }

    /// The block column of a lane's row in column k.
    #[inline(always)]
    unsafe fn column(&self, k: usize, lane: usize) -> usize {
        if k < self.end {
            *self.columns.add((k - self.first) * SLICE + lane) as usize
        } else {
            self.a.sliced.columns.stream(k * SLICE + lane) as usize
        }
    }

    /// Computes: `y += A_k p` for the block in column k of a lane's row.
    #[inline(always)]
    unsafe fn add_product(&self, k: usize, lane: usize, p: [T; D], y: &mut [T; D]) {
        if k < self.end {
            let block = self.values.add((k - self.first) * D * D * SLICE + lane);
            add_block(p, y, |entry| *block.add(entry * SLICE));
        } else {
            add_block(p, y, |entry| self.all.stream((k * D * D + entry) * SLICE + lane));
        }
    }
}

/// Computes: `y += A p` of a block, column by column.
#[inline(always)]
fn add_block<const D: usize, T: Real>(p: [T; D], y: &mut [T; D], entry: impl Fn(usize) -> T) {
    for j in 0..D {
        for i in 0..D {
            y[i] = fma(entry(D * j + i), p[j], y[i]);
        }
    }
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
/// Thread mapping: a lane per row of a slice; the warps of a block share the columns of its only slice, or four those of each
/// (2 or 8 are slower on an H200, of 2 to 5 slices), and add up in shared memory.
#[inline(always)]
unsafe fn products<const D: usize, T: Real>(
    part: Part,
    kept: Kept<D, T>,
    [z, old]: [ViewMut<T>; 2],
    beta: T,
    scratch: Scratch<T>,
) {
    let thread = thread::thread_idx_x() as usize;
    let (warp, lane) = (thread / 32, thread % 32);
    let n_slices = part.end_slice - part.first_slice;
    let at_once = if n_slices > 1 { 2 } else { 1 };
    let warps_per_slice = WARPS / at_once;
    let share = warp % warps_per_slice;
    let direction = |column: usize| -> [T; D] {
        core::array::from_fn(|j| {
            // SAFETY: a column of the matrix, by contract.
            unsafe { fma(beta, old.at(D * column + j), z.at(D * column + j)) }
        })
    };
    let mut first = 0;
    while first < n_slices {
        let slice = first + warp / warps_per_slice;
        let mut y = [T::ZERO; D];
        if slice < n_slices {
            let (start, end) = (*scratch.starts.add(slice), *scratch.starts.add(slice + 1));
            let mut k = start + share;
            // Two at a time, to wait once for what is gathered.
            while k + warps_per_slice < end {
                let next = k + warps_per_slice;
                let [one, other] = [kept.column(k, lane), kept.column(next, lane)];
                let [one, other] = [direction(one), direction(other)];
                kept.add_product(k, lane, one, &mut y);
                kept.add_product(next, lane, other, &mut y);
                k = next + warps_per_slice;
            }
            while k < end {
                kept.add_product(k, lane, direction(kept.column(k, lane)), &mut y);
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
/// and gathered. On an H200 an iteration takes 5 us where there is little to move, and 8.5 us (tet4) or 10.7 us (hex8) at 27,783
/// unknowns: half of what launches by a graph take. Without columns in shared memory it takes 9.0 us and 11.9 us; with every warp
/// reading all blocks' sums, and columns one at a time, 10.0 us and 13.5 us.
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
    let columns = [*scratch.starts, *scratch.starts.add(part.end_slice - part.first_slice)];
    let kept = Kept::load(a, values, columns, run.room);
    thread::sync_threads();
    // The first direction is p as it is.
    let mut beta = T::ONE;
    let (mut old, mut new) = (v.p, v.other_p);
    let (mut done, mut pq) = (0, 0.0);
    while done < run.steps {
        products(part, kept, [v.z, old], beta, scratch);
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
            run.history.set(HISTORY + done, square);
        }
        beta = T::from_f64(quotient(next, rho));
        (rho, done) = (next, done + 1);
        (old, new) = (new, old);
        if square <= run.enough || square.is_nan() {
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
