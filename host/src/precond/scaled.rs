//! A scaled copy of a matrix in fewer bits, and the way of vectors to it and back.

use super::jacobi;
use crate::backend::{Backend, Buffer, Vector};
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::precond::{ToDouble, ToSingle};
use kernels_rs::real::Stored;

/// `A = D^-1/2 K D^-1/2` with D the diagonal of K: its entries are of size 1 whatever the units of K, so that single
/// precision neither overflows nor underflows on them. `D^-1/2` scales vectors on their way.
pub struct ScaledCopy<B: Backend, V: Stored> {
    inverse: Vector<B, f64>,
    /// A.
    pub matrix: Matrix<B, V>,
}

impl<B: Backend, V: Stored<Arithmetic = f32>> ScaledCopy<B, V> {
    /// Copies K.
    ///
    /// # Errors
    ///
    /// As [`Matrix::scaled_to`].
    pub fn new(backend: &B, matrix: &Matrix<B, f64>) -> Result<Self> {
        let inverse = jacobi::inverse_diagonal(backend, matrix)?;
        let matrix = matrix.scaled_to(backend, &inverse)?;
        Ok(ScaledCopy { inverse, matrix })
    }

    /// `D^-1`, `[n]`.
    pub fn inverse(&self) -> &Vector<B, f64> {
        &self.inverse
    }

    /// `rounded = D^-1/2 r`, both `[n]`.
    pub fn round(&self, backend: &B, r: &Vector<B, f64>, rounded: &mut Vector<B, f32>) -> Result<()> {
        let n = self.inverse.len();
        assert!([r.len(), rounded.len()] == [n; 2], "vectors of another length than the matrix");
        let kernel = ToSingle { inverse: self.inverse.view(), r: r.view(), rounded: rounded.view_mut() };
        // SAFETY: all live and have n entries; `rounded` is borrowed uniquely.
        unsafe { backend.run(n, kernel) }
    }

    /// `z = D^-1/2 rounded`, both `[n]`.
    pub fn widen(&self, backend: &B, rounded: &Vector<B, f32>, z: &mut Vector<B, f64>) -> Result<()> {
        let n = self.inverse.len();
        assert!([rounded.len(), z.len()] == [n; 2], "vectors of another length than the matrix");
        let kernel = ToDouble { inverse: self.inverse.view(), rounded: rounded.view(), z: z.view_mut() };
        // SAFETY: all live and have n entries; z is borrowed uniquely.
        unsafe { backend.run(n, kernel) }
    }
}
