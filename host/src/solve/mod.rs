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

use crate::device::Buffer;

use crate::linalg::{N_SCALARS, Quotient, Scalar, Space};
use crate::precond::{Hierarchy, Preconditioner};
use crate::result::{Outcome, Result};
use crate::sparse::LinOp;
use kernels_rs::real::Real;

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

/// `r = f - K u`; `q` is left with `K u`.
fn residual<T: Real>(
    space: &Space,
    operator: &dyn LinOp<T>,
    f: &Buffer<T>,
    u: &Buffer<T>,
    q: &mut Buffer<T>,
    r: &mut Buffer<T>,
) -> Result<()> {
    operator.apply(space, u, q)?;
    space.copy(f, r)?;
    space.axpy(Quotient::MINUS_ONE, q, r)
}
