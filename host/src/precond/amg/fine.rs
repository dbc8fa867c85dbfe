//! A level of multigrid before its next one is made.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::{Matrix, Pattern};
use cuda_std::prelude::View;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::entries::ReadBlocks;
use kernels_rs::sparse::{Entries, PatternView};

/// The matrix that a level is made from.
pub struct Fine<'a, R: Real> {
    /// Which blocks.
    pub pattern: &'a Pattern,
    /// Where its entries are.
    pub entries: Entries,
    /// Its values.
    pub values: View<R>,
    /// The inverse of its diagonal.
    pub inverse: Buffer<R>,
    /// The inverse of D, where that is not its diagonal but blocks: see [`stacks`](super::stacks).
    pub blocks: Option<Matrix<f64>>,
}

impl<'a, R: Real> Fine<'a, R> {
    /// This matrix, unless its values are not numbers of the precision that it is multiplied in.
    pub fn new<V: Stored<Arithmetic = R>>(space: &Space, matrix: &'a Matrix<V>) -> Result<Option<Self>> {
        let Some(values) = V::numbers(matrix.values()) else { return Ok(None) };
        let inverse = inverse_diagonal(space, matrix)?;
        Ok(Some(Fine { pattern: matrix.pattern(), entries: matrix.entries(), values, inverse, blocks: None }))
    }

    /// The blocks of some rows, one after the other, each `[size][size]`; there are so many before each row.
    pub fn blocks_of(&self, space: &Space, (rows, starts): (&[u32], &[u64])) -> Result<Vec<f64>> {
        let n = starts.last().map_or(0, |n| *n as usize);
        let mut blocks = space.zeros(n * self.entries.size * self.entries.size)?;
        if !rows.is_empty() {
            let (rows, starts) = (space.upload(rows)?, space.upload(starts)?);
            let (n, of_rows, starts) = (rows.len(), rows.view(), starts.view());
            let (entries, values, blocks) = (self.entries, self.values, blocks.view_mut());
            // SAFETY: the matrix lives, and there is a place for each block; what is freed is freed in its order.
            unsafe { space.run(n, ReadBlocks { rows: of_rows, starts, entries, values, blocks }) }?;
        }
        Ok(space.take(blocks)?.into_iter().map(R::to_f64).collect())
    }

    /// How many block rows it has, and which blocks.
    pub fn rows(&self) -> (usize, PatternView) {
        (self.pattern.n_rows, self.pattern.view())
    }
}
