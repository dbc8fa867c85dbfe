//! The least-squares polynomial with Jacobi weights (Saad 2003, sec. 12.3.3): SBELL's choice.
//!
//! Of all residuals `R(t) = 1 - t p(t)` of degree n = m + 1 it has the smallest integral of `R(t)^2 w(t)` over
//! `[0, upper]`, with the weight `w(t) = t^(mu - 1) (upper - t)^nu`, mu = 1/2, nu = -1/2. It needs no lower bound: the
//! weight keeps the residual small where eigenvalues crowd, and it rises to 1 at 0.
//!
//! Residuals are orthogonal with respect to `t w(t)`. With `x = 1 - 2 t / upper` that is `sqrt((1 - x) / (1 + x))`, the
//! weight of the Chebyshev polynomials of the fourth kind: `W_0 = 1`, `W_1 = 2x + 1`, `W_(n+1) = 2x W_n - W_(n-1)`,
//! `W_n(1) = 2n + 1`. So `R_n(t) = W_n(x) / (2n + 1)`, and the recurrence gives the steps: for `upper = 4`, Saad's
//! table 12.1 over `R_n`'s value at 0. `|W_n(x)| < 2n + 1` for x below 1, so `M^-1` is positive.

use super::polynomial::{Factors, Family, Polynomial};
use super::spectrum::Spectrum;

/// The least-squares polynomial of `D^-1 K`.
pub type LeastSquares<T> = Polynomial<T, JacobiWeights>;

/// Least-squares polynomials with Jacobi weights.
pub struct JacobiWeights;

impl Family for JacobiWeights {
    fn steps(order: usize, spectrum: Spectrum) -> Vec<Factors> {
        let step = |n: usize| {
            let (n, c) = (n as f64, 4.0 / spectrum.upper);
            let over = 1.0 / (2.0 * n + 3.0);
            // Before the second step z_old is 0.
            let b = if n > 1.0 { (1.0 - 2.0 * n) * over } else { 0.0 };
            [2.0 * (2.0 * n + 1.0) * over, b, c * (2.0 * n + 1.0) * over]
        };
        (0..=order).map(step).collect()
    }
}
