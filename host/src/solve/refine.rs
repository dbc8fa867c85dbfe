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

use super::{CgOptions, CgOutcome, Ending, Iteration, Monitor, WORTHWHILE, cg, norm, residual};
use crate::backend::{Backend, Quotient, Vector};
use crate::error::Result;
use crate::precond::{self, Context, Preconditioner, ScaledCopy};
use crate::sparse::{Matrix, Operator};

/// What an inner iteration leaves of its residual at least: on a cube of 20^3 cells single precision comes to 4e-4 of
/// the true one, and on finer meshes less far.
const INNER: f64 = 1e-2;

/// The last inner iteration goes so far beyond what is missing: the scaled residual is not the true one.
const MARGIN: f64 = 0.5;

/// The scaled copy in single precision, and a preconditioner of it.
pub struct Refinement<B: Backend> {
    copy: ScaledCopy<B, f32>,
    preconditioner: Box<dyn Preconditioner<B, f32>>,
}

impl<B: Backend> Refinement<B> {
    /// Copies the matrix and makes the preconditioner of this name of the copy.
    ///
    /// # Errors
    ///
    /// As [`precond::build`].
    pub fn build(name: &str, context: &Context<B>, backend: &B, matrix: &Matrix<B, f64>) -> Result<Self> {
        let copy = ScaledCopy::new(backend, matrix)?;
        let preconditioner = precond::build(name, context, backend, &copy.matrix)?;
        Ok(Refinement { copy, preconditioner })
    }
}

impl<B: Backend> Iteration<B, f64> for Refinement<B> {
    fn solve(
        &self,
        backend: &B,
        operator: &dyn Operator<B, f64>,
        f: &Vector<B, f64>,
        u: &mut Vector<B, f64>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<CgOutcome> {
        let mut work = Work::new(self, backend, operator)?;
        let norm_f = norm(backend, f)?;
        if norm_f == 0.0 {
            backend.fill(0.0, u)?;
        }
        let relative = |residual: f64| if norm_f == 0.0 { 0.0 } else { residual / norm_f };
        let mut residual = relative(work.residual(f, u)?);
        let mut scaled = work.round()?;
        let mut outcome = CgOutcome { spmvs: 1, ..CgOutcome::start(residual, options.tolerance) };
        while !outcome.converged {
            let left = options.max_iterations - outcome.iterations;
            let tolerance = (MARGIN * options.tolerance / residual).max(INNER);
            let inner = CgOptions::new(tolerance, left);
            let part = Part { whole: monitor, tolerance: options.tolerance, before: outcome.iterations, residual };
            let found = work.correct(u, inner, &part)?;
            outcome.iterations += found.iterations;
            outcome.spmvs += found.spmvs + 1;
            outcome.history.extend(found.history.iter().map(|inner| residual * inner));
            let last = std::mem::replace(&mut residual, relative(work.residual(f, u)?));
            outcome.relative_residual = residual;
            outcome.converged = residual <= options.tolerance;
            // By the scaled residual: the true one of materials far apart may stand still meanwhile.
            let before = std::mem::replace(&mut scaled, work.round()?);
            if let Some(ending) = ending(found.ending, &outcome, options, scaled < WORTHWHILE * before) {
                outcome.ending = ending;
                if residual > last {
                    work.add_correction(-1.0, u)?;
                    outcome.relative_residual = last;
                }
                break;
            }
        }
        Ok(outcome)
    }
}

/// Why not to go on after an inner iteration that ended so.
fn ending(inner: Ending, outcome: &CgOutcome, options: CgOptions, was_worthwhile: bool) -> Option<Ending> {
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
    /// The relative residual that it starts from.
    residual: f64,
}

impl Monitor for Part<'_> {
    fn residual(&self, iteration: usize, relative: f64, _: f64) {
        self.whole.residual(self.before + iteration, self.residual * relative, self.tolerance);
    }

    fn is_cancelled(&self) -> bool {
        self.whole.is_cancelled()
    }
}

/// The vectors of a solution.
struct Work<'a, B: Backend> {
    refinement: &'a Refinement<B>,
    backend: &'a B,
    operator: &'a dyn Operator<B, f64>,
    /// The residual.
    r: Vector<B, f64>,
    /// The product `K u`, then the correction.
    q: Vector<B, f64>,
    /// The residual and the correction in single, scaled.
    rounded: [Vector<B, f32>; 2],
}

impl<'a, B: Backend> Work<'a, B> {
    fn new(refinement: &'a Refinement<B>, backend: &'a B, operator: &'a dyn Operator<B, f64>) -> Result<Self> {
        let n = operator.n();
        assert_eq!(refinement.copy.matrix.n(), n, "the operator of another matrix");
        let (r, q) = (backend.zeros(n)?, backend.zeros(n)?);
        Ok(Work { refinement, backend, operator, r, q, rounded: [backend.zeros(n)?, backend.zeros(n)?] })
    }

    /// `r = f - K u`, and `||r||`.
    fn residual(&mut self, f: &Vector<B, f64>, u: &Vector<B, f64>) -> Result<f64> {
        residual(self.backend, self.operator, f, u, &mut self.q, &mut self.r)?;
        norm(self.backend, &self.r)
    }

    /// `D^-1/2 r` in single, and its norm.
    fn round(&mut self) -> Result<f64> {
        let [rounded, _] = &mut self.rounded;
        self.refinement.copy.round(self.backend, &self.r, rounded)?;
        norm(self.backend, &self.rounded[0])
    }

    /// `u += d`, with `K d = r` solved in single for the r that was rounded last.
    fn correct(&mut self, u: &mut Vector<B, f64>, options: CgOptions, monitor: &dyn Monitor) -> Result<CgOutcome> {
        let backend = self.backend;
        let Refinement { copy, preconditioner } = self.refinement;
        let [r, d] = &mut self.rounded;
        backend.fill(0.0, d)?;
        let outcome = cg(backend, &copy.matrix, &**preconditioner, r, d, options, monitor)?;
        self.add_correction(1.0, u)?;
        Ok(outcome)
    }

    /// `u += sign d` of the last correction.
    fn add_correction(&mut self, sign: f64, u: &mut Vector<B, f64>) -> Result<()> {
        self.refinement.copy.widen(self.backend, &self.rounded[1], &mut self.q)?;
        self.backend.axpy(sign, Quotient::ONE, &self.q, u)
    }
}
