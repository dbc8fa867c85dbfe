//! The coarsest level: the inverse of its matrix, dense, see [`kernels_rs::amg::inverse`].

use super::copied;
use crate::backend::{Backend, Buffer};
use crate::result::Result;
use crate::result::choices::Format;
use crate::sparse::{Matrix, Tuning};
use cuda_std::prelude::View;
use kernels_rs::amg::inverse::{DenseDiagonal, Negate, Sweep};
use kernels_rs::real::Real;
use std::mem::swap;

/// Unknowns of the coarsest level at most: n sweeps of n^2 entries take some milliseconds on a GPU, and a tenth of a
/// second on a core.
pub const MOST: usize = 400;

/// The inverse of a symmetric positive definite matrix, as a matrix in format `dense`; motions that cost nothing are
/// left out.
pub fn inverse<B: Backend, T: Real>(backend: &B, matrix: &Matrix<B, f64>) -> Result<Matrix<B, T>> {
    let (size, pattern) = (matrix.block_size(), matrix.shared_pattern());
    let n = size * pattern.n_rows;
    let mut dense = copied::<B, f64>(backend, matrix, Format::Dense, View::from_slice(&[]))?;
    let mut values = dense.values_mut();
    let mut diagonal = backend.zeros(n)?;
    let mut other = backend.zeros(n * n)?;
    let mut to = other.view_mut();
    // SAFETY: all live until `finish`; the two squares change places, and each entry is written once.
    unsafe {
        backend.run(n, DenseDiagonal { n, values: values.as_view(), diagonal: diagonal.view_mut() })?;
        for k in 0..n {
            backend.run(n * n, Sweep { n, k, diagonal: diagonal.view(), from: values.as_view(), to })?;
            swap(&mut values, &mut to);
        }
    }
    let mut inverse = Matrix::<B, T>::zeros(backend, Format::Dense, size, pattern, Tuning::default())?;
    // SAFETY: as above; both are `[n][n]`.
    unsafe { backend.run(n * n, Negate { from: values.as_view(), to: inverse.values_mut() }) }?;
    backend.finish()?;
    Ok(inverse)
}
