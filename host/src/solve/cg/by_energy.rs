//! Conjugate gradients until the estimated error in the energy norm is small enough.
//!
//! | question | answer |
//! | --- | --- |
//! | when to look closely | when the recurrence's `r . z / theta` says so, and theta is settled |
//! | is it good enough | [`Judge::examine`], with the true residual |
//! | if not | go on, or start anew where the recurrence has lost the true residual |
//! | when is rounding all that is left | a new start that was to gain a factor of ten gains less than two |
//! | and what is the error then | what that start has changed: [`Judge::changes`] |

use super::{CHECK_EVERY, CHECK_MULTIGRID, Cg, StoppingCriteria};
use crate::device::Buffer;
use crate::result::{Ending, Outcome, Result};
use crate::solve::energy::{EARLIER, EnergyNorm, Iterate, Judge, Verdict};
use crate::solve::{WORTHWHILE, backward_error, norm};
use kernels_rs::real::Real;

/// An estimate this far below the tolerance need not wait for theta.
const CERTAIN: f64 = 0.01;
/// What the next look closely is to gain at most: parts converge at different rates.
const STEP: f64 = 10.0;
/// And at least.
const LEAST_STEP: f64 = 1.1;
/// A true estimate so many times that of the recurrence shows that the recurrence has lost it.
const LOST: f64 = 3.0;
/// A new start has come to its end when the estimate is this small beside what it has changed.
const EXHAUSTED: f64 = 0.1;
/// New starts that gain nothing before the iteration ends.
const MOST_STARTS: usize = 2;
/// A backward error of so many roundings is rounding.
const ROUNDING: f64 = 4.0;
/// Iterations up to which theta is computed at every look.
const OFTEN: usize = 200;

/// Iterates until every part is good enough.
pub(super) fn solve<T: Real>(cg: &mut Cg<'_, T>, u: &mut Buffer<T>, until: &StoppingCriteria) -> Result<Outcome> {
    let energy = cg.equations.energy()?;
    let residual = cg.start(u)? / until.norm_f;
    let options = until.options;
    let mut search = Search {
        energy,
        judge: Judge::new(cg.space, energy, u)?,
        r: cg.space.zeros(cg.equations.operator.n())?,
        outcome: Outcome::start(residual, options.tolerance),
        target: options.tolerance,
        offset: energy.offset.iter().sum(),
        recurrence: f64::INFINITY,
        kept_at: f64::INFINITY,
        energy_now: f64::INFINITY,
    };
    let (ending, verdict) = search.run(cg, u, until)?;
    if ending == Ending::Diverged {
        std::mem::swap(u, &mut search.judge.before);
    }
    search.outcome.judged(ending, verdict);
    Ok(search.outcome)
}

struct Search<'a, T: Real> {
    energy: &'a EnergyNorm<'a, T>,
    judge: Judge<'a, T>,
    r: Buffer<T>,
    outcome: Outcome,
    /// The estimate by the recurrence at which to look closely.
    target: f64,
    /// `w_D . K w_D` of all parts.
    offset: f64,
    /// The estimate by the recurrence, over all parts, at the last look.
    recurrence: f64,
    /// The same where the judge's earlier iterate was.
    kept_at: f64,
    energy_now: f64,
}

impl<T: Real> Search<'_, T> {
    /// Iterates, looks closely, and goes on or starts anew; returns how it ended and what is known of the last iterate.
    fn run(&mut self, cg: &mut Cg<'_, T>, u: &mut Buffer<T>, until: &StoppingCriteria) -> Result<(Ending, Verdict)> {
        let tolerance = until.options.tolerance;
        let (mut in_vain, mut at_start, mut changed) = (0, f64::INFINITY, Vec::new());
        loop {
            let before = self.outcome.iterations;
            let ended = self.iterate(cg, u, until)?;
            let (verdict, is_lost) = self.examine(cg, u, until)?;
            let excess = verdict.excess(tolerance);
            if excess <= 1.0 {
                return Ok((Ending::Converged, verdict));
            }
            if let Some(ending) = ended {
                return Ok((ending, verdict));
            }
            if self.outcome.iterations == before {
                // Nothing is left to search along: of a singular matrix the smallest eigenvalue is not known.
                return Ok((Ending::Stagnated, verdict));
            }
            if !is_lost {
                self.aim(cg, u, &verdict, tolerance)?;
                continue;
            }
            if at_start.is_finite() && self.recurrence > EXHAUSTED * (cg.taken / self.energy_now).sqrt() {
                self.target = self.recurrence / STEP;
                continue;
            }
            if excess > WORTHWHILE * at_start {
                in_vain += 1;
            }
            if at_start.is_finite() {
                let mut scratch = cg.space.zeros(cg.equations.operator.n())?;
                let vectors = [&mut scratch, &mut cg.q];
                changed.push(self.judge.changes(cg.space, cg.equations, u, &self.r, vectors)?);
            }
            if in_vain == MOST_STARTS || in_vain > 0 && self.is_at_rounding_level(cg, u, until.norm_f)? {
                // The last start may find nothing, as the same u has the same rounding errors.
                let worst = changed.split_off(changed.len().saturating_sub(2));
                let worst = worst.into_iter().max_by(|a, b| a.worst().total_cmp(&b.worst()));
                return Ok((Ending::Stagnated, worst.unwrap_or(verdict)));
            }
            at_start = at_start.min(excess);
            self.restart(cg, u, &verdict)?;
        }
    }

    /// Iterates until the recurrence says that it is time to look closely, or something ends it.
    fn iterate(&mut self, cg: &mut Cg<'_, T>, u: &mut Buffer<T>, until: &StoppingCriteria) -> Result<Option<Ending>> {
        let options = until.options;
        let window = if cg.every == CHECK_MULTIGRID { CHECK_MULTIGRID } else { 2 * CHECK_EVERY };
        let too_large = self.outcome.history.last().copied().unwrap_or(1.0).max(1.0) / T::EPSILON.to_f64().sqrt();
        let (mut enough, mut theta) = (0.0, cg.lanczos.theta().unwrap_or(1.0));
        // Whether one more iteration is likely to reach the target.
        let mut is_one_enough = false;
        loop {
            if let Some(ending) = until.interruption(&self.outcome) {
                return Ok(Some(ending));
            }
            let most = if is_one_enough { 1 } else { options.max_iterations - self.outcome.iterations };
            let before = cg.rho;
            let progress = cg.advance(u, most, [-1.0, enough])?;
            let residual = cg.record(&progress, until.norm_f, &mut self.outcome);
            let energy = f64::max(self.offset + progress.energy, f64::MIN_POSITIVE);
            self.energy_now = energy;
            self.recurrence = (cg.rho / (theta * energy)).sqrt();
            if self.recurrence <= self.target || self.outcome.iterations <= OFTEN {
                theta = cg.lanczos.theta().unwrap_or(theta);
                self.recurrence = (cg.rho / (theta * energy)).sqrt();
            }
            let gain = (cg.rho / before).powf(0.5 / progress.records.len() as f64);
            is_one_enough = cg.every == CHECK_MULTIGRID && gain * self.recurrence <= self.target;
            until.monitor.error(self.outcome.iterations, self.recurrence, options.tolerance);
            if progress.indefinite || residual.is_some_and(|residual| residual > too_large) {
                return Ok(Some(if progress.indefinite { Ending::Indefinite } else { Ending::Diverged }));
            }
            let is_below = self.recurrence <= self.target;
            let is_sure = self.recurrence <= CERTAIN * options.tolerance || is_below && cg.lanczos.is_settled(window);
            if is_below && is_sure || progress.ended {
                return Ok(None);
            }
            if self.recurrence >= EARLIER * self.target {
                self.keep(cg, u)?;
            }
            // Where theta is all that is missing, the iteration goes on.
            enough = if is_below { 0.0 } else { self.target * self.target * theta * energy };
        }
    }

    /// Examines u with its true residual; says whether the recurrence has lost that.
    fn examine(&mut self, cg: &mut Cg<'_, T>, u: &Buffer<T>, until: &StoppingCriteria) -> Result<(Verdict, bool)> {
        let (b, equations) = (cg.space, cg.equations);
        equations.true_residual(b, u, until.options.tolerance, &mut cg.q, &mut self.r)?;
        self.outcome.relative_residual = norm(b, &self.r)? / until.norm_f;
        cg.preconditioner.apply(b, equations.operator, &self.r, &mut cg.q)?;
        cg.starts += 1;
        let rz = self.energy.parts.dot(b, &self.r, &cg.q)?;
        let theta = cg.lanczos.theta().unwrap_or(1.0);
        let certain = cg.preconditioner.hierarchy().is_some();
        let iterate = Iterate { v: u, r: &self.r, rz: &rz, theta, certain };
        self.judge.gain = self.kept_at / self.recurrence;
        let verdict = self.judge.examine(b, equations, &iterate, until.options.tolerance, &mut cg.q)?;
        Ok((verdict, rz.iter().sum::<f64>() > LOST * LOST * cg.rho))
    }

    fn aim(&mut self, cg: &Cg<'_, T>, u: &Buffer<T>, verdict: &Verdict, tolerance: f64) -> Result<()> {
        let excess = verdict.excess_of_energy(tolerance);
        if excess > 1.0 {
            self.target = self.recurrence / excess.clamp(LEAST_STEP, STEP);
            return Ok(());
        }
        // Displacements still change: the next look compares with this iterate.
        self.target = self.recurrence / STEP;
        self.keep(cg, u)
    }

    fn keep(&mut self, cg: &Cg<'_, T>, u: &Buffer<T>) -> Result<()> {
        self.kept_at = self.recurrence;
        self.judge.keep(cg.space, u)
    }

    /// Starts anew from the true residual, which was worth `verdict`.
    fn restart(&mut self, cg: &mut Cg<'_, T>, u: &Buffer<T>, verdict: &Verdict) -> Result<()> {
        self.keep(cg, u)?;
        self.target = f64::min(self.target, verdict.estimate / STEP);
        cg.space.copy(&self.r, &mut cg.r)?;
        cg.preconditioner.apply(cg.space, cg.equations.operator, &cg.r, &mut cg.z)?;
        cg.begin()?;
        Ok(())
    }

    /// Whether the residual is what rounding the matrix and u may leave: the normwise backward error (Higham 2002,
    /// theorem 7.1).
    fn is_at_rounding_level(&self, cg: &Cg<'_, T>, u: &Buffer<T>, norm_f: f64) -> Result<bool> {
        let norms = [self.outcome.relative_residual * norm_f, norm_f];
        Ok(backward_error(cg.space, cg.equations, u, norms)? <= ROUNDING * T::EPSILON.to_f64())
    }
}
