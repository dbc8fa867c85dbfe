//! The truncated Neumann series `p(t) = omega (1 + s + .. + s^m)`, `s = 1 - omega t` (SBELL sec. 2; Saad 2003,
//! sec. 12.3.1).
//!
//! The residual is `1 - t p(t) = (1 - omega t)^(m + 1)`. With `omega = 1 / upper` it lies between 0 and 1 on the
//! spectrum whether m is even or odd. It divides the condition number by about m + 1, with m + 1 products.

use super::polynomial::{Factors, Family, Polynomial};
use super::spectrum::Spectrum;

/// The truncated Neumann series of `D^-1 K`.
pub type Neumann<T> = Polynomial<T, Series>;

/// Partial sums of the Neumann series.
pub struct Series;

impl Family for Series {
    /// `z_new = z + omega D^-1 (r - K z)`: one more term of the series.
    fn steps(order: usize, spectrum: Spectrum) -> Vec<Factors> {
        vec![[1.0, 0.0, 1.0 / spectrum.upper]; order + 1]
    }
}
