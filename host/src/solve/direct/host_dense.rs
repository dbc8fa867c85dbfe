//! Dense Cholesky factors on the CPU, by nalgebra: for small systems, and to compare with.
//!
//! In double whatever the precision: at the sizes where it is of use, single gains nothing to speak of.

use super::{Factor, check_memory, is_no_pivot, not_positive, scale_in, scale_out, scaling};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::real::Real;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// What takes the place of a pivot that is not positive: too small to pass for one.
const NO_PIVOT: f64 = 1e-300;

/// `L` of `D^-1/2 K D^-1/2`, dense, on the host.
pub struct HostDenseFactor {
    factor: Cholesky<f64, Dyn>,
    /// `D^-1/2`, `[n]`.
    scale: Vec<f64>,
}

impl HostDenseFactor {
    /// Factorises a matrix in any format, whose block rows are nodes at these coordinates, `[n_rows]`. `n^3 / 3`
    /// operations, on one thread.
    ///
    /// # Errors
    ///
    /// [`crate::result::Error::OutOfMemory`] before anything is computed; [`super::DirectError::NotPositive`].
    pub fn build<T: Real>(space: &Space, matrix: &Matrix<T>, coords: &[[f64; 3]]) -> Result<Self> {
        let (size, n_rows) = (matrix.block_size(), matrix.pattern().n_rows);
        let n = size * n_rows;
        check_memory(space, (n as u64).pow(2) * size_of::<f64>() as u64)?;
        let (sparsity, blocks) = (matrix.pattern().download(space)?, matrix.blocks(space)?);
        let mut dense = DMatrix::<f64>::zeros(n, n);
        for (row, start) in sparsity.row_start[..n_rows].iter().enumerate() {
            for (k, column) in sparsity.row(row).iter().enumerate() {
                let block = &blocks[(*start as usize + k) * size * size..];
                for entry in 0..size * size {
                    dense[(size * row + entry / size, size * *column as usize + entry % size)] = block[entry].to_f64();
                }
            }
        }
        let scale = scaling(dense.diagonal().iter().copied());
        for j in 0..n {
            for i in j..n {
                dense[(i, j)] *= scale[i] * scale[j];
            }
        }
        let singular = |row: usize, pivot: f64| not_positive::<f64>(Some(pivot), row, size, coords);
        let factor = Cholesky::new_with_substitute(dense, NO_PIVOT).ok_or_else(|| singular(0, f64::NAN))?;
        let l = factor.unpack_dirty();
        let mut pivots = (0..n).map(|i| (i, l[(i, i)].powi(2)));
        match pivots.find(|(_, pivot)| is_no_pivot::<f64>(*pivot)) {
            Some((row, pivot)) => Err(singular(row, pivot)),
            None => Ok(HostDenseFactor { factor: Cholesky::pack_dirty(l), scale }),
        }
    }
}

impl<T: Real> Factor<T> for HostDenseFactor {
    fn solve(&self, space: &Space, r: &Buffer<T>, d: &mut Buffer<T>) -> Result<()> {
        let mut x = DVector::from_vec(scale_in(space, &self.scale, r)?);
        self.factor.solve_mut(&mut x);
        *d = scale_out(space, &self.scale, x.as_slice())?;
        Ok(())
    }

    fn nonzeros(&self) -> u64 {
        let n = self.scale.len() as u64;
        n * (n + 1) / 2
    }
}
