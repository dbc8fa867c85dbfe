//! Solvers of `K u = f`.

mod best;
pub mod cg;
pub mod direct;
pub mod femses;
pub mod iteration;
mod monitor;
mod refine;

pub use cg::{CgOptions, CgOutcome, Ending, Stepping, cg};
pub use femses::{Acceleration, FemsesOptions, femses};
pub use iteration::Iteration;
pub use monitor::{Monitor, Silent};
pub use refine::Refinement;

use crate::backend::{Backend, N_SCALARS, Quotient, Scalar, Vector};
use crate::error::Result;
use crate::sparse::Operator;
use kernels_rs::real::Real;

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
    backend.axpy(-1.0, Quotient::ONE, q, r)
}
