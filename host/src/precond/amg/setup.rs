//! From a level to the next: aggregates, the smoothed prolongator P and the Galerkin product `A_c = P^T A P`.
//!
//! All of it is in double, whatever the matrix is in: what rounding leaves of `P^T A P` in single may be indefinite where A nearly is.

use super::aggregate::Aggregates;
use super::blocks::{BlockRows, Columns, Shape};
use super::strength::Strength;
use super::tentative::{Modes, centroids, members};
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use crate::precond::inverse_diagonal;
use crate::sparse::{Matrix, Pattern, Tuning};
use cuda_std::prelude::View;
use kernels_rs::amg::product::{FillEmptyRows, GalerkinProduct, MultiplyBlocks, SmoothProlongator};
use kernels_rs::real::{Real, Stored};
use kernels_rs::sparse::{Entries, PatternView};
use std::rc::Rc;

/// A level does not help if it has more than this part of the nodes of the one above.
const WORTHWHILE: f64 = 0.7;

/// The matrix that a level is made from.
pub struct Fine<'a, B: Backend, R: Real> {
    /// Which blocks.
    pub pattern: &'a Pattern<B>,
    /// Where its entries are.
    pub entries: Entries,
    /// Its values.
    pub values: View<R>,
    /// The inverse of its diagonal.
    pub inverse: Vector<B, R>,
}

impl<'a, B: Backend, R: Real> Fine<'a, B, R> {
    /// This matrix, unless its values are not numbers of the precision that it is multiplied in.
    pub fn new<V: Stored<Arithmetic = R>>(backend: &B, matrix: &'a Matrix<B, V>) -> Result<Option<Self>> {
        let Some(values) = V::numbers(matrix.values()) else { return Ok(None) };
        let inverse = inverse_diagonal(backend, matrix)?;
        Ok(Some(Fine { pattern: matrix.pattern(), entries: matrix.entries(), values, inverse }))
    }

    /// How many block rows it has, and which blocks.
    fn rows(&self) -> (usize, PatternView) {
        (self.pattern.n_rows, self.pattern.view())
    }
}

/// A level's next one.
pub struct Coarse<B: Backend> {
    /// P.
    pub prolongator: BlockRows<B, f64>,
    /// The blocks of its columns.
    pub columns: Columns<B>,
    /// A_c.
    pub matrix: Matrix<B, f64>,
    /// The modes there.
    pub modes: Modes<B>,
    /// Where its nodes are.
    pub coords: Vector<B, [f64; 3]>,
}

/// The storage format of a level with blocks of this size: one of blocks where there is one.
pub fn format(size: usize) -> &'static str {
    if size <= kernels_rs::sparse::MAX_BLOCK { crate::sparse::AUTO } else { "sell" }
}

/// The level after number `level`, whose nodes are at `coords`; nothing if there is none worth having. `omega` weighs the smoothing of
/// the prolongator. Of the finest level the modes are not known yet: `modes` makes them from a bit for each component that is free.
///
/// # Errors
///
/// [`crate::Error::OutOfMemory`], [`crate::Error::TooLarge`]
pub fn coarsen<B: Backend, R: Real>(
    backend: &B,
    fine: &Fine<B, R>,
    coords: &Vector<B, [f64; 3]>,
    level: usize,
    omega: f64,
    modes: impl FnOnce(&Vector<B, u8>) -> Result<Modes<B>>,
) -> Result<Option<Coarse<B>>> {
    let size = fine.entries.size;
    let strength = Strength::new(backend, fine, coords, level)?;
    let aggregates = Aggregates::new(backend, fine.pattern, &strength)?;
    if aggregates.number == 0 || aggregates.number as f64 > WORTHWHILE * fine.pattern.n_rows as f64 {
        return Ok(None);
    }
    let modes = modes(&strength.free)?;
    drop(strength);
    let shape = members(backend, &aggregates)?;
    let columns = Columns::new(backend, &shape)?;
    let coords = centroids(backend, aggregates.number, &columns, coords)?;
    let (tentative, modes) = modes.orthonormalised(backend, size, shape, &columns)?;
    let prolongator = smoothed(backend, fine, &tentative, omega)?;
    drop(tentative);
    let columns = Columns::new(backend, &prolongator.shape)?;
    let matrix = galerkin(backend, fine, &prolongator, &columns)?;
    Ok(Some(Coarse { prolongator, columns, matrix, modes, coords }))
}

/// `C = A B`, with these blocks.
fn product<B: Backend, R: Real>(
    backend: &B,
    fine: &Fine<B, R>,
    b: &BlockRows<B, f64>,
    shape: Shape<B>,
) -> Result<BlockRows<B, f64>> {
    let mut c = BlockRows::zeros(backend, shape, [fine.entries.size, b.columns])?;
    let (of, to) = (c.shape.blocks(), c.values.view_mut());
    let (entries, values, right) = (fine.entries, fine.values, b.view());
    let items = |rows: usize| c.n_items() / rows;
    // SAFETY: all live, B has as many rows as A has columns, and each row of a block of C is written once.
    unsafe {
        match (c.rows, b.columns) {
            (1, _) => backend.run(items(1), MultiplyBlocks::<R, 1, 1> { entries, values, b: right, of, product: to }),
            (2, _) => backend.run(items(1), MultiplyBlocks::<R, 1, 3> { entries, values, b: right, of, product: to }),
            (_, 3) => backend.run(items(3), MultiplyBlocks::<R, 3, 3> { entries, values, b: right, of, product: to }),
            _ => backend.run(items(3), MultiplyBlocks::<R, 3, 6> { entries, values, b: right, of, product: to }),
        }
    }?;
    backend.finish()?;
    Ok(c)
}

/// `P = P_0 - omega D^-1 A P_0`.
pub fn smoothed<B: Backend, R: Real>(
    backend: &B,
    fine: &Fine<B, R>,
    tentative: &BlockRows<B, f64>,
    omega: f64,
) -> Result<BlockRows<B, f64>> {
    let (from, n_columns) = (&tentative.shape.pattern, tentative.shape.n_columns);
    let shape = Shape::of_product(backend, fine.rows(), from, n_columns, false)?;
    let mut p = product(backend, fine, tentative, shape)?;
    let (of, values) = (p.shape.blocks(), p.values.view_mut());
    let kernel = SmoothProlongator { omega, inverse: fine.inverse.view(), tentative: tentative.view(), of, values };
    // SAFETY: all live until `finish`; each row of a block is written once.
    unsafe { backend.run(p.n_items(), kernel) }?;
    backend.finish()?;
    Ok(p)
}

/// `P^T A P`.
pub fn galerkin<B: Backend, R: Real>(
    backend: &B,
    fine: &Fine<B, R>,
    prolongator: &BlockRows<B, f64>,
    columns: &Columns<B>,
) -> Result<Matrix<B, f64>> {
    let (p_rows, n_coarse) = (&prolongator.shape.pattern, prolongator.shape.n_columns);
    let shape = Shape::of_product(backend, fine.rows(), p_rows, n_coarse, false)?;
    let right = product(backend, fine, prolongator, shape)?;
    let shape = Shape::of_product(backend, (n_coarse, columns.transposed()), &right.shape.pattern, n_coarse, true)?;
    let (size, block_rows, pattern) = (prolongator.columns, shape.rows, Rc::new(shape.pattern));
    let mut matrix = Matrix::<B, f64>::zeros(backend, format(size), size, &pattern, Tuning::default())?;
    let of = kernels_rs::amg::product::Blocks { rows: block_rows.view(), columns: pattern.columns.view() };
    let (rows, entries, values) = (pattern.n_blocks() * size, matrix.entries(), matrix.values_mut());
    let (p, members, product) = (prolongator.view(), columns.view(), right.view());
    // SAFETY: all live until `finish`; each row of a block is written once.
    unsafe {
        match size {
            1 => backend.run(rows, GalerkinProduct::<1, 1> { prolongator: p, members, product, of, entries, values }),
            3 => {
                backend.run(rows / 3, GalerkinProduct::<3, 3> { prolongator: p, members, product, of, entries, values })
            }
            _ => {
                backend.run(rows / 3, GalerkinProduct::<3, 6> { prolongator: p, members, product, of, entries, values })
            }
        }?;
        backend.run(pattern.n_rows, FillEmptyRows { entries, values })?;
    }
    backend.finish()?;
    Ok(matrix)
}
