//! Chebyshev's polynomial: the smallest residual on an interval (Saad 2003, alg. 12.1).
//!
//! On `[lower, upper]`, with theta its centre and delta half its length, the residual of m + 1 steps is
//! `T((theta - t) / delta) / T(theta / delta)`, T the Chebyshev polynomial of degree m + 1.
//!
//! The smallest eigenvalue is the wrong lower end where it is tiny, as it is on fine meshes: the residual of a few
//! steps is then near 1 nearly everywhere, t p(t) comes near 0 in the middle of the spectrum, and orders alternate
//! between good and bad (SBELL table 3 has Chebyshev oscillate). The interval here is never longer than what its order
//! can reduce to `REDUCTION`; below it the residual rises from there to 1, so `M^-1` stays positive.

use super::polynomial::{Factors, Family, Polynomial};
use super::spectrum::Spectrum;

/// Chebyshev's polynomial of `D^-1 K`.
pub type Chebyshev<T> = Polynomial<T, Equioscillating>;

/// The largest residual in the interval.
const REDUCTION: f64 = 0.5;
/// The shortest interval, as a ratio of its ends: a single eigenvalue makes none.
const SHORTEST: f64 = 0.9;

/// Chebyshev polynomials.
pub struct Equioscillating;

/// The lower end of the interval below `upper` on which `order` reduces the residual to [`REDUCTION`].
fn lower_end(order: usize, upper: f64) -> f64 {
    let sigma = ((1.0 / REDUCTION).acosh() / (order + 1) as f64).cosh();
    upper * (sigma - 1.0) / (sigma + 1.0)
}

impl Family for Equioscillating {
    fn steps(order: usize, spectrum: Spectrum) -> Vec<Factors> {
        let upper = spectrum.upper;
        let lower = spectrum.lower.max(lower_end(order, upper)).min(SHORTEST * upper);
        let mut steps: Vec<Factors> = factors(lower, upper).take(order + 1).collect();
        // Before the first step z_old is 0.
        steps.iter_mut().take(2).for_each(|[_, b, _]| *b = 0.0);
        steps
    }
}

/// The steps of algorithm 12.1 on an interval, with its direction d written as the difference of the last two z. They
/// never end: the iteration that has them is Chebyshev's semi-iteration.
pub fn factors(lower: f64, upper: f64) -> impl Iterator<Item = Factors> {
    let (theta, delta) = (0.5 * (upper + lower), 0.5 * (upper - lower));
    let sigma = theta / delta;
    let mut rho = 1.0 / sigma;
    let later = std::iter::repeat_with(move || {
        let next = 1.0 / (2.0 * sigma - rho);
        let step = [1.0 + next * rho, -next * rho, 2.0 * next / delta];
        rho = next;
        step
    });
    std::iter::once([1.0, 0.0, 1.0 / theta]).chain(later)
}
