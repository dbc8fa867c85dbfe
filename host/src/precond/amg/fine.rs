//! A level of multigrid before its next one is made.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::{Matrix, Pattern};
use cuda_std::prelude::View;
use kernels_rs::real::{Real, Stored};
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

    /// How many block rows it has, and which blocks.
    pub fn rows(&self) -> (usize, PatternView) {
        (self.pattern.n_rows, self.pattern.view())
    }
}
