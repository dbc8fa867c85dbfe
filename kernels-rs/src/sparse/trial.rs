//! Products under study, over block rows of 3x3 blocks in EBW's slices of 32: measured by `warpfem bench trials`, used by nothing.

use super::gather;
use super::sliced::Sliced;
use crate::real::{Real, fma};
use cuda_std::prelude::*;

const SLICE: usize = 32;

/// Adds to `y` the product of the block of column `k` and this lane with its part of x.
#[inline(always)]
unsafe fn add_block<T: Real>(k: usize, lane: usize, values: View<T>, x: [T; 3], y: &mut [T; 3]) {
    for j in 0..3 {
        for i in 0..3 {
            y[i] = fma(values.stream((9 * k + 3 * j + i) * SLICE + lane), x[j], y[i]);
        }
    }
}

/// Computes: `y = A x` with values in f32 and sums in f64, x and y in `X`.
///
/// Parameters: `values [n_columns][9][SLICE]`, `x, y [3 n_rows]`. Thread mapping: an item per block row.
/// Memory moved: 40 bytes per block, x and y once.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, X = [f32, f64])]
pub unsafe fn trial_mixed<X: Real>(row: usize, a: Sliced, values: View<f32>, x: View<X>, y: ViewMut<X>) {
    let (start, end) = a.slice(row / SLICE);
    let lane = row % SLICE;
    let mut sums = [0.0; 3];
    for k in start..end {
        let x = gather::<3, X>(x, a.columns.stream(k * SLICE + lane) as usize);
        for j in 0..3 {
            for i in 0..3 {
                let value = values.stream((9 * k + 3 * j + i) * SLICE + lane) as f64;
                sums[i] = fma(value, x[j].to_f64(), sums[i]);
            }
        }
    }
    for i in 0..3 {
        y.set(3 * row + i, X::from_f64(sums[i]));
    }
}

/// Computes: `y += A x` for a symmetric matrix of which only the blocks on and above the diagonal are stored.
///
/// Parameters: as [`trial_mixed`]; `y` zero before. Thread mapping: an item per block row.
/// Memory moved: the stored blocks with their columns, x once; three atomic sums per block.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn trial_half<T: Real>(row: usize, a: Sliced, values: View<T>, x: View<T>, y: ViewMut<T>) {
    let (start, end) = a.slice(row / SLICE);
    let lane = row % SLICE;
    let own = gather::<3, T>(x, row);
    let mut sums = [T::ZERO; 3];
    for k in start..end {
        let column = a.columns.stream(k * SLICE + lane) as usize;
        let x = gather::<3, T>(x, column);
        let mut transposed = [T::ZERO; 3];
        for j in 0..3 {
            for i in 0..3 {
                let value = values.stream((9 * k + 3 * j + i) * SLICE + lane);
                sums[i] = fma(value, x[j], sums[i]);
                transposed[j] = fma(value, own[i], transposed[j]);
            }
        }
        // The diagonal block, or padding.
        if column != row {
            for j in 0..3 {
                atomic::accumulate(y, 3 * column + j, transposed[j]);
            }
        }
    }
    for i in 0..3 {
        atomic::accumulate(y, 3 * row + i, sums[i]);
    }
}

/// Computes: `y = A x` with `P` threads of a warp per block row, each of which takes every `P`-th block.
///
/// The loader tells ptxas that `B` blocks of 256 threads have to fit a multiprocessor: with 2 it takes 120 registers and issues the
/// loads of four blocks, 52, before the first product; left alone (0), it takes 40 and issues 13.
///
/// Parameters: as [`trial_mixed`]. Thread mapping: the lanes of a warp are cut into `P` runs over the same rows.
/// Memory moved: 76 bytes (40 in f32) per block, x and y once.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(P = [1, 2, 4, 8], B = [0, 2, 4], T = [f32, f64])]
pub unsafe fn trial_parts<const P: usize, const B: usize, T: Real>(
    n_rows: usize,
    a: Sliced,
    values: View<T>,
    x: View<T>,
    y: ViewMut<T>,
) {
    let thread = thread::block_idx_x() as usize * thread::block_dim_x() as usize + thread::thread_idx_x() as usize;
    let (warp, lane, rows) = (thread / 32, thread % 32, 32 / P);
    let (row, part) = (warp * rows + lane % rows, lane / rows);
    let mut sums = [T::ZERO; 3];
    if row < n_rows {
        let (start, end) = a.slice(row / SLICE);
        let mut k = start + part;
        while k < end {
            let x = gather::<3, T>(x, a.columns.stream(k * SLICE + row % SLICE) as usize);
            add_block(k, row % SLICE, values, x, &mut sums);
            k += P;
        }
    }
    let mut delta = 16;
    while delta >= rows {
        for sum in &mut sums {
            *sum += warp::warp_shuffle_down(u32::MAX, *sum, delta as u32, 32).0;
        }
        delta /= 2;
    }
    if part == 0 && row < n_rows {
        for i in 0..3 {
            y.set(3 * row + i, sums[i]);
        }
    }
}

/// Computes: `y = A x`, `U` blocks at a time: their columns are loaded first, then x, then values.
///
/// Parameters, thread mapping: as [`trial_mixed`]. Memory moved: 76 bytes (40 in f32) per block, x and y once.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, U = [2, 4], T = [f32, f64])]
pub unsafe fn trial_unrolled<const U: usize, T: Real>(
    row: usize,
    a: Sliced,
    values: View<T>,
    x: View<T>,
    y: ViewMut<T>,
) {
    let (mut k, end) = a.slice(row / SLICE);
    let lane = row % SLICE;
    let mut sums = [T::ZERO; 3];
    while k + U <= end {
        let mut columns = [0; U];
        for u in 0..U {
            columns[u] = a.columns.stream((k + u) * SLICE + lane) as usize;
        }
        let mut gathered = [[T::ZERO; 3]; U];
        for u in 0..U {
            gathered[u] = gather::<3, T>(x, columns[u]);
        }
        for u in 0..U {
            add_block(k + u, lane, values, gathered[u], &mut sums);
        }
        k += U;
    }
    while k < end {
        let x = gather::<3, T>(x, a.columns.stream(k * SLICE + lane) as usize);
        add_block(k, lane, values, x, &mut sums);
        k += 1;
    }
    for i in 0..3 {
        y.set(3 * row + i, sums[i]);
    }
}
