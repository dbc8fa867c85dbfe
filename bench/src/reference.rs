//! The measured matrix in the host's memory, whatever the format: so that every format's product can be checked, and
//! other programs can be measured on the same one.

use kernels_rs::real::Real;
use rayon::prelude::*;
use std::rc::Rc;
use warpfem::linalg::Space;
use warpfem::result::Result;
use warpfem::result::choices::Format;
use warpfem::sparse::{Matrix, Pattern, Sparsity, Tuning};

/// A matrix by its blocks.
pub struct Reference<T> {
    /// Rows of a block.
    pub block_size: usize,
    /// Which blocks there are.
    pub sparsity: Sparsity,
    /// Their values, in the sparsity's order, `[n_blocks][block_size][block_size]`.
    pub blocks: Vec<T>,
}

impl<T: Real> Reference<T> {
    /// The matrix of made-up values on a pattern.
    pub fn new(space: &Space, block_size: usize, pattern: &Rc<Pattern>) -> Result<Self> {
        // Any format would do; this one always fits where one does.
        let mut matrix = Matrix::<T>::zeros(space, Format::Bcsr, block_size, pattern, Tuning::default())?;
        matrix.make_up(space)?;
        Ok(Reference { block_size, sparsity: pattern.download(space)?, blocks: matrix.blocks(space)? })
    }

    /// Entry (i, j) of the sparsity's block `k`.
    pub fn entry(&self, k: usize, i: usize, j: usize) -> f64 {
        self.blocks[(k * self.block_size + i) * self.block_size + j].to_f64()
    }

    /// The numbers of a row's blocks, and their columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let first = self.sparsity.row_start[row] as usize;
        self.sparsity.row(row).iter().enumerate().map(move |(k, column)| (first + k, *column as usize))
    }

    /// The product with `x`, in double precision.
    pub fn product(&self, x: &[f64]) -> Vec<f64> {
        let size = self.block_size;
        let mut y = vec![0.0; size * self.sparsity.n_rows()];
        y.par_chunks_mut(size).with_min_len(256).enumerate().for_each(|(row, y)| {
            for (k, column) in self.row(row) {
                for (i, y) in y.iter_mut().enumerate() {
                    for (j, x) in x[size * column..][..size].iter().enumerate() {
                        *y += self.entry(k, i, j) * x;
                    }
                }
            }
        });
        y
    }
}

/// The norm of the difference of two vectors over that of the second.
pub fn difference(y: &[f64], expected: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let off = norm(&mut y.iter().zip(expected).map(|(y, e)| y - e));
    off / norm(&mut expected.iter().copied()).max(f64::MIN_POSITIVE)
}

/// Stops at a relative difference from what is right that is more than rounding in `T`.
pub fn check<T: Real>(what: &str, difference: f64) {
    let limit = if size_of::<T>() == size_of::<f64>() { 1e-12 } else { 1e-4 };
    assert!(difference <= limit, "{what} is wrong: its relative difference is {difference:e}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfem::linalg::Space;

    #[test]
    fn the_product_is_that_of_the_blocks() {
        let space = Space::cpu();
        let sparsity = Sparsity { row_start: vec![0, 2, 3], columns: vec![0, 1, 1] };
        let pattern = Rc::new(Pattern::upload(&space, sparsity).unwrap());
        let matrix = Reference::<f64>::new(&space, 2, &pattern).unwrap();
        let a = |k: usize, i: usize, j: usize| matrix.blocks[4 * k + 2 * i + j];
        assert!(matrix.blocks.iter().all(|value| *value != 0.0));
        let x = [1.0, -2.0, 0.5, 3.0];
        let first = |i| a(0, i, 0) - 2.0 * a(0, i, 1) + 0.5 * a(1, i, 0) + 3.0 * a(1, i, 1);
        let second = |i| 0.5 * a(2, i, 0) + 3.0 * a(2, i, 1);
        let expected = [first(0), first(1), second(0), second(1)];
        let y = matrix.product(&x);
        assert!(difference(&y, &expected) < 1e-15, "{y:?} {expected:?}");
        assert_eq!(difference(&[3.0, 4.0], &[3.0, 0.0]), 4.0 / 3.0);
    }
}
