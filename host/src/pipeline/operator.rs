//! The stiffness of a system, with a matrix or without one.

use crate::assembly::MatrixFree;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::{LinOp, Matrix};
use kernels_rs::real::Real;

/// K after supports.
pub enum Operator<T: Real> {
    /// By its entries.
    Assembled(Matrix<T>),
    /// Without them.
    MatrixFree(MatrixFree<T>),
}

impl<T: Real> Operator<T> {
    /// Its products.
    pub fn product(&self) -> &dyn LinOp<T> {
        match self {
            Operator::Assembled(matrix) => matrix,
            Operator::MatrixFree(product) => product,
        }
    }

    /// The inverse of its diagonal.
    pub(super) fn inverse_diagonal(&self, space: &Space) -> Result<Buffer<T>> {
        match self {
            Operator::Assembled(matrix) => inverse_diagonal(space, matrix),
            Operator::MatrixFree(product) => product.inverse_diagonal(space),
        }
    }
}
