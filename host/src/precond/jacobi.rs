//! Jacobi: `M = diag(K)`.

use super::{Build, Context, Preconditioner};
use crate::backend::{Backend, Buffer, Vector};
use crate::result::Result;
use crate::sparse::{Matrix, Operator};
use kernels_rs::assembly::supports::InverseDiagonal;
use kernels_rs::precond::RoundDiagonal;
use kernels_rs::real::{Real, Stored};
use std::marker::PhantomData;

/// The inverse of the diagonal, in single precision.
pub struct Jacobi<B: Backend, T> {
    inverse: Vector<B, f32>,
    of: PhantomData<T>,
}

/// `1 / K_ii`, `[n]`; 0 for an empty row.
pub fn inverse_diagonal<B: Backend, V: Stored>(backend: &B, matrix: &Matrix<B, V>) -> Result<Vector<B, V::Arithmetic>> {
    let mut inverse = backend.zeros(matrix.n())?;
    let kernel = InverseDiagonal { entries: matrix.entries(), values: matrix.values(), inverse: inverse.view_mut() };
    // SAFETY: the matrix lives; `inverse` has its rows.
    unsafe { backend.run(matrix.pattern().n_rows, kernel) }?;
    Ok(inverse)
}

/// An inverse of a diagonal in single precision: of a preconditioner, that is enough.
pub(crate) fn to_single<B: Backend, T: Real>(backend: &B, inverse: &Vector<B, T>) -> Result<Vector<B, f32>> {
    let mut rounded = backend.zeros(inverse.len())?;
    // SAFETY: both have as many entries, and live until the kernel has run: what is freed is freed in its order.
    unsafe { backend.run(inverse.len(), RoundDiagonal { inverse: inverse.view(), rounded: rounded.view_mut() }) }?;
    Ok(rounded)
}

impl<B: Backend, T: Real> Preconditioner<B, T> for Jacobi<B, T> {
    fn apply(&self, backend: &B, _: &dyn Operator<B, T>, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()> {
        backend.mul(&self.inverse, r, z)
    }

    fn diagonal(&self) -> Option<&Vector<B, f32>> {
        Some(&self.inverse)
    }
}

impl<B: Backend, T: Real> Build<B, T> for Jacobi<B, T> {
    fn build<V: Stored<Arithmetic = T>>(backend: &B, matrix: &Matrix<B, V>, _: &Context<B>) -> Result<Self> {
        Ok(Jacobi { inverse: to_single(backend, &inverse_diagonal(backend, matrix)?)?, of: PhantomData })
    }
}
