//! `extended`: residuals and sums in twice the working precision.

use crate::common::blocks::{Blocks, random_sparsity};
use crate::common::{Random, assert_close, bits};
use cuda_std::GpuFloat;
use kernels_rs::extended::ExtendedAdd;
use kernels_rs::real::{Arithmetic, Real, Stored};
use warpfem::backend::{Backend, Buffer};
use warpfem::sparse::{Matrix, Operator};

pub fn residual<B: Backend>(backend: &B) -> Vec<u64> {
    [residual_of::<B, f32>(backend), residual_of::<B, f64>(backend), residual_of::<B, kernels_rs::half::F16>(backend)]
        .concat()
}

/// With entries and vectors that are whole multiples of small powers of two the residual is known exactly, though its
/// terms are 2^40 times as large as what is left of them.
fn residual_of<B: Backend, V: Stored>(backend: &B) -> Vec<u64> {
    let mut found = Vec::new();
    for (n, size) in [(1, 1), (40, 2), (65, 3)] {
        let mut blocks = Blocks::dominant(random_sparsity(n, 6, 3), size, 1.0, 5);
        blocks.values.iter_mut().for_each(|value| *value = (*value * 16.0).round() / 16.0);
        let matrix: Matrix<B, V> = blocks.upload(backend, "ebw");
        let large = 2f64.powi(if size_of::<Arithmetic<V>>() == 4 { 12 } else { 40 });
        let whole = |seed: u64, scale: f64| -> Vec<f64> {
            Random(seed).vector::<f64>(size * n).iter().map(|x| (x * 64.0).round() * scale).collect()
        };
        let (hi, lo, rest) = (whole(3, large), whole(4, 1.0 / large), whole(5, 1.0));
        let dense = blocks.dense();
        let row = |v: &[f64], i: usize| -> f64 { (0..size * n).map(|j| dense[(i, j)] * v[j]).sum() };
        // f = A hi + rest is rounded: what is left of the rounding is the residual's, too.
        let f: Vec<f64> = (0..size * n).map(|i| row(&hi, i) + rest[i]).collect();
        let rounded = |v: &[f64]| v.iter().map(|x| Arithmetic::<V>::from_f64(*x)).collect::<Vec<_>>();
        let stored_f = rounded(&f);
        let [df, dhi, dlo] = [&stored_f, &rounded(&hi), &rounded(&lo)].map(|v| backend.upload(v).unwrap());
        let mut r = backend.zeros(size * n).unwrap();
        matrix.extended_residual(backend, &df, [&dhi, &dlo], &mut r).unwrap();
        let expected: Vec<f64> = (0..size * n).map(|i| (stored_f[i].to_f64() - row(&hi, i)) - row(&lo, i)).collect();
        let r = backend.download(&r).unwrap();
        let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        assert_close("residual", &r, &expected, 4.0 * Arithmetic::<V>::EPSILON.to_f64(), scale);
        found.extend(bits(&r));
    }
    found
}

pub fn add<B: Backend>(backend: &B) -> Vec<u64> {
    [add_of::<B, f32>(backend), add_of::<B, f64>(backend)].concat()
}

/// `hi + lo` holds a third, and thirds added to it, to twice the precision.
fn add_of<B: Backend, T: Real>(backend: &B) -> Vec<u64> {
    let n = 33;
    let d = backend.upload(&vec![T::from_f64(1.0 / 3.0); n]).unwrap();
    let [mut hi, mut lo] = [1.0e3, 0.0].map(|value| backend.upload(&vec![T::from_f64(value); n]).unwrap());
    for _ in 0..30 {
        // SAFETY: all three live and have n entries.
        unsafe { backend.run(n, ExtendedAdd { d: d.view(), hi: hi.view_mut(), lo: lo.view_mut() }) }.unwrap();
    }
    let (hi, lo) = (backend.download(&hi).unwrap(), backend.download(&lo).unwrap());
    let exact = 30.0 * T::from_f64(1.0 / 3.0).to_f64();
    for (hi, lo) in hi.iter().zip(&lo) {
        let left = (hi.to_f64() - 1.0e3) + lo.to_f64() - exact;
        assert!(left.abs() < 1e-12 && lo.to_f64().abs() <= hi.to_f64() * T::EPSILON.to_f64(), "{hi} + {lo}");
    }
    [bits(&hi), bits(&lo)].concat()
}
