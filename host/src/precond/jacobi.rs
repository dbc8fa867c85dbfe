//! Jacobi: `M = diag(K)`.

use super::{Build, Context, Preconditioner};
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use crate::sparse::{Matrix, Operator};
use kernels_rs::assembly::supports::InverseDiagonal;
use kernels_rs::real::{Real, Stored};

/// The inverse of the diagonal.
pub struct Jacobi<B: Backend, T: Real> {
    inverse: Vector<B, T>,
}

/// `1 / K_ii`, `[n]`; 0 for an empty row.
pub fn inverse_diagonal<B: Backend, V: Stored>(backend: &B, matrix: &Matrix<B, V>) -> Result<Vector<B, V::Arithmetic>> {
    let mut inverse = backend.zeros(matrix.n())?;
    let kernel = InverseDiagonal { entries: matrix.entries(), values: matrix.values(), inverse: inverse.view_mut() };
    // SAFETY: the matrix lives; `inverse` has its rows.
    unsafe { backend.run(matrix.pattern().n_rows, kernel) }?;
    Ok(inverse)
}

impl<B: Backend, T: Real> Preconditioner<B, T> for Jacobi<B, T> {
    fn apply(&self, backend: &B, _: &dyn Operator<B, T>, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()> {
        backend.mul(&self.inverse, r, z)
    }

    fn diagonal(&self) -> Option<&Vector<B, T>> {
        Some(&self.inverse)
    }
}

impl<B: Backend, T: Real> Build<B, T> for Jacobi<B, T> {
    const NAME: &'static str = "jacobi";

    fn build<V: Stored<Arithmetic = T>>(backend: &B, matrix: &Matrix<B, V>, _: &Context<B>) -> Result<Self> {
        Ok(Jacobi { inverse: inverse_diagonal(backend, matrix)? })
    }
}
