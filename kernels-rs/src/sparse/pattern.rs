//! Which blocks of a matrix are not zero, before any storage format.

use crate::setup::lists::bisect;
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
    /// Position in `columns` of the first block of `row`, and the number of its blocks.
    ///
    /// # Safety
    /// `row` is a block row of the matrix.
    #[inline(always)]
    pub unsafe fn row(self, row: usize) -> (usize, usize) {
        // SAFETY: `row` is valid by contract.
        let (start, end) = unsafe { (self.row_start.at(row) as usize, self.row_start.at(row + 1) as usize) };
        (start, end - start)
    }

    /// Position of the first block of `row` off the diagonal whose column is `column` or beyond; one past the row's last
    /// if there is none.
    ///
    /// # Safety
    /// `row` is a block row of the matrix.
    #[inline(always)]
    pub unsafe fn off_diagonal(self, row: usize, column: u32) -> usize {
        // SAFETY: `row` is valid by contract, and places are those of its blocks.
        unsafe {
            let (first, width) = self.row(row);
            bisect(first + 1, first + width, |place| self.columns.at(place) < column)
        }
    }

    /// Number among its row's of a block that the matrix has.
    ///
    /// # Safety
    /// There is a block in that row and column.
    #[inline(always)]
    pub unsafe fn place(self, row: usize, column: u32) -> usize {
        // SAFETY: `row` is valid by contract.
        unsafe { if row == column as usize { 0 } else { self.off_diagonal(row, column) - self.row(row).0 } }
    }
}
