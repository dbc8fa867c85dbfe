//! Conjugate gradients until the estimated error in the energy norm is small enough.
//!
//! | question | answer |
//! | --- | --- |
//! | when to look closely | when the recurrence's `r . z / theta` says so, and theta is settled |
//! | is it good enough | [`Judge::examine`], with the true residual |
//! | if not | go on, or start anew where the recurrence has lost the true residual |
//! | when is rounding all that is left | a new start that was to gain a factor of ten gains less than two |
//! | and what is the error then | what that start has changed: [`Judge::changes`] |

use super::stepping::Progress;
use super::together::{self, Row};
use super::{CHECK_EVERY, CHECK_MULTIGRID, Cg, StoppingCriteria};
use crate::device::Buffer;
use crate::result::{Ending, Outcome, Result};
use crate::solve::energy::{EARLIER, EnergyNorm, Iterate, Judge, Verdict};
use crate::solve::{WORTHWHILE, backward_error, norm};
use kernels_rs::real::Real;
use std::mem::swap;

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
    let residual = cg.start(u)? / until.norm_f;
    let mut search = Search::new(cg, u, residual, until)?;
    loop {
        if let Some(most) = search.steps(until) {
            let progress = cg.advance(u, most, [-1.0, search.enough])?;
            if !search.has_come_to_a_look(cg, u, until, &progress)? {
                continue;
            }
        }
        cg.equations.product(cg.space, u, &mut cg.q)?;
        search.residual(cg, u, until)?;
        cg.preconditioner.apply(cg.space, cg.equations.operator, &search.r, &mut cg.q)?;
        if let Some(outcome) = search.look(cg, u, until)? {
            return Ok(outcome);
        }
    }
}

/// The same of several side by side.
pub(super) fn solve_together<T: Real>(
    cgs: &mut [Cg<'_, T>],
    u: &mut [Buffer<T>],
    until: &[StoppingCriteria],
) -> Result<Vec<Outcome>> {
    let norms = together::start(cgs, u)?;
    let all = cgs.iter().zip(&*u).zip(norms).zip(until);
    let searches = all.map(|(((cg, u), norm), until)| Search::new(cg, u, norm / until.norm_f, until));
    let mut searches = searches.collect::<Result<Vec<_>>>()?;
    let mut outcomes: Vec<Option<Outcome>> = vec![None; cgs.len()];
    while outcomes.iter().any(Option::is_none) {
        let open = (0..cgs.len()).filter(|k| outcomes[*k].is_none());
        let steps: Vec<(usize, Option<usize>)> = open.map(|k| (k, searches[k].steps(&until[k]))).collect();
        let of = |goes_on: bool| steps.iter().filter(move |(_, most)| most.is_some() == goes_on).map(|(k, _)| *k);
        let (iterated, mut looks): (Vec<usize>, Vec<usize>) = (of(true).collect(), of(false).collect());
        if let Some(most) = steps.iter().filter_map(|(_, most)| *most).min() {
            let progress = together::advance(cgs, u, &iterated, most)?;
            for (k, progress) in iterated.into_iter().zip(progress) {
                if searches[k].has_come_to_a_look(&mut cgs[k], &u[k], &until[k], &progress)? {
                    looks.push(k);
                }
            }
        }
        together::products(cgs, u, &looks)?;
        for k in &looks {
            searches[*k].residual(&cgs[*k], &u[*k], &until[*k])?;
            swap(&mut searches[*k].r, &mut cgs[*k].z);
        }
        together::precondition(cgs, &looks, [Row::Z, Row::Q])?;
        for k in looks {
            swap(&mut searches[k].r, &mut cgs[k].z);
            outcomes[k] = searches[k].look(&mut cgs[k], &mut u[k], &until[k])?;
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
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
    /// Why the iteration is at its end, good enough or not.
    ended: Option<Ending>,
    /// Of the iterations since the last close look: how many there were before, the last theta, the `r . z` that is enough, the
    /// residual that is too much, and whether one more is likely to be enough.
    since: usize,
    theta: f64,
    enough: f64,
    too_large: f64,
    is_one_enough: bool,
    /// Of new starts: those in vain, the best that one began at, what each has changed.
    in_vain: usize,
    at_start: f64,
    changed: Vec<Verdict>,
}

impl<'a, T: Real> Search<'a, T> {
    /// From the relative residual at the start.
    fn new(cg: &Cg<'a, T>, u: &Buffer<T>, residual: f64, until: &StoppingCriteria) -> Result<Self> {
        let energy = cg.equations.energy()?;
        let mut search = Search {
            energy,
            judge: Judge::new(cg.space, energy, u)?,
            r: cg.space.zeros(cg.equations.operator.n())?,
            outcome: Outcome::start(residual, until.options.tolerance),
            target: until.options.tolerance,
            offset: energy.offset.iter().sum(),
            recurrence: f64::INFINITY,
            kept_at: f64::INFINITY,
            energy_now: f64::INFINITY,
            ended: None,
            since: 0,
            theta: 1.0,
            enough: 0.0,
            too_large: 0.0,
            is_one_enough: false,
            in_vain: 0,
            at_start: f64::INFINITY,
            changed: Vec::new(),
        };
        search.go_on(cg);
        Ok(search)
    }

    /// Begins the iterations up to the next close look.
    fn go_on(&mut self, cg: &Cg<'_, T>) {
        let most = self.outcome.history.last().copied().unwrap_or(1.0).max(1.0);
        (self.since, self.too_large) = (self.outcome.iterations, most / T::EPSILON.to_f64().sqrt());
        (self.enough, self.theta, self.is_one_enough) = (0.0, cg.lanczos.theta().unwrap_or(1.0), false);
    }

    /// How many iterations may come next; none if something has ended them.
    fn steps(&mut self, until: &StoppingCriteria) -> Option<usize> {
        self.ended = until.interruption(&self.outcome);
        let left = until.options.max_iterations - self.outcome.iterations.min(until.options.max_iterations);
        let most = if self.is_one_enough { 1 } else { left };
        self.ended.is_none().then_some(most)
    }

    /// Takes what came of some iterations; whether the recurrence says that it is time to look closely, or something is wrong.
    fn has_come_to_a_look(
        &mut self,
        cg: &mut Cg<'_, T>,
        u: &Buffer<T>,
        until: &StoppingCriteria,
        progress: &Progress,
    ) -> Result<bool> {
        let options = until.options;
        let window = if cg.every == CHECK_MULTIGRID { CHECK_MULTIGRID } else { 2 * CHECK_EVERY };
        let before = cg.rho;
        let residual = cg.record(progress, until.norm_f, &mut self.outcome);
        let energy = f64::max(self.offset + progress.energy, f64::MIN_POSITIVE);
        self.energy_now = energy;
        self.recurrence = (cg.rho / (self.theta * energy)).sqrt();
        if self.recurrence <= self.target || self.outcome.iterations <= OFTEN {
            self.theta = cg.lanczos.theta().unwrap_or(self.theta);
            self.recurrence = (cg.rho / (self.theta * energy)).sqrt();
        }
        let gain = (cg.rho / before).powf(0.5 / progress.records.len() as f64);
        // Whether one more iteration is likely to reach the target.
        self.is_one_enough = cg.every == CHECK_MULTIGRID && gain * self.recurrence <= self.target;
        until.monitor.error(self.outcome.iterations, self.recurrence, options.tolerance);
        if progress.indefinite || residual.is_some_and(|residual| residual > self.too_large) {
            self.ended = Some(if progress.indefinite { Ending::Indefinite } else { Ending::Diverged });
            return Ok(true);
        }
        let is_below = self.recurrence <= self.target;
        let is_sure = self.recurrence <= CERTAIN * options.tolerance || is_below && cg.lanczos.is_settled(window);
        if is_below && is_sure || progress.ended {
            return Ok(true);
        }
        if self.recurrence >= EARLIER * self.target {
            self.keep(cg, u)?;
        }
        // Where theta is all that is missing, the iteration goes on.
        self.enough = if is_below { 0.0 } else { self.target * self.target * self.theta * energy };
        Ok(false)
    }

    /// The true residual of u, whose product with K is in q if that is needed, into r.
    fn residual(&mut self, cg: &Cg<'_, T>, u: &Buffer<T>, until: &StoppingCriteria) -> Result<()> {
        cg.equations.true_residual_of(cg.space, u, until.options.tolerance, &cg.q, &mut self.r)?;
        self.outcome.relative_residual = norm(cg.space, &self.r)? / until.norm_f;
        Ok(())
    }

    /// Looks closely, r being the true residual and q what the preconditioner makes of it; then it is done, goes on or starts
    /// anew.
    fn look(&mut self, cg: &mut Cg<'_, T>, u: &mut Buffer<T>, until: &StoppingCriteria) -> Result<Option<Outcome>> {
        let Some((ending, verdict)) = self.judged(cg, u, until)? else {
            self.go_on(cg);
            return Ok(None);
        };
        if ending == Ending::Diverged {
            swap(u, &mut self.judge.before);
        }
        let mut outcome = std::mem::replace(&mut self.outcome, Outcome::start(0.0, until.options.tolerance));
        outcome.judged(ending, verdict);
        Ok(Some(outcome))
    }

    /// How it ended and what is known of the last iterate, if it has ended.
    fn judged(
        &mut self,
        cg: &mut Cg<'_, T>,
        u: &Buffer<T>,
        until: &StoppingCriteria,
    ) -> Result<Option<(Ending, Verdict)>> {
        let tolerance = until.options.tolerance;
        let (verdict, is_lost) = self.examine(cg, u, until)?;
        let excess = verdict.excess(tolerance);
        if excess <= 1.0 {
            return Ok(Some((Ending::Converged, verdict)));
        }
        if let Some(ending) = self.ended {
            return Ok(Some((ending, verdict)));
        }
        if self.outcome.iterations == self.since {
            // Nothing is left to search along: of a singular matrix the smallest eigenvalue is not known.
            return Ok(Some((Ending::Stagnated, verdict)));
        }
        if !is_lost {
            self.aim(cg, u, &verdict, tolerance)?;
            return Ok(None);
        }
        if self.at_start.is_finite() && self.recurrence > EXHAUSTED * (cg.taken / self.energy_now).sqrt() {
            self.target = self.recurrence / STEP;
            return Ok(None);
        }
        if excess > WORTHWHILE * self.at_start {
            self.in_vain += 1;
        }
        if self.at_start.is_finite() {
            let mut scratch = cg.space.zeros(cg.equations.operator.n())?;
            let vectors = [&mut scratch, &mut cg.q];
            self.changed.push(self.judge.changes(cg.space, cg.equations, u, &self.r, vectors)?);
        }
        if self.in_vain == MOST_STARTS || self.in_vain > 0 && self.is_at_rounding_level(cg, u, until.norm_f)? {
            // The last start may find nothing, as the same u has the same rounding errors.
            let worst = self.changed.split_off(self.changed.len().saturating_sub(2));
            let worst = worst.into_iter().max_by(|a, b| a.worst().total_cmp(&b.worst()));
            return Ok(Some((Ending::Stagnated, worst.unwrap_or(verdict))));
        }
        self.at_start = self.at_start.min(excess);
        self.restart(cg, u, &verdict)?;
        Ok(None)
    }

    /// Examines u with its true residual r and what the preconditioner makes of it; says whether the recurrence has lost that.
    fn examine(&mut self, cg: &mut Cg<'_, T>, u: &Buffer<T>, until: &StoppingCriteria) -> Result<(Verdict, bool)> {
        let (b, equations) = (cg.space, cg.equations);
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
