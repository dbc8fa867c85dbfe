//! Polynomial preconditioners: `M^-1 = p(D^-1 K) D^-1` (Saad 2003, sec. 12.3; SBELL sec. 2 and 5.3).
//!
//! SBELL scales rows and columns first, `A = D^-1/2 K D^-1/2`, and applies p to A. In the unknowns of K that is
//!
//! ```text
//! D^-1/2 p(D^-1/2 K D^-1/2) D^-1/2 = p(D^-1 K) D^-1
//! ```
//!
//! term by term, as `D^-1/2 A^j D^-1/2 = (D^-1 K)^j D^-1`: symmetric, with A's spectrum, and of K's own values.
//!
//! Each polynomial is what some steps of an iteration for `K z = r` make of `z = 0`, see [`kernels_rs::precond`]. With
//! `1 - t p(t)`, the residual, between -1 and 1 on the spectrum, t p(t) is positive there, and so is `M^-1`.

use super::spectrum::{self, Spectrum};
use super::{Build, Context, Preconditioner};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{Epilogue, LinOp};
use kernels_rs::precond::{PolynomialStart, Step};
use kernels_rs::real::Real;
use std::cell::RefCell;
use std::marker::PhantomData;

/// The numbers a, b, c of the step `z_new = a z + b z_old + c D^-1 (r - K z)`.
pub type Factors = [f64; 3];

/// A family of polynomials, of which every order has a member.
pub trait Family: 'static {
    /// The steps of the polynomial of an order, that many and the first, which starts from zero: of that only c counts.
    fn steps(order: usize, spectrum: Spectrum) -> Vec<Factors>;
}

/// A polynomial of a family.
pub struct Polynomial<T: Real, F> {
    inverse: Buffer<T>,
    steps: Vec<Factors>,
    /// What z was a step before, and a product with the matrix.
    scratch: RefCell<[Buffer<T>; 2]>,
    family: PhantomData<F>,
}

impl<T: Real, F: Family> Polynomial<T, F> {
    /// The polynomial of an order for an operator, whose diagonal has this inverse. Rows where that is 0 are left out.
    pub fn of(space: &Space, operator: &dyn LinOp<T>, inverse: Buffer<T>, order: usize) -> Result<Self> {
        let steps = F::steps(order, spectrum::estimate(space, operator, &inverse, spectrum::STEPS)?);
        let scratch = RefCell::new([space.zeros(operator.n())?, space.zeros(operator.n())?]);
        Ok(Polynomial { inverse, steps, scratch, family: PhantomData })
    }
}

impl<T: Real, F: Family> Preconditioner<T> for Polynomial<T, F> {
    fn apply(&self, space: &Space, operator: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        assert!([r.len(), z.len()] == [self.inverse.len(); 2], "vectors of another length than the matrix");
        let [previous, product] = &mut *self.scratch.borrow_mut();
        // The two change places after every step, and the last result is to be in z.
        let (mut current, mut other) = (z, previous);
        if self.products() % 2 == 1 {
            (current, other) = (other, current);
        }
        // The first step, from zero.
        let (factor, inverse) = (T::from_f64(self.steps[0][2]), self.inverse.view());
        let kernel = PolynomialStart { factor, inverse, r: r.view(), z: current.view_mut() };
        // SAFETY: all live and have the same length; the result is borrowed uniquely.
        unsafe { space.run(current.len(), kernel) }?;
        for factors in &self.steps[1..] {
            let step = Step { factors: factors.map(T::from_f64), inverse, r: r.view(), previous: other.view_mut() };
            // SAFETY: all live, have the length checked above and are different; `other` is borrowed uniquely.
            unsafe { operator.apply_then(space, current, product, Epilogue::Step(step)) }?;
            (current, other) = (other, current);
        }
        Ok(())
    }

    fn products(&self) -> usize {
        self.steps.len() - 1
    }
}

impl<T: Real, F: Family> Build<T> for Polynomial<T, F> {
    const HAS_ORDER: bool = true;
    const READS_MATRIX: bool = true;

    fn of_operator(space: &Space, operator: &dyn LinOp<T>, inverse: Buffer<T>, context: &Context) -> Result<Self> {
        Polynomial::of(space, operator, inverse, context.order)
    }
}

/// The truncated Neumann series of `D^-1 K`, `p(t) = omega (1 + s + .. + s^m)`, `s = 1 - omega t` (SBELL sec. 2; Saad 2003,
/// sec. 12.3.1).
///
/// The residual is `1 - t p(t) = (1 - omega t)^(m + 1)`. With `omega = 1 / upper` it lies between 0 and 1 on the
/// spectrum whether m is even or odd. It divides the condition number by about m + 1, with m + 1 products.
pub type Neumann<T> = Polynomial<T, Series>;

/// Partial sums of the Neumann series.
pub struct Series;

impl Family for Series {
    /// `z_new = z + omega D^-1 (r - K z)`: one more term of the series.
    fn steps(order: usize, spectrum: Spectrum) -> Vec<Factors> {
        vec![[1.0, 0.0, 1.0 / spectrum.upper]; order + 1]
    }
}
