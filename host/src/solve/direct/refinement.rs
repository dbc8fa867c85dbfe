//! Solution with a factor, refined by residuals of the matrix itself (Higham 2002, ch. 12).
//!
//! A factor in double leaves a residual of some roundings at once. One in single takes several steps, each of which gains what
//! single precision holds beyond the condition number; where that is nothing, the steps stand still and it is said so.

use super::Factor;
use crate::backend::{Backend, N_SCALARS, Quotient, Scalar, Vector};
use crate::error::Result;
use crate::solve::{CgOptions, CgOutcome, Ending, Iteration, Monitor};
use crate::sparse::Operator;
use kernels_rs::real::Real;

/// Relative residual that is refined to even if less is asked for: a step costs little beside the factor.
const TARGET: f64 = 1e-13;

/// A step must leave at most so much of the residual, or it was the last.
const WORTHWHILE: f64 = 0.5;

const ONE: Scalar = Scalar::new(N_SCALARS - 1);
const NORM: Scalar = Scalar::new(N_SCALARS - 2);
/// `1`, once it is there.
const UNIT: Quotient = Quotient { num: ONE, den: ONE };

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
        // The constant 1 on the device, as the product of a unit vector with itself.
        let unit = backend.upload(&[T::ONE])?;
        backend.dot(&unit, &unit, ONE)?;
        let mut work = Work { backend, operator, f, r: backend.zeros(n)?, q: backend.zeros(n)? };
        let mut d = backend.zeros(n)?;
        let norm = work.norm(f)?;
        if norm == 0.0 {
            backend.fill(T::ZERO, u)?;
        }
        let relative = |residual: f64| if norm == 0.0 { 0.0 } else { residual / norm };
        let mut residual = relative(work.residual(u)?);
        let mut outcome = CgOutcome {
            iterations: 0,
            spmvs: 1,
            relative_residual: residual,
            converged: false,
            ending: Ending::Stagnated,
            history: Vec::new(),
        };
        let target = TARGET.min(options.tolerance);
        while residual > target && outcome.iterations < options.max_iterations && !monitor.is_cancelled() {
            self.factor.solve(backend, &work.r, &mut d)?;
            backend.axpy(1.0, UNIT, &d, u)?;
            let next = relative(work.residual(u)?);
            outcome.iterations += 1;
            outcome.spmvs += 1;
            outcome.history.push(next);
            monitor.residual(outcome.iterations, next, options.tolerance);
            let was_worthwhile = next <= WORTHWHILE * residual;
            if next < residual {
                residual = next;
            } else {
                backend.axpy(-1.0, UNIT, &d, u)?;
            }
            if !was_worthwhile {
                break;
            }
        }
        outcome.relative_residual = residual;
        outcome.converged = residual <= options.tolerance;
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

/// What residuals are computed with.
struct Work<'a, B: Backend, T: Real> {
    backend: &'a B,
    operator: &'a dyn Operator<B, T>,
    f: &'a Vector<B, T>,
    r: Vector<B, T>,
    /// The product `K u`.
    q: Vector<B, T>,
}

impl<B: Backend, T: Real> Work<'_, B, T> {
    /// `||x||`.
    fn norm(&self, x: &Vector<B, T>) -> Result<f64> {
        self.backend.dot(x, x, NORM)?;
        let [square] = self.backend.read([NORM])?;
        Ok(square.sqrt())
    }

    /// `r = f - K u`, and `||r||`.
    fn residual(&mut self, u: &Vector<B, T>) -> Result<f64> {
        self.operator.apply(self.backend, u, &mut self.q)?;
        self.backend.copy(self.f, &mut self.r)?;
        self.backend.axpy(-1.0, UNIT, &self.q, &mut self.r)?;
        self.norm(&self.r)
    }
}
