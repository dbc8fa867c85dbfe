//! Sparse Cholesky factors by a device's own library: see [`crate::device::Device::factorise`].

use super::{DirectError, Factor, PURPOSE, Precision, lacking, not_positive, scaled_lower, smallest_pivot};
use crate::device::{Buffer, Factorised, SparseFactor};
use crate::linalg::Space;
use crate::precond::inverse_diagonal;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::cholesky::matrix::{ScaleIn, ScaleOut};
use kernels_rs::real::Real;
use std::cell::RefCell;

/// `L` of `D^-1/2 K D^-1/2`, on a device.
pub struct DeviceSparseFactor<T: Real, F: Precision> {
    factor: Box<dyn SparseFactor>,
    /// `D^-1`, `[n]`.
    inverse: Buffer<T>,
    /// A right-hand side and a solution, `[n]` each.
    vectors: RefCell<[Buffer<F>; 2]>,
}

impl<T: Real, F: Precision> DeviceSparseFactor<T, F> {
    /// Factorises a matrix in any format, whose block rows are nodes at these coordinates, `[n_rows]`.
    ///
    /// # Errors
    ///
    /// As [`crate::device::Device::factorise`]; [`DirectError`].
    pub fn build(space: &Space, matrix: &Matrix<T>, coords: &[[f64; 3]]) -> Result<Self> {
        if let Some(why) = space.lacks_factors() {
            return Err(DirectError::NoLibrary(why).into());
        }
        let (size, sparsity) = (matrix.block_size(), matrix.pattern().download(space)?);
        let (lower, scale) = scaled_lower::<T, F>(&sparsity, size, &matrix.blocks(space)?);
        match space.factorise(&lower, smallest_pivot::<F>()).map_err(|error| lacking(error, PURPOSE))? {
            Factorised::NotPositive { row, pivot } => Err(not_positive::<F>(pivot, row, size, coords)),
            Factorised::Done(factor) => {
                let (n, inverse) = (scale.len(), inverse_diagonal(space, matrix)?);
                let vectors = RefCell::new([space.zeros(n)?, space.zeros(n)?]);
                Ok(DeviceSparseFactor { factor, inverse, vectors })
            }
        }
    }
}

impl<T: Real, F: Precision> Factor<T> for DeviceSparseFactor<T, F> {
    fn solve(&self, space: &Space, r: &Buffer<T>, d: &mut Buffer<T>) -> Result<()> {
        let n = self.inverse.len();
        assert!([r.len(), d.len()] == [n; 2], "vectors of another matrix");
        let ([scaled, x], inverse) = (&mut *self.vectors.borrow_mut(), self.inverse.view());
        // SAFETY: all live and have the rows of the matrix.
        unsafe { space.run(n, ScaleIn { inverse, r: r.view(), scaled: scaled.view_mut() }) }?;
        self.factor.solve(scaled.memory(), x.memory_mut())?;
        // SAFETY: as above.
        unsafe { space.run(n, ScaleOut { inverse, x: x.view(), d: d.view_mut() }) }
    }

    fn nonzeros(&self) -> u64 {
        self.factor.nonzeros()
    }
}
