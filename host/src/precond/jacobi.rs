//! Jacobi: `M = diag(K)`.

use super::{Build, Context, Preconditioner};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{LinOp, Matrix};
use kernels_rs::assembly::supports::InverseDiagonal;
use kernels_rs::precond::RoundDiagonal;
use kernels_rs::real::{Real, Stored};
use std::marker::PhantomData;

/// The inverse of the diagonal, in single precision.
pub struct Jacobi<T> {
    inverse: Buffer<f32>,
    of: PhantomData<T>,
}

/// `1 / K_ii`, `[n]`; 0 for an empty row.
pub fn inverse_diagonal<V: Stored>(space: &Space, matrix: &Matrix<V>) -> Result<Buffer<V::Arithmetic>> {
    let mut inverse = space.zeros(matrix.n())?;
    let kernel = InverseDiagonal { entries: matrix.entries(), values: matrix.values(), inverse: inverse.view_mut() };
    // SAFETY: the matrix lives; `inverse` has its rows.
    unsafe { space.run(matrix.pattern().n_rows, kernel) }?;
    Ok(inverse)
}

/// An inverse of a diagonal in single precision: of a preconditioner, that is enough.
pub(crate) fn to_single<T: Real>(space: &Space, inverse: &Buffer<T>) -> Result<Buffer<f32>> {
    let mut rounded = space.zeros(inverse.len())?;
    // SAFETY: both have as many entries, and live until the kernel has run: what is freed is freed in its order.
    unsafe { space.run(inverse.len(), RoundDiagonal { inverse: inverse.view(), rounded: rounded.view_mut() }) }?;
    Ok(rounded)
}

impl<T: Real> Preconditioner<T> for Jacobi<T> {
    fn apply(&self, space: &Space, _: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        space.mul(&self.inverse, r, z)
    }

    fn diagonal(&self) -> Option<&Buffer<f32>> {
        Some(&self.inverse)
    }
}

impl<T: Real> Build<T> for Jacobi<T> {
    fn build<V: Stored<Arithmetic = T>>(space: &Space, matrix: &Matrix<V>, _: &Context) -> Result<Self> {
        Ok(Jacobi { inverse: to_single(space, &inverse_diagonal(space, matrix)?)?, of: PhantomData })
    }
}
