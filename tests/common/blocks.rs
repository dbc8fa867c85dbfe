//! Matrices given block by block, to be stored in any format.

use super::{Random, assert_close, bits, floats, rounding};
use cuda_std::{GpuFloat, Number};
use kernels_rs::real::{Real, Stored};
use nalgebra::DMatrix;
use std::collections::BTreeMap;
use std::rc::Rc;
use warpfem::linalg::{Scalar, Space};
use warpfem::result::choices::Format;
use warpfem::sparse::{LinOp, Matrix, Pattern, Sparsity, Tuning};

/// What `V` keeps of a number.
fn stored<V: Stored>(value: f64) -> V {
    V::rounded(V::Arithmetic::from_f64(value))
}

/// A square matrix: a sparsity and a block for each of its entries.
#[derive(Debug, Clone)]
pub struct Blocks {
    pub sparsity: Sparsity,
    /// Rows of a block.
    pub size: usize,
    /// `[n_blocks][size][size]`
    pub values: Vec<f64>,
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

/// Each row neighbours up to `most` rows at most `reach` before it, and some neighbour all.
pub fn band(n: usize, most: usize, reach: usize, hubs: &[usize]) -> Sparsity {
    let mut random = Random(n as u64);
    let mut neighbours = vec![Vec::new(); n];
    for row in 1..n {
        let near = (0..random.below(most + 1)).map(|_| row - 1 - random.below(reach.min(row))).collect::<Vec<_>>();
        for other in near.into_iter().chain(hubs.iter().copied()) {
            neighbours[row].push(other);
            neighbours[other].push(row);
        }
    }
    sparsity(&neighbours)
}

impl Blocks {
    /// Random values on a sparsity, rounded to f32 so that both precisions hold the same matrix.
    pub fn random(sparsity: Sparsity, size: usize, seed: u64) -> Blocks {
        let mut random = Random(seed);
        let values = (0..sparsity.n_blocks() * size * size).map(|_| f64::from(random.next() as f32)).collect();
        Blocks { values, size, sparsity }
    }

    /// A symmetric positive definite matrix on a symmetric sparsity: diagonally dominant by `margin`.
    pub fn positive(sparsity: Sparsity, margin: f64, seed: u64) -> Blocks {
        let mut matrix = Blocks::random(sparsity, 3, seed);
        let dense = matrix.dense();
        let symmetric = 0.5 * (&dense + dense.transpose());
        let sums: Vec<f64> = symmetric.row_iter().map(|row| row.iter().map(|v| v.abs()).sum()).collect();
        matrix.set_all(|row, column| symmetric[(row, column)] + if row == column { sums[row] + margin } else { 0.0 });
        matrix
    }

    /// A symmetric positive definite matrix of any size on a symmetric sparsity, without a dense one on the way:
    /// diagonally dominant by `margin`.
    pub fn dominant(sparsity: Sparsity, size: usize, margin: f64, seed: u64) -> Blocks {
        let mut matrix = Blocks::random(sparsity, size, seed);
        let symmetric = |row: usize, column: usize| {
            let (low, high) = (row.min(column) as u64, row.max(column) as u64);
            f64::from(Random(seed ^ (high << 32 | low).wrapping_mul(0x9e37_79b9)).next() as f32)
        };
        matrix.set_all(symmetric);
        let mut sums = vec![margin; matrix.n()];
        matrix.for_each(|row, _, value| sums[row] += value.abs());
        matrix.set_all(|row, column| if row == column { sums[row] } else { symmetric(row, column) });
        matrix
    }

    /// A small system: such a matrix of `n` rows, and a right-hand side.
    pub fn system(n: usize) -> (Blocks, Vec<f64>) {
        (Blocks::positive(random_sparsity(n, 8, 3), 0.5, 4), Random(5).vector(3 * n))
    }

    /// A diagonal matrix.
    pub fn diagonal(diagonal: &[f64]) -> Blocks {
        let mut matrix = Blocks::random(sparsity(&vec![Vec::new(); diagonal.len() / 3]), 3, 0);
        matrix.set_all(|row, column| if row == column { diagonal[row] } else { 0.0 });
        matrix
    }

    /// Sets every stored entry by its row and column.
    pub fn set_all(&mut self, value: impl Fn(usize, usize) -> f64) {
        for row in 0..self.n_rows() {
            let start = self.sparsity.row_start[row] as usize;
            for (k, column) in self.sparsity.row(row).iter().enumerate() {
                for i in 0..self.size {
                    for j in 0..self.size {
                        self.values[((start + k) * self.size + i) * self.size + j] =
                            value(self.size * row + i, self.size * *column as usize + j);
                    }
                }
            }
        }
    }

    /// Whether it is its own transpose, bit by bit.
    pub fn is_symmetric(&self) -> bool {
        let mut entries = BTreeMap::new();
        self.for_each(|row, column, value| {
            entries.insert((row, column), value);
        });
        entries.iter().all(|(&(row, column), value)| entries.get(&(column, row)) == Some(value))
    }

    /// The matrix as `V` keeps it.
    pub fn rounded<V: Stored>(&self) -> Blocks {
        let values = self.values.iter().map(|value| stored::<V>(*value).value().to_f64()).collect();
        Blocks { values, ..self.clone() }
    }

    /// Number of block rows.
    pub fn n_rows(&self) -> usize {
        self.sparsity.n_rows()
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.size * self.n_rows()
    }

    /// Calls `visit(row, column, value)` for every stored entry.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let mut values = self.values.iter();
        for row in 0..self.n_rows() {
            for column in self.sparsity.row(row) {
                for i in 0..self.size {
                    for j in 0..self.size {
                        let value = values.next().expect("a value for every entry");
                        visit(self.size * row + i, self.size * *column as usize + j, *value);
                    }
                }
            }
        }
    }

    /// `A x`, entry by entry.
    pub fn product(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.n()];
        self.for_each(|row, column, value| y[row] += value * x[column]);
        y
    }

    /// The matrix with its zeros.
    pub fn dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.n(), self.n());
        self.for_each(|row, column, value| dense[(row, column)] = value);
        dense
    }

    /// The matrix in a format on a device.
    pub fn upload<V: Stored>(&self, space: &Space, format: Format) -> Matrix<V> {
        self.upload_tuned(space, format, Tuning::default())
    }

    /// As [`Blocks::upload`], with choices within the format.
    pub fn upload_tuned<V: Stored>(&self, space: &Space, format: Format, tuning: Tuning) -> Matrix<V> {
        let pattern = Rc::new(Pattern::upload(space, self.sparsity.clone()).unwrap());
        let mut matrix = Matrix::zeros(space, format, self.size, &pattern, tuning).unwrap();
        let values: Vec<V> = self.values.iter().map(|value| stored(*value)).collect();
        matrix.set_blocks(space, &values).unwrap();
        matrix
    }
}

/// `A x` and `x . A x` of a device, compared with those of the blocks to rounding of this scale; their bits.
pub fn product<V: Stored>(space: &Space, what: &str, format: Format, blocks: &Blocks, scale: f64) -> Vec<u64> {
    let (blocks, n) = (blocks.rounded::<V>(), blocks.n());
    let x = Random(7).vector::<V::Arithmetic>(n);
    let expected = blocks.product(&floats(&x));
    let expected_dot = x.iter().zip(&expected).map(|(x, y)| x.to_f64() * y).sum::<f64>();
    let matrix: Matrix<V> = blocks.upload(space, format);
    let (x, nan) = (space.upload(&x).unwrap(), vec![V::Arithmetic::from_f64(f64::NAN); n]);
    let [mut y, mut z] = [(); 2].map(|()| space.upload(&nan).unwrap());
    matrix.apply(space, &x, &mut y).unwrap();
    matrix.apply_dot(space, &x, &mut z, Scalar::new(33)).unwrap();
    let dot = space.read([Scalar::new(33)]).unwrap();
    let [y, z] = [y, z].map(|vector| space.download(&vector).unwrap());
    let what = format!("{format} {} {what}, blocks of {}", V::NAME, blocks.size);
    let rounding = rounding::<V::Arithmetic>();
    assert_close(&what, &y, &expected, rounding, scale);
    assert!(bits(&y) == bits(&z), "{what}: with and without the inner product differ");
    assert_close(&what, &dot, &[expected_dot], rounding, scale * (1.0 + n as f64));
    [bits(&y), bits(&dot)].concat()
}

/// The Laplacian of a chain of `n` nodes in each component: its scaled eigenvalues are `1 - cos(j pi / (n + 1))`.
pub fn chain(n: usize) -> Blocks {
    let neighbours: Vec<Vec<usize>> = (0..n).map(|i| (i.saturating_sub(1)..=(i + 1).min(n - 1)).collect()).collect();
    let mut blocks = Blocks::random(sparsity(&neighbours), 3, 1);
    blocks.set_all(|row, column| match row.abs_diff(column) {
        0 => 2.0,
        3 => -1.0,
        _ => 0.0,
    });
    blocks
}

/// A zero matrix of `size x size` blocks on a sparsity.
pub fn zeros<T: Real>(space: &Space, format: Format, size: usize, sparsity: &Sparsity) -> Matrix<T> {
    let pattern = Rc::new(Pattern::upload(space, sparsity.clone()).unwrap());
    Matrix::zeros(space, format, size, &pattern, Tuning::default()).unwrap()
}

/// A matrix that was computed on a device, with its zeros.
pub fn dense_of<V: Stored>(space: &Space, matrix: &Matrix<V>) -> DMatrix<f64> {
    let sparsity = matrix.pattern().download(space).unwrap();
    let values = matrix.blocks(space).unwrap().into_iter().map(|value| value.value().to_f64()).collect();
    Blocks { sparsity, size: matrix.block_size(), values }.dense()
}
