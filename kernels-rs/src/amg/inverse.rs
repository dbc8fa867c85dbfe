//! The inverse of a small dense matrix, symmetric and positive definite: applied it is one product, where substitution
//! with factors is a chain of them.
//!
//! By Gauss and Jordan's elimination as Goodnight's sweeps (Am. Stat. 33, 1979): they keep the matrix symmetric to the
//! last bit, and without pivoting they are as stable as Cholesky's method, whose pivots are theirs.

use crate::real::Real;
use cuda_std::prelude::*;

/// A pivot below this part of its diagonal entry is none.
const SMALLEST: f64 = 1e-14;

/// Computes: an entry of the matrix swept by row and column k. After all sweeps it is `-A^-1`; a row whose pivot is
/// none, of a motion that costs nothing, is 0 there.
///
/// Parameters: `n`; `k`; `diagonal [n]`, that of A; `from, to [n][n]`. Thread mapping: an item per entry.
/// Memory moved: the matrix read and written, and a row and a column of it.
#[kernel(items)]
pub unsafe fn sweep(item: usize, n: usize, k: usize, diagonal: View<f64>, from: View<f64>, to: ViewMut<f64>) {
    let (row, column) = (item % n, item / n);
    let pivot = from.at(k * n + k);
    let is_pivot = pivot > SMALLEST * diagonal.at(k);
    let over = if is_pivot { 1.0 / pivot } else { 0.0 };
    let value = if row == k && column == k {
        -over
    } else if row == k || column == k {
        from.at(item) * over
    } else {
        from.at(item) - from.at(k * n + row) * from.at(k * n + column) * over
    };
    to.set(item, value);
}

/// Computes: the diagonal of a dense matrix. Parameters: `values [n][n]`, `diagonal [n]`. Thread mapping: an item per
/// row. Memory moved: 16 B per row.
#[kernel(items)]
pub unsafe fn dense_diagonal(row: usize, n: usize, values: View<f64>, diagonal: ViewMut<f64>) {
    diagonal.set(row, values.at(row * n + row));
}

/// Computes: `to_i = -from_i` in the precision of the cycle. Parameters: `from, to`, of one length. Thread mapping: an
/// item per entry. Memory moved: two words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn negate<T: Real>(i: usize, from: View<f64>, to: ViewMut<T>) {
    to.set(i, T::from_f64(-from.at(i)));
}
