//! Kernels over block rows: layouts, products, supports, the diagonal.

use super::{GUARD, SIZES};
use crate::common::blocks::{Blocks, dense_of, product, random_sparsity};
use crate::common::{Random, assert_close, bits};
use cuda_std::{GpuFloat, Number};
use kernels_rs::assembly::supports::{Eliminate, InverseDiagonal, TotalDisplacement, Unbalanced};
use kernels_rs::half::F16;
use kernels_rs::real::{Real, Stored};
use warpfem::linalg::Space;
use warpfem::result::choices::Format;
use warpfem::sparse::{AUTO, Matrix};

/// A matrix of `n` block rows.
fn random(n: usize, size: usize) -> Blocks {
    Blocks::random(random_sparsity(n, 8, 5), size, 6)
}

/// What a product of a row of this matrix may reach.
const SCALE: f64 = 30.0;

/// Every format in every block size, in everything that a matrix keeps values in.
pub fn products(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in Format::ALL {
        // Multigrid's coarse levels have blocks of six modes.
        for size in [1, 2, 3].into_iter().chain((format == AUTO).then_some(6)) {
            for n in [0, 1, 33, 257] {
                let (blocks, what) = (random(n, size), format!("of {n} rows"));
                found.extend(product::<f64>(space, &what, format, &blocks, SCALE));
                found.extend(product::<f32>(space, &what, format, &blocks, SCALE));
                found.extend(product::<F16>(space, &what, format, &blocks, SCALE));
            }
        }
    }
    found
}

/// Blocks come out of a matrix as they went in, in every format.
pub fn blocks(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in Format::ALL {
        let matrix = random(70, 3);
        let double = matrix.upload::<f64>(space, format).blocks(space).unwrap();
        let single = matrix.upload::<f32>(space, format).blocks(space).unwrap();
        let half = matrix.upload::<F16>(space, format).blocks(space).unwrap();
        let half: Vec<f32> = half.iter().map(|value| value.value()).collect();
        assert_eq!(bits(&half), bits(&matrix.rounded::<F16>().values), "{format}");
        assert_eq!(double, matrix.values, "{format}");
        assert_eq!(bits(&single), bits(&matrix.values), "{format}");
        found.extend(bits(&double));
    }
    found
}

/// Made-up values are those of a symmetric, diagonally dominant matrix, the same in every format.
pub fn made_up_values(space: &Space) -> Vec<u64> {
    let mut found: Option<Vec<f64>> = None;
    for format in Format::ALL {
        let blocks = random(70, 3);
        let mut double = blocks.upload::<f64>(space, format);
        let mut single = blocks.upload::<f32>(space, format);
        double.make_up(space).unwrap();
        single.make_up(space).unwrap();
        let (dense, values) = (dense_of(space, &double), double.blocks(space).unwrap());
        assert_eq!(dense, dense.transpose(), "{format}");
        for (i, row) in dense.row_iter().enumerate() {
            let others: f64 = row.iter().map(|value| value.abs()).sum::<f64>() - dense[(i, i)];
            assert!(dense[(i, i)] > others && others > 0.0, "{format}: row {i}");
        }
        assert_eq!(bits(&single.blocks(space).unwrap()), bits(&values), "{format}: exact in single precision");
        assert!(found.as_ref().is_none_or(|first| *first == values), "{format}");
        found = Some(values);
    }
    bits(&found.unwrap_or_default())
}

/// Some components of some nodes held.
fn supports(n: usize, dim: usize) -> Vec<u8> {
    let mut random = Random(8);
    (0..n).map(|_| if random.below(3) == 0 { random.below(1 << dim) as u8 } else { 0 }).collect()
}

pub fn eliminate(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in Format::ALL {
        for n in [0, 1, 33, 70] {
            found.extend(eliminate_of::<f32, 3>(space, format, n));
            found.extend(eliminate_of::<f64, 3>(space, format, n));
        }
    }
    found.extend([eliminate_of::<f32, 1>(space, AUTO, 70), eliminate_of::<f64, 1>(space, AUTO, 70)].concat());
    found.extend([eliminate_of::<f32, 2>(space, AUTO, 70), eliminate_of::<f64, 2>(space, AUTO, 70)].concat());
    [found, eliminate_of::<f64, 3>(space, AUTO, 257)].concat()
}

fn eliminate_of<T: Real, const D: usize>(space: &Space, format: Format, n: usize) -> Vec<u64> {
    let (blocks, fixed) = (random(n, D), supports(n, D));
    let mut matrix: Matrix<T> = blocks.upload(space, format);
    let device_fixed = space.upload(&fixed).unwrap();
    let kernel = Eliminate::<T, D>::new(matrix.entries(), device_fixed.view(), matrix.values_mut());
    // SAFETY: all live and have a row per node.
    unsafe { space.run(n, kernel) }.unwrap();
    let mut k = blocks.dense();
    for i in (0..D * n).filter(|i| fixed[i / D] >> (i % D) & 1 == 1) {
        let diagonal = k[(i, i)];
        k.row_mut(i).fill(0.0);
        k.column_mut(i).fill(0.0);
        k[(i, i)] = diagonal;
    }
    assert_eq!(dense_of(space, &matrix), k, "{n} rows");
    bits(&matrix.blocks(space).unwrap())
}

pub fn total_displacement<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (v, moved) = (Random(1).vector::<T>(n), Random(2).vector::<f64>(n));
    let device_v = space.upload(&v).unwrap();
    let mut found = Vec::new();
    for prescribed in [&moved[..], &[]] {
        let prescribed = space.upload(prescribed).unwrap();
        let mut w = space.upload(&vec![f64::NAN; n + GUARD]).unwrap();
        let kernel = TotalDisplacement { v: device_v.view(), prescribed: prescribed.view(), w: w.view_mut() };
        // SAFETY: all live and have n entries, or none.
        unsafe { space.run(n, kernel) }.unwrap();
        let w = space.download(&w).unwrap();
        let moved = |i: usize| if prescribed.is_empty() { 0.0 } else { moved[i] };
        assert!((0..n).all(|i| w[i] == v[i].to_f64() + moved(i)), "n = {n}");
        assert!(w[n..].iter().all(|w| w.is_nan()), "it writes past its entries");
        found.extend(bits(&w[..n]));
    }
    found
}

pub fn unbalanced<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    (1..=3).flat_map(|size| unbalanced_of::<T>(space, n, size)).collect()
}

fn unbalanced_of<T: Real>(space: &Space, n: usize, size: usize) -> Vec<u64> {
    let fixed: Vec<u8> = (0..n).map(|row| (row % 8) as u8).collect();
    let (loads, forces) = (Random(3).vector::<f64>(size * n), Random(4).vector::<f64>(size * n));
    let [device_loads, device_forces] = [&loads, &forces].map(|v| space.upload(v).unwrap());
    let device_fixed = space.upload(&fixed).unwrap();
    let mut r = space.upload(&vec![T::from_f64(f64::NAN); size * n + GUARD]).unwrap();
    let kernel = Unbalanced {
        size,
        fixed: device_fixed.view(),
        loads: device_loads.view(),
        forces: device_forces.view(),
        r: r.view_mut(),
    };
    // SAFETY: all live and have n rows.
    unsafe { space.run(n, kernel) }.unwrap();
    let r = space.download(&r).unwrap();
    for k in 0..size * n {
        let is_fixed = fixed[k / size] >> (k % size) & 1 == 1;
        assert_eq!(r[k], if is_fixed { T::ZERO } else { T::from_f64(loads[k] - forces[k]) }, "n = {n}, entry {k}");
    }
    assert!(r[size * n..].iter().all(|r| r.to_f64().is_nan()), "it writes past its rows");
    bits(&r[..size * n])
}

pub fn inverse_diagonal(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for n in SIZES {
        found.extend(inverse_diagonal_of::<f32>(space, Format::Ebw, n));
        found.extend(inverse_diagonal_of::<f64>(space, Format::Ebw, n));
        found.extend(inverse_diagonal_of::<F16>(space, Format::Ebw, n));
    }
    found.extend(Format::ALL.into_iter().flat_map(|format| inverse_diagonal_of::<f64>(space, format, 33)));
    found
}

fn inverse_diagonal_of<V: Stored>(space: &Space, format: Format, n: usize) -> Vec<u64> {
    let mut blocks = random(n, 3).rounded::<V>();
    if let Some(value) = blocks.values.get_mut(4) {
        *value = 0.0;
    }
    let matrix: Matrix<V> = blocks.upload(space, format);
    let mut inverse = space.upload(&vec![V::Arithmetic::from_f64(f64::NAN); 3 * n + GUARD]).unwrap();
    let kernel = InverseDiagonal { entries: matrix.entries(), values: matrix.values(), inverse: inverse.view_mut() };
    // SAFETY: the matrix lives and `inverse` has its rows.
    unsafe { space.run(n, kernel) }.unwrap();
    let mut found = space.download(&inverse).unwrap();
    assert!(found.split_off(3 * n).iter().all(|v| v.to_f64().is_nan()), "inverse_diagonal writes past its rows");
    let mut expected = vec![V::Arithmetic::ZERO; 3 * n];
    blocks.for_each(|row, column, value| {
        if row == column && value != 0.0 {
            expected[row] = V::Arithmetic::ONE / V::Arithmetic::from_f64(value);
        }
    });
    // A GPU divides f64 as IEEE says; the last bit of its f32 division is the compiler's choice.
    let expected: Vec<f64> = expected.iter().map(|v| v.to_f64()).collect();
    for (found, expected) in found.iter().zip(&expected) {
        assert_close("1 / K_ii", &[*found], &[*expected], 1e-7, expected.abs());
    }
    bits(&found)
}
