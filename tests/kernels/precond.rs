//! `precond`: kernels of preconditioners, and the vector steps of conjugate gradients with any of them.

use super::vectors::{before_guard, guarded, item_sizes, unwritten};
use super::{SIZES, more_than_a_grid};
use crate::common::blocks::{Blocks, random_sparsity};
use crate::common::{Random, assert_close, bits, floats, quotient, rounding};
use cuda_std::{GpuFloat, Number};
use kernels_rs::cg::CgUpdate;
use kernels_rs::half::F16;
use kernels_rs::precond::{InverseBlocks, LanczosStart, PolynomialStart, RoundDiagonal, Step, ToDouble, ToSingle};
use kernels_rs::real::{Real, Stored};
use nalgebra::DMatrix;
use warpfem::linalg::{self, Scalar, Space};
use warpfem::result::choices::Format;
use warpfem::sparse::{Epilogue, LinOp, Matrix};

const ALPHA: f64 = -1.75 / 3.0;
const BETA: f64 = 2.5 / 0.7;

pub fn round_diagonal<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let mut inverse: Vec<T> = Random(1).vector(n);
    // A row that is left out, and what has no place in single precision if T is double.
    let beyond = [(0.0, 0.0), (-1e-60, -f32::MIN_POSITIVE), (1e60, f32::MAX)];
    for (entry, (exact, _)) in inverse.iter_mut().zip(beyond) {
        *entry = T::from_f64(exact);
    }
    let device_inverse = space.upload(&inverse).unwrap();
    let mut rounded = space.upload(&unwritten::<f32>(n)).unwrap();
    // SAFETY: both live and hold n entries.
    unsafe { space.run(n, RoundDiagonal { inverse: device_inverse.view(), rounded: rounded.view_mut() }) }.unwrap();
    let rounded = before_guard(space, "round_diagonal", &rounded);
    let exact = |i: usize| match beyond.get(i) {
        Some((exact, limit)) if T::from_f64(*exact).to_f64() == *exact => *limit,
        // In single precision they were 0 and infinite before.
        Some((exact, _)) => [0.0, f32::MAX][usize::from(*exact > 0.0)],
        None => inverse[i].to_f64() as f32,
    };
    assert!((0..n).all(|i| rounded[i] == exact(i)), "round_diagonal: {rounded:?}");
    bits(&rounded)
}

pub fn polynomial_start<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (inverse, r): (Vec<T>, Vec<T>) = (Random(1).vector(n), Random(2).vector(n));
    let (device_inverse, device_r) = (space.upload(&inverse).unwrap(), space.upload(&r).unwrap());
    let mut z = space.upload(&unwritten::<T>(n)).unwrap();
    let factor = T::from_f64(0.3);
    let kernel = PolynomialStart { factor, inverse: device_inverse.view(), r: device_r.view(), z: z.view_mut() };
    // SAFETY: all live and hold n entries.
    unsafe { space.run(n, kernel) }.unwrap();
    let z = before_guard(space, "polynomial_start", &z);
    let expected: Vec<f64> = (0..n).map(|i| 0.3 * inverse[i].to_f64() * r[i].to_f64()).collect();
    assert_close("polynomial_start", &z, &expected, rounding::<T>(), 1.0);
    bits(&z)
}

/// In formats whose product takes the step along and in one whose product does not.
pub fn polynomial_step(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in [Format::Ebw, Format::Ebw64, Format::Ebw128, Format::Csr] {
        for size in 1..=3 {
            for n in [0, 1, 33, 257] {
                for factors in [[1.25, -0.375, 0.5], [0.75, 0.0, 1.5]] {
                    found.extend(polynomial_step_of::<f32>(space, format, (n, size), factors));
                    found.extend(polynomial_step_of::<f64>(space, format, (n, size), factors));
                    found.extend(polynomial_step_of::<F16>(space, format, (n, size), factors));
                }
            }
        }
    }
    found
}

fn polynomial_step_of<V: Stored>(
    space: &Space,
    format: Format,
    (n, size): (usize, usize),
    [a, b, c]: [f64; 3],
) -> Vec<u64> {
    let blocks = Blocks::random(random_sparsity(n, 8, 5), size, 6).rounded::<V>();
    let matrix: Matrix<V> = blocks.upload(space, format);
    let n = blocks.n();
    let [inverse, r, z]: [Vec<V::Arithmetic>; 3] = [1, 2, 3].map(|seed| Random(seed).vector(n));
    // What is not to be read is no number.
    let nothing = V::Arithmetic::from_f64(f64::NAN);
    let previous: Vec<V::Arithmetic> = if b == 0.0 { vec![nothing; n] } else { Random(4).vector(n) };
    let [device_inverse, device_r, device_z] = [&inverse, &r, &z].map(|values| space.upload(values).unwrap());
    let (mut device_previous, mut scratch) = (space.upload(&guarded(&previous)).unwrap(), space.zeros(n).unwrap());
    let step = Step {
        factors: [a, b, c].map(V::Arithmetic::from_f64),
        inverse: device_inverse.view(),
        r: device_r.view(),
        previous: device_previous.view_mut(),
    };
    // SAFETY: all live and hold n entries.
    unsafe { matrix.apply_then(space, &device_z, &mut scratch, Epilogue::Step(step)) }.unwrap();
    let found = before_guard(space, "polynomial_step", &device_previous);
    let product = blocks.product(&floats(&z));
    let expected = |i: usize| {
        let old = if b == 0.0 { 0.0 } else { b * previous[i].to_f64() };
        a * z[i].to_f64() + old + c * inverse[i].to_f64() * (r[i].to_f64() - product[i])
    };
    let expected: Vec<f64> = (0..n).map(expected).collect();
    let what = format!("polynomial_step in {format} of {}", V::NAME);
    assert_close(&what, &found, &expected, rounding::<V::Arithmetic>(), 30.0);
    bits(&found)
}

pub fn lanczos_start<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let inverse: Vec<T> = (0..n).map(|i| T::from_f64([0.0, 4.0, 0.25][i % 3])).collect();
    let device_inverse = space.upload(&inverse).unwrap();
    let mut r = space.upload(&unwritten::<T>(n)).unwrap();
    // SAFETY: both live and hold n entries.
    unsafe { space.run(n, LanczosStart { inverse: device_inverse.view(), r: r.view_mut() }) }.unwrap();
    let r = before_guard(space, "lanczos_start", &r);
    for (i, r) in r.iter().enumerate() {
        let largest = [0.0, 0.5, 2.0][i % 3];
        let within = r.to_f64().abs() <= largest && (largest == 0.0) == (*r == T::ZERO);
        assert!(within, "lanczos_start: entry {i} is {r}, and may be {largest}");
    }
    // Numbers that follow no pattern cancel out.
    let sum: f64 = r.iter().map(|r| r.to_f64()).sum();
    assert!(sum.abs() <= 3.0 * (n as f64).sqrt() + 2.0, "lanczos_start: {n} entries add up to {sum}");
    bits(&r)
}

/// Symmetric blocks: regular ones, empty ones, ones with empty rows, and singular ones.
fn diagonal_blocks<V: Stored>(n: usize, size: usize) -> Vec<DMatrix<f64>> {
    let mut random = Random(9);
    let rounded = |value: f64| V::rounded(V::Arithmetic::from_f64(value)).value().to_f64();
    let block = |row: usize| {
        let entry = |_, _| rounded(random.next());
        let root = DMatrix::from_fn(size, size, entry);
        let mut block = &root * root.transpose() + DMatrix::identity(size, size);
        match row % 5 {
            1 => block.fill(0.0),
            2 => {
                block.row_mut(0).fill(0.0);
                block.column_mut(0).fill(0.0);
            }
            3 => block.fill(2.0),
            _ => {}
        }
        block.map(rounded)
    };
    (0..n).map(block).collect()
}

pub fn inverse_blocks(space: &Space) -> Vec<u64> {
    fn of<V: Stored>(space: &Space, n: usize) -> Vec<u64> {
        let of_one_and_two = [inverse_blocks_of::<V, 1>(space, n), inverse_blocks_of::<V, 2>(space, n)].concat();
        [of_one_and_two, inverse_blocks_of::<V, 3>(space, n)].concat()
    }
    SIZES.iter().flat_map(|n| [of::<f32>(space, *n), of::<f64>(space, *n), of::<F16>(space, *n)].concat()).collect()
}

/// Entry (i, j) of the block of `row`, of which the lower triangle is kept.
fn packed<T: Real>(blocks: &[T], n: usize, row: usize, i: usize, j: usize) -> f64 {
    let (i, j) = (i.max(j), i.min(j));
    blocks[(i * (i + 1) / 2 + j) * n + row].to_f64()
}

fn inverse_blocks_of<V: Stored, const D: usize>(space: &Space, n: usize) -> Vec<u64> {
    let diagonal = diagonal_blocks::<V>(n, D);
    let rounding = rounding::<V::Arithmetic>();
    let mut blocks = Blocks::random(random_sparsity(n, 8, 5), D, 6);
    let off = blocks.dense();
    blocks.set_all(|i, j| if i / D == j / D { diagonal[i / D][(i % D, j % D)] } else { off[(i, j)] });
    let matrix: Matrix<V> = blocks.upload(space, Format::Ebw);
    let mut inverse = space.upload(&unwritten::<V::Arithmetic>(D * (D + 1) / 2 * n)).unwrap();
    let kernel = InverseBlocks::<V, D>::new(n, matrix.entries(), matrix.values(), inverse.view_mut());
    // SAFETY: the matrix lives, and `inverse` holds its blocks' lower triangles.
    unsafe { space.run(n, kernel) }.unwrap();
    let found = before_guard(space, "inverse_blocks", &inverse);
    for (row, k) in diagonal.iter().enumerate() {
        let inverse = DMatrix::from_fn(D, D, |i, j| packed(&found, n, row, i, j));
        // Of a singular block a generalised inverse: G K G = G and K G K = K.
        let (gkg, kgk) = (&inverse * k * &inverse, k * &inverse * k);
        assert_close("G K G", gkg.as_slice(), inverse.as_slice(), 10.0 * rounding, 1.0);
        assert_close("K G K", kgk.as_slice(), k.as_slice(), 30.0 * rounding, 1.0);
        let is_regular = matches!(row % 5, 0 | 4);
        assert!(!is_regular || (k * inverse - DMatrix::identity(D, D)).amax() < 30.0 * rounding);
    }
    bits(&found)
}

pub fn block_mul(space: &Space) -> Vec<u64> {
    let sizes = SIZES.into_iter().chain([more_than_a_grid(space)]);
    let of = |(n, size)| [with_blocks::<f32>(space, n, size), with_blocks::<f64>(space, n, size)].concat();
    sizes.flat_map(|n| (1..=3).map(move |size| (n, size))).flat_map(of).collect()
}

/// `block_mul`, and `cg_residual_blocks`, which does the same on its way.
fn with_blocks<T: Real>(space: &Space, n: usize, size: usize) -> Vec<u64> {
    let values: Vec<T> = Random(1).vector(size * (size + 1) / 2 * n);
    let blocks = linalg::Blocks { size, n_rows: n, values: space.upload(&values).unwrap() };
    let (q, r): (Vec<T>, Vec<T>) = (Random(2).vector(size * n), Random(3).vector(size * n));
    let product = |x: &[f64]| -> Vec<f64> {
        let entry = |i: usize| {
            let (row, i) = (i / size, i % size);
            (0..size).map(|j| packed(&values, n, row, i, j) * x[size * row + j]).sum()
        };
        (0..size * n).map(entry).collect()
    };
    let (device_q, mut device_r) = (space.upload(&q).unwrap(), space.upload(&r).unwrap());
    let mut z = space.upload(&vec![T::from_f64(f64::NAN); size * n]).unwrap();
    space.block_mul(&blocks, &device_r, &mut z).unwrap();
    let first = space.download(&z).unwrap();
    assert_close("block_mul", &first, &product(&floats(&r)), rounding::<T>(), 3.0);
    let out = [Scalar::new(40), Scalar::new(50)];
    let alpha = quotient(space, 20, -1.75, 3.0);
    space.cg_residual_blocks(alpha, &device_q, &blocks, &mut device_r, &mut z, out).unwrap();
    let sums = space.read(out).unwrap();
    let (new_r, new_z) = (space.download(&device_r).unwrap(), space.download(&z).unwrap());
    let residual: Vec<f64> = (0..size * n).map(|i| r[i].to_f64() - ALPHA * q[i].to_f64()).collect();
    let expected_z = product(&residual);
    assert_close("cg_residual_blocks: r", &new_r, &residual, rounding::<T>(), 2.0);
    assert_close("cg_residual_blocks: z", &new_z, &expected_z, rounding::<T>(), 6.0);
    let rz: f64 = residual.iter().zip(&expected_z).map(|(r, z)| r * z).sum();
    let rr: f64 = residual.iter().map(|r| r * r).sum();
    assert_close("cg_residual_blocks: sums", &sums, &[rz, rr], rounding::<T>(), 1.0 + 3.0 * n as f64);
    [bits(&first), bits(&new_r), bits(&new_z), bits(&sums)].concat()
}

pub fn cg_residual_norm<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (q, r): (Vec<T>, Vec<T>) = (Random(2).vector(n), Random(3).vector(n));
    let (device_q, mut device_r) = (space.upload(&q).unwrap(), space.upload(&r).unwrap());
    let out = Scalar::new(41);
    space.cg_residual_norm(quotient(space, 20, -1.75, 3.0), &device_q, &mut device_r, out).unwrap();
    let sums = space.read([out]).unwrap();
    let new_r = space.download(&device_r).unwrap();
    let residual: Vec<f64> = (0..n).map(|i| r[i].to_f64() - ALPHA * q[i].to_f64()).collect();
    assert_close("cg_residual_norm: r", &new_r, &residual, rounding::<T>(), 2.0);
    let rr: f64 = residual.iter().map(|r| r * r).sum();
    assert_close("cg_residual_norm: sum", &sums, &[rr], rounding::<T>(), 1.0 + n as f64);
    [bits(&new_r), bits(&sums)].concat()
}

pub fn cg_update<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let [z, u, p]: [Vec<T>; 3] = [7, 8, 9].map(|seed| Random(seed).vector(n));
    let factors = [quotient(space, 20, -1.75, 3.0), quotient(space, 22, 2.5, 0.7)];
    let check = |new_u: &[T], new_p: &[T]| {
        let expected: Vec<f64> = (0..n).map(|i| u[i].to_f64() + ALPHA * p[i].to_f64()).collect();
        assert_close("cg_update: u", new_u, &expected, rounding::<T>(), 2.0);
        let expected: Vec<f64> = (0..n).map(|i| z[i].to_f64() + BETA * p[i].to_f64()).collect();
        assert_close("cg_update: p", new_p, &expected, rounding::<T>(), 5.0);
    };
    let device_z = space.upload(&z).unwrap();
    let [mut device_u, mut device_p] = [&u, &p].map(|values| space.upload(&guarded(values)).unwrap());
    let [alpha, beta] = factors.map(|factor| space.ratio(factor));
    let kernel = CgUpdate { alpha, beta, z: device_z.view(), u: device_u.view_mut(), p: device_p.view_mut() };
    // SAFETY: all live and hold n entries.
    unsafe { space.run(n, kernel) }.unwrap();
    let [new_u, new_p] = [&device_u, &device_p].map(|values| before_guard(space, "cg_update", values));
    check(&new_u, &new_p);
    // As the device does it.
    let [mut device_u, mut device_p] = [&u, &p].map(|values| space.upload(values).unwrap());
    space.cg_update(factors, &device_z, &mut device_u, &mut device_p).unwrap();
    check(&space.download(&device_u).unwrap(), &space.download(&device_p).unwrap());
    [bits(&new_u), bits(&new_p)].concat()
}

/// What single precision makes of `exact`; a GPU may take the other neighbour for one that lies between two.
#[track_caller]
fn assert_rounded(what: &str, found: f32, exact: f64) {
    assert!(
        (f64::from(found) - exact).abs() <= 0.51 * f64::from(f32::EPSILON) * exact.abs(),
        "{what}: {found}, {exact}"
    );
}

pub fn scale_to(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for format in [Format::Ebw, Format::Ebw16, Format::Csr, Format::Dense] {
        for size in 1..=3 {
            for n in [0, 1, 33, 257] {
                found.extend(scaled_to_half(space, format, (n, size)));
                let blocks = Blocks::random(random_sparsity(n, 8, 5), size, 6);
                let matrix: Matrix<f64> = blocks.upload(space, format);
                let inverse: Vec<f64> = Random(3).vector::<f64>(n * size).iter().map(|v| 1e-20 * v).collect();
                let scaled = matrix.scaled_to::<f32>(space, &space.upload(&inverse).unwrap()).unwrap();
                assert_eq!(scaled.format(), format.name());
                let values = scaled.blocks(space).unwrap();
                let mut rest = values.iter();
                blocks.for_each(|row, column, value| {
                    let exact = (inverse[row] * inverse[column]).abs().sqrt() * value;
                    assert_rounded("scale_to", *rest.next().unwrap(), exact);
                });
                found.extend(bits(&values));
            }
        }
    }
    found
}

/// Entries of all sizes that halves have, and of those that they have not.
fn scaled_to_half(space: &Space, format: Format, (n, size): (usize, usize)) -> Vec<u64> {
    let mut blocks = Blocks::random(random_sparsity(n, 8, 5), size, 6);
    blocks.values.iter_mut().enumerate().for_each(|(i, value)| *value *= 2_f64.powi(-(i as i32 % 30)));
    let matrix: Matrix<f64> = blocks.upload(space, format);
    let inverse: Vec<f64> = Random(3).vector(n * size);
    let scaled = matrix.scaled_to::<F16>(space, &space.upload(&inverse).unwrap()).unwrap();
    let values: Vec<f32> = scaled.blocks(space).unwrap().iter().map(|value| value.value()).collect();
    let mut rest = values.iter();
    blocks.for_each(|row, column, value| {
        let exact = (inverse[row] * inverse[column]).abs().sqrt() * value;
        let found = f64::from(*rest.next().unwrap());
        // 11 bits, but no steps below 2^-24; through single precision, which may tip what lies in the middle.
        let step = (exact.abs() * 2_f64.powi(-10)).max(2_f64.powi(-24));
        assert!((found - exact).abs() <= 0.5001 * step, "scale_to half: {found}, not {exact}");
    });
    bits(&values)
}

pub fn to_single_and_back(space: &Space) -> Vec<u64> {
    item_sizes(space).flat_map(|n| to_single_of(space, n)).collect()
}

fn to_single_of(space: &Space, n: usize) -> Vec<u64> {
    let (inverse, r): (Vec<f64>, Vec<f64>) = (Random(1).vector(n), Random(2).vector(n));
    let (device_inverse, device_r) = (space.upload(&inverse).unwrap(), space.upload(&r).unwrap());
    let mut rounded = space.upload(&unwritten::<f32>(n)).unwrap();
    let kernel = ToSingle { inverse: device_inverse.view(), r: device_r.view(), rounded: rounded.view_mut() };
    // SAFETY: all live and hold n entries.
    unsafe { space.run(n, kernel) }.unwrap();
    let single = before_guard::<f32>(space, "to_single", &rounded);
    let mut z = space.upload(&unwritten::<f64>(n)).unwrap();
    let kernel = ToDouble { inverse: device_inverse.view(), rounded: rounded.view(), z: z.view_mut() };
    // SAFETY: as above.
    unsafe { space.run(n, kernel) }.unwrap();
    let double = before_guard::<f64>(space, "to_double", &z);
    for i in 0..n {
        let root = inverse[i].abs().sqrt();
        assert_rounded("to_single", single[i], root * r[i]);
        let exact = root * f64::from(single[i]);
        assert!((double[i] - exact).abs() <= 1e-15 * exact.abs(), "to_double: {}, {exact}", double[i]);
    }
    [bits(&single), bits(&double)].concat()
}
