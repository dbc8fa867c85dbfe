//! The matrix as sparse factorisations take it: `D^-1/2 K D^-1/2`, scalar by scalar, its lower triangle alone.

use super::scaling;
use crate::device::LowerTriangle;
use crate::sparse::Sparsity;
use kernels_rs::real::Real;

/// The lower triangle of `D^-1/2 K D^-1/2`, and `D^-1/2`, of a symmetric matrix of these blocks,
/// `[n_blocks][size][size]`.
pub fn scaled_lower<T: Real, F: Real>(sparsity: &Sparsity, size: usize, blocks: &[T]) -> (LowerTriangle<F>, Vec<f64>) {
    let n = sparsity.n_rows() * size;
    let value = |block: usize, i: usize, j: usize| blocks[(block * size + i) * size + j].to_f64();
    let first = |row: usize| sparsity.row_start[row] as usize;
    // The diagonal block is a row's first.
    let scale = scaling((0..n).map(|i| value(first(i / size), i % size, i % size)));
    let mut lower = LowerTriangle { row_start: vec![0], columns: Vec::new(), values: Vec::new() };
    for node in 0..sparsity.n_rows() {
        let neighbours = sparsity.row(node);
        for i in 0..size {
            // Those before the diagonal ascend.
            let before = neighbours.iter().enumerate().skip(1).take_while(|(_, other)| (**other as usize) < node);
            for (k, other) in before.chain([(0, &neighbours[0])]) {
                let other = *other as usize;
                for j in 0..if other == node { i + 1 } else { size } {
                    let (row, column) = (node * size + i, other * size + j);
                    lower.columns.push(column);
                    lower.values.push(F::from_f64(value(first(node) + k, i, j) * scale[row] * scale[column]));
                }
            }
            lower.row_start.push(lower.columns.len());
        }
    }
    (lower, scale)
}
