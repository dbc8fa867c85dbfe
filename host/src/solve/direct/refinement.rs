//! Solution with a factor, refined by residuals of the matrix itself (Higham 2002, ch. 12).
//!
//! A factor in double leaves a residual of some roundings at once. One in single takes several steps, each of which
//! gains what single precision holds beyond the condition number; where that is nothing, the steps stand still and it
//! is said so.

use super::Factor;
use crate::backend::{Backend, Quotient, Vector};
use crate::error::Result;
use crate::solve::{CgOptions, CgOutcome, Ending, Iteration, Monitor, WORTHWHILE, norm, residual};
use crate::sparse::Operator;
use kernels_rs::real::Real;

/// Relative residual that is refined to even if less is asked for: a step costs little beside the factor.
const TARGET: f64 = 1e-13;

/// A direct solver: the factors of a matrix.
pub struct Direct<B: Backend, T: Real> {
    factor: Box<dyn Factor<B, T>>,
}

impl<B: Backend, T: Real> Direct<B, T> {
    /// With these factors.
    pub fn new(factor: Box<dyn Factor<B, T>>) -> Self {
        Direct { factor }
    }
}

impl<B: Backend, T: Real> Iteration<B, T> for Direct<B, T> {
    fn solve(
        &self,
        backend: &B,
        operator: &dyn Operator<B, T>,
        f: &Vector<B, T>,
        u: &mut Vector<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<CgOutcome> {
        let n = operator.n();
        let [mut r, mut q, mut d] = [backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?];
        let norm_f = norm(backend, f)?;
        if norm_f == 0.0 {
            backend.fill(T::ZERO, u)?;
        }
        let mut relative = |u: &Vector<B, T>, r: &mut Vector<B, T>| -> Result<f64> {
            residual(backend, operator, f, u, &mut q, r)?;
            Ok(if norm_f == 0.0 { 0.0 } else { norm(backend, r)? / norm_f })
        };
        let mut best = relative(u, &mut r)?;
        let mut outcome = CgOutcome { spmvs: 1, ..CgOutcome::start(best, options.tolerance) };
        let target = TARGET.min(options.tolerance);
        while best > target && outcome.iterations < options.max_iterations && !monitor.is_cancelled() {
            self.factor.solve(backend, &r, &mut d)?;
            backend.axpy(1.0, Quotient::ONE, &d, u)?;
            let next = relative(u, &mut r)?;
            outcome.iterations += 1;
            outcome.spmvs += 1;
            outcome.history.push(next);
            monitor.residual(outcome.iterations, next, options.tolerance);
            let was_worthwhile = next <= WORTHWHILE * best;
            if next < best {
                best = next;
            } else {
                backend.axpy(-1.0, Quotient::ONE, &d, u)?;
            }
            if !was_worthwhile {
                break;
            }
        }
        outcome.relative_residual = best;
        outcome.converged = best <= options.tolerance;
        outcome.ending = match () {
            () if outcome.converged => Ending::Converged,
            () if monitor.is_cancelled() => Ending::Cancelled,
            () if outcome.iterations >= options.max_iterations => Ending::Limit,
            () => Ending::Stagnated,
        };
        Ok(outcome)
    }

    fn factor_nonzeros(&self) -> Option<u64> {
        Some(self.factor.nonzeros())
    }
}
