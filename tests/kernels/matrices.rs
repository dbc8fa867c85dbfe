//! Kernels over block rows: products, supports, the diagonal.

use super::common::blocks::{Blocks, dense_of, random_sparsity};
use super::common::{Random, assert_close, bits, rounding};
use super::{GUARD, SIZES};
use kernels_rs::assembly::supports::{Eliminate, InverseDiagonal};
use kernels_rs::for_each_format;
use kernels_rs::real::Real;
use nalgebra::DVector;
use warpfem::backend::{Backend, Buffer, Scalar};
use warpfem::sparse::{Format, Matrix};

/// Calls `$check::<B, F, T>($backend, n)` for every format, in both precisions, for every size.
macro_rules! formats {
    (($check:ident, $backend:expr) $($F:ident),+) => {{
        let mut found = Vec::new();
        for n in SIZES {
            $(found.extend($check::<B, warpfem::sparse::$F, f32>($backend, n));
            found.extend($check::<B, warpfem::sparse::$F, f64>($backend, n));)+
        }
        found
    }};
}

/// A matrix of `n` block rows, an x for it, and `A x`.
fn problem<T: Real>(n: usize) -> (Blocks, Vec<T>, Vec<f64>) {
    let matrix = Blocks::random(random_sparsity(n, 8, 5), 6);
    let x = Random(7).vector::<T>(3 * n);
    let product = matrix.product(&x.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
    (matrix, x, product)
}

/// What a product of a row of this matrix may reach.
const SCALE: f64 = 30.0;

pub fn spmv<B: Backend>(backend: &B) -> Vec<u64> {
    for_each_format!(formats, (spmv_of, backend))
}

fn spmv_of<B: Backend, F: Format, T: Real>(backend: &B, n: usize) -> Vec<u64> {
    let (blocks, x, expected) = problem::<T>(n);
    let matrix: Matrix<B, F, T> = blocks.upload(backend);
    let x = backend.upload(&x).unwrap();
    let mut y = backend.upload(&vec![T::from_f64(f64::NAN); 3 * n + GUARD]).unwrap();
    let kernel = F::spmv(matrix.layout(), matrix.values.view(), x.view(), y.view_mut());
    // SAFETY: the matrix is of its layout's shape, x and y have its rows.
    unsafe { backend.run(n, kernel) }.unwrap();
    let mut y = backend.download(&y).unwrap();
    assert!(y.split_off(3 * n).iter().all(|v| v.to_f64().is_nan()), "spmv writes past its rows");
    assert_close(&format!("{} spmv of {n}", F::NAME), &y, &expected, rounding::<T>(), SCALE);
    bits(&y)
}

pub fn spmv_dot<B: Backend>(backend: &B) -> Vec<u64> {
    for_each_format!(formats, (spmv_dot_of, backend))
}

fn spmv_dot_of<B: Backend, F: Format, T: Real>(backend: &B, n: usize) -> Vec<u64> {
    let (blocks, x, expected) = problem::<T>(n);
    let matrix: Matrix<B, F, T> = blocks.upload(backend);
    let device_x = backend.upload(&x).unwrap();
    let mut y = backend.upload(&vec![T::from_f64(f64::NAN); 3 * n]).unwrap();
    backend.spmv_dot(&matrix, &device_x, &mut y, Scalar::new(33)).unwrap();
    let sum = backend.read([Scalar::new(33)]).unwrap();
    let y = backend.download(&y).unwrap();
    assert_close(&format!("{} spmv_dot of {n}", F::NAME), &y, &expected, rounding::<T>(), SCALE);
    let dot = x.iter().zip(&expected).map(|(x, y)| x.to_f64() * y).sum::<f64>();
    assert_close("x . A x", &sum, &[dot], rounding::<T>(), SCALE * (1.0 + n as f64));
    [bits(&y), bits(&sum)].concat()
}

/// Some components of some nodes held, at values that are not zero.
fn supports(n: usize) -> (Vec<u8>, Vec<f64>) {
    let mut random = Random(8);
    let fixed: Vec<u8> = (0..n).map(|_| if random.below(3) == 0 { random.below(8) as u8 } else { 0 }).collect();
    let prescribed = (0..3 * n).map(|i| if fixed[i / 3] >> (i % 3) & 1 == 1 { random.next() } else { 0.0 });
    let prescribed = prescribed.collect();
    (fixed, prescribed)
}

pub fn eliminate<B: Backend>(backend: &B) -> Vec<u64> {
    for_each_format!(formats, (eliminate_of, backend))
}

fn eliminate_of<B: Backend, F: Format, T: Real>(backend: &B, n: usize) -> Vec<u64> {
    let n = n.min(257);
    let (blocks, f, _) = problem::<f64>(n);
    let (fixed, prescribed) = supports(n);
    let format = F::build(&blocks.sparsity);
    let mut matrix: Matrix<B, F, T> = blocks.upload(backend);
    let mut device_f = backend.upload(&f).unwrap();
    let (device_fixed, device_prescribed) = (backend.upload(&fixed).unwrap(), backend.upload(&prescribed).unwrap());
    let kernel = Eliminate {
        layout: matrix.layout(),
        fixed: device_fixed.view(),
        prescribed: device_prescribed.view(),
        values: matrix.values.view_mut(),
        f: device_f.view_mut(),
    };
    // SAFETY: all live and have a row per node.
    unsafe { backend.run(n, kernel) }.unwrap();
    let values = backend.download(&matrix.values).unwrap();
    let f_found = backend.download(&device_f).unwrap();
    let mut k = blocks.dense();
    let mut lifted = DVector::from_vec(f) - &k * DVector::from_vec(prescribed);
    for i in (0..3 * n).filter(|i| fixed[i / 3] >> (i % 3) & 1 == 1) {
        let diagonal = k[(i, i)];
        k.row_mut(i).fill(0.0);
        k.column_mut(i).fill(0.0);
        k[(i, i)] = diagonal;
        lifted[i] = 0.0;
    }
    assert_eq!(dense_of(&format, &blocks.sparsity, &values), k, "{n} rows");
    assert_close("right-hand side", &f_found, lifted.as_slice(), rounding::<f64>(), SCALE);
    [bits(&values), bits(&f_found)].concat()
}

pub fn inverse_diagonal<B: Backend>(backend: &B) -> Vec<u64> {
    for_each_format!(formats, (inverse_diagonal_of, backend))
}

fn inverse_diagonal_of<B: Backend, F: Format, T: Real>(backend: &B, n: usize) -> Vec<u64> {
    let (mut blocks, ..) = problem::<T>(n);
    if let Some(block) = blocks.blocks.first_mut() {
        block[1][1] = 0.0;
    }
    let matrix: Matrix<B, F, T> = blocks.upload(backend);
    let mut inverse = backend.upload(&vec![T::from_f64(f64::NAN); 3 * n + GUARD]).unwrap();
    let kernel = InverseDiagonal::new(matrix.layout(), matrix.values.view(), inverse.view_mut());
    // SAFETY: the matrix is of its layout's shape and `inverse` has its rows.
    unsafe { backend.run(n, kernel) }.unwrap();
    let mut found = backend.download(&inverse).unwrap();
    assert!(found.split_off(3 * n).iter().all(|v| v.to_f64().is_nan()), "inverse_diagonal writes past its rows");
    let mut expected = vec![T::ZERO; 3 * n];
    blocks.for_each(|row, k, _, block| {
        for i in (0..3).filter(|i| k == 0 && block[*i][*i] != 0.0) {
            expected[3 * row + i] = T::ONE / T::from_f64(block[i][i]);
        }
    });
    // A GPU divides f64 as IEEE says; the last bit of its f32 division is the compiler's choice.
    let expected: Vec<f64> = expected.iter().map(|v| v.to_f64()).collect();
    for (found, expected) in found.iter().zip(&expected) {
        assert_close("1 / K_ii", &[*found], &[*expected], 1e-7, expected.abs());
    }
    bits(&found)
}
