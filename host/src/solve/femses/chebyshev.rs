//! Chebyshev's semi-iteration with an interval that corrects itself (Hageman and Young 1981, ch. 6).
//!
//! On `[lower, upper]`, theta its centre and delta half its length, m steps reduce an error of eigenvalue t by
//! `T_m((theta - t) / delta) / T_m(theta / delta)`. The upper end comes from Lanczos and is safe. The lower end, of
//! size h^2, does not: a few steps of Lanczos find values above it. But an eigenvalue t below `lower` shows: residuals
//! then shrink by more than `1 / T_m(theta / delta)`, and from how much more, t follows,
//!
//! ```text
//! (theta - t) / delta = cosh(1/m arcosh(|r_m| / |r_0| T_m(theta / delta)))
//! ```
//!
//! When the iteration is much slower than its interval says, it starts anew from there with t for the lower end. What
//! is found in this way is never far below the smallest eigenvalue, but where rounding is all that is left.

use crate::precond::chebyshev::factors;
use crate::precond::polynomial::Factors;
use crate::precond::spectrum::Spectrum;

/// An interval whose observed rate of convergence is below this much of what is expected is too short.
const TOO_SLOW: f64 = 0.85;
/// Steps before the rate says anything.
const FEWEST_STEPS: usize = 16;
/// The first lower end at least, as a share of the upper one: too high a lower end shows soon, one too low never.
const FIRST: f64 = 0.05;
/// The least lower end, as such a share: an iteration that rounding has stopped is slow for another reason.
const SMALLEST: f64 = 1e-12;

/// The steps of the semi-iteration, and the interval they are for.
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    upper: f64,
    steps: Box<dyn Iterator<Item = Factors>>,
    taken: usize,
    /// The norm of the residual there, once it is known.
    at_start: Option<f64>,
}

impl Interval {
    /// Begins on what is known of a spectrum.
    pub fn new(spectrum: Spectrum) -> Self {
        Interval::of(spectrum.lower.max(FIRST * spectrum.upper), spectrum.upper)
    }

    fn of(lower: f64, upper: f64) -> Self {
        let lower = lower.min(0.9 * upper);
        Interval { lower, upper, steps: Box::new(factors(lower, upper)), taken: 0, at_start: None }
    }

    /// The numbers of the next step.
    pub fn next_step(&mut self) -> Factors {
        self.taken += 1;
        self.steps.next().unwrap_or([1.0, 0.0, 1.0 / self.upper])
    }

    /// Looks at the norms of the residuals before some steps, those that were taken last; starts anew if they shrink
    /// too slowly.
    pub fn see(&mut self, residuals: &[f64]) {
        let Some((last, first)) = residuals.last().zip(residuals.first()) else { return };
        let start = *self.at_start.get_or_insert(*first);
        // The last of them was before a step.
        let m = (self.taken - 1) as f64;
        if self.taken <= FEWEST_STEPS || *last <= 0.0 {
            return;
        }
        let (theta, delta) = (0.5 * (self.upper + self.lower), 0.5 * (self.upper - self.lower));
        // ln T_m(x) for x > 1, where m may be so large that T_m is not a number.
        let per_step = (theta / delta).acosh();
        let expected = m * per_step + (1.0 + (-2.0 * m * per_step).exp()).ln() - std::f64::consts::LN_2;
        let observed = (start / last).ln();
        if observed >= TOO_SLOW * expected || self.lower <= SMALLEST * self.upper {
            return;
        }
        let excess = expected - observed;
        // arcosh(e^excess)
        let angle = (excess + (1.0 + (1.0 - (-2.0 * excess).exp()).max(0.0).sqrt()).ln()) / m;
        let found = theta - delta * angle.cosh();
        // Halving is the least that makes up for the start.
        *self = Interval::of(found.min(0.5 * self.lower).max(SMALLEST * self.upper), self.upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals of the semi-iteration on a diagonal matrix with these entries, from 0, until rounding comes near.
    fn run(eigenvalues: &[f64], interval: &mut Interval, checks: usize) -> Vec<f64> {
        let f = vec![1.0; eigenvalues.len()];
        let (mut u, mut old) = (vec![0.0; f.len()], vec![0.0; f.len()]);
        let mut history = Vec::new();
        for _ in 0..checks {
            let mut seen = Vec::new();
            for _ in 0..32 {
                let [a, b, c] = interval.next_step();
                let r: Vec<f64> = (0..f.len()).map(|i| f[i] - eigenvalues[i] * u[i]).collect();
                seen.push(r.iter().map(|r| r * r).sum::<f64>().sqrt());
                let next = (0..f.len()).map(|i| a * u[i] + b * old[i] + c * r[i]).collect();
                old = std::mem::replace(&mut u, next);
            }
            interval.see(&seen);
            history.extend(seen);
            if history[history.len() - 1] < 1e-9 * history[0] {
                break;
            }
        }
        history
    }

    #[test]
    fn a_known_interval_is_kept_and_reduces_as_it_says() {
        let eigenvalues: Vec<f64> = (0..200).map(|i| 0.2 + 1.8 * f64::from(i) / 199.0).collect();
        let mut interval = Interval::new(Spectrum { lower: 0.2, upper: 2.0 });
        let history = run(&eigenvalues, &mut interval, 1);
        assert_eq!(interval.lower, 0.2);
        let (theta, delta) = (1.1, 0.9);
        for (m, residual) in history.iter().enumerate() {
            let expected = 1.0 / (m as f64 * f64::acosh(theta / delta)).cosh();
            assert!(residual / history[0] <= 1.001 * expected, "{m}: {residual}");
        }
    }

    #[test]
    fn a_smallest_eigenvalue_that_nobody_knew_is_found() {
        for smallest in [1e-3, 1e-4] {
            let mut eigenvalues: Vec<f64> = (1..500).map(|i| 2.0 * f64::from(i) / 500.0).collect();
            eigenvalues.push(smallest);
            let mut interval = Interval::new(Spectrum { lower: 0.0, upper: 2.0 });
            let history = run(&eigenvalues, &mut interval, 100);
            assert!(interval.lower <= 1.3 * smallest && interval.lower > 0.2 * smallest, "{}", interval.lower);
            let enough = history.iter().position(|r| r / history[0] <= 1e-8).unwrap();
            let ideal = (2e8f64).ln() / (2.0 * (smallest / 2.0).sqrt());
            assert!((enough as f64) < 2.0 * ideal + 200.0, "{enough} steps, {ideal} with the eigenvalue known");
        }
    }
}
