//! `vectors`: products and combinations of several vectors, of one launch and of sets that take many.

use super::vectors::item_sizes;
use crate::common::{Random, assert_close, bits};
use nalgebra::DMatrix;
use warpfem::device::Buffer;
use warpfem::linalg::Space;

/// `count` vectors of n entries, on the host and on a device.
fn vectors(space: &Space, n: usize, count: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<Buffer<f64>>) {
    let values: Vec<Vec<f64>> = (0..count).map(|k| Random(seed + k as u64).vector(n)).collect();
    let device = values.iter().map(|values| space.upload(values).unwrap()).collect();
    (values, device)
}

/// Numbers of vectors: within a tile, a tile, and some tiles. Of many entries fewer.
fn counts(n: usize) -> &'static [[usize; 2]] {
    if n > 300 {
        &[[3, 4], [9, 5]]
    } else {
        &[[0, 2], [2, 0], [1, 1], [4, 3], [3, 4], [4, 4], [5, 9], [17, 6], [34, 35]]
    }
}

pub fn gram(space: &Space) -> Vec<u64> {
    let of = |n: usize| counts(n).iter().flat_map(move |count| gram_of(space, n, *count));
    item_sizes(space).flat_map(of).collect()
}

fn gram_of(space: &Space, n: usize, [n_x, n_y]: [usize; 2]) -> Vec<u64> {
    let ((x, device_x), (y, device_y)) = (vectors(space, n, n_x, 20), vectors(space, n, n_y, 70));
    let (device_x, device_y): (Vec<_>, Vec<_>) = (device_x.iter().collect(), device_y.iter().collect());
    let gram = space.gram(&device_x, &device_y).unwrap();
    // Of parts, so that squares are not added to a sum a million times as large.
    let inner = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let dot = |x: &[f64], y: &[f64]| x.chunks(1000).zip(y.chunks(1000)).map(|(x, y)| inner(x, y)).sum::<f64>();
    let expected = DMatrix::from_fn(n_x, n_y, |i, j| dot(&x[i], &y[j]));
    let what = format!("gram of {n_x} and {n_y} vectors of {n}");
    assert_close(&what, gram.as_slice(), expected.as_slice(), 1e-15, 1.0 + n as f64);
    let symmetric = space.symmetric_gram(&device_x, &device_x).unwrap();
    let expected = DMatrix::from_fn(n_x, n_x, |i, j| dot(&x[i], &x[j]));
    assert_close(&what, symmetric.as_slice(), expected.as_slice(), 1e-15, 1.0 + n as f64);
    assert_eq!(symmetric, symmetric.transpose());
    bits(&[gram.as_slice(), symmetric.as_slice()].concat())
}

pub fn combine(space: &Space) -> Vec<u64> {
    let of = |n: usize| {
        let counts = counts(n).iter();
        counts.flat_map(move |count| [0.0, 1.0, -0.7].map(|beta| combine_of(space, n, *count, beta))).flatten()
    };
    item_sizes(space).flat_map(of).collect()
}

fn combine_of(space: &Space, n: usize, [n_x, n_y]: [usize; 2], beta: f64) -> Vec<u64> {
    let ((x, device_x), (y, _)) = (vectors(space, n, n_x, 20), vectors(space, n, n_y, 70));
    let c = DMatrix::from_vec(n_x, n_y, Random(5).vector::<f64>(n_x * n_y));
    // What is not to count is no number.
    let before = |values: &Vec<f64>| if beta == 0.0 { vec![f64::NAN; n] } else { values.clone() };
    let mut device_y: Vec<Buffer<f64>> = y.iter().map(|values| space.upload(&before(values)).unwrap()).collect();
    space.combine(&device_x.iter().collect::<Vec<_>>(), &c, beta, &mut device_y).unwrap();
    let mut found = Vec::new();
    for (j, device) in device_y.iter().enumerate() {
        let expected = |i: usize| {
            let old = if beta == 0.0 { 0.0 } else { beta * y[j][i] };
            (0..n_x).fold(old, |sum, k| sum + c[(k, j)] * x[k][i])
        };
        let values = space.download(device).unwrap();
        let expected: Vec<f64> = (0..n).map(expected).collect();
        let what = format!("{n_x} vectors of {n} for {n_y}, {beta}");
        assert_close(&what, &values, &expected, 1e-14, 1.0 + n_x as f64);
        found.extend(values);
    }
    bits(&found)
}
