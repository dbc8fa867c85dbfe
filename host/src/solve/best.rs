//! The best iterate so far, kept in case the iteration ends with a worse one.
//!
//! Conjugate gradients make the error smaller at every step, but not the residual, which may rise by orders of
//! magnitude in between; and where the matrix is not what they assume, they run away, as FEMSES does.

use crate::device::Buffer;

use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::real::Real;

/// A residual this much below that of the iterate that is kept makes another worth a copy.
const BETTER: f64 = 0.1;

/// An iterate and its relative residual.
pub(super) struct Best<T: Real> {
    u: Buffer<T>,
    residual: f64,
}

impl<T: Real> Best<T> {
    /// Keeps the first iterate.
    pub(super) fn new(space: &Space, u: &Buffer<T>, n: usize, residual: f64) -> Result<Self> {
        let mut kept = space.zeros(n)?;
        space.copy(u, &mut kept)?;
        Ok(Best { u: kept, residual })
    }

    /// Keeps an iterate if it is much better.
    pub(super) fn see(&mut self, space: &Space, u: &Buffer<T>, residual: f64) -> Result<()> {
        if residual <= BETTER * self.residual {
            space.copy(u, &mut self.u)?;
            self.residual = residual;
        }
        Ok(())
    }

    /// Exchanges the iterate that is kept for one of a larger residual; says whether it did.
    pub(super) fn exchange(&mut self, u: &mut Buffer<T>, residual: f64) -> bool {
        let is_better = self.residual < residual;
        if is_better {
            std::mem::swap(&mut self.u, u);
            self.residual = residual;
        }
        is_better
    }
}
