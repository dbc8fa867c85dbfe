//! Preconditioned conjugate gradients (DSM table III; Saad 2003, alg. 9.1), written once for every device.
//!
//! | line of the algorithm | here |
//! | --- | --- |
//! | `r = f - K u`, `z = M^-1 r`, `p = z` | `Cg::start` |
//! | `q = K p`, `alpha = r.z / p.q`, `r -= alpha q`, `z = M^-1 r` | `Cg::step`, fused as the preconditioner allows |
//! | `u += alpha p`, `p = z + (new r.z / r.z) p` | `Cg::step` |
//! | all of these | [`kernels_rs::cg_persistent`], where one launch does them; on the CPU its own loop, by half of K |
//! | `|r| <= eps` | every [`CHECK_EVERY`] iterations, [`CHECK_MULTIGRID`] with multigrid; a launch of many iterations at each |
//!
//! With a preconditioner that is another one in every application, such as multigrid's K-cycle, beta is the flexible
//! `z . (r - r_old) / (z_old . r_old) = - z . q / p . q` (Polak and Ribiere). One in single precision (SBELL alg. 6)
//! differs a little from one application to the next too, but there the flexible beta took no fewer iterations than the
//! plain one on any model tried: so it is the plain one, as SBELL has it.
//!
//! The coefficients stay on the device. What ends the iteration is the true residual `f - K u`: when the recurrence
//! says it is done, the residual is recomputed. `by_energy` judges it by the error in the energy norm that it stands
//! for, `by_residual` by its size.

mod by_energy;
mod by_residual;
mod outcome;
mod stepping;
mod together;

pub use outcome::{CgOptions, MOST_LOAD_ERROR, Stepping};

use super::energy::Equations;
use super::lanczos::Lanczos;
use super::{Monitor, norm, solved, with_backward_error};
use crate::device::Buffer;
use crate::linalg::{N_SCALARS, Quotient, Scalar, Space};
use crate::precond::Preconditioner;
use crate::precond::amg::MOST_SCALARS;
use crate::result::{Ending, Measure, Outcome, Result};
use kernels_rs::blas::quotient;
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use stepping::{Progress, Stepper};

/// Iterations between two looks at the residual: a look waits for the device. Peers use ten as well.
pub const CHECK_EVERY: usize = 10;

/// The same with multigrid, of which a few iterations are enough, and each takes longer than a look.
pub const CHECK_MULTIGRID: usize = 2;

/// Device-resident scalars of an iteration: those that follow are the next one's, of several at once.
const SCALARS: usize = 3 * CHECK_EVERY + 2;

// Those of multigrid are behind them.
const _: () = assert!(SCALARS * WIDTH + MOST_SCALARS <= N_SCALARS);

/// Where an iteration has its scalars.
#[derive(Clone, Copy)]
struct Places(usize);

impl Places {
    /// Where `r . z` is at the start of iteration `step`: a ring, so that a batch leaves the last where it found the first.
    const fn rho(self, step: usize) -> Scalar {
        Scalar::new(self.0 + step)
    }

    /// Where iteration `step` since the last look leaves `r . r`.
    const fn square(self, step: usize) -> Scalar {
        Scalar::new(self.0 + CHECK_EVERY + step)
    }

    /// Where it leaves `p . q`.
    const fn pq(self, step: usize) -> Scalar {
        Scalar::new(self.0 + 2 * CHECK_EVERY + step)
    }

    /// Where the part of the strain energy that follows from u is left at each look.
    const fn energy(self) -> Scalar {
        Scalar::new(self.0 + 3 * CHECK_EVERY)
    }

    /// Where iterations leave `q . z`, z the next one, if beta is the flexible one.
    const fn qz(self) -> Scalar {
        Scalar::new(self.0 + 3 * CHECK_EVERY + 1)
    }
}

struct Cg<'a, T: Real> {
    space: &'a Space,
    equations: &'a Equations<'a, T>,
    preconditioner: &'a dyn Preconditioner<T>,
    r: Buffer<T>,
    z: Buffer<T>,
    p: Buffer<T>,
    q: Buffer<T>,
    places: Places,
    /// Which of the ring holds the current `r . z`.
    current: usize,
    rho: f64,
    /// The energy of the error that iterations since the start have taken out: the sum of `alpha r . z`.
    taken: f64,
    /// Products with the matrix besides those of iterations, each with an application of the preconditioner.
    starts: usize,
    every: usize,
    stepper: Stepper,
    lanczos: Lanczos,
}

/// Solves the equations from the `u` given. With [`Measure::Energy`] the equations know their energy norm.
pub fn cg<T: Real>(
    space: &Space,
    equations: &Equations<T>,
    preconditioner: &dyn Preconditioner<T>,
    u: &mut Buffer<T>,
    options: CgOptions,
    monitor: &dyn Monitor,
) -> Result<Outcome> {
    solved(space, equations, u, options.tolerance, |u, norm_f| {
        let until = StoppingCriteria { options, norm_f, monitor };
        let mut cg = Cg::new(space, equations, preconditioner, &options, 0)?;
        let mut outcome = match options.measure {
            Measure::Residual => by_residual::solve(&mut cg, u, &until)?,
            Measure::Energy => by_energy::solve(&mut cg, u, &until)?,
        };
        cg.finish(&mut outcome);
        Ok(outcome)
    })
}

/// Solves equations with one operator side by side, from the `u` given, as [`cg`] solves each, by the energy norm: products and
/// preconditioners are of all that have not converged at once. Up to [`WIDTH`] of them.
pub fn cg_together<T: Real>(
    space: &Space,
    equations: &[Equations<T>],
    preconditioner: &dyn Preconditioner<T>,
    u: &mut [Buffer<T>],
    options: CgOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Outcome>> {
    assert!(equations.len() == u.len() && u.len() <= WIDTH, "{} equations for {} vectors", equations.len(), u.len());
    assert_eq!(options.measure, Measure::Energy, "equations side by side are judged by the energy norm");
    equations.iter().skip(1).try_for_each(|other| other.share(space, &equations[0]))?;
    let norms = equations.iter().map(|equations| norm(space, equations.f)).collect::<Result<Vec<f64>>>()?;
    let mut outcomes = vec![Outcome::exact(options.tolerance); u.len()];
    let loaded: Vec<usize> = (0..u.len()).filter(|k| norms[*k] != 0.0).collect();
    let cgs = loaded.iter().map(|k| Cg::new(space, &equations[*k], preconditioner, &options, *k));
    let mut cgs = cgs.collect::<Result<Vec<_>>>()?;
    let mut vectors: Vec<Buffer<T>> = loaded.iter().map(|k| std::mem::replace(&mut u[*k], nothing())).collect();
    let until: Vec<_> = loaded.iter().map(|k| StoppingCriteria { options, norm_f: norms[*k], monitor }).collect();
    let found = by_energy::solve_together(&mut cgs, &mut vectors, &until)?;
    for (((place, mut outcome), cg), vector) in loaded.iter().zip(found).zip(&cgs).zip(vectors) {
        cg.finish(&mut outcome);
        u[*place] = vector;
        outcomes[*place] = with_backward_error(space, &equations[*place], &u[*place], norms[*place], outcome)?;
    }
    for k in (0..u.len()).filter(|k| norms[*k] == 0.0) {
        space.fill(T::ZERO, &mut u[k])?;
    }
    Ok(outcomes)
}

/// No vector, where one has been taken away.
fn nothing<T: Real>() -> Buffer<T> {
    Buffer::Host(Vec::new())
}

/// When to stop, and whom to ask.
struct StoppingCriteria<'a> {
    options: CgOptions,
    norm_f: f64,
    monitor: &'a dyn Monitor,
}

impl StoppingCriteria<'_> {
    /// Why not to iterate on.
    fn interruption(&self, outcome: &Outcome) -> Option<Ending> {
        if self.monitor.is_cancelled() {
            return Some(Ending::Cancelled);
        }
        (outcome.iterations >= self.options.max_iterations).then_some(Ending::Limit)
    }
}

impl<'a, T: Real> Cg<'a, T> {
    fn new(
        space: &'a Space,
        equations: &'a Equations<'a, T>,
        preconditioner: &'a dyn Preconditioner<T>,
        options: &CgOptions,
        place: usize,
    ) -> Result<Self> {
        let (n, places) = (equations.operator.n(), Places(SCALARS * place));
        let [r, z, p, q] = [space.zeros(n)?, space.zeros(n)?, space.zeros(n)?, space.zeros(n)?];
        let stepper = Stepper::new(space, preconditioner, n, options.stepping)?;
        let every = if preconditioner.hierarchy().is_some() { CHECK_MULTIGRID } else { CHECK_EVERY };
        let (current, rho, taken, starts, lanczos) = (0, 0.0, 0.0, 0, Lanczos::from(options.theta));
        Ok(Cg {
            space,
            equations,
            preconditioner,
            r,
            z,
            p,
            q,
            places,
            current,
            rho,
            taken,
            starts,
            every,
            stepper,
            lanczos,
        })
    }

    /// What the iteration knows at its end.
    fn finish(&self, outcome: &mut Outcome) {
        outcome.spmvs = (outcome.iterations + self.starts) * (1 + self.preconditioner.products());
        outcome.theta = self.lanczos.theta();
    }

    /// `r = f - K u`, `p = z = M^-1 r`; returns `||r||`.
    fn start(&mut self, u: &Buffer<T>) -> Result<f64> {
        let b = self.space;
        self.equations.residual(b, u, &mut self.q, &mut self.r)?;
        self.starts += 1;
        self.preconditioner.apply(b, self.equations.operator, &self.r, &mut self.z)?;
        self.begin()
    }

    /// Begins anew from r and z: `p = z`; returns `||r||`.
    fn begin(&mut self) -> Result<f64> {
        let b = self.space;
        b.copy(&self.z, &mut self.p)?;
        self.lanczos.restart();
        self.taken = 0.0;
        self.current = 0;
        let (rho, square) = (self.places.rho(0), self.places.square(0));
        b.dot(&self.r, &self.z, rho)?;
        b.dot(&self.r, &self.r, square)?;
        let [rho, square] = b.read([rho, square])?;
        self.rho = rho;
        Ok(square.sqrt())
    }

    /// Takes what came of some iterations into the outcome; returns the last relative residual.
    fn record(&mut self, progress: &Progress, norm_f: f64, outcome: &mut Outcome) -> Option<f64> {
        for [square, next, pq] in &progress.records {
            self.lanczos.push(self.rho, *pq, *next);
            self.taken += quotient(self.rho, *pq) * self.rho;
            self.rho = *next;
            outcome.history.push(square.sqrt() / norm_f);
        }
        outcome.iterations += progress.records.len();
        outcome.history.last().copied()
    }

    /// Iteration `step` since the last look.
    fn step(&mut self, u: &mut Buffer<T>, step: usize) -> Result<()> {
        let (b, rr, pq) = (self.space, self.places.square(step), self.places.pq(step));
        let [rho, next] = self.ring();
        let alpha = Quotient::new(rho, pq);
        self.equations.operator.apply_dot(b, &self.p, &mut self.q, pq)?;
        if let Some(inverse) = self.preconditioner.diagonal() {
            b.cg_residual(alpha, &self.q, inverse, &mut self.z, [next, rr])?;
        } else if let Some(blocks) = self.preconditioner.blocks() {
            b.cg_residual_blocks(alpha, &self.q, blocks, &mut self.r, &mut self.z, [next, rr])?;
        } else {
            self.descend(step)?;
            self.preconditioner.apply(b, self.equations.operator, &self.r, &mut self.z)?;
            return self.turn(u, step);
        }
        self.update(u, [alpha, Quotient::new(next, rho)])
    }

    /// `r -= alpha q`.
    fn descend(&mut self, step: usize) -> Result<()> {
        let alpha = Quotient::new(self.ring()[0], self.places.pq(step));
        self.space.cg_residual_norm(alpha, &self.q, &mut self.r, self.places.square(step))
    }

    /// The second half of an iteration, z being known.
    fn turn(&mut self, u: &mut Buffer<T>, step: usize) -> Result<()> {
        let (b, pq) = (self.space, self.places.pq(step));
        let [rho, next] = self.ring();
        let mut beta = Quotient::new(next, rho);
        b.dot(&self.r, &self.z, next)?;
        if !self.preconditioner.is_linear() {
            let qz = self.places.qz();
            b.dot(&self.q, &self.z, qz)?;
            beta = Quotient::new(qz, pq).minus();
        }
        self.update(u, [Quotient::new(rho, pq), beta])
    }

    /// Where this iteration finds `r . z` and leaves it.
    fn ring(&self) -> [Scalar; 2] {
        [self.current, self.current + 1].map(|place| self.places.rho(place % self.every))
    }

    /// `u += alpha p`, `p = z + beta p`.
    fn update(&mut self, u: &mut Buffer<T>, factors: [Quotient; 2]) -> Result<()> {
        self.space.cg_update(factors, &self.z, u, &mut self.p)?;
        self.current = (self.current + 1) % self.every;
        Ok(())
    }
}
