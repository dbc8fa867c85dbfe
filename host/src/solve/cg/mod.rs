//! Preconditioned conjugate gradients (DSM table III; Saad 2003, alg. 9.1), written once for every backend.
//!
//! | line of the algorithm | here |
//! | --- | --- |
//! | `r = f - K u`, `z = M^-1 r`, `p = z` | `Cg::start` |
//! | `q = K p`, `alpha = r.z / p.q`, `r -= alpha q`, `z = M^-1 r` | `Cg::step`, fused as the preconditioner allows |
//! | `u += alpha p`, `p = z + (new r.z / r.z) p` | `Cg::step` |
//! | all of these | [`kernels_rs::cg_persistent`], where one launch does them; on the CPU its own loop, by half of K |
//! | `|r| <= eps` | every [`CHECK_EVERY`] iterations, [`CHECK_MULTIGRID`] with multigrid; a launch of many iterations at each |
//!
//! A preconditioner in single precision (SBELL alg. 6) differs a little from one application to the next. The flexible
//! `beta = z . (r - r_old) / (z_old . r_old)` (Polak and Ribiere) is made for that, but took no fewer iterations than
//! the plain one on any model tried and up to a quarter more on a thin plate: so beta is the plain one, as SBELL has
//! it.
//!
//! What is returned is the best iterate seen, to a factor of ten.
//!
//! The coefficients stay on the device. What ends the iteration is the true residual `f - K u`: when the recurrence
//! says it is done, the residual is recomputed, and if that is not small enough the iteration starts anew from there.

mod outcome;
mod stepping;

pub use outcome::{CgOptions, CgOutcome, Ending, Stepping};

use super::best::Best;
use super::{Monitor, WORTHWHILE, residual};
use crate::backend::{Backend, Quotient, Scalar, Vector};
use crate::error::Result;
use crate::precond::Preconditioner;
use crate::sparse::Operator;
use kernels_rs::real::Real;
use stepping::{Progress, Stepper};

/// Iterations between two looks at the residual: a look waits for the device. Peers use ten as well.
pub const CHECK_EVERY: usize = 10;

/// The same with multigrid, of which a few iterations are enough, and each takes longer than a look.
pub const CHECK_MULTIGRID: usize = 2;

const RHO: [Scalar; 2] = [Scalar::new(0), Scalar::new(1)];
const NORM: Scalar = Scalar::new(2);

/// Where iteration `step` since the last look leaves `r . r`.
const fn history(step: usize) -> Scalar {
    Scalar::new(3 + step)
}

/// Where it leaves `p . q`.
const fn pq(step: usize) -> Scalar {
    Scalar::new(3 + CHECK_EVERY + step)
}

/// The iteration's vectors.
struct Cg<'a, B: Backend, T: Real> {
    backend: &'a B,
    operator: &'a dyn Operator<B, T>,
    preconditioner: &'a dyn Preconditioner<B, T>,
    r: Vector<B, T>,
    z: Vector<B, T>,
    p: Vector<B, T>,
    q: Vector<B, T>,
    /// Which of [`RHO`] holds the current `r . z`.
    current: usize,
    /// How often it has started.
    starts: usize,
    /// Iterations between two looks at the residual.
    every: usize,
    stepper: Stepper<B>,
}

/// Solves `K u = f` from the `u` given.
pub fn cg<B: Backend, T: Real>(
    backend: &B,
    operator: &dyn Operator<B, T>,
    preconditioner: &dyn Preconditioner<B, T>,
    f: &Vector<B, T>,
    u: &mut Vector<B, T>,
    options: CgOptions,
    monitor: &dyn Monitor,
) -> Result<CgOutcome> {
    let n = operator.n();
    let [r, z, p, q] = [backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?];
    let stepper = Stepper::new(backend, preconditioner, n, options.stepping)?;
    let every = if preconditioner.hierarchy().is_some() { CHECK_MULTIGRID } else { CHECK_EVERY };
    let mut cg = Cg { backend, operator, preconditioner, r, z, p, q, current: 0, starts: 0, every, stepper };
    backend.dot(f, f, NORM)?;
    let [norm, first] = cg.start(f, u)?;
    if norm == 0.0 {
        backend.fill(T::ZERO, u)?;
        return Ok(CgOutcome::start(0.0, options.tolerance));
    }
    let until = Until { options, norm, monitor };
    let mut residual = first / norm;
    let mut outcome = CgOutcome::start(residual, options.tolerance);
    let mut best = Best::new(backend, u, n, residual)?;
    let mut ending = until.before_run(&outcome);
    while residual > options.tolerance && ending.is_none() {
        let found = cg.run(u, &mut best, residual, &until, &mut outcome)?;
        let before = residual;
        residual = cg.start(f, u)?[1] / norm;
        let exhausted = (residual > WORTHWHILE * before).then_some(Ending::Stagnated);
        ending = found.or_else(|| until.before_run(&outcome)).or(exhausted);
    }
    if residual > options.tolerance && best.exchange(u, residual) {
        let found = cg.start(f, u)?[1] / norm;
        // What the recurrence took for better may not be.
        residual = if found > residual && best.exchange(u, found) { residual } else { found };
    }
    outcome.spmvs = (outcome.iterations + cg.starts) * (1 + preconditioner.products());
    outcome.relative_residual = residual;
    outcome.converged = residual <= options.tolerance;
    outcome.ending = if outcome.converged { Ending::Converged } else { ending.unwrap_or(Ending::Stagnated) };
    Ok(outcome)
}

/// When to stop, and whom to ask.
struct Until<'a> {
    options: CgOptions,
    /// Of the right-hand side.
    norm: f64,
    monitor: &'a dyn Monitor,
}

impl Until<'_> {
    /// Why not to iterate at all.
    fn before_run(&self, outcome: &CgOutcome) -> Option<Ending> {
        if self.monitor.is_cancelled() {
            return Some(Ending::Cancelled);
        }
        (outcome.iterations >= self.options.max_iterations).then_some(Ending::Limit)
    }
}

impl<B: Backend, T: Real> Cg<'_, B, T> {
    /// `r = f - K u`, `p = z = M^-1 r`; `||f||`, of which the square is in [`NORM`], and `||r||`.
    fn start(&mut self, f: &Vector<B, T>, u: &Vector<B, T>) -> Result<[f64; 2]> {
        let b = self.backend;
        self.starts += 1;
        residual(b, self.operator, f, u, &mut self.q, &mut self.r)?;
        self.preconditioner.apply(b, self.operator, &self.r, &mut self.z)?;
        b.copy(&self.z, &mut self.p)?;
        b.dot(&self.r, &self.z, RHO[self.current])?;
        b.dot(&self.r, &self.r, history(0))?;
        Ok(b.read([NORM, history(0)])?.map(f64::sqrt))
    }

    /// Iterates until the recurrence's residual is small enough, the iterations are used up, or something is wrong:
    /// then it says what. `before` is the relative residual at the start.
    fn run(
        &mut self,
        u: &mut Vector<B, T>,
        best: &mut Best<B, T>,
        before: f64,
        until: &Until,
        outcome: &mut CgOutcome,
    ) -> Result<Option<Ending>> {
        let Until { options, norm, monitor } = *until;
        let enough = options.tolerance * norm;
        // |r| <= sqrt(kappa) |r_0| as long as K is symmetric: more takes a condition number that no precision can hold.
        let too_large = before / T::EPSILON.to_f64().sqrt();
        loop {
            let most = options.max_iterations - outcome.iterations;
            let Progress { squares, ended, indefinite } = self.advance(u, most, enough * enough)?;
            outcome.history.extend(squares.iter().map(|rr| rr.sqrt() / norm));
            outcome.iterations += squares.len();
            let residual = outcome.history.last().copied().unwrap_or(before);
            monitor.residual(outcome.iterations, residual, options.tolerance);
            if residual <= options.tolerance || until.before_run(outcome).is_some() {
                return Ok(None);
            }
            if indefinite || residual > too_large {
                return Ok(Some(if indefinite { Ending::Indefinite } else { Ending::Diverged }));
            }
            best.see(self.backend, u, residual)?;
            if ended {
                return Ok(None);
            }
        }
    }

    /// Iteration `step` since the last look.
    fn step(&mut self, u: &mut Vector<B, T>, step: usize) -> Result<()> {
        let (b, rr, pq) = (self.backend, history(step), pq(step));
        let (rho, next) = (RHO[self.current], RHO[1 - self.current]);
        let alpha = Quotient { num: rho, den: pq };
        let beta = Quotient { num: next, den: rho };
        self.operator.apply_dot(b, &self.p, &mut self.q, pq)?;
        if let Some(inverse) = self.preconditioner.diagonal() {
            b.cg_residual(alpha, &self.q, inverse, &mut self.z, [next, rr])?;
        } else if let Some(blocks) = self.preconditioner.blocks() {
            b.cg_residual_blocks(alpha, &self.q, blocks, &mut self.r, &mut self.z, [next, rr])?;
        } else {
            b.cg_residual_norm(alpha, &self.q, &mut self.r, rr)?;
            self.preconditioner.apply(b, self.operator, &self.r, &mut self.z)?;
            b.dot(&self.r, &self.z, next)?;
        }
        b.cg_update([alpha, beta], &self.z, u, &mut self.p)?;
        self.current = 1 - self.current;
        Ok(())
    }
}
