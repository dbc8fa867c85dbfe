//! Block Jacobi: M is the diagonal blocks of K, those of a node's own unknowns.

use super::{Build, Context, Preconditioner};
use crate::device::Buffer;
use crate::linalg::{Blocks, Space};
use crate::result::Result;
use crate::sparse::{LinOp, Matrix};
use kernels_rs::precond::InverseBlocks;
use kernels_rs::real::{Real, Stored};

/// The inverses of the diagonal blocks.
pub struct BlockJacobi<T: Real> {
    inverse: Blocks<T>,
}

impl<T: Real> Preconditioner<T> for BlockJacobi<T> {
    fn apply(&self, space: &Space, _: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        space.block_mul(&self.inverse, r, z)
    }

    fn blocks(&self) -> Option<&Blocks<T>> {
        Some(&self.inverse)
    }
}

impl<T: Real> Build<T> for BlockJacobi<T> {
    fn build<V: Stored<Arithmetic = T>>(space: &Space, matrix: &Matrix<V>, _: &Context) -> Result<Self> {
        let (size, n_rows) = (matrix.block_size(), matrix.pattern().n_rows);
        let mut values = space.zeros(n_rows * size * (size + 1) / 2)?;
        let (entries, from, to) = (matrix.entries(), matrix.values(), values.view_mut());
        // SAFETY: the matrix lives and its blocks have this size; `values` has their lower triangles.
        unsafe {
            match size {
                1 => space.run(n_rows, InverseBlocks::<V, 1>::new(n_rows, entries, from, to)),
                2 => space.run(n_rows, InverseBlocks::<V, 2>::new(n_rows, entries, from, to)),
                _ => space.run(n_rows, InverseBlocks::<V, 3>::new(n_rows, entries, from, to)),
            }
        }?;
        Ok(BlockJacobi { inverse: Blocks { size, n_rows, values } })
    }
}
