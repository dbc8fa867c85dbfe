//! Jacobi: `M = diag(K)`.

use super::{Build, Preconditioner};
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use crate::sparse::{Format, Matrix};
use kernels_rs::assembly::supports::InverseDiagonal;
use kernels_rs::real::Real;

/// The inverse of the diagonal.
pub struct Jacobi<B: Backend, T: Real> {
    inverse: Vector<B, T>,
}

impl<B: Backend, T: Real> Preconditioner<B, T> for Jacobi<B, T> {
    fn apply(&self, backend: &B, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()> {
        backend.mul(&self.inverse, r, z)
    }

    fn diagonal(&self) -> Option<&Vector<B, T>> {
        Some(&self.inverse)
    }
}

impl<B: Backend, T: Real> Build<B, T> for Jacobi<B, T> {
    const NAME: &'static str = "jacobi";

    fn build<F: Format>(backend: &B, matrix: &Matrix<B, F, T>) -> Result<Self> {
        let mut inverse = backend.zeros(3 * matrix.n_rows)?;
        let kernel = InverseDiagonal::new(matrix.layout(), matrix.values.view(), inverse.view_mut());
        // SAFETY: the matrix lives and is of the layout's shape; `inverse` has its rows.
        unsafe { backend.run(matrix.n_rows, kernel) }?;
        Ok(Jacobi { inverse })
    }
}
