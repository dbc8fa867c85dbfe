//! Iterative refinement: conjugate gradients in single precision, corrected by residuals in double (Higham, Accuracy
//! and Stability of Numerical Algorithms, 2002, ch. 12).
//!
//! | step | here |
//! | --- | --- |
//! | `r = f - K u` in double | [`Work::residual`], [`Work::round`] |
//! | `K d = r` in single, until [`INNER`] of r is left | [`cg()`], of the scaled copy `A = D^-1/2 K D^-1/2` |
//! | `u += d` in double | [`Work::correct`] |
//!
//! The copy is a [`ScaledCopy`]: its entries are of size 1, whatever the units. The preconditioner is one of A: as the
//! diagonal of A is 1, `none` is what `jacobi` is.
//!
//! It is here to compare: starting anew costs iterations, more than single precision saves. With Jacobi to 1e-8, in
//! double and so: 450 and 740 (tet4, 20^3), 180 and 400 (hex8, 20^3), 580 and 1,570 (quad4, 100^2), 630 and 1,240
//! (hex8, 30^3, stiffnesses 1:1000). On plates of one layer of elements it stagnates, as single precision resolves
//! nothing of the residual there.

use super::energy::{Equations, Iterate, Judge, Verdict};
use super::{CgOptions, Iteration, Monitor, WORTHWHILE, cg, norm, solved};
use crate::device::Buffer;
use crate::linalg::{Quotient, Space};
use crate::precond::{self, Context, Preconditioner, ScaledCopy};
use crate::result::choices;
use crate::result::{Ending, Measure, Outcome, Result};
use crate::sparse::{LinOp, Matrix};

/// What an inner iteration leaves of its residual at least: on a cube of 20^3 cells single precision comes to 4e-4 of
/// the true one, and on finer meshes less far.
const INNER: f64 = 1e-2;

/// The last inner iteration goes so far beyond what is missing: the scaled residual is not the true one.
const MARGIN: f64 = 0.5;

/// The scaled copy in single precision, and a preconditioner of it.
pub struct Refinement {
    copy: ScaledCopy<f32>,
    preconditioner: Box<dyn Preconditioner<f32>>,
}

impl Refinement {
    /// Copies the matrix and makes the preconditioner of the copy.
    pub fn build(
        preconditioner: choices::Preconditioner,
        context: &Context,
        space: &Space,
        matrix: &Matrix<f64>,
    ) -> Result<Self> {
        let copy = ScaledCopy::new(space, matrix, context.coupled)?;
        let context = Context { coupled: copy.coupled(), ..*context };
        let preconditioner = precond::build(preconditioner, &context, space, &copy.matrix)?;
        Ok(Refinement { copy, preconditioner })
    }
}

impl Iteration<f64> for Refinement {
    fn solve(
        &self,
        space: &Space,
        equations: &Equations<f64>,
        u: &mut Buffer<f64>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        solved(space, equations, u, options.tolerance, |u, norm_f| {
            let n = equations.operator.n();
            assert_eq!(self.copy.matrix.n(), n, "the operator of another matrix");
            let (r, q, rounded) = (space.zeros(n)?, space.zeros(n)?, [space.zeros(n)?, space.zeros(n)?]);
            let mut work = Work { refinement: self, space, equations, norm_f, r, q, rounded };
            match options.measure {
                Measure::Residual => work.until_residual(u, options, monitor),
                Measure::Energy => work.until_energy(u, options, monitor),
            }
        })
    }
}

/// Why not to go on after an inner iteration that ended so.
fn ending(inner: Ending, outcome: &Outcome, options: CgOptions, was_worthwhile: bool) -> Option<Ending> {
    match inner {
        _ if outcome.converged => Some(Ending::Converged),
        Ending::Cancelled | Ending::Indefinite => Some(inner),
        _ if outcome.iterations >= options.max_iterations => Some(Ending::Limit),
        _ => (!was_worthwhile).then_some(Ending::Stagnated),
    }
}

/// An inner iteration as a part of the whole.
struct Part<'a> {
    whole: &'a dyn Monitor,
    tolerance: f64,
    /// Iterations before it.
    before: usize,
    /// The error or residual that it starts from.
    residual: f64,
}

impl Monitor for Part<'_> {
    fn error(&self, iteration: usize, relative: f64, _: f64) {
        self.whole.error(self.before + iteration, self.residual * relative, self.tolerance);
    }

    fn is_cancelled(&self) -> bool {
        self.whole.is_cancelled()
    }
}

struct Work<'a> {
    refinement: &'a Refinement,
    space: &'a Space,
    equations: &'a Equations<'a, f64>,
    norm_f: f64,
    r: Buffer<f64>,
    /// The product `K u`, then the correction.
    q: Buffer<f64>,
    /// The residual and the correction in single, scaled.
    rounded: [Buffer<f32>; 2],
}

impl Work<'_> {
    /// Corrects until the true residual is small enough, or stands still.
    fn until_residual(&mut self, u: &mut Buffer<f64>, options: CgOptions, monitor: &dyn Monitor) -> Result<Outcome> {
        let mut residual = self.residual(u)?;
        let mut scaled = self.round()?;
        let mut outcome = Outcome { spmvs: 1, ..Outcome::start(residual, options.tolerance) };
        while !outcome.converged {
            let found = self.correct(u, residual, options, monitor, &mut outcome)?;
            let last = std::mem::replace(&mut residual, self.residual(u)?);
            outcome.relative_residual = residual;
            outcome.converged = residual <= options.tolerance;
            // By the scaled residual: the true one of materials far apart may stand still meanwhile.
            let before = std::mem::replace(&mut scaled, self.round()?);
            if let Some(ending) = ending(found.ending, &outcome, options, scaled < WORTHWHILE * before) {
                outcome.ending = ending;
                if residual > last {
                    self.add_correction(Quotient::MINUS_ONE, u)?;
                    outcome.relative_residual = last;
                }
                break;
            }
        }
        Ok(outcome)
    }

    /// Corrects until the estimated error is small enough, or stands still. Theta is the smallest that inner iterations
    /// have found.
    fn until_energy(&mut self, u: &mut Buffer<f64>, options: CgOptions, monitor: &dyn Monitor) -> Result<Outcome> {
        let (b, energy) = (self.space, self.equations.energy()?);
        let mut judge = Judge::new(b, energy, u)?;
        let mut outcome =
            Outcome { spmvs: 1, ..Outcome::start(self.true_residual(u, options.tolerance)?, options.tolerance) };
        let mut theta = options.theta.unwrap_or(f64::INFINITY);
        let mut last = Verdict { estimate: f64::INFINITY, ..Verdict::default() };
        let (ending, verdict) = loop {
            self.round()?;
            judge.keep(b, u)?;
            let estimate = if last.estimate.is_finite() { last.estimate } else { 1.0 };
            let found = self.correct(u, estimate, options, monitor, &mut outcome)?;
            theta = found.theta.map_or(theta, |found| theta.min(found));
            outcome.relative_residual = self.true_residual(u, options.tolerance)?;
            let verdict = self.examine(&judge, u, theta, options.tolerance)?;
            if verdict.excess(options.tolerance) <= 1.0 {
                break (Ending::Converged, verdict);
            }
            let was_worthwhile = verdict.excess(options.tolerance) <= WORTHWHILE * last.excess(options.tolerance);
            if let Some(ending) = ending(found.ending, &outcome, options, was_worthwhile) {
                let mut delta = b.zeros(self.equations.operator.n())?;
                let verdict = match ending {
                    Ending::Stagnated => judge.changes(b, self.equations, u, &self.r, [&mut delta, &mut self.q])?,
                    _ => verdict,
                };
                break (ending, verdict);
            }
            last = verdict;
        };
        outcome.theta = Some(theta).filter(|theta| theta.is_finite());
        outcome.judged(ending, verdict);
        Ok(outcome)
    }

    /// Examines u, whose residual is in r.
    fn examine(&mut self, judge: &Judge<f64>, u: &Buffer<f64>, theta: f64, tolerance: f64) -> Result<Verdict> {
        let (b, energy) = (self.space, self.equations.energy()?);
        let Refinement { copy, preconditioner } = self.refinement;
        self.round()?;
        let [r, z] = &mut self.rounded;
        preconditioner.apply(b, copy.coupled_matrix().operator(), r, z)?;
        let rz = energy.parts.dot(b, &*r, &*z)?;
        let iterate = Iterate { v: u, r: &self.r, rz: &rz, theta, certain: false };
        judge.examine(b, self.equations, &iterate, tolerance, &mut self.q)
    }

    /// `r = f - K u`, and `||r|| / ||f||`.
    fn residual(&mut self, u: &Buffer<f64>) -> Result<f64> {
        self.equations.residual(self.space, u, &mut self.q, &mut self.r)?;
        Ok(norm(self.space, &self.r)? / self.norm_f)
    }

    /// The same, wherever rounding of K may count by the elements.
    fn true_residual(&mut self, u: &Buffer<f64>, tolerance: f64) -> Result<f64> {
        self.equations.true_residual(self.space, u, tolerance, &mut self.q, &mut self.r)?;
        Ok(norm(self.space, &self.r)? / self.norm_f)
    }

    /// `D^-1/2 r` in single, and its norm.
    fn round(&mut self) -> Result<f64> {
        let [rounded, _] = &mut self.rounded;
        self.refinement.copy.round(self.space, &self.r, rounded)?;
        norm(self.space, &self.rounded[0])
    }

    /// `u += d`, with `K d = r` solved in single for the r that was rounded last; `error` is what u is off by.
    fn correct(
        &mut self,
        u: &mut Buffer<f64>,
        error: f64,
        options: CgOptions,
        monitor: &dyn Monitor,
        outcome: &mut Outcome,
    ) -> Result<Outcome> {
        let space = self.space;
        let Refinement { copy, preconditioner } = self.refinement;
        let tolerance = (MARGIN * options.tolerance / error).max(INNER);
        let inner = CgOptions::new(tolerance, options.max_iterations - outcome.iterations);
        let part = Part { whole: monitor, tolerance: options.tolerance, before: outcome.iterations, residual: error };
        let [r, d] = &mut self.rounded;
        space.fill(0.0, d)?;
        let matrix = copy.coupled_matrix();
        let found = cg(space, &Equations::new(matrix.operator(), &*r), &**preconditioner, d, inner, &part)?;
        self.add_correction(Quotient::ONE, u)?;
        outcome.iterations += found.iterations;
        outcome.spmvs += found.spmvs + 1;
        let before = outcome.relative_residual;
        outcome.history.extend(found.history.iter().map(|inner| before * inner));
        Ok(found)
    }

    /// `u += sign d` of the last correction.
    fn add_correction(&mut self, sign: Quotient, u: &mut Buffer<f64>) -> Result<()> {
        self.refinement.copy.widen(self.space, &self.rounded[1], &mut self.q)?;
        self.space.axpy(sign, &self.q, u)
    }
}
