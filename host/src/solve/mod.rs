//! Solvers of `K u = f`.

mod best;
pub mod cg;
pub mod direct;
pub mod energy;
pub mod femses;
pub mod iteration;
pub mod lanczos;
mod refine;

pub use cg::{CgOptions, MOST_LOAD_ERROR, Stepping, cg};
pub use energy::{Body, EnergyNorm, Equations};
pub use femses::{FemsesOptions, femses};
pub use refine::Refinement;

use crate::device::Buffer;
use crate::linalg::{N_SCALARS, Quotient, Scalar, Space};
use crate::precond::{Hierarchy, Preconditioner};
use crate::result::{Measure, Outcome, Result};
use kernels_rs::real::Real;

/// Someone who watches a solution, and may stop it. All methods may be called often and should return at once.
pub trait Monitor {
    /// A phase begins.
    fn phase(&self, _name: &'static str) {}
    /// Another load case begins, of so many, counted from 1; it is not said where there is one alone.
    fn case(&self, _number: usize, _of: usize) {}
    /// The iteration stands at this error, or at this residual if the tolerance is on that; both are relative.
    fn error(&self, _iteration: usize, _error: f64, _tolerance: f64) {}
    /// Whether to end early.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// A way to solve `K u = f`, made for one matrix.
pub trait Iteration<T: Real> {
    /// Solves from the `u` given; the operator is the matrix that it was made of.
    fn solve(
        &self,
        space: &Space,
        equations: &Equations<T>,
        u: &mut Buffer<T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome>;

    /// Whether it solves several equations with one operator sooner together than one after the other.
    fn is_for_several(&self, _space: &Space, _options: CgOptions) -> bool {
        false
    }

    /// Solves up to [`WIDTH`](kernels_rs::vectors::WIDTH) equations with one operator, with the same options; to be asked
    /// where [`is_for_several`](Iteration::is_for_several) says so.
    fn solve_together(
        &self,
        space: &Space,
        equations: &[Equations<T>],
        u: &mut [Buffer<T>],
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Outcome>> {
        equations.iter().zip(u).map(|(equations, u)| self.solve(space, equations, u, options, monitor)).collect()
    }

    /// Values that its factors store, if it has some.
    fn factor_nonzeros(&self) -> Option<u64> {
        None
    }

    /// The levels of its preconditioner, if it has some.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }
}

impl<T: Real> Iteration<T> for Box<dyn Preconditioner<T>> {
    fn solve(
        &self,
        space: &Space,
        equations: &Equations<T>,
        u: &mut Buffer<T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        cg(space, equations, &**self, u, options, monitor)
    }

    /// With multigrid on a GPU: matrices are read once for all.
    fn is_for_several(&self, space: &Space, options: CgOptions) -> bool {
        !space.on_host() && !space.is_together() && self.hierarchy().is_some() && options.measure == Measure::Energy
    }

    fn solve_together(
        &self,
        space: &Space,
        equations: &[Equations<T>],
        u: &mut [Buffer<T>],
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Outcome>> {
        cg::cg_together(space, equations, &**self, u, options, monitor)
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        (**self).hierarchy()
    }
}

/// A start anew must reduce the residual at least by this, or the precision is exhausted.
const WORTHWHILE: f64 = 0.5;

/// Where [`norm`] leaves its square, which no iteration uses.
const NORM: Scalar = Scalar::new(N_SCALARS - 2);

/// `||x||`; waits.
fn norm<T: Real>(space: &Space, x: &Buffer<T>) -> Result<f64> {
    space.dot(x, x, NORM)?;
    let [square] = space.read([NORM])?;
    Ok(square.sqrt())
}

/// What `solve` makes of the equations from u and `||f||`, with the backward error of that; u is 0 if f is.
fn solved<T: Real>(
    space: &Space,
    equations: &Equations<T>,
    u: &mut Buffer<T>,
    tolerance: f64,
    solve: impl FnOnce(&mut Buffer<T>, f64) -> Result<Outcome>,
) -> Result<Outcome> {
    let norm_f = norm(space, equations.f)?;
    if norm_f == 0.0 {
        space.fill(T::ZERO, u)?;
        return Ok(Outcome::exact(tolerance));
    }
    // ||K|| is needed at the end. It is computed before the vectors of the iteration take memory.
    equations.norm(space)?;
    let outcome = solve(u, norm_f)?;
    with_backward_error(space, equations, u, norm_f, outcome)
}

/// The outcome of an iteration that ended with u, with the backward error of that.
fn with_backward_error<T: Real>(
    space: &Space,
    equations: &Equations<T>,
    u: &Buffer<T>,
    norm_f: f64,
    mut outcome: Outcome,
) -> Result<Outcome> {
    let residual = outcome.relative_residual * norm_f;
    outcome.backward_error = Some(backward_error(space, equations, u, [residual, norm_f])?);
    Ok(outcome)
}

/// The normwise backward error `||r|| / (||K|| ||u|| + ||f||)` (Higham 2002, theorem 7.1), from `[||r||, ||f||]`.
fn backward_error<T: Real>(
    space: &Space,
    equations: &Equations<T>,
    u: &Buffer<T>,
    [residual, norm_f]: [f64; 2],
) -> Result<f64> {
    let scale = equations.norm(space)? * norm(space, u)? + norm_f;
    Ok(if scale > 0.0 { residual / scale } else { 0.0 })
}

/// `r = f - q`.
fn less_product<T: Real>(space: &Space, f: &Buffer<T>, q: &Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
    space.copy(f, r)?;
    space.axpy(Quotient::MINUS_ONE, q, r)
}
