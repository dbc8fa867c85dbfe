//! What goes into a dense factor and comes out of it: `A = D^-1/2 K D^-1/2`, and vectors scaled alike.

use super::Square;
use crate::real::Real;
use crate::sparse::Entries;
use cuda_std::prelude::*;

/// `D^-1/2` of an unknown; not a number where D is negative.
#[inline(always)]
unsafe fn scale<T: Real>(inverse: View<T>, i: usize) -> f64 {
    inverse.at(i).to_f64().sqrt()
}

/// Computes: the lower triangle of `D^-1/2 K D^-1/2`, and an identity in the rows behind it, in a matrix of zeros.
///
/// Parameters: `n_rows`, block rows of K; `entries, values`, K in any format; `inverse [n]`, that of D; `to`, of n rows
/// or more. Thread mapping: an item per block row, and for each row behind. Memory moved: the values of the pattern's
/// lower triangle, read and written.
#[kernel(items, T = [f32, f64], F = [f32, f64])]
pub unsafe fn dense_lower<T: Real, F: Real>(
    item: usize,
    n_rows: usize,
    entries: Entries,
    values: View<T>,
    inverse: View<T>,
    to: Square<F>,
) {
    let size = entries.size;
    if item >= n_rows {
        let row = n_rows * size + item - n_rows;
        to.values.set(to.place(row, row), F::ONE);
        return;
    }
    let (first, width) = entries.pattern.row(item);
    for k in 0..width {
        let other = entries.pattern.columns.at(first + k) as usize;
        if other > item {
            continue;
        }
        for i in 0..size {
            for j in 0..size {
                let (row, column) = (item * size + i, other * size + j);
                if row >= column {
                    let value = values.at(entries.at(item, k, i, j)).to_f64();
                    let scaled = value * scale(inverse, row) * scale(inverse, column);
                    to.values.set(to.place(row, column), F::from_f64(scaled));
                }
            }
        }
    }
}

/// Computes: `D^-1/2 r` in the precision of the factor, and 0 behind it.
///
/// Parameters: `inverse, r [n]`; `scaled`, of n entries or more. Thread mapping: an item per entry of `scaled`.
/// Memory moved: three words per entry.
#[kernel(items, T = [f32, f64], F = [f32, f64])]
pub unsafe fn scale_in<T: Real, F: Real>(i: usize, inverse: View<T>, r: View<T>, scaled: ViewMut<F>) {
    let value = if i < r.len() { scale(inverse, i) * r.at(i).to_f64() } else { 0.0 };
    scaled.set(i, F::from_f64(value));
}

/// Computes: `d = D^-1/2 x`.
///
/// Parameters: `inverse, d [n]`; `x`, of n entries or more. Thread mapping: an item per entry of d.
/// Memory moved: three words per entry.
#[kernel(items, T = [f32, f64], F = [f32, f64])]
pub unsafe fn scale_out<T: Real, F: Real>(i: usize, inverse: View<T>, x: View<F>, d: ViewMut<T>) {
    d.set(i, T::from_f64(scale(inverse, i) * x.at(i).to_f64()));
}
