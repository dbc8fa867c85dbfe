//! Products of an EBW matrix with up to [`WIDTH`] vectors in one pass: its values, most of what a product reads, are read once.
//!
//! A thread has a block row and all vectors; or W of them, where there are so few rows that their number leaves the device
//! idle. Of fewer vectors one stands in for those that are none, which costs no memory traffic, and its products are not
//! written. The products of each vector have the bits of those that it has alone.

use super::Ebw;
use crate::precond::step_entry;
use crate::real::{Real, fma};
use crate::vectors::{Vectors, VectorsMut, WIDTH};
use core::ops::Range;
use cuda_std::prelude::*;

/// Threads of a block, as the kernels' launch bounds have it.
pub const THREADS: usize = 128;
/// Rows of a slice.
const LANES: usize = 32;

/// The products of a block row with some vectors, `[D][W]`.
///
/// Values column by column of a block, as they are stored, so that a thread keeps D of them. Of large blocks, which few rows
/// have, the index of the next one is read before this one's values: else each would wait twice for the memory. On an H200
/// that takes 10 % off a product of multigrid's first coarse level; to one of hex8's finest it would add 9 %.
#[inline(always)]
unsafe fn products<const D: usize, const W: usize, T: Real>(
    a: Ebw<D, LANES>,
    row: usize,
    values: View<T>,
    x: [View<T>; W],
) -> [[T; W]; D] {
    let Range { start, end } = a.sliced.slice(row / LANES);
    let lane = row % LANES;
    let mut y = [[T::ZERO; W]; D];
    let column = |k: usize| D * a.sliced.columns.stream(k * LANES + lane) as usize;
    let mut next = if start < end { column(start) } else { 0 };
    for k in start..end {
        let first = if D < 6 { column(k) } else { next };
        if D == 6 && k + 1 < end {
            next = column(k + 1);
        }
        for j in 0..D {
            let value = (k * D + j) * D * LANES + lane;
            let column: [T; D] = core::array::from_fn(|i| values.stream(value + i * LANES));
            for m in 0..W {
                let x = x[m].at(first + j);
                for i in 0..D {
                    y[i][m] = fma(column[i], x, y[i][m]);
                }
            }
        }
    }
    y
}

/// The block row of a thread, and which part of the vectors it has: neighbouring blocks have the same rows.
#[inline(always)]
unsafe fn place<const W: usize>() -> (usize, usize) {
    let (block, parts) = (thread::block_idx_x() as usize, WIDTH / W);
    (block / parts * THREADS + thread::thread_idx_x() as usize, block % parts)
}

/// Computes: `y_m = A x_m` of each y that is there.
///
/// Parameters: `values` as the format keeps them; `x, y [WIDTH][n]`. Thread mapping: a thread per block row and W vectors.
/// Memory moved: A once, two words per entry and vector.
#[kernel(launch_bounds(128, 3), D = [1, 2, 3, 6], W = [2, 8], T = [f32, f64])]
pub unsafe fn ebw_products<const D: usize, const W: usize, T: Real>(
    n_rows: usize,
    a: Ebw<D, 32>,
    values: View<T>,
    x: Vectors<T, WIDTH>,
    y: VectorsMut<T, WIDTH>,
) {
    let (row, part) = place::<W>();
    let y = y.part::<W>(part);
    if row < n_rows && !y[0].is_empty() {
        let products = products(a, row, values, x.part::<W>(part));
        for m in 0..W {
            for i in 0..D {
                if !y[m].is_empty() {
                    y[m].set(D * row + i, products[i][m]);
                }
            }
        }
    }
}

/// A step of a polynomial preconditioner for several vectors: see [`Step`](crate::precond::Step).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Steps<T: DeviceCopy> {
    /// a, b and c.
    pub factors: [T; 3],
    /// The inverse of the diagonal, `[n]`.
    pub inverse: View<T>,
    /// What the preconditioner is applied to, `[WIDTH][n]`.
    pub r: Vectors<T, WIDTH>,
    /// z_old, which becomes z_new, `[WIDTH][n]`.
    pub previous: VectorsMut<T, WIDTH>,
}

/// Computes: the products `K z_m` and a step of a polynomial preconditioner from each, in one pass.
///
/// Parameters: `values` as the format keeps them, `z [WIDTH][n]`. Thread mapping: a thread per block row and W vectors.
/// Memory moved: the matrix and the inverse diagonal once, four words per entry and vector.
#[kernel(launch_bounds(128, 3), D = [1, 2, 3, 6], W = [2, 8], T = [f32, f64])]
pub unsafe fn ebw_polynomial_steps<const D: usize, const W: usize, T: Real>(
    n_rows: usize,
    a: Ebw<D, 32>,
    values: View<T>,
    z: Vectors<T, WIDTH>,
    steps: Steps<T>,
) {
    let (row, part) = place::<W>();
    let previous = steps.previous.part::<W>(part);
    if row < n_rows && !previous[0].is_empty() {
        let (z, r) = (z.part::<W>(part), steps.r.part::<W>(part));
        let products = products(a, row, values, z);
        for i in 0..D {
            let entry = D * row + i;
            let inverse = steps.inverse.at(entry);
            for m in 0..W {
                if !previous[m].is_empty() {
                    let residual = r[m].at(entry) - products[i][m];
                    let old = || previous[m].at(entry);
                    previous[m].set(entry, step_entry(steps.factors, inverse, residual, z[m].at(entry), old));
                }
            }
        }
    }
}
