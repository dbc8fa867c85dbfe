//! Sparse Cholesky factors on the CPU: faer's supernodal `L L^T` in the order of a [`Dissection`].

use super::lower::scaled_lower;
use super::{Dissection, Factor, PURPOSE, Precision, check_room, is_no_pivot, not_positive, scale_in, scale_out};
use crate::backend::{Backend, Vector, host_memory};
use crate::error::{Error, Result};
use crate::sparse::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::LltError;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::supernodal::SupernodalLltRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use kernels_rs::real::Real;

/// `L` of `D^-1/2 K D^-1/2`, in the order of elimination.
pub struct SparseFactor<F: Precision> {
    symbolic: SymbolicCholesky<usize>,
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
    pub fn build<B: Backend, T: Real>(backend: &B, matrix: &Matrix<B, T>, coords: &[[f64; 3]]) -> Result<Self> {
        let (size, sparsity) = (matrix.block_size(), matrix.pattern().download(backend)?);
        let (order, inverse) = Dissection::new(&sparsity, coords).of_unknowns(size);
        let (lower, scale) = scaled_lower::<T, F>(&sparsity, size, &matrix.blocks(backend)?);
        let n = scale.len();
        // The lower triangle by rows is the upper one by columns.
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &lower.row_start, None, &lower.columns);
        let symbolic = analyse(pattern, &order, &inverse).map_err(|_| too_large(backend, None))?;
        let scratch = symbolic.factorize_numeric_llt_scratch::<F>(threads(), Default::default());
        let bytes =
            symbolic.len_val().saturating_mul(size_of::<F>()).saturating_add(scratch.unaligned_bytes_required());
        check_room(backend, bytes as u64)?;
        let mut values = vec![F::ZERO; symbolic.len_val()];
        host_memory::in_huge_pages(&mut values);
        let matrix = SparseColMatRef::new(pattern, &lower.values[..]);
        let mut memory = memory(backend, scratch)?;
        let stack = MemStack::new(&mut memory);
        let found = symbolic.factorize_numeric_llt(
            &mut values,
            matrix,
            Side::Upper,
            Default::default(),
            threads(),
            stack,
            Default::default(),
        );
        if let Err(LltError::NonPositivePivot { index }) = found {
            return Err(not_positive::<F>(None, order[index], size, coords));
        }
        let factor = SparseFactor { symbolic, values, scale };
        match factor.first_small_pivot() {
            Some((place, pivot)) => Err(not_positive::<F>(Some(pivot), order[place], size, coords)),
            None => Ok(factor),
        }
    }

    /// The first pivot that is no more than a rounding error, and its place in the order of elimination.
    fn first_small_pivot(&self) -> Option<(usize, f64)> {
        let SymbolicCholeskyRaw::Supernodal(symbolic) = self.symbolic.raw() else { return None };
        let factor = SupernodalLltRef::new(symbolic, &self.values);
        (0..symbolic.n_supernodes()).find_map(|s| {
            let node = factor.supernode(s);
            let block = node.val();
            let pivot = |j: usize| block[(j, j)].to_f64().powi(2);
            (0..block.ncols()).map(|j| (node.start() + j, pivot(j))).find(|(_, pivot)| is_no_pivot::<F>(*pivot))
        })
    }
}

impl<B: Backend, T: Real, F: Precision> Factor<B, T> for SparseFactor<F> {
    fn solve(&self, backend: &B, r: &Vector<B, T>, d: &mut Vector<B, T>) -> Result<()> {
        let mut x: Vec<F> = scale_in(backend, &self.scale, r)?;
        let mut memory = memory(backend, self.symbolic.solve_in_place_scratch::<F>(1, threads()))?;
        let n = x.len();
        let factor = LltRef::new(&self.symbolic, &self.values[..]);
        let column = MatMut::from_column_major_slice_mut(&mut x, n, 1);
        factor.solve_in_place_with_conj(Conj::No, column, threads(), MemStack::new(&mut memory));
        *d = scale_out(backend, &self.scale, &x)?;
        Ok(())
    }

    fn nonzeros(&self) -> u64 {
        self.values.len() as u64
    }
}

/// What faer computes with: the threads of the current pool.
fn threads() -> Par {
    Par::rayon(0)
}

/// The sparsity of the factor in this order.
fn analyse(
    upper: SymbolicSparseColMatRef<'_, usize>,
    order: &[usize],
    inverse: &[usize],
) -> Result<SymbolicCholesky<usize>, faer::sparse::FaerError> {
    let ordering = SymmetricOrdering::Custom(PermRef::new_checked(order, inverse, order.len()));
    // Always by supernodes: meshes in space have large ones.
    let params = CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
        ..Default::default()
    };
    factorize_symbolic_cholesky(upper, Side::Upper, ordering, params)
}

fn memory<B: Backend>(backend: &B, required: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(required).map_err(|_| too_large(backend, Some(required.unaligned_bytes_required() as u64)))
}

/// What the allocator has refused, where it is known how much it was.
fn too_large<B: Backend>(backend: &B, needed: Option<u64>) -> Error {
    Error::OutOfMemory { device: backend.name() + PURPOSE, needed, available: backend.free_memory() }
}
