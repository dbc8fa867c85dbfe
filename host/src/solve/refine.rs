//! Iterative refinement: conjugate gradients in single precision, corrected by residuals in double (Higham, Accuracy and
//! Stability of Numerical Algorithms, 2002, ch. 12).
//!
//! | step | here |
//! | --- | --- |
//! | `r = f - K u` in double | [`Work::residual`] |
//! | `K d = r` in single, until [`INNER`] of r is left | [`cg()`], of the scaled copy `A = D^-1/2 K D^-1/2` |
//! | `u += d` in double | [`Work::correct`] |
//!
//! The copy is that of [`precond::Rounded`]: its entries are of size 1, whatever the units. The preconditioner is one of A: as the
//! diagonal of A is 1, `none` is what `jacobi` is.

use super::{CgOptions, CgOutcome, Ending, Iteration, Monitor, cg};
use crate::backend::{Backend, Buffer, N_SCALARS, Quotient, Scalar, Vector};
use crate::error::Result;
use crate::precond::{self, Preconditioner};
use crate::sparse::{Matrix, Operator};
use kernels_rs::precond::{ToDouble, ToSingle};

/// What an inner iteration leaves of its residual.
const INNER: f64 = 1e-3;

/// A step must reduce the true residual at least by this, or the precision is exhausted.
const WORTHWHILE: f64 = 0.5;

// Places that the inner iteration does not use.
const ONE: Scalar = Scalar::new(N_SCALARS - 1);
const NORM: Scalar = Scalar::new(N_SCALARS - 2);

/// The scaled copy in single precision, and a preconditioner of it.
pub struct Refinement<B: Backend> {
    inverse: Vector<B, f64>,
    matrix: Matrix<B, f32>,
    preconditioner: Box<dyn Preconditioner<B, f32>>,
}

impl<B: Backend> Refinement<B> {
    /// Copies the matrix and makes the preconditioner of this name of the copy.
    ///
    /// # Errors
    ///
    /// As [`precond::build`].
    pub fn build(name: &str, order: usize, backend: &B, matrix: &Matrix<B, f64>) -> Result<Self> {
        let inverse = precond::inverse_diagonal(backend, matrix)?;
        let copy = matrix.scaled_to::<f32>(backend, &inverse)?;
        let preconditioner = precond::build(name, order, backend, &copy)?;
        Ok(Refinement { inverse, matrix: copy, preconditioner })
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
        let norm = work.norm(f)?;
        if norm == 0.0 {
            backend.fill(0.0, u)?;
        }
        let relative = |residual: f64| if norm == 0.0 { 0.0 } else { residual / norm };
        let mut residual = relative(work.residual(f, u)?);
        let mut outcome = CgOutcome {
            iterations: 0,
            spmvs: 1,
            relative_residual: residual,
            converged: residual <= options.tolerance,
            ending: Ending::Converged,
            history: Vec::new(),
        };
        while !outcome.converged {
            let left = options.max_iterations - outcome.iterations;
            let inner = CgOptions { tolerance: INNER, max_iterations: left };
            let part = Part { whole: monitor, tolerance: options.tolerance, before: outcome.iterations, residual };
            let found = work.correct(u, inner, &part)?;
            outcome.iterations += found.iterations;
            outcome.spmvs += found.spmvs + 1;
            outcome.history.extend(found.history.iter().map(|inner| residual * inner));
            let before = residual;
            residual = relative(work.residual(f, u)?);
            outcome.relative_residual = residual;
            outcome.converged = residual <= options.tolerance;
            outcome.ending = match found.ending {
                _ if outcome.converged => Ending::Converged,
                Ending::Cancelled => Ending::Cancelled,
                _ if outcome.iterations >= options.max_iterations => Ending::Limit,
                Ending::Indefinite => Ending::Indefinite,
                _ if residual > WORTHWHILE * before => Ending::Stagnated,
                _ => continue,
            };
            break;
        }
        Ok(outcome)
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
        assert_eq!(refinement.inverse.len(), n, "the operator of another matrix");
        // The constant 1 on the device, as the product of a unit vector with itself.
        let unit = backend.upload(&[1.0])?;
        backend.dot(&unit, &unit, ONE)?;
        let (r, q) = (backend.zeros(n)?, backend.zeros(n)?);
        Ok(Work { refinement, backend, operator, r, q, rounded: [backend.zeros(n)?, backend.zeros(n)?] })
    }

    /// `||x||`.
    fn norm(&self, x: &Vector<B, f64>) -> Result<f64> {
        self.backend.dot(x, x, NORM)?;
        let [square] = self.backend.read([NORM])?;
        Ok(square.sqrt())
    }

    /// `r = f - K u`, and `||r||`.
    fn residual(&mut self, f: &Vector<B, f64>, u: &Vector<B, f64>) -> Result<f64> {
        self.operator.apply(self.backend, u, &mut self.q)?;
        self.backend.copy(f, &mut self.r)?;
        self.backend.axpy(-1.0, Quotient { num: ONE, den: ONE }, &self.q, &mut self.r)?;
        self.norm(&self.r)
    }

    /// `u += d`, with `K d = r` solved in single.
    fn correct(&mut self, u: &mut Vector<B, f64>, options: CgOptions, monitor: &dyn Monitor) -> Result<CgOutcome> {
        let (backend, n) = (self.backend, self.r.len());
        let Refinement { inverse, matrix, preconditioner } = self.refinement;
        let [r, d] = &mut self.rounded;
        let kernel = ToSingle { inverse: inverse.view(), r: self.r.view(), rounded: r.view_mut() };
        // SAFETY: all live and have n entries; `r` is borrowed uniquely.
        unsafe { backend.run(n, kernel) }?;
        backend.fill(0.0, d)?;
        let outcome = cg(backend, matrix, &**preconditioner, r, d, options, monitor)?;
        let kernel = ToDouble { inverse: inverse.view(), rounded: d.view(), z: self.q.view_mut() };
        // SAFETY: as above, for q.
        unsafe { backend.run(n, kernel) }?;
        backend.axpy(1.0, Quotient { num: ONE, den: ONE }, &self.q, u)?;
        Ok(outcome)
    }
}
