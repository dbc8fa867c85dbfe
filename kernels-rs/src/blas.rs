//! Vector operations, with coefficients that are ratios of device-resident scalars: the host never waits for them.

use crate::real::{Real, fma};
use crate::reduce::{Reduction, sum_over_grid, sum_strided};
use cuda_std::prelude::*;

/// A coefficient `factor scalars[num] / scalars[den]` that a kernel reads when it runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ratio {
    /// The device-resident scalars, `[n_scalars]`.
    pub scalars: View<f64>,
    /// Index of the numerator.
    pub num: u32,
    /// Index of the denominator.
    pub den: u32,
    /// What the quotient is multiplied by.
    pub factor: f64,
}

/// The quotient; 0 where the numerator or the denominator is 0, so that a converged iteration stays where it is.
///
/// An iteration that goes on after it has converged takes its residual down to where single precision rounds `p` to
/// 0 while `r . z`, summed in f64, is not: then the denominator alone is 0.
#[inline(always)]
pub fn quotient(num: f64, den: f64) -> f64 {
    if num == 0.0 || den == 0.0 { 0.0 } else { num / den }
}

impl Ratio {
    /// The [`quotient`] times the factor.
    #[inline(always)]
    pub unsafe fn value(self) -> f64 {
        self.factor * quotient(self.scalars.at(self.num as usize), self.scalars.at(self.den as usize))
    }
}

/// Computes: `x_i = value`. Parameters: `x [n]`. Thread mapping: an item per entry. Memory moved: one word per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn fill<T: Real>(i: usize, value: T, x: ViewMut<T>) {
    x.set(i, value);
}

/// Computes: the largest of every n-th entry, 0 if all are less; n the length of `most`.
/// Parameters: `x [any]`; `most [n]`. Thread mapping: an item per entry of `most`. Memory moved: one word per entry.
#[kernel(items)]
pub unsafe fn largest(item: usize, x: View<f64>, most: ViewMut<f64>) {
    let (mut i, mut value) = (item, 0.0);
    while i < x.len() {
        value = f64::max(value, x.at(i));
        i += most.len();
    }
    most.set(item, value);
}

/// Computes: `y_i = a_i x_i`, a in single precision.
/// Parameters: `a, x, y [n]`. Thread mapping: an item per entry. Memory moved: two values of T and 4 bytes per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn mul<T: Real>(i: usize, a: View<f32>, x: View<T>, y: ViewMut<T>) {
    y.set(i, T::from_f64(a.at(i).into()) * x.at(i));
}

/// Computes: `y_i += ratio x_i`.
/// Parameters: `x, y [n]`. Thread mapping: an item per entry. Memory moved: three words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn axpy<T: Real>(i: usize, ratio: Ratio, x: View<T>, y: ViewMut<T>) {
    let a = T::from_f64(ratio.value());
    y.set(i, fma(a, x.at(i), y.at(i)));
}

/// Computes: `y_i = x_i + ratio y_i`.
/// Parameters: `x, y [n]`. Thread mapping: an item per entry. Memory moved: three words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn xpby<T: Real>(i: usize, ratio: Ratio, x: View<T>, y: ViewMut<T>) {
    let b = T::from_f64(ratio.value());
    y.set(i, fma(b, y.at(i), x.at(i)));
}

/// Computes: `y_i = a x_i + b y_i`.
/// Parameters: `x, y [n]`. Thread mapping: an item per entry. Memory moved: three words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn axpby<T: Real>(i: usize, a: Ratio, b: Ratio, x: View<T>, y: ViewMut<T>) {
    let (a, b) = (T::from_f64(a.value()), T::from_f64(b.value()));
    y.set(i, fma(a, x.at(i), b * y.at(i)));
}

/// Computes: `scalars[out[0]] = sum_i x_i y_i`, in f64.
///
/// Parameters: `x, y [n]`. Thread mapping: a grid-stride loop, blocks of [`crate::reduce::BLOCK`].
/// Memory moved: two words per entry.
#[kernel(launch_bounds(256, 4), T = [f32, f64])]
pub unsafe fn dot<T: Real>(n: usize, x: View<T>, y: View<T>, to: Reduction) {
    let sums = sum_strided(n, |i| [x.at(i), y.at(i)], |_, [x, y], [sum]| *sum = fma(x.to_f64(), y.to_f64(), *sum));
    sum_over_grid(sums, to);
}

/// Computes: `scalars[places_i] = values_i`. Thread mapping: an item per scalar. Memory moved: nothing but these.
#[kernel(items)]
pub unsafe fn set_scalars(
    i: usize,
    places: [u32; crate::reduce::MAX_SUMS],
    values: [f64; crate::reduce::MAX_SUMS],
    scalars: ViewMut<f64>,
) {
    scalars.set(places[i] as usize, values[i]);
}

/// Computes: `to_i = scalars[places_i]`. Thread mapping: an item per scalar. Memory moved: 16 B per scalar.
#[kernel(items)]
pub unsafe fn pack_scalars(i: usize, places: [u32; crate::reduce::MAX_SUMS], scalars: View<f64>, to: ViewMut<f64>) {
    to.set(i, scalars.at(places[i] as usize));
}

/// Computes: `scalars[places_i] = sum_k terms_ki`, in the order of k.
///
/// Parameters: `n`, scalars; `terms [any][n]`. Thread mapping: an item per scalar. Memory moved: the terms.
#[kernel(items)]
pub unsafe fn add_scalars(
    i: usize,
    n: usize,
    places: [u32; crate::reduce::MAX_SUMS],
    terms: View<f64>,
    scalars: ViewMut<f64>,
) {
    let (mut k, mut sum) = (n + i, terms.at(i));
    while k < terms.len() {
        sum += terms.at(k);
        k += n;
    }
    scalars.set(places[i] as usize, sum);
}
