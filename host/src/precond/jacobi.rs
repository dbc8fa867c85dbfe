//! Preconditioners of one entry or block of K at a time: none (`M = I`), Jacobi (`M = diag(K)`), and block Jacobi, whose
//! M is the diagonal blocks of K, those of a node's own unknowns.

use super::{Build, Context, Preconditioner};
use crate::device::Buffer;
use crate::linalg::{Blocks, Space};
use crate::result::{Error, Result};
use crate::sparse::{CoupledRows, LinOp, Matrix};
use kernels_rs::assembly::supports::InverseDiagonal;
use kernels_rs::precond::{InverseBlocks, RoundDiagonal};
use kernels_rs::real::{Real, Stored};
use std::marker::PhantomData;

/// `z = r`.
pub struct Identity<T>(PhantomData<fn() -> T>);

impl<T: Real> Preconditioner<T> for Identity<T> {
    fn apply(&self, space: &Space, _: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        space.copy(r, z)
    }
}

impl<T: Real> Build<T> for Identity<T> {
    fn build<V: Stored<Arithmetic = T>>(_: &Space, _: &Matrix<V>, _: &Context) -> Result<Self> {
        Ok(Identity(PhantomData))
    }

    fn of_operator(_: &Space, _: &dyn LinOp<T>, _: Buffer<T>, _: &Context) -> Result<Self> {
        Ok(Identity(PhantomData))
    }
}

/// The inverse of the diagonal, in single precision.
pub struct Jacobi<T> {
    inverse: Buffer<f32>,
    of: PhantomData<T>,
}

/// `1 / K_ii`, `[n]`; 0 for an empty row.
pub fn inverse_diagonal<V: Stored>(space: &Space, matrix: &Matrix<V>) -> Result<Buffer<V::Arithmetic>> {
    let mut inverse = space.zeros(matrix.n())?;
    let kernel = InverseDiagonal { entries: matrix.entries(), values: matrix.values(), inverse: inverse.view_mut() };
    // SAFETY: the matrix lives; `inverse` has its rows.
    unsafe { space.run(matrix.pattern().n_rows, kernel) }?;
    Ok(inverse)
}

/// An inverse of a diagonal in single precision: of a preconditioner, that is enough.
pub(crate) fn to_single<T: Real>(space: &Space, inverse: &Buffer<T>) -> Result<Buffer<f32>> {
    let mut rounded = space.zeros(inverse.len())?;
    // SAFETY: both have as many entries, and live until the kernel has run: what is freed is freed in its order.
    unsafe { space.run(inverse.len(), RoundDiagonal { inverse: inverse.view(), rounded: rounded.view_mut() }) }?;
    Ok(rounded)
}

impl<T: Real> Preconditioner<T> for Jacobi<T> {
    fn apply(&self, space: &Space, _: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        space.mul(&self.inverse, r, z)
    }

    fn diagonal(&self) -> Option<&Buffer<f32>> {
        Some(&self.inverse)
    }
}

impl<T: Real> Build<T> for Jacobi<T> {
    fn build<V: Stored<Arithmetic = T>>(space: &Space, matrix: &Matrix<V>, context: &Context) -> Result<Self> {
        Jacobi::of_operator(space, matrix, context.inverse_diagonal(space, matrix)?, context)
    }

    fn of_operator(space: &Space, _: &dyn LinOp<T>, inverse: Buffer<T>, _: &Context) -> Result<Self> {
        Ok(Jacobi { inverse: to_single(space, &inverse)?, of: PhantomData })
    }
}

/// Blocks as [`InverseBlocks`] has them, those of coupled nodes replaced by this diagonal.
fn with_diagonals<T: Real>(mut blocks: Vec<T>, diagonal: &[T], rows: &CoupledRows, size: usize) -> Vec<T> {
    let n_rows = diagonal.len() / size;
    for unknown in rows.slaves.iter().chain(&rows.masters) {
        let row = *unknown as usize / size;
        for (i, j) in (0..size).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            blocks[(i * (i + 1) / 2 + j) * n_rows + row] = if i == j { diagonal[size * row + i] } else { T::ZERO };
        }
    }
    blocks
}

/// The inverses of the diagonal blocks; of nodes that are coupled those of the diagonal of `T^T K T`.
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
    const NEEDS_ENTRIES: bool = true;

    fn build<V: Stored<Arithmetic = T>>(space: &Space, matrix: &Matrix<V>, context: &Context) -> Result<Self> {
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
        if let Some(rows) = context.coupled {
            let diagonal = space.take(context.inverse_diagonal(space, matrix)?)?;
            values = space.upload_vec(with_diagonals(space.take(values)?, &diagonal, rows, size))?;
        }
        Ok(BlockJacobi { inverse: Blocks { size, n_rows, values } })
    }
    fn of_operator(_: &Space, _: &dyn LinOp<T>, _: Buffer<T>, _: &Context) -> Result<Self> {
        let (what, name) = ("preconditioner without a matrix", "block_jacobi".into());
        Err(Error::NotAvailable { what, name, available: vec!["jacobi"] })
    }
}
