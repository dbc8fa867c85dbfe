//! Solution with a factor, refined by residuals of the matrix, or of the elements that it is made of (Higham 2002, ch. 12).
//!
//! A factor in double leaves a residual of some roundings at once. One in single takes several steps, each of which
//! gains what single precision holds beyond the condition number; where that is nothing, the steps stand still and it
//! is said so.

use super::Factor;
use crate::device::Buffer;
use crate::linalg::{Quotient, Space};
use crate::precond::Preconditioner;
use crate::result::{Ending, Measure, Outcome, Result};
use crate::solve::energy::{Equations, Iterate, Judge, Verdict};
use crate::solve::{CgOptions, Iteration, Monitor, WORTHWHILE, norm, solved};
use crate::sparse::LinOp;
use kernels_rs::real::Real;

/// Relative residual that is refined to even if less is asked for: a step costs little beside the factor.
const TARGET: f64 = 1e-13;

/// A direct solver: the factors of a matrix.
pub struct Direct<T: Real> {
    /// Its factors.
    pub factor: Box<dyn Factor<T>>,
}

impl<T: Real> Iteration<T> for Direct<T> {
    fn solve(
        &self,
        space: &Space,
        equations: &Equations<T>,
        u: &mut Buffer<T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        solved(space, equations, u, options.tolerance, |u, norm_f| {
            let n = equations.operator.n();
            let [r, q, d] = [space.zeros(n)?, space.zeros(n)?, space.zeros(n)?];
            let mut refined = Refined { factor: &*self.factor, space, equations, norm_f, r, q, d };
            let outcome = match options.measure {
                Measure::Residual => refined.until_residual(u, options, monitor)?,
                Measure::Energy => refined.until_energy(u, options, monitor)?,
            };
            Ok(Outcome { spmvs: outcome.iterations + 1, ..outcome })
        })
    }

    fn factor_nonzeros(&self) -> Option<u64> {
        Some(self.factor.nonzeros())
    }
}

impl<T: Real> Preconditioner<T> for Direct<T> {
    fn apply(&self, space: &Space, _: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        self.factor.solve(space, r, z)
    }
}

struct Refined<'a, T: Real> {
    factor: &'a dyn Factor<T>,
    space: &'a Space,
    equations: &'a Equations<'a, T>,
    norm_f: f64,
    /// The residual, its product, and the correction.
    r: Buffer<T>,
    q: Buffer<T>,
    d: Buffer<T>,
}

impl<T: Real> Refined<'_, T> {
    /// `r = f - K u`; returns `||r|| / ||f||`.
    fn residual(&mut self, u: &Buffer<T>) -> Result<f64> {
        self.equations.residual(self.space, u, &mut self.q, &mut self.r)?;
        Ok(norm(self.space, &self.r)? / self.norm_f)
    }

    /// Corrects until the residual is small enough, or stands still.
    fn until_residual(&mut self, u: &mut Buffer<T>, options: CgOptions, monitor: &dyn Monitor) -> Result<Outcome> {
        let mut best = self.residual(u)?;
        let mut outcome = Outcome::start(best, options.tolerance);
        let target = TARGET.min(options.tolerance);
        while best > target && outcome.iterations < options.max_iterations && !monitor.is_cancelled() {
            self.factor.solve(self.space, &self.r, &mut self.d)?;
            self.space.axpy(Quotient::ONE, &self.d, u)?;
            let next = self.residual(u)?;
            outcome.iterations += 1;
            outcome.history.push(next);
            monitor.error(outcome.iterations, next, options.tolerance);
            let was_worthwhile = next <= WORTHWHILE * best;
            if next < best {
                best = next;
            } else {
                self.space.axpy(Quotient::MINUS_ONE, &self.d, u)?;
            }
            if !was_worthwhile {
                break;
            }
        }
        outcome.relative_residual = best;
        outcome.converged = best <= options.tolerance;
        outcome.ending = match () {
            () if outcome.converged => Ending::Converged,
            () => interruption(&outcome, options, monitor).unwrap_or(Ending::Stagnated),
        };
        Ok(outcome)
    }

    /// Corrects until the energy of a correction, which is the error before it, is small enough, or stands still. The
    /// factor is its own preconditioner: theta is 1. Residuals are summed up by elements, as else the rounding of K's
    /// entries would be part of the solution.
    fn until_energy(&mut self, u: &mut Buffer<T>, options: CgOptions, monitor: &dyn Monitor) -> Result<Outcome> {
        let (b, energy) = (self.space, self.equations.energy()?);
        let mut judge = Judge::new(b, energy, u)?;
        let mut outcome = Outcome::start(self.residual_by_elements(u)?, options.tolerance);
        let mut last: Option<Verdict> = None;
        let (ending, verdict) = loop {
            self.factor.solve(b, &self.r, &mut self.d)?;
            let rz = energy.parts.dot(b, &self.r, &self.d)?;
            b.copy(u, &mut judge.before)?;
            b.axpy(Quotient::ONE, &self.d, &mut judge.before)?;
            let iterate = Iterate { v: u, r: &self.r, rz: &rz, theta: 1.0, certain: true };
            let verdict = judge.examine(b, self.equations, &iterate, options.tolerance, &mut self.q)?;
            // What is kept is the solution before the correction.
            judge.keep(b, u)?;
            b.axpy(Quotient::ONE, &self.d, u)?;
            outcome.relative_residual = self.residual_by_elements(u)?;
            outcome.iterations += 1;
            outcome.history.push(outcome.relative_residual);
            monitor.error(outcome.iterations, verdict.estimate, options.tolerance);
            if verdict.excess(options.tolerance) <= 1.0 {
                break (Ending::Converged, verdict);
            }
            let gained =
                |last: &Verdict| verdict.excess(options.tolerance) <= WORTHWHILE * last.excess(options.tolerance);
            if last.as_ref().is_some_and(|last| !gained(last)) {
                let changes = [&mut self.d, &mut self.q];
                break (Ending::Stagnated, judge.changes(b, self.equations, u, &self.r, changes)?);
            }
            if let Some(ending) = interruption(&outcome, options, monitor) {
                break (ending, verdict);
            }
            last = Some(verdict);
        };
        outcome.judged(ending, verdict);
        Ok(outcome)
    }

    /// `r = f - K u`, by elements; returns `||r|| / ||f||`.
    fn residual_by_elements(&mut self, u: &Buffer<T>) -> Result<f64> {
        self.equations.energy()?.body.residual(u, &mut self.r)?;
        Ok(norm(self.space, &self.r)? / self.norm_f)
    }
}

fn interruption(outcome: &Outcome, options: CgOptions, monitor: &dyn Monitor) -> Option<Ending> {
    match () {
        () if monitor.is_cancelled() => Some(Ending::Cancelled),
        () if outcome.iterations >= options.max_iterations => Some(Ending::Limit),
        () => None,
    }
}
