//! The iteration itself: steps in batches, and when to stop.

use super::chebyshev::Interval;
use super::{Acceleration, FemsesOptions, Update};
use crate::assembly::ElementOperator;
use crate::device::Buffer;
use crate::linalg::{Scalar, Space};
use crate::precond::{spectrum, to_single};
use crate::result::{Ending, Measure, Outcome, Result};
use crate::solve::best::Best;
use crate::solve::energy::{Equations, Iterate, Judge, Verdict};
use crate::solve::{Monitor, backward_error, norm};
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

struct Sweeps<'a, T: Real> {
    space: &'a Space,
    operator: &'a ElementOperator<'a, T>,
    f: &'a Buffer<T>,
    update: Update,
    /// The iterate, and the one before or after it.
    u: [Buffer<T>; 2],
    /// What is to be added up; room for residuals of several element types.
    sums: Buffer<T>,
    /// The residual, where it is stored.
    r: Buffer<T>,
    interval: Option<Interval>,
}

/// Iterates from u; see [`super::femses`].
pub(super) fn iterate<T: Real>(
    space: &Space,
    operator: &ElementOperator<T>,
    equations: &Equations<T>,
    u: &mut Buffer<T>,
    options: FemsesOptions,
    monitor: &dyn Monitor,
) -> Result<Outcome> {
    let (n, f) = (u.len(), equations.f);
    let interval = match options.acceleration {
        Acceleration::Chebyshev => {
            Some(Interval::new(spectrum::estimate(space, operator, operator.inverse_diagonal(), spectrum::STEPS)?))
        }
        _ => None,
    };
    let vectors = [space.zeros(n)?, space.zeros(n)?];
    let (sums, r, update) = (space.zeros(n)?, space.zeros(n)?, options.update);
    let mut sweeps = Sweeps { space, operator, f, update, u: vectors, sums, r, interval };
    space.copy(u, &mut sweeps.u[0])?;
    let norm_f = norm(space, f)?;
    if norm_f == 0.0 {
        space.fill(T::ZERO, u)?;
        return Ok(Outcome::exact(options.tolerance));
    }
    let mut errors = match options.measure {
        Measure::Energy => Some(Errors::new(&sweeps, equations)?),
        Measure::Residual => None,
    };
    let mut outcome = sweeps.run(norm_f, errors.as_mut(), options, monitor)?;
    space.copy(&sweeps.u[0], u)?;
    let norms = [outcome.relative_residual * norm_f, norm_f];
    outcome.backward_error = Some(backward_error(space, equations, u, norms)?);
    Ok(outcome)
}

/// Estimates of the error in the energy norm, with the diagonal as the preconditioner: the smallest eigenvalue of
/// `D^-1 K` is what the iteration's rate shows.
struct Errors<'a, T: Real> {
    equations: &'a Equations<'a, T>,
    judge: Judge<'a, T>,
    inverse: Buffer<f32>,
    z: Buffer<T>,
    /// The eigenvalue at each look.
    theta: Vec<f64>,
    /// The estimate at the last look closely, and `||r||` relative to f there.
    last: [f64; 2],
    /// The last such look.
    verdict: Verdict,
}

/// An estimate this far below the tolerance need not wait for that.
const CERTAIN: f64 = 0.01;
/// Looks over which the eigenvalue has to stand still.
const SETTLED_LOOKS: usize = 2;

impl<'a, T: Real> Errors<'a, T> {
    fn new(sweeps: &Sweeps<'_, T>, equations: &'a Equations<'a, T>) -> Result<Self> {
        let (b, n) = (sweeps.space, sweeps.f.len());
        let judge = Judge::new(b, equations.energy()?, &sweeps.u[0])?;
        let inverse = to_single(b, sweeps.operator.inverse_diagonal())?;
        let (theta, last, verdict) = (Vec::new(), [f64::INFINITY, 1.0], Verdict::default());
        Ok(Errors { equations, judge, inverse, z: b.zeros(n)?, theta, last, verdict })
    }

    /// Looks at the end of a batch; says whether the iterate is good enough.
    fn see(&mut self, sweeps: &mut Sweeps<'_, T>, residuals: &[f64], tolerance: f64) -> Result<bool> {
        let Some((first, last)) = residuals.first().zip(residuals.last()) else { return Ok(false) };
        let rate = (last / first).powf(1.0 / (residuals.len().max(2) - 1) as f64);
        let theta = sweeps.interval.as_ref().map_or(1.0 - rate, |interval| interval.lower);
        self.theta.push(theta);
        let earlier = self.theta.len().checked_sub(SETTLED_LOOKS + 1).map(|look| self.theta[look]);
        let is_settled = earlier.is_some_and(|earlier| theta > 0.9 * earlier);
        let tolerance_now = if is_settled { tolerance } else { CERTAIN * tolerance };
        if theta <= 0.0 || self.last[0].is_finite() && self.expected(*last) > tolerance_now {
            return Ok(false);
        }
        self.examine(sweeps, theta, tolerance)?;
        self.last = [self.verdict.estimate, *last];
        if self.verdict.excess(tolerance) <= 1.0 && self.verdict.estimate <= tolerance_now {
            return Ok(true);
        }
        sweeps.space.copy(&sweeps.u[0], &mut self.judge.before)?;
        Ok(false)
    }

    /// The estimate that follows from a residual and the last look closely.
    fn expected(&self, residual: f64) -> f64 {
        if self.last[0].is_finite() { self.last[0] * residual / self.last[1] } else { residual }
    }

    fn examine(&mut self, sweeps: &mut Sweeps<'_, T>, theta: f64, tolerance: f64) -> Result<()> {
        let b = sweeps.space;
        sweeps.true_residual()?;
        b.mul(&self.inverse, &sweeps.r, &mut self.z)?;
        let rz = self.equations.energy()?.parts.dot(b, &sweeps.r, &self.z)?;
        let iterate = Iterate { v: &sweeps.u[0], r: &sweeps.r, rz: &rz, theta, certain: false };
        self.verdict = self.judge.examine(b, self.equations, &iterate, tolerance, &mut self.z)?;
        Ok(())
    }
}

impl<T: Real> Sweeps<'_, T> {
    fn run(
        &mut self,
        norm: f64,
        mut errors: Option<&mut Errors<'_, T>>,
        options: FemsesOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        let mut watch = Watch { residuals: Vec::new(), best: Vec::new(), norm, options };
        let first = self.true_residual()? / norm;
        let mut best = Best::new(self.space, &self.u[0], self.f.len(), first)?;
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
            if let Some(errors) = &mut errors
                && errors.see(self, &residuals, options.tolerance)?
            {
                watch.see(residuals);
                break (Ending::Converged, self.true_residual()?);
            }
            let ending = watch.see(residuals);
            // What has been seen is of the iterate before the last.
            best.see(self.space, &self.u[1], watch.last())?;
            let error = errors.as_ref().map_or(watch.last(), |errors| errors.expected(watch.last()));
            monitor.error(watch.residuals.len(), error, options.tolerance);
            if let Some(ending) = ending {
                let residual = self.true_residual()?;
                if ending != Ending::Converged || residual <= options.tolerance * norm {
                    break (ending, residual);
                }
            }
        };
        let mut outcome = watch.outcome(ending, residual / norm);
        if ending != Ending::Converged && best.exchange(&mut self.u[0], outcome.relative_residual) {
            outcome.relative_residual = self.true_residual()? / norm;
        }
        if let Some(errors) = errors {
            if ending != Ending::Converged
                && let Some(theta) = errors.theta.last().copied().filter(|theta| *theta > 0.0)
            {
                errors.examine(self, theta, 0.0)?;
            }
            outcome.judged(ending, std::mem::take(&mut errors.verdict));
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
                    self.operator.scatter(self.space, threads, self.f, u, out)?;
                    self.space.dot(&self.r, &self.r, square(step))?;
                }
                Update::Gather => {
                    let factors = self.interval.as_mut().map_or(PLAIN, Interval::next_step);
                    let scratch = &mut self.sums;
                    self.operator.gather(self.space, factors, self.f, [u, other, scratch], square(step))?;
                }
            }
            self.u.swap(0, 1);
        }
        let squares: [f64; CHECK_EVERY] = self.space.read(core::array::from_fn(|step| square(step.min(steps - 1))))?;
        Ok(squares[..steps].iter().map(|square| square.sqrt()).collect())
    }

    /// `||f - K u||`. It is left to the next step where the iterate is not to be changed: a step writes into the other
    /// vector.
    fn true_residual(&mut self) -> Result<f64> {
        self.operator.residual(self.space, self.f, &self.u[0], &mut self.r)?;
        self.space.dot(&self.r, &self.r, square(0))?;
        let [square] = self.space.read([square(0)])?;
        Ok(square.sqrt())
    }
}

struct Watch {
    /// Relative to f, before each step.
    residuals: Vec<f64>,
    /// The smallest up to each look.
    best: Vec<f64>,
    norm: f64,
    options: FemsesOptions,
}

impl Watch {
    /// Whether a residual is within the tolerance, if that is on residuals.
    fn is_enough(&self, residual: f64) -> bool {
        self.options.measure == Measure::Residual && residual <= self.options.tolerance
    }

    fn last(&self) -> f64 {
        self.residuals.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Takes the residuals of a batch; says whether that is the end.
    fn see(&mut self, residuals: Vec<f64>) -> Option<Ending> {
        self.residuals.extend(residuals.iter().map(|residual| residual / self.norm));
        let best = self.best.last().copied().unwrap_or(f64::INFINITY);
        self.best.push(best.min(self.last()));
        if self.is_enough(self.last()) {
            return Some(Ending::Converged);
        }
        if self.last() > DIVERGED * self.residuals[0] {
            return Some(Ending::Diverged);
        }
        let (looks, now) = (self.best.len(), self.best[self.best.len() - 1]);
        let is_stuck = self.residuals.len() >= PATIENCE && now > GAIN * self.best[looks / 2 - 1];
        is_stuck.then_some(Ending::Stagnated)
    }

    fn outcome(mut self, ending: Ending, relative_residual: f64) -> Outcome {
        let converged = self.is_enough(relative_residual);
        let iterations = self.residuals.len();
        if iterations > 0 {
            // From before each step to after each.
            self.residuals.remove(0);
            self.residuals.push(relative_residual);
        }
        Outcome {
            iterations,
            spmvs: iterations,
            converged,
            ending: if converged { Ending::Converged } else { ending },
            history: self.residuals,
            ..Outcome::start(relative_residual, self.options.tolerance)
        }
    }
}
