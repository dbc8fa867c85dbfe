//! Sparse Cholesky factors on the CPU: faer's supernodal `L L^T` in the order of a [`Dissection`].

use super::{
    Dissection, Factor, PURPOSE, Precision, check_memory, not_positive, scale_in, scale_out, scaled_lower,
    smallest_pivot,
};
use crate::device::{Buffer, host_memory};
use crate::linalg::Space;
use crate::result::{Error, Result};
use crate::sparse::Matrix;
use kernels_rs::real::Real;
use warpfem_cholesky::{Failure, Lower, Symbolic};

/// `L` of `D^-1/2 K D^-1/2`, in the order of elimination.
pub struct SparseFactor<F: Precision> {
    symbolic: Symbolic,
    values: Vec<F>,
    /// `D^-1/2`, `[n]`.
    scale: Vec<f64>,
}

impl<F: Precision> SparseFactor<F> {
    /// Factorises a matrix whose block rows are nodes at these coordinates, `[n_rows]`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] once the sparsity of the factor is known, and before it is computed;
    /// [`super::DirectError::NotPositive`].
    pub fn build<T: Real>(space: &Space, matrix: &Matrix<T>, coords: &[[f64; 3]]) -> Result<Self> {
        let (size, sparsity) = (matrix.block_size(), matrix.pattern().download(space)?);
        let (order, inverse) = Dissection::new(&sparsity, coords).of_unknowns(size);
        let (matrix, scale) = scaled_lower::<T, F>(&sparsity, size, &matrix.blocks(space)?);
        let lower = Lower { row_start: &matrix.row_start, columns: &matrix.columns };
        let failed = |failure| match failure {
            Failure::Memory(needed) => too_large(space, needed),
            Failure::NegativePivot(place) => not_positive::<F>(None, order[place], size, coords),
        };
        let symbolic = Symbolic::new(lower, &order, &inverse).map_err(failed)?;
        let bytes = symbolic.n_values().saturating_mul(size_of::<F>()).saturating_add(F::scratch(&symbolic));
        check_memory(space, bytes as u64)?;
        let mut values = vec![F::ZERO; symbolic.n_values()];
        host_memory::in_huge_pages(&mut values);
        F::factorise(&symbolic, lower, &matrix.values, &mut values).map_err(failed)?;
        match F::first_small_pivot(&symbolic, &values, smallest_pivot::<F>()) {
            Some((place, pivot)) => Err(not_positive::<F>(Some(pivot), order[place], size, coords)),
            None => Ok(SparseFactor { symbolic, values, scale }),
        }
    }
}

impl<T: Real, F: Precision> Factor<T> for SparseFactor<F> {
    fn solve(&self, space: &Space, r: &Buffer<T>, d: &mut Buffer<T>) -> Result<()> {
        let mut x: Vec<F> = scale_in(space, &self.scale, r)?;
        match F::solve(&self.symbolic, &self.values, &mut x) {
            Err(Failure::Memory(needed)) => return Err(too_large(space, needed)),
            Err(Failure::NegativePivot(_)) | Ok(()) => {}
        }
        *d = scale_out(space, &self.scale, &x)?;
        Ok(())
    }

    fn nonzeros(&self) -> u64 {
        self.values.len() as u64
    }
}

/// What the allocator has refused, where it is known how much it was.
pub(super) fn too_large(space: &Space, needed: Option<usize>) -> Error {
    let needed = needed.map(|needed| needed as u64);
    Error::OutOfMemory { device: space.name() + PURPOSE, needed, available: space.free_memory() }
}
