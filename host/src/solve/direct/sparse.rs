//! Sparse Cholesky factors on the CPU: faer's supernodal `L L^T` in the order of a [`Dissection`].

use super::{
    Dissection, Factor, PURPOSE, Precision, check_memory, not_positive, scale_in, scale_out, scaled_lower,
    smallest_pivot,
};
use crate::device::{Buffer, LowerTriangle};
use crate::linalg::Space;
use crate::result::{Error, Result};
use crate::sparse::{Matrix, Sparsity};
use kernels_rs::real::Real;
use warpfem_cholesky::{Failure, Lower, Symbolic};

/// `L` of `D^-1/2 K D^-1/2`, in the order of elimination.
pub struct SparseFactor<F: Precision> {
    symbolic: Symbolic,
    values: Vec<F>,
    /// `D^-1/2`, `[n]`.
    scale: Vec<f64>,
}

/// A matrix as it is factorised, scaled by `D^-1/2`, and the sparsity of its factor.
pub(super) struct Analysed<F> {
    pub matrix: LowerTriangle<F>,
    pub symbolic: Symbolic,
    pub scale: Vec<f64>,
    /// The unknown at each place of the order of elimination.
    order: Vec<usize>,
    /// Unknowns of a node.
    size: usize,
}

impl<F: Precision> Analysed<F> {
    /// Of a symmetric matrix of these blocks, whose block rows are nodes at these coordinates, `[n_rows]`.
    pub fn new<T: Real>(
        space: &Space,
        sparsity: &Sparsity,
        size: usize,
        blocks: Vec<T>,
        coords: &[[f64; 3]],
    ) -> Result<Self> {
        let (order, inverse) = Dissection::new(sparsity, coords).of_unknowns(size);
        let (matrix, scale) = scaled_lower::<T, F>(sparsity, size, &blocks);
        drop(blocks);
        let lower = Lower { row_start: &matrix.row_start, columns: &matrix.columns };
        // It fails for memory alone.
        let symbolic = Symbolic::new(lower, &order, &inverse).map_err(|_| too_large(space, None))?;
        Ok(Analysed { matrix, symbolic, scale, order, size })
    }

    /// Its sparsity.
    pub fn lower(&self) -> Lower<'_> {
        Lower { row_start: &self.matrix.row_start, columns: &self.matrix.columns }
    }

    /// What a failure of the elimination means; `pivot` is the one that it met, where that is known.
    pub fn failed(&self, space: &Space, failure: Failure, pivot: Option<f64>, coords: &[[f64; 3]]) -> Error {
        match failure {
            Failure::Memory(needed) => too_large(space, needed),
            Failure::NegativePivot(place) => not_positive::<F>(pivot, self.order[place], self.size, coords),
        }
    }
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
        let analysed = Analysed::<F>::new(space, &sparsity, size, matrix.blocks(space)?, coords)?;
        let (lower, Analysed { matrix, symbolic, order, .. }) = (analysed.lower(), &analysed);
        let bytes = symbolic.n_values().saturating_mul(size_of::<F>()).saturating_add(F::scratch(symbolic));
        check_memory(space, bytes as u64)?;
        let mut values = vec![F::ZERO; symbolic.n_values()];
        F::factorise(symbolic, lower, &matrix.values, &mut values)
            .map_err(|failure| analysed.failed(space, failure, None, coords))?;
        match F::first_small_pivot(symbolic, &values, smallest_pivot::<F>()) {
            Some((place, pivot)) => Err(not_positive::<F>(Some(pivot), order[place], size, coords)),
            None => Ok(SparseFactor { symbolic: analysed.symbolic, values, scale: analysed.scale }),
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
fn too_large(space: &Space, needed: Option<usize>) -> Error {
    let needed = needed.map(|needed| needed as u64);
    Error::OutOfMemory { device: space.name() + PURPOSE, needed, available: space.free_memory() }
}
