//! Which blocks of a matrix are not zero, before any storage format.

use crate::setup::lists::{bisect, range};
use core::ops::Range;
use cuda_std::prelude::*;

/// Block columns in compressed rows: the diagonal block first (DSM sec. II.C), the others ascending.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PatternView {
    /// Blocks before each block row, `[n_rows + 1]`.
    pub row_start: View<u64>,
    /// Block columns, `[row_start[n_rows]]`.
    pub columns: View<u32>,
}

impl PatternView {
    /// The places of the blocks of `row` in `columns`.
    #[inline(always)]
    pub unsafe fn blocks(self, row: usize) -> Range<usize> {
        range(self.row_start, row)
    }

    /// Position in `columns` of the first block of `row`, and the number of its blocks.
    #[inline(always)]
    pub unsafe fn row(self, row: usize) -> (usize, usize) {
        let Range { start, end } = self.blocks(row);
        (start, end - start)
    }

    /// Column `k` of a row of scalars, of blocks of this size from `first` on.
    #[inline(always)]
    pub unsafe fn scalar_column(self, first: usize, size: usize, k: usize) -> usize {
        self.columns.at(first + k / size) as usize * size + k % size
    }

    /// Position of the first block of `row` off the diagonal whose column is `column` or beyond; one past the row's last
    /// if there is none.
    #[inline(always)]
    pub unsafe fn off_diagonal(self, row: usize, column: u32) -> usize {
        let (first, width) = self.row(row);
        bisect(first + 1, first + width, |place| self.columns.at(place) < column)
    }

    /// Number among its row's of a block that the matrix has.
    #[inline(always)]
    pub unsafe fn place(self, row: usize, column: u32) -> usize {
        if row == column as usize { 0 } else { self.off_diagonal(row, column) - self.row(row).0 }
    }
}

/// Computes: some rows of a matrix's blocks; the other rows have none.
///
/// Parameters: `from`; rows `first..end` of it; `row_start [n_rows + 1]`; `columns` and `rows` of each block of these rows.
/// Thread mapping: an item per row and one more. Memory moved: 16 B per row, 12 B per block.
#[kernel(items)]
pub unsafe fn take_rows(
    row: usize,
    from: PatternView,
    first: usize,
    end: usize,
    row_start: ViewMut<u64>,
    columns: ViewMut<u32>,
    rows: ViewMut<u32>,
) {
    let (start, after) = (from.row_start.at(first), from.row_start.at(end));
    row_start.set(row, from.row_start.at(row).max(start).min(after) - start);
    if row < first || row >= end {
        return;
    }
    for block in from.blocks(row) {
        let place = block - start as usize;
        columns.set(place, from.columns.at(block));
        rows.set(place, row as u32);
    }
}
