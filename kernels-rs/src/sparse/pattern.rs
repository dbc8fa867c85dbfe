//! Which blocks of a matrix are not zero, before any storage format.

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
}
