//! A scaled copy of a matrix in fewer bits, and the way of vectors to it and back.

use super::jacobi;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::precond::{ToDouble, ToSingle};
use kernels_rs::real::Stored;

/// `A = D^-1/2 K D^-1/2` with D the diagonal of K: its entries are of size 1 whatever the units of K, so that single
/// precision neither overflows nor underflows on them. `D^-1/2` scales vectors on their way.
pub struct ScaledCopy<V: Stored> {
    inverse: Buffer<f64>,
    /// A.
    pub matrix: Matrix<V>,
}

impl<V: Stored<Arithmetic = f32>> ScaledCopy<V> {
    /// Copies K.
    pub fn new(space: &Space, matrix: &Matrix<f64>) -> Result<Self> {
        let inverse = jacobi::inverse_diagonal(space, matrix)?;
        let matrix = matrix.scaled_to(space, &inverse)?;
        Ok(ScaledCopy { inverse, matrix })
    }

    /// `D^-1`, `[n]`.
    pub fn inverse(&self) -> &Buffer<f64> {
        &self.inverse
    }

    /// `rounded = D^-1/2 r`, both `[n]`.
    pub fn round(&self, space: &Space, r: &Buffer<f64>, rounded: &mut Buffer<f32>) -> Result<()> {
        let n = self.inverse.len();
        assert!([r.len(), rounded.len()] == [n; 2], "vectors of another length than the matrix");
        let kernel = ToSingle { inverse: self.inverse.view(), r: r.view(), rounded: rounded.view_mut() };
        // SAFETY: all live and have n entries; `rounded` is borrowed uniquely.
        unsafe { space.run(n, kernel) }
    }

    /// `z = D^-1/2 rounded`, both `[n]`.
    pub fn widen(&self, space: &Space, rounded: &Buffer<f32>, z: &mut Buffer<f64>) -> Result<()> {
        let n = self.inverse.len();
        assert!([rounded.len(), z.len()] == [n; 2], "vectors of another length than the matrix");
        let kernel = ToDouble { inverse: self.inverse.view(), rounded: rounded.view(), z: z.view_mut() };
        // SAFETY: all live and have n entries; z is borrowed uniquely.
        unsafe { space.run(n, kernel) }
    }
}
