//! `vectors`: products and combinations of several vectors, of one launch and of sets that take many. `sparse::several`:
//! products of a matrix with several vectors are those with each, bit by bit.

use super::GUARD;
use super::vectors::item_sizes;
use crate::common::blocks::{Blocks, random_sparsity};
use crate::common::{Random, assert_close, bits};
use kernels_rs::half::F16;
use kernels_rs::precond::Step;
use kernels_rs::real::{Real, Stored};
use kernels_rs::vectors::WIDTH;
use nalgebra::DMatrix;
use warpfem::device::Buffer;
use warpfem::linalg::Space;
use warpfem::result::choices::Format;
use warpfem::sparse::{AUTO, Epilogue, LinOp, Matrix};

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

/// Vectors around those that a launch takes.
const WIDTHS: [usize; 5] = [1, 2, WIDTH - 1, WIDTH, WIDTH + 1];

pub fn matrix_products(space: &Space) -> Vec<u64> {
    let formats = [(AUTO, 1), (AUTO, 2), (AUTO, 3), (AUTO, 6), (Format::Csr, 3)];
    let of = |(format, size)| {
        [1, 33, 257].into_iter().flat_map(move |n| {
            let blocks = Blocks::random(random_sparsity(n, 8, 5), size, 6);
            [
                products_of::<f64>(space, &blocks, format),
                products_of::<f32>(space, &blocks, format),
                products_of::<F16>(space, &blocks, format),
            ]
            .concat()
        })
    };
    formats.into_iter().flat_map(of).collect()
}

fn products_of<V: Stored>(space: &Space, blocks: &Blocks, format: Format) -> Vec<u64> {
    let (blocks, n) = (blocks.rounded::<V>(), blocks.n());
    let matrix: Matrix<V> = blocks.upload(space, format);
    let (mut of, mut found) = (Several::new(space, n), Vec::new());
    for width in WIDTHS {
        let (x, y) = (&of.z[..width], &mut of.found[..width]);
        matrix.apply_all(space, x, y).unwrap();
        for (k, (x, y)) in x.iter().zip(&*y).enumerate() {
            matrix.apply(space, x, &mut of.one).unwrap();
            let [several, one] = [y, &of.one].map(|vector| bits(&space.download(vector).unwrap()));
            assert!(several == one, "{format} of {}: vector {k} of {width}", V::NAME);
            found.extend(one);
        }
        found.extend(of.steps(space, &matrix, width, format));
    }
    found
}

/// Vectors for products and steps.
struct Several<T> {
    inverse: Buffer<T>,
    r: Vec<Buffer<T>>,
    z: Vec<Buffer<T>>,
    found: Vec<Buffer<T>>,
    one: Buffer<T>,
}

impl<T: Real> Several<T> {
    fn new(space: &Space, n: usize) -> Self {
        let some = |seed: u64| space.upload(&Random(seed).vector::<T>(n)).unwrap();
        let many = |seed: u64| (0..=WIDTH as u64).map(|k| some(seed + k)).collect();
        Several { inverse: some(1), r: many(10), z: many(30), found: many(50), one: some(2) }
    }

    /// Steps from several vectors and from each.
    fn steps<V: Stored<Arithmetic = T>>(
        &mut self,
        space: &Space,
        matrix: &Matrix<V>,
        width: usize,
        format: Format,
    ) -> Vec<u64> {
        let (n, mut bits_of_all) = (self.one.len(), Vec::new());
        for factors in [[1.25, -0.375, 0.5], [0.75, 0.0, 1.5]] {
            let nothing = T::from_f64(f64::NAN);
            let before = |k: usize| {
                let mut old = if factors[1] == 0.0 { vec![nothing; n] } else { Random(70 + k as u64).vector(n) };
                old.resize(n + GUARD, nothing);
                space.upload(&old).unwrap()
            };
            let step = |k: usize, previous: &mut Buffer<T>| {
                Epilogue::Step(Step {
                    factors: factors.map(T::from_f64),
                    inverse: self.inverse.view(),
                    r: self.r[k].view(),
                    previous: previous.view_mut(),
                })
            };
            let mut several: Vec<Buffer<T>> = (0..width).map(before).collect();
            let steps: Vec<_> = several.iter_mut().enumerate().map(|(k, previous)| step(k, previous)).collect();
            // SAFETY: all live and hold n entries or more, and are different.
            unsafe { matrix.apply_all_then(space, &self.z[..width], &mut self.found[..width], &steps) }.unwrap();
            for (k, several) in several.iter().enumerate() {
                let mut one = before(k);
                let alone = step(k, &mut one);
                // SAFETY: as above.
                unsafe { matrix.apply_then(space, &self.z[k], &mut self.one, alone) }.unwrap();
                let [several, one] = [several, &one].map(|vector| bits(&space.download(vector).unwrap()));
                assert!(several == one, "{format} of {}: the step of vector {k} of {width}", V::NAME);
                bits_of_all.extend(&one[..n]);
            }
        }
        bits_of_all
    }
}
