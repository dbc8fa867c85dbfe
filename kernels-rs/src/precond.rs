//! Preconditioners: the inverse of the diagonal blocks, and polynomials in `D^-1 K`.
//!
//! A polynomial preconditioner is a few steps of an iteration from zero for `K z = r`, each a product and this update
//! of vectors (Saad 2003, sec. 12.3):
//!
//! ```text
//! z_new = a z + b z_old + c D^-1 (r - K z)
//! ```
//!
//! Neumann, Chebyshev and least squares differ in the numbers a, b, c. The update rides on the product where the format
//! allows ([`ebw_polynomial_step`]): then a step moves four words per unknown besides the matrix and z.

use crate::blas::{Ratio, quotient};
use crate::half::F16;
use crate::real::{Arithmetic, Real, Stored, fma, mixed};
use crate::reduce::{Reduction, sum_over_grid};
use crate::sparse::{Ebw, Entries, Layout};
use cuda_std::prelude::*;

/// A pivot below this many roundings of its diagonal entry is none.
const PIVOT_ROUNDINGS: f64 = 16.0;

/// One step of a polynomial: its numbers, and the vectors besides z and `K z`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Step<T: DeviceCopy> {
    /// a, b and c. Where b is 0, `previous` is not read.
    pub factors: [T; 3],
    /// The inverse of the diagonal, `[n]`.
    pub inverse: View<T>,
    /// The vector the preconditioner is applied to, `[n]`.
    pub r: View<T>,
    /// z_old, which becomes z_new, `[n]`.
    pub previous: ViewMut<T>,
}

impl<T: Real> Step<T> {
    /// Computes: entry `i` of z_new, which no other thread has, from those of z and `K z`.
    #[inline(always)]
    pub(crate) unsafe fn update(self, i: usize, z: T, product: T) {
        let old = || self.previous.at(i);
        self.previous.set(i, step_entry(self.factors, self.inverse.at(i), self.r.at(i) - product, z, old));
    }
}

/// An entry of `z_new = a z + b z_old + c D^-1 (r - K z)`, from the same entry of each of the vectors. Where b is 0,
/// `old` is not called.
#[inline(always)]
pub fn step_entry<T: Real>([a, b, c]: [T; 3], inverse: T, residual: T, z: T, old: impl FnOnce() -> T) -> T {
    let next = fma(c * inverse, residual, a * z);
    if b == T::ZERO { next } else { fma(b, old(), next) }
}

/// Computes: the inverse of a diagonal in single precision. What is not 0 does not become it, nor infinite: there it is
/// another preconditioner, and one all the same.
///
/// Parameters: `inverse, rounded [n]`. Thread mapping: an item per entry. Memory moved: a word and 4 bytes per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn round_diagonal<T: Real>(i: usize, inverse: View<T>, rounded: ViewMut<f32>) {
    let exact = inverse.at(i).to_f64();
    let size = exact.abs().clamp(f32::MIN_POSITIVE.into(), f32::MAX.into());
    rounded.set(i, if exact == 0.0 { 0.0 } else { size.copysign(exact) as f32 });
}

/// Computes: the first step of a polynomial, `z_i = factor * inverse_i r_i`.
/// Parameters: `inverse, r, z [n]`. Thread mapping: an item per entry. Memory moved: three words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn polynomial_start<T: Real>(i: usize, factor: T, inverse: View<T>, r: View<T>, z: ViewMut<T>) {
    z.set(i, factor * inverse.at(i) * r.at(i));
}

/// Computes: `Step::update` for every entry, from the product `K z`.
/// Parameters: `z, product [n]`. Thread mapping: an item per entry. Memory moved: six words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn polynomial_step<T: Real>(i: usize, step: Step<T>, z: View<T>, product: View<T>) {
    step.update(i, z.at(i), product.at(i));
}

/// Computes: the product `K z` and `Step::update` in one pass; the product is not stored.
///
/// Parameters: `values` as the format keeps them, `z [n]`. Thread mapping: a thread per block row. Memory moved: the
/// matrix and z as [`crate::sparse::spmv`] moves them, and four words per unknown (three where b is 0).
#[kernel(launch_bounds(256, 2), D = [1, 2, 3], S = [32, 64, 128], V = [f32, f64, F16])]
pub unsafe fn ebw_polynomial_step<const D: usize, const S: usize, V: Stored>(
    n_rows: usize,
    a: Ebw<D, S>,
    values: View<V>,
    z: View<Arithmetic<V>>,
    step: Step<Arithmetic<V>>,
) {
    let row = thread::index_1d() as usize;
    if row < n_rows {
        let product = a.product(row, values, z);
        for i in 0..D {
            step.update(D * row + i, z.at(D * row + i), product[i]);
        }
    }
}

/// Computes: a vector that has a part in every eigenvector of `D^-1/2 K D^-1/2`, as a residual of K: entries in (-1, 1)
/// that follow no pattern, times `D^1/2`. The same numbers every time.
///
/// Parameters: `inverse, r [n]`. Thread mapping: an item per entry. Memory moved: two words per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn lanczos_start<T: Real>(i: usize, inverse: View<T>, r: ViewMut<T>) {
    let inverse = inverse.at(i).to_f64().abs();
    let scale = if inverse == 0.0 { 0.0 } else { 1.0 / inverse.sqrt() };
    r.set(i, T::from_f64(scale * scattered(i)));
}

/// A number in (-1, 1) for an index.
#[inline(always)]
fn scattered(i: usize) -> f64 {
    let mixed = mixed(i);
    ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Where entry (i, j), j <= i, of row `row`'s symmetric block is: `[D (D + 1) / 2][n_rows]`, so that neighbouring
/// threads read neighbouring words.
#[inline(always)]
fn packed(n_rows: usize, row: usize, i: usize, j: usize) -> usize {
    (i * (i + 1) / 2 + j) * n_rows + row
}

/// The inverse of a symmetric block, of which the lower triangle is read: `W^T diag(1 / d) W` from `K = L diag(d) L^T`,
/// `W = L^-1`. Where a pivot vanishes its inverse is 0, as Jacobi's is for an empty row.
#[inline(always)]
fn inverse_block<const D: usize, T: Real>(k: [[T; D]; D]) -> [[T; D]; D] {
    let smallest = T::from_f64(PIVOT_ROUNDINGS) * T::EPSILON;
    let (mut l, mut d, mut d_inverse) = ([[T::ZERO; D]; D], [T::ZERO; D], [T::ZERO; D]);
    for j in 0..D {
        let mut pivot = k[j][j];
        for m in 0..j {
            pivot -= l[j][m] * l[j][m] * d[m];
        }
        if pivot.abs() > smallest * k[j][j].abs() {
            (d[j], d_inverse[j]) = (pivot, T::ONE / pivot);
        }
        for i in j + 1..D {
            let mut entry = k[i][j];
            for m in 0..j {
                entry -= l[i][m] * l[j][m] * d[m];
            }
            l[i][j] = entry * d_inverse[j];
        }
    }
    let mut w = [[T::ZERO; D]; D];
    for i in 0..D {
        w[i][i] = T::ONE;
        for j in 0..i {
            for m in j..i {
                w[i][j] -= l[i][m] * w[m][j];
            }
        }
    }
    let mut inverse = [[T::ZERO; D]; D];
    for i in 0..D {
        for j in 0..=i {
            for m in i..D {
                inverse[i][j] = fma(w[m][i] * d_inverse[m], w[m][j], inverse[i][j]);
            }
        }
    }
    inverse
}

/// Computes: the inverse of each diagonal block of K, of which the lower triangle is kept.
///
/// Parameters: `inverse [D (D + 1) / 2][n_rows]`. Thread mapping: an item per block row.
/// Memory moved: the diagonal blocks' values, and the words of `inverse`.
#[kernel(items, V = [f32, f64, F16], D = [1, 2, 3])]
pub unsafe fn inverse_blocks<V: Stored, const D: usize>(
    row: usize,
    n_rows: usize,
    entries: Entries,
    values: View<V>,
    inverse: ViewMut<Arithmetic<V>>,
) {
    let mut k = [[V::Arithmetic::ZERO; D]; D];
    for i in 0..D {
        for j in 0..=i {
            k[i][j] = values.at(entries.at(row, 0, i, j)).value();
        }
    }
    let block = inverse_block(k);
    for i in 0..D {
        for j in 0..=i {
            inverse.set(packed(n_rows, row, i, j), block[i][j]);
        }
    }
}

/// A row's block times the row's part of a vector.
#[inline(always)]
unsafe fn block_product<const D: usize, T: Real>(n_rows: usize, row: usize, blocks: View<T>, x: [T; D]) -> [T; D] {
    let mut y = [T::ZERO; D];
    for i in 0..D {
        for j in 0..=i {
            let entry = blocks.at(packed(n_rows, row, i, j));
            y[i] = fma(entry, x[j], y[i]);
            if j < i {
                y[j] = fma(entry, x[i], y[j]);
            }
        }
    }
    y
}

/// Computes: `z = blocks r`, symmetric block by block.
///
/// Parameters: `blocks [D (D + 1) / 2][n_rows]`, `r, z [n_rows][D]`. Thread mapping: an item per block row.
/// Memory moved: `(D + 1) / 2 + 2` words per unknown.
#[kernel(items, T = [f32, f64], D = [1, 2, 3])]
pub unsafe fn block_mul<T: Real, const D: usize>(
    row: usize,
    n_rows: usize,
    blocks: View<T>,
    r: View<T>,
    z: ViewMut<T>,
) {
    let product = block_product::<D, T>(n_rows, row, blocks, core::array::from_fn(|i| r.at(D * row + i)));
    for i in 0..D {
        z.set(D * row + i, product[i]);
    }
}

/// Computes, for a block diagonal preconditioner: `r -= alpha q`, `z = blocks r`,
/// then `scalars[out] = [sum r_i z_i, sum r_i^2]`.
///
/// Parameters: `blocks [D (D + 1) / 2][n_rows]`, `q, r, z [n_rows][D]`. Thread mapping: a grid-stride loop over block
/// rows, blocks of [`crate::reduce::BLOCK`]. Memory moved: `(D + 1) / 2 + 4` words per unknown.
#[kernel(T = [f32, f64], D = [1, 2, 3])]
pub unsafe fn cg_residual_blocks<T: Real, const D: usize>(
    n_rows: usize,
    alpha: Ratio,
    q: View<T>,
    blocks: View<T>,
    r: ViewMut<T>,
    z: ViewMut<T>,
    to: Reduction,
) {
    let minus_alpha = T::from_f64(-alpha.value());
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut row = thread::index_1d() as usize;
    let mut sums = [0.0; 2];
    while row < n_rows {
        let residual: [T; D] = core::array::from_fn(|i| fma(minus_alpha, q.at(D * row + i), r.at(D * row + i)));
        let product = block_product(n_rows, row, blocks, residual);
        for i in 0..D {
            r.set(D * row + i, residual[i]);
            z.set(D * row + i, product[i]);
            sums[0] = fma(residual[i].to_f64(), product[i].to_f64(), sums[0]);
            sums[1] = fma(residual[i].to_f64(), residual[i].to_f64(), sums[1]);
        }
        row += stride;
    }
    sum_over_grid(sums, to);
}

/// Computes: `D^-1/2 K D^-1/2` in fewer bits: entries of size 1, whatever the units of K.
///
/// Parameters: `inverse [n]` of D, `scaled` as `to` says. Thread mapping: an item per block row. Memory moved: every
/// value of a block of the pattern is read once and written once, in 4 bytes or 2; an index and two parts of `inverse`
/// per block.
///
/// # Safety
/// See the crate's section on safety. Both matrices have the same pattern and block size.
#[kernel(items, V = [f32, F16])]
pub unsafe fn scale_to<V: Stored>(
    row: usize,
    from: Entries,
    values: View<f64>,
    inverse: View<f64>,
    to: Entries,
    scaled: ViewMut<V>,
) {
    let (size, (first, width)) = (from.size, from.pattern.row(row));
    for k in 0..width {
        let column = from.pattern.columns.at(first + k) as usize;
        for i in 0..size {
            for j in 0..size {
                let scale = (inverse.at(size * row + i) * inverse.at(size * column + j)).abs().sqrt();
                let value = V::Arithmetic::from_f64(scale * values.at(from.at(row, k, i, j)));
                scaled.set(to.at(row, k, i, j), V::rounded(value));
            }
        }
    }
}

/// Computes: the inverse of a diagonal; 0 where that is 0.
///
/// Parameters: `diagonal, inverse [n]`. Thread mapping: an item per entry. Memory moved: 8 B and a word.
#[kernel(items, T = [f32, f64])]
pub unsafe fn invert_entries<T: Real>(i: usize, diagonal: View<f64>, inverse: ViewMut<T>) {
    inverse.set(i, T::from_f64(quotient(1.0, diagonal.at(i))));
}

/// The root of an entry, or 1 if there are none.
#[inline(always)]
unsafe fn root(inverse: View<f64>, i: usize) -> f64 {
    if inverse.is_empty() { 1.0 } else { inverse.at(i).abs().sqrt() }
}

/// Computes: `rounded_i = sqrt(inverse_i) r_i`, a residual of K as one of the matrix of [`scale_to`].
/// Parameters: `inverse [n]`, or empty for ones; `r, rounded [n]`. Thread mapping: an item per entry. Memory moved: 20 bytes per entry.
#[kernel(items)]
pub unsafe fn to_single(i: usize, inverse: View<f64>, r: View<f64>, rounded: ViewMut<f32>) {
    rounded.set(i, (root(inverse, i) * r.at(i)) as f32);
}

/// Computes: `z_i = sqrt(inverse_i) rounded_i`, a solution of the matrix of [`scale_to`] as one of K.
/// Parameters: `inverse [n]`, or empty for ones; `rounded, z [n]`. Thread mapping: an item per entry. Memory moved: 20 bytes per entry.
#[kernel(items)]
pub unsafe fn to_double(i: usize, inverse: View<f64>, rounded: View<f32>, z: ViewMut<f64>) {
    z.set(i, root(inverse, i) * f64::from(rounded.at(i)));
}
