//! The iteration itself: steps in batches, and when to stop.

use super::chebyshev::Interval;
use super::{Acceleration, FemsesOptions, Update};
use crate::assembly::ElementOperator;
use crate::backend::{Backend, Buffer, Scalar, Vector};
use crate::error::Result;
use crate::precond::spectrum;
use crate::solve::best::Best;
use crate::solve::{CgOutcome, Ending, Monitor};
use kernels_rs::real::Real;

/// Steps between two looks at the residuals: a look waits for the device.
pub const CHECK_EVERY: usize = 32;

/// Steps before an iteration can be said to have stagnated.
const PATIENCE: usize = 8 * CHECK_EVERY;
/// What the second half of all steps gains at least, unless rounding is all that is left. It may be little, as FEMSES
/// gains little in a step on fine meshes; where single precision stalls, it is nothing.
const GAIN: f64 = 0.999;

/// A residual of so many times the first one is more than a convergent iteration can reach.
const DIVERGED: f64 = 1e8;

/// FEMSES as a step of a polynomial: see [`kernels_rs::femses`].
const PLAIN: [f64; 3] = [1.0, 0.0, 1.0];

/// Where step `step` of a batch leaves the square of the residual before it.
const fn square(step: usize) -> Scalar {
    Scalar::new(step)
}

/// The vectors of the iteration.
struct Sweeps<'a, B: Backend, T: Real> {
    backend: &'a B,
    operator: &'a ElementOperator<'a, B, T>,
    f: &'a Vector<B, T>,
    update: Update,
    /// The iterate, and the one before or after it.
    u: [Vector<B, T>; 2],
    /// What is to be added up; room for residuals of several element types.
    sums: Vector<B, T>,
    /// The residual, where it is stored.
    r: Vector<B, T>,
    interval: Option<Interval>,
}

/// Iterates from u; see [`super::femses`].
pub(super) fn iterate<B: Backend, T: Real>(
    backend: &B,
    operator: &ElementOperator<B, T>,
    f: &Vector<B, T>,
    u: &mut Vector<B, T>,
    options: FemsesOptions,
    monitor: &dyn Monitor,
) -> Result<CgOutcome> {
    let n = u.len();
    let interval = match options.acceleration {
        Acceleration::Chebyshev => {
            Some(Interval::new(spectrum::estimate(backend, operator, operator.inverse_diagonal())?))
        }
        _ => None,
    };
    let vectors = [backend.zeros(n)?, backend.zeros(n)?];
    let (sums, r, update) = (backend.zeros(n)?, backend.zeros(n)?, options.update);
    let mut sweeps = Sweeps { backend, operator, f, update, u: vectors, sums, r, interval };
    backend.copy(u, &mut sweeps.u[0])?;
    backend.dot(f, f, square(0))?;
    let [squared] = backend.read([square(0)])?;
    if squared == 0.0 {
        backend.fill(T::ZERO, u)?;
        return Ok(CgOutcome::start(0.0, options.tolerance));
    }
    let outcome = sweeps.run(squared.sqrt(), options, monitor)?;
    backend.copy(&sweeps.u[0], u)?;
    Ok(outcome)
}

impl<B: Backend, T: Real> Sweeps<'_, B, T> {
    /// Iterates until something ends it.
    fn run(&mut self, norm: f64, options: FemsesOptions, monitor: &dyn Monitor) -> Result<CgOutcome> {
        let mut watch = Watch::new(norm, options);
        let first = self.true_residual()? / norm;
        let mut best = Best::new(self.backend, &self.u[0], self.f.len(), first)?;
        let (ending, residual) = loop {
            let done = watch.residuals.len();
            if monitor.is_cancelled() {
                break (Ending::Cancelled, self.true_residual()?);
            }
            if done >= options.max_iterations {
                break (Ending::Limit, self.true_residual()?);
            }
            let residuals = self.batch(CHECK_EVERY.min(options.max_iterations - done))?;
            if let Some(interval) = &mut self.interval {
                interval.see(&residuals);
            }
            let ending = watch.see(residuals);
            // What has been seen is of the iterate before the last.
            best.see(self.backend, &self.u[1], watch.last())?;
            monitor.residual(watch.residuals.len(), watch.last(), options.tolerance);
            if let Some(ending) = ending {
                let residual = self.true_residual()?;
                if ending != Ending::Converged || residual <= options.tolerance * norm {
                    break (ending, residual);
                }
            }
        };
        let mut outcome = watch.outcome(ending, residual / norm);
        if !outcome.converged && best.exchange(&mut self.u[0], outcome.relative_residual) {
            outcome.relative_residual = self.true_residual()? / norm;
        }
        Ok(outcome)
    }

    /// Takes some steps; the norms of the residuals before them.
    fn batch(&mut self, steps: usize) -> Result<Vec<f64>> {
        for step in 0..steps {
            let [u, other] = &mut self.u;
            match self.update {
                Update::Atomic { threads } => {
                    let out = [&mut self.sums, other, &mut self.r];
                    self.operator.scatter(self.backend, threads, self.f, u, out)?;
                    self.backend.dot(&self.r, &self.r, square(step))?;
                }
                Update::Gather => {
                    let factors = self.interval.as_mut().map_or(PLAIN, Interval::next_step);
                    let scratch = &mut self.sums;
                    self.operator.gather(self.backend, factors, self.f, [u, other, scratch], square(step))?;
                }
            }
            self.u.swap(0, 1);
        }
        let squares: [f64; CHECK_EVERY] =
            self.backend.read(core::array::from_fn(|step| square(step.min(steps - 1))))?;
        Ok(squares[..steps].iter().map(|square| square.sqrt()).collect())
    }

    /// `||f - K u||`. It is left to the next step where the iterate is not to be changed: a step writes into the other
    /// vector.
    fn true_residual(&mut self) -> Result<f64> {
        self.operator.residual(self.backend, self.f, &self.u[0], &mut self.r)?;
        self.backend.dot(&self.r, &self.r, square(0))?;
        let [square] = self.backend.read([square(0)])?;
        Ok(square.sqrt())
    }
}

/// Looks at residuals.
struct Watch {
    /// Relative to f, before each step.
    residuals: Vec<f64>,
    /// The smallest up to each look.
    best: Vec<f64>,
    norm: f64,
    tolerance: f64,
}

impl Watch {
    fn new(norm: f64, options: FemsesOptions) -> Self {
        Watch { residuals: Vec::new(), best: Vec::new(), norm, tolerance: options.tolerance }
    }

    /// The last residual.
    fn last(&self) -> f64 {
        self.residuals.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Takes the residuals of a batch; says whether that is the end.
    fn see(&mut self, residuals: Vec<f64>) -> Option<Ending> {
        self.residuals.extend(residuals.iter().map(|residual| residual / self.norm));
        let best = self.best.last().copied().unwrap_or(f64::INFINITY);
        self.best.push(best.min(self.last()));
        if self.last() <= self.tolerance {
            return Some(Ending::Converged);
        }
        if self.last() > DIVERGED * self.residuals[0] {
            return Some(Ending::Diverged);
        }
        let (looks, now) = (self.best.len(), self.best[self.best.len() - 1]);
        let is_stuck = self.residuals.len() >= PATIENCE && now > GAIN * self.best[looks / 2 - 1];
        is_stuck.then_some(Ending::Stagnated)
    }

    fn outcome(mut self, ending: Ending, relative_residual: f64) -> CgOutcome {
        let converged = relative_residual <= self.tolerance;
        let iterations = self.residuals.len();
        if iterations > 0 {
            // From before each step to after each.
            self.residuals.remove(0);
            self.residuals.push(relative_residual);
        }
        CgOutcome {
            iterations,
            spmvs: iterations,
            relative_residual,
            tolerance: self.tolerance,
            converged,
            ending: if converged { Ending::Converged } else { ending },
            history: self.residuals,
        }
    }
}
