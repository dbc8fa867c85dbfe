//! Residuals in twice the working precision, for the refinement of direct solutions (Higham 2002, sec. 12.1).
//!
//! A solution is a sum of two numbers, `hi + lo`, and products and sums carry their rounding errors along (Dekker 1971,
//! Knuth's two-sum): so the residual is right to the last bit of double precision even where all of its terms cancel.

use crate::half::F16;
use crate::real::{Arithmetic, Real, Stored, fma};
use crate::sparse::Entries;
use cuda_std::prelude::*;

/// A sum and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A number in twice the precision.
#[derive(Clone, Copy)]
struct Sum {
    hi: f64,
    lo: f64,
}

impl Sum {
    /// Adds a product.
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let (hi, error) = two_sum(self.hi, product);
        self.hi = hi;
        self.lo += error + fma(a, b, -product);
    }
}

/// Computes: `r = f - A (hi + lo)` of block row `row`.
///
/// Parameters: `f, hi, lo, r [n_rows][size]`. Thread mapping: an item per block row. Memory moved: every value once, and
/// two gathered words per block.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, V = [f32, f64, F16])]
pub unsafe fn extended_residual<V: Stored>(
    row: usize,
    entries: Entries,
    values: View<V>,
    f: View<Arithmetic<V>>,
    hi: View<Arithmetic<V>>,
    lo: View<Arithmetic<V>>,
    r: ViewMut<Arithmetic<V>>,
) {
    let (first, width) = entries.pattern.row(row);
    for i in 0..entries.size {
        let mut sum = Sum { hi: f.at(entries.size * row + i).to_f64(), lo: 0.0 };
        for k in 0..width {
            let column = entries.pattern.columns.at(first + k) as usize;
            for j in 0..entries.size {
                let a = -values.at(entries.at(row, k, i, j)).value().to_f64();
                sum.add(a, hi.at(entries.size * column + j).to_f64());
                sum.add(a, lo.at(entries.size * column + j).to_f64());
            }
        }
        r.set(entries.size * row + i, V::Arithmetic::from_f64(sum.hi + sum.lo));
    }
}

/// Computes: `hi + lo += d`, lo no more than the rounding error of hi.
///
/// Parameters: `d, hi, lo [n]`. Thread mapping: an item per entry. Memory moved: five words per entry.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn extended_add<T: Real>(i: usize, d: View<T>, hi: ViewMut<T>, lo: ViewMut<T>) {
    let (sum, error) = two_sum(hi.at(i).to_f64(), d.at(i).to_f64());
    let rest = lo.at(i).to_f64() + error;
    let rounded = T::from_f64(sum + rest);
    hi.set(i, rounded);
    lo.set(i, T::from_f64((sum - rounded.to_f64()) + rest));
}
