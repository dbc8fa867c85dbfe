//! Matrices of 3x3 blocks given block by block, to be stored in any format.

use super::Random;
use kernels_rs::real::Real;
use kernels_rs::sparse::Layout;
use nalgebra::DMatrix;
use warpfem::backend::{Backend, CpuBackend};
use warpfem::sparse::{Format, Matrix, Sparsity};

/// A square matrix: a sparsity and a block for each of its entries.
#[derive(Debug, Clone)]
pub struct Blocks {
    pub sparsity: Sparsity,
    pub blocks: Vec<[[f64; 3]; 3]>,
}

/// The layout of a format in host memory.
pub fn with_host_layout<F: Format, R>(format: &F, use_it: impl FnOnce(F::Layout) -> R) -> R {
    let arrays = format.upload(&CpuBackend::default()).unwrap();
    use_it(F::layout(&arrays))
}

/// The sparsity with these off-diagonal neighbours, in any order and with repetitions.
pub fn sparsity(neighbours: &[Vec<usize>]) -> Sparsity {
    let (mut row_start, mut columns) = (vec![0], Vec::new());
    for (row, others) in neighbours.iter().enumerate() {
        let mut others: Vec<u32> = others.iter().filter(|other| **other != row).map(|other| *other as u32).collect();
        others.sort_unstable();
        others.dedup();
        columns.push(row as u32);
        columns.extend(others);
        row_start.push(columns.len() as u64);
    }
    Sparsity { row_start, columns }
}

/// A symmetric pattern of `n` rows with about `pairs` random neighbours each.
pub fn random_sparsity(n: usize, pairs: usize, seed: u64) -> Sparsity {
    let mut random = Random(seed);
    let mut neighbours = vec![Vec::new(); n];
    for row in 0..n {
        for _ in 0..pairs / 2 {
            let other = random.below(n);
            neighbours[row].push(other);
            neighbours[other].push(row);
        }
    }
    sparsity(&neighbours)
}

impl Blocks {
    /// Random values on a sparsity, rounded to f32 so that both precisions hold the same matrix.
    pub fn random(sparsity: Sparsity, seed: u64) -> Blocks {
        let mut random = Random(seed);
        let blocks =
            (0..sparsity.n_blocks()).map(|_| [(); 3].map(|()| [(); 3].map(|()| f64::from(random.next() as f32))));
        Blocks { blocks: blocks.collect(), sparsity }
    }

    /// A symmetric positive definite matrix on a symmetric sparsity: diagonally dominant by `margin`.
    pub fn positive(sparsity: Sparsity, margin: f64, seed: u64) -> Blocks {
        let mut matrix = Blocks::random(sparsity, seed);
        let dense = matrix.dense();
        let symmetric = 0.5 * (&dense + dense.transpose());
        let sums: Vec<f64> = symmetric.row_iter().map(|row| row.iter().map(|v| v.abs()).sum()).collect();
        matrix.set_all(|row, column| symmetric[(row, column)] + if row == column { sums[row] + margin } else { 0.0 });
        matrix
    }

    /// A diagonal matrix.
    pub fn diagonal(diagonal: &[f64]) -> Blocks {
        let sparsity = sparsity(&vec![Vec::new(); diagonal.len() / 3]);
        let mut matrix = Blocks { blocks: vec![[[0.0; 3]; 3]; sparsity.n_blocks()], sparsity };
        matrix.set_all(|row, column| if row == column { diagonal[row] } else { 0.0 });
        matrix
    }

    /// Sets every stored entry by its row and column.
    pub fn set_all(&mut self, value: impl Fn(usize, usize) -> f64) {
        for row in 0..self.n_rows() {
            let start = self.sparsity.row_start[row] as usize;
            for (k, column) in self.sparsity.row(row).iter().enumerate() {
                for i in 0..3 {
                    for j in 0..3 {
                        self.blocks[start + k][i][j] = value(3 * row + i, 3 * *column as usize + j);
                    }
                }
            }
        }
    }

    /// Number of block rows.
    pub fn n_rows(&self) -> usize {
        self.sparsity.n_rows()
    }

    /// Calls `visit(row, k, column, block)` for every block.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, usize, &[[f64; 3]; 3])) {
        for row in 0..self.n_rows() {
            let start = self.sparsity.row_start[row] as usize;
            for (k, column) in self.sparsity.row(row).iter().enumerate() {
                visit(row, k, *column as usize, &self.blocks[start + k]);
            }
        }
    }

    /// `A x`, entry by entry.
    pub fn product(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; 3 * self.n_rows()];
        self.for_each(|row, _, column, block| {
            for (y, entries) in y[3 * row..].iter_mut().zip(block) {
                *y += entries.iter().zip(&x[3 * column..]).map(|(a, x)| a * x).sum::<f64>();
            }
        });
        y
    }

    /// The matrix with its zeros.
    pub fn dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(3 * self.n_rows(), 3 * self.n_rows());
        self.for_each(|row, _, column, block| {
            for (i, entries) in block.iter().enumerate() {
                for (j, entry) in entries.iter().enumerate() {
                    dense[(3 * row + i, 3 * column + j)] = *entry;
                }
            }
        });
        dense
    }

    /// The values in a format's layout, padding zero.
    pub fn values<F: Format, T: Real>(&self, format: &F) -> Vec<T> {
        let mut values = vec![T::ZERO; format.footprint().values as usize];
        with_host_layout(format, |layout| {
            self.for_each(|row, k, column, block| {
                // SAFETY: block k of the sparsity's row is the format's block k, and host views check their bounds.
                let stored = unsafe { layout.column(row, k) };
                assert_eq!(stored, column, "block {k} of row {row}");
                for (place, value) in block.as_flattened().iter().enumerate() {
                    // SAFETY: as above.
                    let entry = unsafe { layout.entry(row, k, place / 3, place % 3) };
                    values[entry] = T::from_f64(*value);
                }
            });
        });
        values
    }

    /// The matrix in a format on a backend.
    pub fn upload<B: Backend, F: Format, T: Real>(&self, backend: &B) -> Matrix<B, F, T> {
        let format = F::build(&self.sparsity);
        let mut matrix = Matrix::zeros(backend, &format, self.n_rows()).unwrap();
        matrix.values = backend.upload(&self.values(&format)).unwrap();
        matrix
    }
}

/// The matrix that values in a format's layout stand for; padding must be zero.
pub fn dense_of<F: Format, T: Real>(format: &F, sparsity: &Sparsity, values: &[T]) -> DMatrix<f64> {
    let n = sparsity.n_rows();
    let mut dense = DMatrix::zeros(3 * n, 3 * n);
    with_host_layout(format, |layout| {
        for row in 0..n {
            // SAFETY: `row` is a row of the matrix, k is below its width, and host views check their bounds.
            let width = unsafe { layout.width(row) };
            for k in 0..width {
                // SAFETY: as above.
                let column = unsafe { layout.column(row, k) };
                for i in 0..3 {
                    for j in 0..3 {
                        // SAFETY: as above.
                        let value = values[unsafe { layout.entry(row, k, i, j) }].to_f64();
                        if k < sparsity.row(row).len() {
                            dense[(3 * row + i, 3 * column + j)] = value;
                        } else {
                            assert_eq!(value, 0.0, "padding {k} of row {row}");
                        }
                    }
                }
            }
        }
    });
    dense
}
