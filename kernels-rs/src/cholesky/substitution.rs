//! `L y = r` and `L^T x = y`, a tile column at a time.
//!
//! Each launch finds a tile of the solution with the inverse of the diagonal's tile, in every block anew as that is
//! little work, and takes its part from what is left of the right-hand side. Memory moved by each substitution: the
//! triangle, once.

use super::{Square, TILE, row_and_share, sum_of_row};
use crate::real::{Real, fma};
use crate::reduce::warp_sum;
use cuda_std::prelude::*;

/// Warps of a block.
const WARPS: usize = super::THREADS / 32;
/// Threads that share a row.
const SHARING: usize = super::SHARING;

/// Computes: `y_k = L_kk^-1 r_k` and `r_i -= L_ik y_k` of every tile i below, for k = `step`.
///
/// Parameters: `inverses`, see [`super::cholesky_tile`]; `r, y [n]`.
/// Thread mapping: a block of [`super::THREADS`] per tile from the diagonal down, four threads per row.
/// Memory moved: the tiles of L in column k below the diagonal, and an inverse. Operations: one per value.
#[kernel(launch_bounds(256, 2), T = [f32, f64])]
pub unsafe fn cholesky_forward<T: Real>(step: usize, a: Square<T>, inverses: View<T>, r: ViewMut<T>, y: ViewMut<T>) {
    let solved = shared_array![T; 64];
    let sums = shared_array![T; 256];
    let (row, share) = row_and_share();
    let (block, k) = (thread::block_idx_x() as usize, step * TILE);
    let mut sum = T::ZERO;
    for column in (share..TILE).step_by(SHARING) {
        sum = fma(inverses.at((k + column) * TILE + row), r.at(k + column), sum);
    }
    let value = sum_of_row(sum, sums);
    if block == 0 {
        if share == 0 {
            y.set(k + row, value);
        }
        return;
    }
    if share == 0 {
        *solved.add(row) = value;
    }
    thread::sync_threads();
    let first = k + block * TILE;
    let mut sum = T::ZERO;
    for column in (share..TILE).step_by(SHARING) {
        sum = fma(a.at(first + row, k + column), *solved.add(column), sum);
    }
    let sum = sum_of_row(sum, sums);
    if share == 0 {
        r.set(first + row, r.at(first + row) - sum);
    }
}

/// Computes: `entry(row, column)` times x, summed over the rows of a tile, for every column; `set(column, sum)` by one
/// thread each.
///
/// Thread mapping: a warp per column, whose lanes read neighbouring rows.
#[inline(always)]
unsafe fn transposed_product<T: Real>(
    entry: impl Fn(usize, usize) -> T,
    x: impl Fn(usize) -> T,
    mut set: impl FnMut(usize, T),
) {
    let thread = thread::thread_idx_x() as usize;
    let (warp, lane) = (thread / 32, thread % 32);
    for column in (warp..TILE).step_by(WARPS) {
        let two_rows = fma(entry(lane, column), x(lane), entry(lane + 32, column) * x(lane + 32));
        let [sum] = warp_sum([two_rows.to_f64()]);
        if lane == 0 {
            set(column, T::from_f64(sum));
        }
    }
}

/// Computes: `x_k = L_kk^-T y_k` and `y_j -= L_kj^T x_k` of every tile j before, for k = `step`.
///
/// Parameters: `inverses`, see [`super::cholesky_tile`]; `y, x [n]`.
/// Thread mapping: a block of [`super::THREADS`] per tile up to the diagonal, a warp per column.
/// Memory moved: the tiles of L in row k before the diagonal, and an inverse. Operations: one per value.
#[kernel(launch_bounds(256, 2), T = [f32, f64])]
pub unsafe fn cholesky_backward<T: Real>(step: usize, a: Square<T>, inverses: View<T>, y: ViewMut<T>, x: ViewMut<T>) {
    let solved = shared_array![T; 64];
    let (block, k) = (thread::block_idx_x() as usize, step * TILE);
    transposed_product(
        |row, column| inverses.at((k + column) * TILE + row),
        // An entry of this tile of the vector, which this launch only reads.
        |row| y.at(k + row),
        // A word of this block's shared memory, of one warp.
        |column, sum| *solved.add(column) = sum,
    );
    thread::sync_threads();
    if block == step {
        let thread = thread::thread_idx_x() as usize;
        if thread < TILE {
            x.set(k + thread, *solved.add(thread));
        }
        return;
    }
    let first = block * TILE;
    transposed_product(
        // An entry of the matrix, which this launch only reads.
        |row, column| a.at(k + row, first + column),
        // A word of this block's shared memory, written before the barrier.
        |row| *solved.add(row),
        // A column belongs to one warp of one block.
        |column, sum| y.set(first + column, y.at(first + column) - sum),
    );
}
