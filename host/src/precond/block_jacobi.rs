//! Block Jacobi: M is the diagonal blocks of K, those of a node's own unknowns.

use super::{Build, Context, Preconditioner};
use crate::backend::{Backend, Blocks, Buffer, Vector};
use crate::result::Result;
use crate::sparse::{Matrix, Operator};
use kernels_rs::precond::InverseBlocks;
use kernels_rs::real::{Real, Stored};

/// The inverses of the diagonal blocks.
pub struct BlockJacobi<B: Backend, T: Real> {
    inverse: Blocks<Vector<B, T>>,
}

impl<B: Backend, T: Real> Preconditioner<B, T> for BlockJacobi<B, T> {
    fn apply(&self, backend: &B, _: &dyn Operator<B, T>, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()> {
        backend.block_mul(&self.inverse, r, z)
    }

    fn blocks(&self) -> Option<&Blocks<Vector<B, T>>> {
        Some(&self.inverse)
    }
}

impl<B: Backend, T: Real> Build<B, T> for BlockJacobi<B, T> {
    fn build<V: Stored<Arithmetic = T>>(backend: &B, matrix: &Matrix<B, V>, _: &Context<B>) -> Result<Self> {
        let (size, n_rows) = (matrix.block_size(), matrix.pattern().n_rows);
        let mut values = backend.zeros(n_rows * size * (size + 1) / 2)?;
        let (entries, from, to) = (matrix.entries(), matrix.values(), values.view_mut());
        // SAFETY: the matrix lives and its blocks have this size; `values` has their lower triangles.
        unsafe {
            match size {
                1 => backend.run(n_rows, InverseBlocks::<V, 1>::new(n_rows, entries, from, to)),
                2 => backend.run(n_rows, InverseBlocks::<V, 2>::new(n_rows, entries, from, to)),
                _ => backend.run(n_rows, InverseBlocks::<V, 3>::new(n_rows, entries, from, to)),
            }
        }?;
        Ok(BlockJacobi { inverse: Blocks { size, n_rows, values } })
    }
}
