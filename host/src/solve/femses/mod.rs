//! FEMSES (sec. 4.3) and what accelerates it, on element matrices alone: K is never assembled.
//!
//! | acceleration | iteration | iterations on n nodes in the plane |
//! | --- | --- | --- |
//! | none | `u += D^-1 (f - K u)`: FEMSES, which is Jacobi's iteration ([`kernels_rs::femses`]) | like n |
//! | chebyshev | Chebyshev's semi-iteration (Saad 2003, alg. 12.1; Hageman and Young 1981, ch. 5): [`chebyshev`] | like n^1/2 |
//! | cg | conjugate gradients, preconditioned by some steps of FEMSES: the truncated Neumann series | like n^1/2 |
//!
//! The spectral radius of Jacobi's iteration is `1 - O(h^2)` whatever the boundary conditions, which is why the thesis
//! sees its iterations grow as fast as the unknowns and faster: see docs/femses.md.
//!
//! Each step leaves the square of its residual on the device; the host looks every [`CHECK_EVERY`] steps.

pub mod chebyshev;
mod sweeps;

use super::cg::{CgOptions, cg};
use super::{EnergyNorm, Equations, Monitor};
use crate::assembly::ElementOperator;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::Neumann;
use crate::result::choices::Acceleration;
use crate::result::{Measure, Outcome, Result};
use kernels_rs::real::Real;
pub use sweeps::CHECK_EVERY;

/// How the local solutions of a step are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Update {
    /// By each node from the cells around it: one launch, and the same bits every time.
    #[default]
    Gather,
    /// By each cell into its nodes, as the thesis does: atomics, in blocks of a number of threads. Without
    /// acceleration.
    Atomic {
        /// Threads of a block.
        threads: usize,
    },
}

/// How to iterate, and how far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FemsesOptions {
    /// What is good enough.
    pub tolerance: f64,
    /// What it is on.
    pub measure: Measure,
    /// Where to give up.
    pub max_iterations: usize,
    /// What makes it faster.
    pub acceleration: Acceleration,
    /// Steps of FEMSES in the preconditioner of conjugate gradients after the first.
    pub order: usize,
    /// How local solutions are put together.
    pub update: Update,
}

impl FemsesOptions {
    /// On the residual, with an acceleration, by gathering.
    pub const fn new(tolerance: f64, max_iterations: usize, acceleration: Acceleration) -> Self {
        let (measure, update) = (Measure::Residual, Update::Gather);
        FemsesOptions { tolerance, measure, max_iterations, acceleration, order: 1, update }
    }
}

/// Solves `K u = f` from the `u` given; f and u are 0 where a value is prescribed. `energy` is needed where the
/// tolerance is on the error in it.
///
/// # Errors
/// [`Error::Breakdown`](crate::result::Error::Breakdown) if numbers overflow,
/// [`Error::OutOfMemory`](crate::result::Error::OutOfMemory).
pub fn femses<T: Real>(
    space: &Space,
    operator: &ElementOperator<T>,
    f: &Buffer<T>,
    energy: Option<&EnergyNorm<T>>,
    u: &mut Buffer<T>,
    options: FemsesOptions,
    monitor: &dyn Monitor,
) -> Result<Outcome> {
    let equations = Equations::new(operator, f).measured(energy);
    if options.acceleration != Acceleration::Cg {
        return sweeps::iterate(space, operator, &equations, u, options, monitor);
    }
    let mut inverse = space.zeros(u.len())?;
    space.copy(operator.inverse_diagonal(), &mut inverse)?;
    let sweeps = Neumann::of(space, operator, inverse, options.order)?;
    let until = CgOptions { measure: options.measure, ..CgOptions::new(options.tolerance, options.max_iterations) };
    cg(space, &equations, &sweeps, u, until, monitor)
}
