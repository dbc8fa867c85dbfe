//! Conjugate gradients until the true residual is small enough: for comparisons with other programs.

use super::{Cg, StoppingCriteria};
use crate::device::Buffer;
use crate::result::{Ending, Outcome, Result};
use crate::solve::energy::{Iterate, Judge, digits};
use crate::solve::{WORTHWHILE, best::Best};
use kernels_rs::real::Real;

/// A run after the first aims this far below the tolerance, so that one that is able to halve the residual does.
const BEYOND: f64 = 0.1;

/// Iterates until `||f - K u|| <= tolerance ||f||`.
pub(super) fn solve<T: Real>(cg: &mut Cg<'_, T>, u: &mut Buffer<T>, until: &StoppingCriteria) -> Result<Outcome> {
    let (tolerance, norm_f) = (until.options.tolerance, until.norm_f);
    let mut residual = cg.start(u)? / norm_f;
    let mut outcome = Outcome::start(residual, tolerance);
    let mut best = Best::new(cg.space, u, cg.equations.operator.n(), residual)?;
    let mut ending = until.interruption(&outcome);
    let mut aim = tolerance;
    while residual > tolerance && ending.is_none() {
        let found = run(cg, u, &mut best, [residual, aim], until, &mut outcome)?;
        let before = residual;
        residual = cg.start(u)? / norm_f;
        let exhausted = (residual > WORTHWHILE * before && aim < tolerance).then_some(Ending::Stagnated);
        ending = found.or_else(|| until.interruption(&outcome)).or(exhausted);
        aim = BEYOND * tolerance;
    }
    if ending == Some(Ending::Diverged) && residual > tolerance && best.exchange(u, residual) {
        residual = cg.start(u)? / norm_f;
    }
    outcome.relative_residual = residual;
    outcome.converged = residual <= tolerance;
    outcome.ending = if outcome.converged { Ending::Converged } else { ending.unwrap_or(Ending::Stagnated) };
    estimate(cg, u, &mut outcome)?;
    Ok(outcome)
}

/// The estimated error where the iteration has ended, if the energy norm is known.
fn estimate<T: Real>(cg: &mut Cg<'_, T>, u: &Buffer<T>, outcome: &mut Outcome) -> Result<()> {
    if let (Some(energy), Some(theta)) = (cg.equations.energy, cg.lanczos.theta()) {
        let rz = energy.parts.dot(cg.space, &cg.r, &cg.z)?;
        let judge = Judge::new(cg.space, energy, u)?;
        let iterate = Iterate { v: u, r: &cg.r, rz: &rz, theta, certain: true };
        let verdict = judge.examine(cg.space, cg.equations, &iterate, 0.0, &mut cg.q)?;
        outcome.digits = Some(digits(verdict.estimate));
        outcome.error_estimate = Some(verdict.estimate);
        outcome.part_errors = verdict.parts;
    }
    Ok(())
}

/// Iterates until the recurrence's residual is within `aim`, or something is wrong: then it says what. `before` is the
/// relative residual at the start.
fn run<T: Real>(
    cg: &mut Cg<'_, T>,
    u: &mut Buffer<T>,
    best: &mut Best<T>,
    [before, aim]: [f64; 2],
    until: &StoppingCriteria,
    outcome: &mut Outcome,
) -> Result<Option<Ending>> {
    let StoppingCriteria { options, norm_f, monitor } = *until;
    let enough = aim * norm_f;
    // |r| <= sqrt(kappa) |r_0| as long as K is symmetric: more takes a condition number that no precision can hold.
    let too_large = before / T::EPSILON.to_f64().sqrt();
    loop {
        let most = options.max_iterations - outcome.iterations;
        let progress = cg.advance(u, most, [enough * enough, -1.0])?;
        let residual = cg.record(&progress, norm_f, outcome).unwrap_or(before);
        monitor.error(outcome.iterations, residual, options.tolerance);
        if residual <= aim || until.interruption(outcome).is_some() {
            return Ok(None);
        }
        if progress.indefinite || residual > too_large {
            return Ok(Some(if progress.indefinite { Ending::Indefinite } else { Ending::Diverged }));
        }
        best.see(cg.space, u, residual)?;
        if progress.ended {
            return Ok(None);
        }
    }
}
