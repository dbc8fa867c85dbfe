//! The coarsest level: the inverse of its matrix, dense, see [`kernels_rs::amg::inverse`].

use super::copied;
use crate::linalg::Space;
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
pub fn inverse<T: Real>(space: &Space, matrix: &Matrix<f64>) -> Result<Matrix<T>> {
    let (size, pattern) = (matrix.block_size(), matrix.shared_pattern());
    let n = size * pattern.n_rows;
    let mut dense = copied::<f64>(space, matrix, Format::Dense, View::from_slice(&[]))?;
    let mut values = dense.values_mut();
    let mut diagonal = space.zeros(n)?;
    let mut other = space.zeros(n * n)?;
    let mut to = other.view_mut();
    // SAFETY: all live until `finish`; the two squares change places, and each entry is written once.
    unsafe {
        space.run(n, DenseDiagonal { n, values: values.as_view(), diagonal: diagonal.view_mut() })?;
        for k in 0..n {
            space.run(n * n, Sweep { n, k, diagonal: diagonal.view(), from: values.as_view(), to })?;
            swap(&mut values, &mut to);
        }
    }
    let mut inverse = Matrix::<T>::zeros(space, Format::Dense, size, pattern, Tuning::default())?;
    // SAFETY: as above; both are `[n][n]`.
    unsafe { space.run(n * n, Negate { from: values.as_view(), to: inverse.values_mut() }) }?;
    space.finish()?;
    Ok(inverse)
}
