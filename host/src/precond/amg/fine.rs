//! A level of multigrid before its next one is made.

use crate::backend::{Backend, Vector};
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::{Matrix, Pattern};
use cuda_std::prelude::View;
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::{Entries, PatternView};

/// The matrix that a level is made from.
pub struct Fine<'a, B: Backend, R: Real> {
    /// Which blocks.
    pub pattern: &'a Pattern<B>,
    /// Where its entries are.
    pub entries: Entries,
    /// Its values.
    pub values: View<R>,
    /// The inverse of its diagonal.
    pub inverse: Vector<B, R>,
    /// The inverse of D, where that is not its diagonal but blocks: see [`stacks`](super::stacks).
    pub blocks: Option<Matrix<B, f64>>,
}

impl<'a, B: Backend, R: Real> Fine<'a, B, R> {
    /// This matrix, unless its values are not numbers of the precision that it is multiplied in.
    pub fn new<V: Stored<Arithmetic = R>>(backend: &B, matrix: &'a Matrix<B, V>) -> Result<Option<Self>> {
        let Some(values) = V::numbers(matrix.values()) else { return Ok(None) };
        let inverse = inverse_diagonal(backend, matrix)?;
        Ok(Some(Fine { pattern: matrix.pattern(), entries: matrix.entries(), values, inverse, blocks: None }))
    }

    /// How many block rows it has, and which blocks.
    pub fn rows(&self) -> (usize, PatternView) {
        (self.pattern.n_rows, self.pattern.view())
    }
}
