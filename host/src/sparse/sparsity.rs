//! The sparsity of a block matrix, before any storage format.

/// Which block columns each block row has: row `r` has `columns[row_start[r]..row_start[r + 1]]`, the diagonal first
/// (DSM sec. II.C), the others ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparsity {
    /// `[n_rows + 1]`.
    pub row_start: Vec<u64>,
    /// `[row_start[n_rows]]`.
    pub columns: Vec<u32>,
}

impl Sparsity {
    /// Number of block rows.
    pub fn n_rows(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.columns.len()
    }

    /// The block columns of row `row`.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.row_start[row] as usize..self.row_start[row + 1] as usize]
    }
}
