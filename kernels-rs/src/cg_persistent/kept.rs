//! What a block has at hand of the matrix, and the product with it.

use super::neighbours::Neighbours;
use super::room::{Room, share};
use super::{CgVectors, Part, SLICE, WARPS};
use crate::real::{Real, fma};
use crate::reduce::BLOCK;
use crate::sparse::Ebw;
use cuda_std::prelude::*;

/// The rows of a block, with what its dynamic shared memory holds of them: first its neighbours, which every column
/// needs, and values in what is left.
#[derive(Clone, Copy)]
pub(super) struct Kept<const D: usize, T: Real> {
    part: Part,
    a: Ebw<D, SLICE>,
    all: View<T>,
    /// None where there is no room for them: then z and p are gathered for each column.
    neighbours: Option<Neighbours<D, T>>,
    /// The end of the columns whose values are kept.
    end: usize,
    /// The values of the columns before, `[end - first][D D][SLICE]`.
    values: *mut T,
}

impl<const D: usize, T: Real> Kept<D, T> {
    /// Finds the neighbours and copies values, as far as there is room.
    ///
    /// Memory moved: what is kept, once.
    #[inline(always)]
    pub(super) unsafe fn new(part: Part, a: Ebw<D, SLICE>, all: View<T>, p: ViewMut<T>, bytes: usize) -> Self {
        let mut room = Room::new(bytes);
        let neighbours = Neighbours::new(part, a.sliced.columns, p, &mut room);
        let (n, values) = room.take_most::<T>(part.n_columns(), D * D * SLICE);
        share(n * SLICE, |i| {
            let place = |entry| (i / SLICE * D * D + entry) * SLICE + i % SLICE;
            let first = part.first_column * D * D * SLICE;
            // A whole block at a time, to wait once for its values.
            let block: [[T; D]; D] =
                core::array::from_fn(|j| core::array::from_fn(|row| all.stream(first + place(D * j + row))));
            for entry in 0..D * D {
                *values.add(place(entry)) = block[entry / D][entry % D];
            }
        });
        thread::sync_threads();
        Kept { part, a, all, neighbours, end: part.first_column + n, values }
    }

    /// Computes: `q = K (z + beta p)` in this thread's entry. `starts`: the first column of each of the block's slices
    /// and the end of the last, `[MAX_SLICES + 1]`.
    ///
    /// Thread mapping: a lane per row of a slice; the warps of a block share the columns of its only slice, or four
    /// those of each (2 or 8 are slower on an H200, of 2 to 5 slices); then a thread per entry adds up their parts.
    #[inline(always)]
    pub(super) unsafe fn product(self, v: &CgVectors<T>, beta: T, starts: *const usize) -> T {
        // The warps' parts, `[WARPS][SLICE][D]`, here for D = 3.
        let parts = shared_array![T; 3 * BLOCK];
        if let Some(neighbours) = self.neighbours {
            neighbours.turn(beta, v.z);
        }
        let thread = thread::thread_idx_x() as usize;
        let (warp, lane) = (thread / 32, thread % 32);
        let (own_slice, own_row) = (thread / (D * SLICE), thread % (D * SLICE));
        let n_slices = self.part.n_slices();
        let at_once = if n_slices > 1 { 2 } else { 1 };
        let warps_per_slice = WARPS / at_once;
        let (mut q, mut first) = (T::ZERO, 0);
        while first < n_slices {
            let slice = first + warp / warps_per_slice;
            let mut y = [T::ZERO; D];
            if slice < n_slices {
                let columns = Columns {
                    first: *starts.add(slice) + warp % warps_per_slice,
                    end: *starts.add(slice + 1),
                    step: warps_per_slice,
                    lane,
                };
                y = self.row_part(v, beta, columns);
            }
            for i in 0..D {
                *parts.add(D * thread + i) = y[i];
            }
            thread::sync_threads();
            if first <= own_slice && own_slice < first + at_once {
                let warp = (own_slice - first) * warps_per_slice;
                for other in warp..warp + warps_per_slice {
                    q += *parts.add(other * D * SLICE + own_row);
                }
            }
            first += at_once;
            if first < n_slices {
                thread::sync_threads();
            }
        }
        q
    }

    /// Computes: a lane's part of its row's product, of some columns.
    #[inline(always)]
    unsafe fn row_part(self, v: &CgVectors<T>, beta: T, columns: Columns) -> [T; D] {
        let lane = columns.lane;
        match self.neighbours {
            Some(neighbours) => {
                self.sum::<2>(columns, |k| neighbours.direction((k - self.part.first_column) * SLICE + lane))
            }
            None => self.sum::<1>(columns, |k| {
                let row = self.a.sliced.columns.stream(k * SLICE + lane) as usize;
                core::array::from_fn(|j| fma(beta, v.p.at(D * row + j), v.z.at(D * row + j)))
            }),
        }
    }

    /// Computes: the sum over some columns k of `A_k direction(k)`, in the order of k wherever the values are, `N` at a
    /// time.
    #[inline(always)]
    unsafe fn sum<const N: usize>(self, columns: Columns, direction: impl Fn(usize) -> [T; D]) -> [T; D] {
        let lane = columns.lane;
        let kept = Columns { end: usize::min(columns.end, self.end), ..columns };
        let mut y = [T::ZERO; D];
        let next = kept.add_blocks::<N, D, T>(&mut y, &direction, |k, entry| {
            *self.values.add(((k - self.part.first_column) * D * D + entry) * SLICE + lane)
        });
        let others = Columns { first: next, ..columns };
        others
            .add_blocks::<N, D, T>(&mut y, &direction, |k, entry| self.all.stream((k * D * D + entry) * SLICE + lane));
        y
    }
}

/// The columns `first`, `first + step`, .. before `end`, in one lane.
#[derive(Clone, Copy)]
struct Columns {
    first: usize,
    end: usize,
    step: usize,
    lane: usize,
}

impl Columns {
    /// Computes: `y += A_k direction(k)` for each column k, `N` at a time to wait once for them; the column after the
    /// last.
    #[inline(always)]
    fn add_blocks<const N: usize, const D: usize, T: Real>(
        self,
        y: &mut [T; D],
        direction: impl Fn(usize) -> [T; D],
        entry: impl Fn(usize, usize) -> T,
    ) -> usize {
        let Columns { first: mut k, end, step, .. } = self;
        while k + (N - 1) * step < end {
            let columns: [usize; N] = core::array::from_fn(|i| k + i * step);
            let directions = columns.map(&direction);
            for i in 0..N {
                add_block(directions[i], y, |place| entry(columns[i], place));
            }
            k += N * step;
        }
        while k < end {
            add_block(direction(k), y, |place| entry(k, place));
            k += step;
        }
        k
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
