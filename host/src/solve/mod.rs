//! Solvers of `K u = f`.

mod best;
pub mod cg;
pub mod direct;
pub mod energy;
pub mod femses;
pub mod iteration;
pub mod lanczos;
mod monitor;
mod refine;

pub use cg::{CgOptions, MOST_LOAD_ERROR, Stepping, cg};
pub use energy::{Body, EnergyNorm, Equations};
pub use femses::{FemsesOptions, femses};
pub use monitor::{Monitor, Silent};
pub use refine::Refinement;

use crate::backend::{Backend, N_SCALARS, Quotient, Scalar, Vector};
use crate::precond::{Hierarchy, Preconditioner};
use crate::result::{Outcome, Result};
use crate::sparse::Operator;
use kernels_rs::real::Real;

/// A way to solve `K u = f`, made for one matrix.
pub trait Iteration<B: Backend, T: Real> {
    /// Solves from the `u` given; the operator is the matrix that it was made of.
    fn solve(
        &self,
        backend: &B,
        equations: &Equations<B, T>,
        u: &mut Vector<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome>;

    /// Values that its factors store, if it has some.
    fn factor_nonzeros(&self) -> Option<u64> {
        None
    }

    /// The levels of its preconditioner, if it has some.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }
}

impl<B: Backend, T: Real> Iteration<B, T> for Box<dyn Preconditioner<B, T>> {
    fn solve(
        &self,
        backend: &B,
        equations: &Equations<B, T>,
        u: &mut Vector<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        cg(backend, equations, &**self, u, options, monitor)
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
fn norm<B: Backend, T: Real>(backend: &B, x: &Vector<B, T>) -> Result<f64> {
    backend.dot(x, x, NORM)?;
    let [square] = backend.read([NORM])?;
    Ok(square.sqrt())
}

/// The normwise backward error `||r|| / (||K|| ||u|| + ||f||)` (Higham 2002, theorem 7.1), from `[||r||, ||f||]`.
fn backward_error<B: Backend, T: Real>(
    backend: &B,
    equations: &Equations<B, T>,
    u: &Vector<B, T>,
    [residual, norm_f]: [f64; 2],
) -> Result<f64> {
    let scale = equations.norm(backend)? * norm(backend, u)? + norm_f;
    Ok(if scale > 0.0 { residual / scale } else { 0.0 })
}

/// `r = f - K u`; `q` is left with `K u`.
fn residual<B: Backend, T: Real>(
    backend: &B,
    operator: &dyn Operator<B, T>,
    f: &Vector<B, T>,
    u: &Vector<B, T>,
    q: &mut Vector<B, T>,
    r: &mut Vector<B, T>,
) -> Result<()> {
    operator.apply(backend, u, q)?;
    backend.copy(f, r)?;
    backend.axpy(Quotient::MINUS_ONE, q, r)
}
