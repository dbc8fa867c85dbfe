//! CSR, compressed sparse rows, a thread per row (DSM sec. II.B): no padding, but the lanes of a warp read as many
//! places as there are rows, and wait for the longest.

use super::{Layout, PatternView, Product, one_row};
use crate::real::{Arithmetic, Stored, fma};
use cuda_std::prelude::*;

/// A CSR matrix of scalars.
///
/// Memory moved by a product: a value and an index per entry (12 B in f64), 8 B per row, x and y once. Reached on an
/// H200, f64, three million unknowns: 65 % of the copy bandwidth on cubes of tet4, 55 % on hex8, 57 % on an
/// unstructured mesh.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Csr {
    /// Entries before each row, `[n_rows + 1]`.
    pub row_start: View<u64>,
    /// Columns, `[row_start[n_rows]]`.
    pub columns: View<u32>,
}

impl Csr {
    /// The sum over a row's entries from its `first` on in steps of `step`.
    #[inline(always)]
    pub(super) unsafe fn sum<V: Stored>(
        self,
        row: usize,
        first: usize,
        step: usize,
        values: View<V>,
        x: View<Arithmetic<V>>,
    ) -> V::Arithmetic {
        let end = self.row_start.at(row + 1) as usize;
        let mut place = self.row_start.at(row) as usize + first;
        let mut sum = V::Arithmetic::ZERO;
        while place < end {
            sum = fma(values.at(place).value(), x.at(self.columns.at(place) as usize), sum);
            place += step;
        }
        sum
    }
}

impl Layout for Csr {
    const BLOCK: Option<usize> = None;

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        one_row(self.sum(row, 0, 1, values, x))
    }
}

/// Computes: the number of entries of a row of scalars.
///
/// Parameters: `size`: block size; `lengths [n_rows * size]`. Thread mapping: an item per row of scalars.
/// Memory moved: 16 bytes read, 4 written per row.
#[kernel(items)]
pub unsafe fn csr_lengths(row: usize, pattern: PatternView, size: usize, lengths: ViewMut<u32>) {
    lengths.set(row, (pattern.row(row / size).1 * size) as u32);
}

/// Computes: the columns of a row of scalars.
///
/// Parameters: `size`: block size; `row_start [n_rows * size + 1]`, `columns [row_start[n_rows * size]]`.
/// Thread mapping: an item per row of scalars. Memory moved: 4 bytes written per entry.
#[kernel(items)]
pub unsafe fn csr_columns(row: usize, pattern: PatternView, size: usize, row_start: View<u64>, columns: ViewMut<u32>) {
    let (first, length) = pattern.row(row / size);
    let start = row_start.at(row) as usize;
    for k in 0..length * size {
        columns.set(start + k, pattern.scalar_column(first, size, k) as u32);
    }
}
