//! Dense Cholesky factorisation `A = L L^T`, in place, by tiles of 64 rows and columns (Golub and Van Loan 2013, alg.
//! 4.2.2's blocks, right-looking), and the substitutions with the factor.
//!
//! | for each tile column k | here |
//! | --- | --- |
//! | `L_kk`, and its inverse | [`cholesky_tile`] |
//! | `L_ik = A_ik L_kk^-T` of every i below | [`update::cholesky_panel`] |
//! | `A_ij -= L_ik L_jk^T` of every i >= j below | [`update::cholesky_update`] |
//!
//! With the inverses of the diagonal's tiles the triangular solutions are products, which all threads share; the tiles'
//! condition is no worse than the matrix's. Matrices are padded with an identity to whole tiles, so no kernel looks at
//! bounds.
//!
//! Operations: n^3 / 3 multiplications and additions of pairs. Memory moved: each of the n / 64 updates reads and
//! writes what is left of the triangle, n^3 / 192 values in all: 8 operations per byte in f64.

pub mod matrix;
pub mod substitution;
pub mod update;

use crate::real::{Real, fma};
use cuda_std::prelude::*;

/// Rows and columns of a tile.
pub const TILE: usize = 64;
/// Threads of a block of every kernel here.
pub const THREADS: usize = 256;
/// Threads that share a row of a tile.
const SHARING: usize = THREADS / TILE;

/// A square matrix of whole tiles, column by column, of which the lower triangle counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Square<T: DeviceCopy> {
    /// Rows, and columns: a multiple of [`TILE`].
    pub n: usize,
    /// `[n][n]`; above the diagonal, within the tiles on it, scratch.
    pub values: ViewMut<T>,
}

impl<T: Real> Square<T> {
    /// The place of an entry.
    #[inline(always)]
    fn place(self, row: usize, column: usize) -> usize {
        column * self.n + row
    }

    /// An entry.
    #[inline(always)]
    pub unsafe fn at(self, row: usize, column: usize) -> T {
        self.values.at(self.place(row, column))
    }
}

/// The row of a tile that this thread has, and which of those that share it it is: neighbours have neighbouring rows.
#[inline(always)]
fn row_and_share() -> (usize, usize) {
    let thread = thread::thread_idx_x() as usize;
    (thread % TILE, thread / TILE)
}

/// Computes: the sum of the shares of this thread's row, in all of them. `sums [SHARING][TILE]`; 2 barriers.
#[inline(always)]
unsafe fn sum_of_row<T: Real>(term: T, sums: *mut T) -> T {
    let (row, share) = row_and_share();
    thread::sync_threads();
    *sums.add(share * TILE + row) = term;
    thread::sync_threads();
    let mut total = T::ZERO;
    for other in 0..SHARING {
        total += *sums.add(other * TILE + row);
    }
    total
}

/// Computes: the factor of the tile on the diagonal in tile column `step`, in place, and its inverse. The first pivot
/// of the matrix that is not above `smallest` is noted, and replaced by 1.
///
/// Parameters: `inverses [n / TILE][TILE][TILE]`, column by column; `failure [2]`, the row of that pivot and the pivot;
/// the row is negative before.
/// Thread mapping: one block of [`THREADS`], four threads per row. Shared memory: 4,352 values; 6 barriers per column.
/// Memory moved: the tile, read and written, and its inverse. Operations: `2 TILE^3 / 3`.
#[kernel(launch_bounds(256, 1), T = [f32, f64])]
pub unsafe fn cholesky_tile<T: Real>(
    step: usize,
    smallest: T,
    a: Square<T>,
    inverses: ViewMut<T>,
    failure: ViewMut<f64>,
) {
    let tile = shared_array![T; 4096];
    let sums = shared_array![T; 256];
    let first = step * TILE;
    let (row, share) = row_and_share();
    for column in (share..TILE).step_by(SHARING) {
        let is_lower = row >= column;
        *tile.add(column * TILE + row) = if is_lower { a.at(first + row, first + column) } else { T::ZERO };
    }
    thread::sync_threads();
    factorise(first, smallest, tile, failure);
    for column in (share..TILE).step_by(SHARING) {
        a.values.set(a.place(first + row, first + column), *tile.add(column * TILE + row));
    }
    invert(tile, sums);
    for column in (share..TILE).step_by(SHARING) {
        inverses.set((step * TILE + column) * TILE + row, *tile.add(column * TILE + row));
    }
}

/// Computes: `L` of a tile in shared memory, column by column, in place.
#[inline(always)]
unsafe fn factorise<T: Real>(first: usize, smallest: T, tile: *mut T, failure: ViewMut<f64>) {
    let (row, share) = row_and_share();
    for k in 0..TILE {
        let pivot = *tile.add(k * TILE + k);
        let is_positive = pivot > smallest;
        if !is_positive && row == 0 && share == 0 && failure.at(0) < 0.0 {
            failure.set(0, (first + k) as f64);
            failure.set(1, pivot.to_f64());
        }
        let root = if is_positive { pivot.sqrt() } else { T::ONE };
        thread::sync_threads();
        if share == 0 && row >= k {
            let value = *tile.add(k * TILE + row);
            *tile.add(k * TILE + row) = if row == k { root } else { value / root };
        }
        thread::sync_threads();
        let l = *tile.add(k * TILE + row);
        for column in (k + 1 + share..TILE).step_by(SHARING) {
            if row >= column {
                let entry = tile.add(column * TILE + row);
                *entry = fma(-l, *tile.add(k * TILE + column), *entry);
            }
        }
        thread::sync_threads();
    }
}

/// Computes: the inverse of a lower triangle in shared memory, in place, from its last column to its first.
#[inline(always)]
unsafe fn invert<T: Real>(tile: *mut T, sums: *mut T) {
    let (row, share) = row_and_share();
    for column in (0..TILE).rev() {
        let diagonal = T::ONE / *tile.add(column * TILE + column);
        let mut sum = T::ZERO;
        for k in (column + 1 + share..row + 1).step_by(SHARING) {
            sum = fma(*tile.add(k * TILE + row), *tile.add(column * TILE + k), sum);
        }
        let sum = sum_of_row(sum, sums);
        if share == 0 && row >= column {
            *tile.add(column * TILE + row) = if row == column { diagonal } else { -(sum * diagonal) };
        }
        thread::sync_threads();
    }
}
