//! Preconditioned conjugate gradients (DSM table III; Saad 2003, alg. 9.1), written once for every backend.
//!
//! | line of the algorithm | here |
//! | --- | --- |
//! | `r = f - K u`, `z = M^-1 r`, `p = z` | `Cg::start` |
//! | `q = K p`, `alpha = r.z / p.q`, `r -= alpha q`, `z = M^-1 r` | `Cg::step`, fused as the preconditioner allows |
//! | `u += alpha p`, `p = z + (new r.z / r.z) p` | `Cg::step` |
//! | `|r| <= eps` | [`cg`], every [`CHECK_EVERY`] iterations |
//!
//! A preconditioner in single precision (SBELL alg. 6) differs a little from one application to the next. The flexible
//! `beta = z . (r - r_old) / (z_old . r_old)` (Polak and Ribiere) is made for that, but took no fewer iterations than the plain one
//! on any model tried and up to a quarter more on a thin plate: so beta is the plain one, as SBELL has it.
//!
//! The coefficients stay on the device. What ends the iteration is the true residual `f - K u`: when the recurrence
//! says it is done, the residual is recomputed, and if that is not small enough the iteration starts anew from there.

use super::Monitor;
use crate::backend::{Backend, Quotient, Scalar, Vector};
use crate::error::Result;
use crate::precond::Preconditioner;
use crate::sparse::Operator;
use kernels_rs::real::Real;

/// Iterations between two looks at the residual: a look waits for the device. Peers use ten as well.
pub const CHECK_EVERY: usize = 10;

/// A start anew must reduce the true residual at least by this, or the precision is exhausted.
const WORTHWHILE: f64 = 0.5;

const RHO: [Scalar; 2] = [Scalar::new(0), Scalar::new(1)];
const NORM: Scalar = Scalar::new(3);
const ONE: Scalar = Scalar::new(4);

/// Where iteration `step` since the last look leaves `r . r`.
const fn history(step: usize) -> Scalar {
    Scalar::new(8 + step)
}

/// Where it leaves `p . q`.
const fn pq(step: usize) -> Scalar {
    Scalar::new(8 + CHECK_EVERY + step)
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgOptions {
    /// On `||f - K u|| / ||f||`.
    pub tolerance: f64,
    /// Where to give up.
    pub max_iterations: usize,
}

/// Why an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The residual is within the tolerance.
    Converged,
    /// The iterations are used up.
    Limit,
    /// Rounding keeps the true residual from getting smaller.
    Stagnated,
    /// `p . K p < 0` for some p: K is not positive definite.
    Indefinite,
    /// Somebody asked for it.
    Cancelled,
}

impl Ending {
    /// Its name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Converged => "converged",
            Ending::Limit => "limit",
            Ending::Stagnated => "stagnated",
            Ending::Indefinite => "indefinite",
            Ending::Cancelled => "cancelled",
        }
    }

    /// What there is to say of it, to follow the number of iterations.
    pub fn reason(self) -> &'static str {
        match self {
            Ending::Converged | Ending::Cancelled => "",
            Ending::Limit => ", the limit",
            Ending::Stagnated => "; more do not help, as rounding has eaten what is left",
            Ending::Indefinite => {
                "; the stiffness matrix is not positive definite to this precision (p . K p < 0), as happens if parts are \
                 hardly held, elements are degenerate, or stiffnesses are too far apart"
            }
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CgOutcome {
    /// Iterations done.
    pub iterations: usize,
    /// Products with the matrix, those of the preconditioner among them.
    pub spmvs: usize,
    /// The true `||f - K u|| / ||f||`, recomputed at the end.
    pub relative_residual: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
    /// Why it ended.
    pub ending: Ending,
    /// The recurrence's relative residual after each iteration.
    pub history: Vec<f64>,
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
    let mut cg = Cg { backend, operator, preconditioner, r, z, p, q, current: 0, starts: 0 };
    cg.write_one()?;
    backend.dot(f, f, NORM)?;
    let [norm] = backend.read([NORM])?;
    let norm = norm.sqrt();
    let mut outcome = CgOutcome {
        iterations: 0,
        spmvs: 0,
        relative_residual: 0.0,
        converged: true,
        ending: Ending::Converged,
        history: Vec::new(),
    };
    if norm == 0.0 {
        backend.fill(T::ZERO, u)?;
        return Ok(outcome);
    }
    let mut residual = cg.start(f, u)? / norm;
    let mut ending = cg.before_run(options, monitor, &outcome);
    while residual > options.tolerance && ending.is_none() {
        let found = cg.run(u, norm, options, monitor, &mut outcome)?;
        let before = residual;
        residual = cg.start(f, u)? / norm;
        let exhausted = (residual > WORTHWHILE * before).then_some(Ending::Stagnated);
        ending = found.or_else(|| cg.before_run(options, monitor, &outcome)).or(exhausted);
    }
    outcome.spmvs = (outcome.iterations + cg.starts) * (1 + preconditioner.products());
    outcome.relative_residual = residual;
    outcome.converged = residual <= options.tolerance;
    outcome.ending = if outcome.converged { Ending::Converged } else { ending.unwrap_or(Ending::Stagnated) };
    Ok(outcome)
}

impl<B: Backend, T: Real> Cg<'_, B, T> {
    /// Makes the device-resident constant 1, as the product of a unit vector with itself.
    fn write_one(&self) -> Result<()> {
        let unit = self.backend.upload(&[T::ONE])?;
        self.backend.dot(&unit, &unit, ONE)
    }

    /// `r = f - K u`, `p = M^-1 r`, and `||r||`.
    fn start(&mut self, f: &Vector<B, T>, u: &Vector<B, T>) -> Result<f64> {
        let b = self.backend;
        self.starts += 1;
        self.operator.apply(b, u, &mut self.q)?;
        b.copy(f, &mut self.r)?;
        b.axpy(-1.0, Quotient { num: ONE, den: ONE }, &self.q, &mut self.r)?;
        self.preconditioner.apply(b, self.operator, &self.r, &mut self.p)?;
        b.dot(&self.r, &self.p, RHO[self.current])?;
        b.dot(&self.r, &self.r, history(0))?;
        let [rr] = b.read([history(0)])?;
        Ok(rr.sqrt())
    }

    /// Why not to iterate at all.
    fn before_run(&self, options: CgOptions, monitor: &dyn Monitor, outcome: &CgOutcome) -> Option<Ending> {
        if monitor.is_cancelled() {
            return Some(Ending::Cancelled);
        }
        (outcome.iterations >= options.max_iterations).then_some(Ending::Limit)
    }

    /// Iterates until the recurrence's residual is small enough, the iterations are used up, or something is wrong:
    /// then it says what.
    fn run(
        &mut self,
        u: &mut Vector<B, T>,
        norm: f64,
        options: CgOptions,
        monitor: &dyn Monitor,
        outcome: &mut CgOutcome,
    ) -> Result<Option<Ending>> {
        loop {
            let steps = CHECK_EVERY.min(options.max_iterations - outcome.iterations);
            for step in 0..steps {
                self.step(u, step)?;
            }
            let last = |step: usize| step.min(steps - 1);
            let scalars: [f64; 2 * CHECK_EVERY] = self.backend.read(core::array::from_fn(|i| match i {
                0..CHECK_EVERY => history(last(i)),
                _ => pq(last(i - CHECK_EVERY)),
            }))?;
            let (squares, curvatures) = scalars.split_at(CHECK_EVERY);
            outcome.history.extend(squares[..steps].iter().map(|rr| rr.sqrt() / norm));
            outcome.iterations += steps;
            let residual = squares[steps - 1].sqrt() / norm;
            monitor.residual(outcome.iterations, residual, options.tolerance);
            if residual <= options.tolerance || self.before_run(options, monitor, outcome).is_some() {
                return Ok(None);
            }
            if curvatures.iter().any(|pq| *pq < 0.0) {
                return Ok(Some(Ending::Indefinite));
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
            b.cg_residual(alpha, &self.q, inverse, &mut self.r, &mut self.z, [next, rr])?;
            b.cg_direction([alpha, beta], &self.r, inverse, u, &mut self.p)?;
        } else {
            if let Some(blocks) = self.preconditioner.blocks() {
                b.cg_residual_blocks(alpha, &self.q, blocks, &mut self.r, &mut self.z, [next, rr])?;
            } else {
                b.cg_residual_norm(alpha, &self.q, &mut self.r, rr)?;
                self.preconditioner.apply(b, self.operator, &self.r, &mut self.z)?;
                b.dot(&self.r, &self.z, next)?;
            }
            b.cg_update([alpha, beta], &self.z, u, &mut self.p)?;
        }
        self.current = 1 - self.current;
        Ok(())
    }
}
