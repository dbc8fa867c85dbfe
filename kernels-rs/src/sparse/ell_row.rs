//! ELL by rows (DSM sec. II.C's first form): every row is padded to the longest, and the entries of a row lie side by
//! side. Neighbouring threads read a whole row apart: what [`super::ell`] mends.

use super::{Layout, PatternView, Product, one_row};
use crate::real::{Arithmetic, Stored, fma};
use cuda_std::prelude::*;

/// A row-major ELL matrix of scalars.
///
/// Memory moved by a product: as [`super::Ell`], in sectors that a warp shares only through the cache. Reached on an
/// H200, f64, three million unknowns: 28 to 29 % of the copy bandwidth, a third of what [`super::Ell`] reaches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EllRow {
    /// Columns, `[n_rows][width]`; padding repeats the row itself.
    pub columns: View<u32>,
    /// Entries of a row, padding included.
    pub width: usize,
}

impl Layout for EllRow {
    const BLOCK: Option<usize> = None;

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let mut sum = V::Arithmetic::ZERO;
        for place in row * self.width..(row + 1) * self.width {
            sum = fma(values.at(place).value(), x.at(self.columns.at(place) as usize), sum);
        }
        one_row(sum)
    }
}

/// Computes: the columns of a row, with its padding.
///
/// Parameters: `size`: block size; `columns [n_rows * size][width]`. Thread mapping: an item per row of scalars.
/// Memory moved: 4 bytes written per column with padding.
#[kernel(items)]
pub unsafe fn ell_row_columns(row: usize, pattern: PatternView, size: usize, width: usize, columns: ViewMut<u32>) {
    let (first, length) = pattern.row(row / size);
    for k in 0..width {
        let column = if k < length * size { pattern.scalar_column(first, size, k) } else { row };
        columns.set(row * width + k, column as u32);
    }
}
