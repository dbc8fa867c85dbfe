//! The dense Cholesky factorisation, and a dense matrix as a sparse one.

use crate::common::blocks::{Blocks, dense_of, random_sparsity};
use crate::common::{Random, assert_close, bits};
use kernels_rs::real::Real;
use nalgebra::DVector;
use warpfem::linalg::Space;
use warpfem::result::choices::Format;
use warpfem::result::{DirectError, Error};
use warpfem::solve::direct::dense::{DenseCholesky, DenseFactor};
use warpfem::solve::direct::{Factor, Precision};
use warpfem::sparse::{self, Matrix};

/// Roundings of a factor of a well-conditioned matrix, with room for sums.
fn rounding<F: Real>() -> f64 {
    if F::NAME == "f32" { 2e-5 } else { 1e-13 }
}

/// Points for nodes that have none.
fn points(n: usize) -> Vec<[f64; 3]> {
    (0..n).map(|i| [i as f64, 0.0, 0.0]).collect()
}

pub fn factor(space: &Space) -> Vec<u64> {
    if space.on_host() {
        return Vec::new();
    }
    // Around tiles of 64, in blocks of one, two and three.
    let mut found = Vec::new();
    for (n, size) in [(1, 1), (31, 1), (32, 1), (33, 1), (64, 1), (50, 2), (43, 3)] {
        found.extend(solves::<f64, f64>(space, n, size));
    }
    for (n, size) in [(1, 1), (33, 2), (43, 3)] {
        found.extend(solves::<f32, f32>(space, n, size));
        found.extend(solves::<f64, f32>(space, n, size));
        found.extend(solves::<f32, f64>(space, n, size));
    }
    found.extend(finds_the_first_bad_pivot(space));
    found
}

/// A solution against nalgebra's.
fn solves<T: Real, F: Precision>(space: &Space, n: usize, size: usize) -> Vec<u64> {
    let mut blocks = Blocks::dominant(random_sparsity(n, 8, n as u64), size, 0.25, 3);
    // Units that differ by unknown: the factor is that of the matrix with a diagonal of 1.
    let unit = |i: usize| [1.0, 1024.0, 0.125][i % 3];
    let values = blocks.dense();
    blocks.set_all(|row, column| values[(row, column)] * unit(row) * unit(column));
    let matrix: Matrix<T> = blocks.upload(space, Format::Ebw);
    let factor = DenseFactor::<T, F>::build(space, &matrix, &points(n)).unwrap();
    let rows = n * size;
    assert_eq!(Factor::<T>::nonzeros(&factor), (rows * (rows + 1) / 2) as u64);
    let x: Vec<f64> = Random(7).vector::<f64>(rows).iter().enumerate().map(|(i, x)| x / unit(i)).collect();
    let f: Vec<T> = blocks.product(&x).into_iter().map(T::from_f64).collect();
    let rounded: Vec<f64> = f.iter().map(|f| f.to_f64()).collect();
    let expected = blocks.dense().cholesky().unwrap().solve(&DVector::from_vec(rounded));
    let (r, mut d) = (space.upload(&f).unwrap(), space.zeros(rows).unwrap());
    // Twice: nothing of the first is left for the second.
    let mut found = Vec::new();
    for _ in 0..2 {
        factor.solve(space, &r, &mut d).unwrap();
        let solution = space.download(&d).unwrap();
        let scaled = |x: f64, i: usize| x * unit(i);
        let solution_scaled: Vec<f64> = solution.iter().enumerate().map(|(i, x)| scaled(x.to_f64(), i)).collect();
        let expected: Vec<f64> = expected.iter().enumerate().map(|(i, x)| scaled(*x, i)).collect();
        let tolerance = rounding::<F>().max(rounding::<T>());
        assert_close(&format!("{rows} rows, {} in {}", T::NAME, F::NAME), &solution_scaled, &expected, tolerance, 1.0);
        found.push(bits(&solution));
    }
    assert_eq!(found[0], found[1]);
    found.concat()
}

/// An indefinite and a singular matrix: the row of the first pivot that is not positive, as elimination shows it.
fn finds_the_first_bad_pivot(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (row, change) in [(0, -1.0), (40, -3.0), (100, -5.0)] {
        let mut cholesky = DenseCholesky::<f64>::zeros(space, 129).unwrap();
        let n = cholesky.square().n;
        let mut values = vec![0.0; n * n];
        (0..n).for_each(|i| values[i * n + i] = 1.0);
        values[row * n + row] = change;
        // A second one, later: the first counts.
        values[120 * n + 120] = -9.0;
        cholesky.set(space, &values).unwrap();
        let failure = cholesky.factorise(space, 1e-12).unwrap();
        assert_eq!(failure, Some((row, change)));
        found.push(row as u64);
    }
    let blocks = singular(70);
    let matrix: Matrix<f64> = blocks.upload(space, Format::Csr);
    match DenseFactor::<f64, f64>::build(space, &matrix, &points(70)).map(|_| ()) {
        Err(Error::Direct(DirectError::NotPositive { pivot: Some(pivot), at, component, precision })) => {
            assert!(pivot.abs() < 1e-14 && precision == "double", "{pivot} {precision}");
            assert_eq!((at, component), ([69.0, 0.0, 0.0], 0));
        }
        other => panic!("{other:?}"),
    }
    found
}

/// A free chain of springs.
fn singular(n: usize) -> Blocks {
    let neighbours: Vec<Vec<usize>> = (0..n).map(|i| (i.saturating_sub(1)..=(i + 1).min(n - 1)).collect()).collect();
    let mut blocks = Blocks::random(crate::common::blocks::sparsity(&neighbours), 1, 1);
    let ends = |i: usize| if i == 0 || i == n - 1 { 1.0 } else { 2.0 };
    blocks.set_all(|row, column| if row == column { ends(row) } else { -1.0 });
    blocks
}

pub fn from_dense(space: &Space) -> Vec<u64> {
    let mut found = converts::<f64>(space, 0, 1);
    for (n, size) in [(1, 1), (33, 1), (257, 1), (40, 3)] {
        found.extend(converts::<f64>(space, n, size));
        found.extend(converts::<f32>(space, n, size));
    }
    found
}

fn converts<T: Real>(space: &Space, n: usize, size: usize) -> Vec<u64> {
    let mut blocks = Blocks::random(random_sparsity(n, 6, 5), size, 3);
    // Zeros in blocks, on the diagonal and off it.
    let values = blocks.dense();
    blocks.set_all(|row, column| if (row + 2 * column) % 5 == 0 { 0.0 } else { values[(row, column)] });
    let dense: Matrix<T> = blocks.upload(space, Format::Dense);
    let expected = blocks.rounded::<T>().dense();
    let mut found = Vec::new();
    for format in [Format::Csr, Format::Sell] {
        let sparse = sparse::from_dense(space, &dense, format).unwrap();
        assert_eq!((sparse.format(), sparse.block_size()), (format.name(), 1));
        assert_eq!(dense_of(space, &sparse), expected);
        let pattern = sparse.pattern().download(space).unwrap();
        let nonzeros = (0..n * size).map(|row| expected.row(row).iter().filter(|v| **v != 0.0).count()).sum::<usize>();
        let zeros_kept = (0..n * size).filter(|i| expected[(*i, *i)] == 0.0).count();
        assert_eq!(pattern.n_blocks(), nonzeros + zeros_kept);
        for row in 0..n * size {
            let columns = pattern.row(row);
            assert!(columns[0] as usize == row && columns[1..].is_sorted());
        }
        found.extend(bits(&sparse.blocks(space).unwrap()));
    }
    let csr: Matrix<T> = blocks.upload(space, Format::Csr);
    assert!(matches!(sparse::from_dense(space, &csr, Format::Csr), Err(Error::NotAvailable { .. })));
    found
}
