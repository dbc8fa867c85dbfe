//! `T^T K T` as a matrix, for the direct solver.

use super::{CoupledRows, Matrix, Pattern, Sparsity, Tuning};
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::coupling::NONE;
use kernels_rs::real::Real;
use std::collections::BTreeMap;
use std::rc::Rc;

/// `T^T K T`; rows of slaves have a diagonal and nothing else.
pub fn reduced<T: Real>(space: &Space, matrix: &Matrix<T>, rows: &CoupledRows) -> Result<Matrix<T>> {
    let (sparsity, size) = (matrix.pattern().download(space)?, matrix.block_size());
    let (sparsity, blocks) = multiply(rows, &sparsity, size, &matrix.blocks(space)?);
    let pattern = Rc::new(Pattern::upload(space, sparsity)?);
    let mut reduced = Matrix::zeros(space, super::AUTO, size, &pattern, Tuning::default())?;
    reduced.set_blocks(space, &blocks)?;
    if matrix.is_symmetric() {
        reduced.promise_symmetric();
    }
    Ok(reduced)
}

/// The blocks of the product, `[n_blocks][size][size]`.
fn multiply<T: Real>(rows: &CoupledRows, from: &Sparsity, size: usize, values: &[T]) -> (Sparsity, Vec<T>) {
    let row_of = rows.row_of();
    let terms = |unknown: usize| -> Vec<(usize, f64)> {
        match row_of[unknown] {
            NONE => vec![(unknown, 1.0)],
            row => rows.row(row as usize).collect(),
        }
    };
    let is_touched = |node: usize| (0..size).any(|i| row_of[size * node + i] != NONE);
    // What slaves bring to blocks of their masters.
    let mut added: Vec<BTreeMap<u32, Vec<f64>>> = vec![BTreeMap::new(); from.n_rows()];
    for row in 0..from.n_rows() {
        let first = from.row_start[row] as usize;
        for (k, column) in from.row(row).iter().enumerate() {
            let column = *column as usize;
            if !is_touched(row) && !is_touched(column) {
                continue;
            }
            for i in 0..size {
                for j in 0..size {
                    let [a, b] = [size * row + i, size * column + j];
                    let value = values[((first + k) * size + i) * size + j].to_f64();
                    if value == 0.0 || row_of[a] == NONE && row_of[b] == NONE {
                        continue;
                    }
                    for (p, of_p) in terms(a) {
                        for (q, of_q) in terms(b) {
                            let block =
                                added[p / size].entry((q / size) as u32).or_insert_with(|| vec![0.0; size * size]);
                            block[(p % size) * size + q % size] += of_p * of_q * value;
                        }
                    }
                }
            }
        }
    }
    let (mut to, mut blocks) = (Sparsity { row_start: vec![0], columns: Vec::new() }, Vec::new());
    for (row, added) in added.iter_mut().enumerate() {
        let first = from.row_start[row] as usize;
        let mut of_row: BTreeMap<u32, Vec<f64>> = std::mem::take(added);
        for (k, column) in from.row(row).iter().enumerate() {
            let block = of_row.entry(*column).or_insert_with(|| vec![0.0; size * size]);
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                let [a, b] = [size * row + i, size * *column as usize + j];
                if row_of[a] == NONE && row_of[b] == NONE {
                    block[i * size + j] += values[((first + k) * size + i) * size + j].to_f64();
                }
            }
        }
        let own = of_row.remove(&(row as u32));
        let diagonal = own.map(|mut block| {
            for i in (0..size).filter(|i| row_of[size * row + i] != NONE) {
                block[i * size + i] = 1.0;
            }
            (row as u32, block)
        });
        for (column, block) in diagonal.into_iter().chain(of_row) {
            to.columns.push(column);
            blocks.extend(block.into_iter().map(T::from_f64));
        }
        to.row_start.push(to.columns.len() as u64);
    }
    (to, blocks)
}
