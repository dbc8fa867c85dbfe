//! `blas` and `cg`: kernels over the entries of vectors.

use super::{GUARD, SIZES, more_than_a_grid};
use crate::common::{Random, assert_close, bits, floats, quotient, rounding};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::blas::{AddScalars, Axpby, Axpy, Fill, Largest, Mul, PackScalars, SetScalars, Xpby};
use kernels_rs::real::Real;
use warpfem::device::Buffer;
use warpfem::linalg::{Scalar, Space};
use warpfem::result::Result;

const ALPHA: f64 = -1.75 / 3.0;
const BETA: f64 = 2.5 / 0.7;

/// The values with NaNs after them.
pub fn guarded<T: Real>(values: &[T]) -> Vec<T> {
    values.iter().copied().chain(std::iter::repeat_n(T::from_f64(f64::NAN), GUARD)).collect()
}

/// `n` outputs that nobody has written, with the guard.
pub fn unwritten<T: Real>(n: usize) -> Vec<T> {
    vec![T::from_f64(f64::NAN); n + GUARD]
}

/// The entries before the guard, which must be untouched.
#[track_caller]
pub fn before_guard<T: Real>(space: &Space, what: &str, buffer: &Buffer<T>) -> Vec<T> {
    let mut values = space.download(buffer).unwrap();
    let guard = values.split_off(values.len() - GUARD);
    assert!(guard.iter().all(|v| v.to_f64().is_nan()), "{what}: {} entries, and more are written", values.len());
    values
}

pub fn item_sizes(space: &Space) -> impl Iterator<Item = usize> {
    SIZES.into_iter().chain([more_than_a_grid(space)])
}

pub fn fill<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let mut x = space.upload(&unwritten::<T>(n)).unwrap();
    // SAFETY: x lives and holds n entries and more.
    unsafe { space.run(n, Fill { value: T::from_f64(0.3), x: x.view_mut() }) }.unwrap();
    let x = before_guard(space, "fill", &x);
    assert!(x.iter().all(|v| *v == T::from_f64(0.3)));
    bits(&x)
}

/// The largest of every n-th entry, of fewer entries than places too.
pub fn largest(space: &Space) -> Vec<u64> {
    item_sizes(space).flat_map(|n| [1, 33].map(|places| largest_of(space, n, places))).flatten().collect()
}

fn largest_of(space: &Space, n: usize, places: usize) -> Vec<u64> {
    let x: Vec<f64> = Random(4).vector(n);
    let device_x = space.upload(&x).unwrap();
    let mut most = space.upload(&vec![f64::NAN; places]).unwrap();
    // SAFETY: both live; an item for each entry of `most`.
    unsafe { space.run(places, Largest { x: device_x.view(), most: most.view_mut() }) }.unwrap();
    let most = space.download(&most).unwrap();
    let expected = |place: usize| x.iter().skip(place).step_by(places).copied().fold(0.0, f64::max);
    assert!((0..places).all(|place| most[place] == expected(place)), "{n} entries, {places} places");
    bits(&most)
}

pub fn mul<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (a, x): (Vec<f32>, Vec<T>) = (Random(1).vector(n), Random(2).vector(n));
    let (device_a, device_x) = (space.upload(&a).unwrap(), space.upload(&x).unwrap());
    let mut y = space.upload(&unwritten::<T>(n)).unwrap();
    // SAFETY: all three live and hold n entries.
    unsafe { space.run(n, Mul { a: device_a.view(), x: device_x.view(), y: y.view_mut() }) }.unwrap();
    let y = before_guard(space, "mul", &y);
    assert!((0..n).all(|i| y[i] == T::from_f64(a[i].into()) * x[i]));
    bits(&y)
}

/// What a kernel makes of y by x, entry by entry.
fn combined<T: Real>(
    space: &Space,
    n: usize,
    (what, scale): (&str, f64),
    expected: impl Fn(f64, f64) -> f64,
    run: impl Fn(View<T>, ViewMut<T>) -> Result<()>,
) -> Vec<u64> {
    let (x, y): (Vec<T>, Vec<T>) = (Random(3).vector(n), Random(4).vector(n));
    let (device_x, mut device_y) = (space.upload(&x).unwrap(), space.upload(&guarded(&y)).unwrap());
    run(device_x.view(), device_y.view_mut()).unwrap();
    let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| expected(x.to_f64(), y.to_f64())).collect();
    let y = before_guard(space, what, &device_y);
    assert_close(what, &y, &expected, rounding::<T>(), scale);
    bits(&y)
}

pub fn axpy<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let factors = [(-1.75, 3.0, -1.0, -ALPHA), (0.0, 0.0, 1.0, 0.0), (2.0, 0.0, 1.0, 0.0)];
    let with = |(num, den, factor, a): (f64, f64, f64, f64)| {
        let ratio = space.ratio(quotient(space, 20, num, den).times(factor));
        // SAFETY: both live and hold n entries.
        combined::<T>(space, n, ("axpy", 1.0), |x, y| y + a * x, |x, y| unsafe { space.run(n, Axpy { ratio, x, y }) })
    };
    factors.map(with).concat()
}

pub fn axpby<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (a, b) = (quotient(space, 20, 2.5, 0.7), quotient(space, 22, -1.75, 3.0).minus());
    let (a, b) = (space.ratio(a), space.ratio(b));
    // SAFETY: both live and hold n entries.
    let run = |x, y| unsafe { space.run(n, Axpby { a, b, x, y }) };
    combined::<T>(space, n, ("axpby", 8.0), |x, y| BETA * x - ALPHA * y, run)
}

pub fn xpby<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let ratio = space.ratio(quotient(space, 20, 2.5, 0.7));
    // SAFETY: both live and hold n entries.
    let run = |x, y| unsafe { space.run(n, Xpby { ratio, x, y }) };
    combined::<T>(space, n, ("xpby", 4.0), |x, y| x + BETA * y, run)
}

pub fn dot<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let (x, y): (Vec<T>, Vec<T>) = (Random(11).vector(n), Random(12).vector(n));
    let (device_x, device_y) = (space.upload(&x).unwrap(), space.upload(&y).unwrap());
    let (dot, untouched) = (Scalar::new(62), Scalar::new(61));
    crate::common::set_scalar(space, dot, 1e300);
    crate::common::set_scalar(space, untouched, 0.125);
    space.dot(&device_x, &device_y, dot).unwrap();
    let sums = space.read([dot, untouched]).unwrap();
    let expected = x.iter().zip(&y).map(|(x, y)| x.to_f64() * y.to_f64()).sum::<f64>();
    assert_close(&format!("dot of {n}"), &sums, &[expected, 0.125], 1e-15, 1.0 + n as f64);
    bits(&sums)
}

pub fn cg_residual<T: Real>(space: &Space, n: usize) -> Vec<u64> {
    let [q, mut z]: [Vec<T>; 2] = [13, 15].map(|seed| Random(seed).vector(n));
    let mut inverse: Vec<f32> = Random(14).vector(n);
    // A row that is left out.
    if n > 0 {
        (inverse[n / 2], z[n / 2]) = (0.0, T::ZERO);
    }
    let [device_q, mut device_z] = [&q, &z].map(|values| space.upload(values).unwrap());
    let device_inverse = space.upload(&inverse).unwrap();
    let alpha = quotient(space, 20, -1.75, 3.0);
    let out = [Scalar::new(40), Scalar::new(50)];
    space.cg_residual(alpha, &device_q, &device_inverse, &mut device_z, out).unwrap();
    let sums = space.read(out).unwrap();
    let new_z = space.download(&device_z).unwrap();
    let new = |i: usize| z[i].to_f64() - ALPHA * f64::from(inverse[i]) * q[i].to_f64();
    let expected: Vec<f64> = (0..n).map(new).collect();
    assert_close("cg_residual: z", &new_z, &expected, rounding::<T>(), 2.0);
    // Of the entries as they are: a small inverse magnifies what rounding does to them.
    let rows = new_z.iter().zip(&inverse).filter(|(_, m)| **m != 0.0);
    let residuals = rows.map(|(z, m)| (z.to_f64() / f64::from(*m), z.to_f64()));
    let (weighted, squares) = residuals.fold((0.0, 0.0), |(rz, rr), (r, z)| (rz + r * z, rr + r * r));
    // Terms are of very different sizes, and added in another order.
    assert_close(&format!("sums of {n}"), &sums, &[weighted, squares], 1e-11, 1.0 + squares);
    bits(&[floats(&new_z), sums.to_vec()].concat())
}

/// Scalars set, packed and replaced by sums over ranks.
pub fn scalars_of_ranks(space: &Space) -> Vec<u64> {
    let (mut bank, mut packed) = (space.upload(&[1.0, 2.0, 3.0, 4.0]).unwrap(), space.zeros(2).unwrap());
    let terms = space.upload(&[0.5, 10.0, 0.25, 20.0, 0.125, 30.0]).unwrap();
    let (places, values) = ([3, 1], [7.0, -8.0]);
    // SAFETY: all live; places are those of the bank, and the terms are of three ranks.
    unsafe {
        space.run(2, SetScalars { places, values, scalars: bank.view_mut() }).unwrap();
        space.run(2, PackScalars { places, scalars: bank.view(), to: packed.view_mut() }).unwrap();
        space.run(2, AddScalars { n: 2, places: [0, 2], terms: terms.view(), scalars: bank.view_mut() }).unwrap();
    }
    assert_eq!(space.take(packed).unwrap(), values);
    let found = space.take(bank).unwrap();
    assert_eq!(found, [0.875, -8.0, 60.0, 7.0]);
    bits(&found)
}
