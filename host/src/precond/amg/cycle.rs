//! The cycle: a V with a Chebyshev polynomial of `D^-1 A` before and after each correction (Adams, Brezina, Hu,
//! Tuminaro 2003).
//!
//! ```text
//! z = q(D^-1 A) D^-1 r,   z += P M_c^-1 P^T (r - A z),   z += q(D^-1 A) D^-1 (r - A z)
//! ```
//!
//! with M_c the cycle of the next level. The polynomial before is the one after, and a polynomial of `D^-1 A` times
//! `D^-1` is symmetric: so is the cycle. It is positive definite as the residual `1 - t q(t)` is below 1 in size on the
//! whole spectrum.
//!
//! An application launches kernels and nothing else.

use super::blocks::{BlockRows, Columns};
use crate::backend::{Backend, Buffer, Vector};
use crate::error::Result;
use crate::precond::chebyshev;
use crate::precond::polynomial::Factors;
use crate::sparse::{Matrix, Operator};
use kernels_rs::amg::transfer::{ProlongCorrection, RestrictResidual};
use kernels_rs::precond::{PolynomialStart, Step};
use kernels_rs::real::Real;
use std::mem::swap;
use std::rc::Rc;

/// Steps of the polynomial.
pub const STEPS: usize = 2;

/// The polynomial reduces the eigenvalues from this part of the largest on: the rest is for the next levels.
const LOWER: f64 = 0.1;

/// The way from a level to the next.
pub struct Transfer<B: Backend, T: Real> {
    prolongator: BlockRows<B, T>,
    columns: Rc<Columns<B>>,
    /// The residual on the next level, and its correction.
    vectors: [Vector<B, T>; 2],
}

impl<B: Backend, T: Real> Transfer<B, T> {
    /// By the prolongator P; `columns` are the blocks of its columns.
    pub fn new(backend: &B, prolongator: BlockRows<B, T>, columns: Rc<Columns<B>>) -> Result<Self> {
        let n = prolongator.shape.n_columns * prolongator.columns;
        Ok(Transfer { prolongator, columns, vectors: [backend.zeros(n)?, backend.zeros(n)?] })
    }
}

/// A level of the cycle.
pub struct Level<B: Backend, T: Real> {
    /// The inverse of the diagonal, `[n]`.
    inverse: Vector<B, T>,
    steps: Vec<Factors>,
    /// The way down; none from the last level that is smoothed.
    transfer: Option<Transfer<B, T>>,
    /// What z was a step before, and a product with the matrix.
    scratch: [Vector<B, T>; 2],
}

/// The matrices below the finest level.
pub struct Matrices<'a, B: Backend, T: Real> {
    /// Of each level that is smoothed.
    pub smoothed: &'a [Matrix<B, T>],
    /// The inverse of the coarsest one, if the last level that is smoothed has a next one.
    pub inverse: Option<&'a Matrix<B, T>>,
}

impl<B: Backend, T: Real> Level<B, T> {
    /// A level whose `D^-1 A` has eigenvalues up to `upper`.
    pub fn new(backend: &B, inverse: Vector<B, T>, upper: f64, transfer: Option<Transfer<B, T>>) -> Result<Self> {
        let n = inverse.len();
        let steps = chebyshev::factors(LOWER * upper, upper).take(STEPS).collect();
        Ok(Level { inverse, steps, transfer, scratch: [backend.zeros(n)?, backend.zeros(n)?] })
    }

    /// Bytes of what it has besides its matrix.
    pub fn bytes(&self) -> u64 {
        let vectors =
            |vectors: &[&Vector<B, T>]| vectors.iter().map(|v| (v.len() * size_of::<T>()) as u64).sum::<u64>();
        let [z, product] = &self.scratch;
        let transfer = self.transfer.as_ref().map_or(0, |Transfer { prolongator, columns, vectors: [r, z] }| {
            prolongator.bytes() + columns.bytes() + vectors(&[r, z])
        });
        transfer + vectors(&[&self.inverse, z, product])
    }
}

/// `z = M^-1 r` of the first of the levels, whose matrix is `operator`.
pub fn cycle<B: Backend, T: Real>(
    backend: &B,
    levels: &mut [Level<B, T>],
    below: Matrices<B, T>,
    operator: &dyn Operator<B, T>,
    r: &Vector<B, T>,
    z: &mut Vector<B, T>,
) -> Result<()> {
    let Some((Level { inverse, steps, transfer, scratch: [other, product] }, rest)) = levels.split_first_mut() else {
        unreachable!("a hierarchy has its finest level")
    };
    assert!([r.len(), z.len()] == [inverse.len(); 2], "vectors of another length than the matrix");
    let smoother = Smoother { backend, operator, inverse, steps, r };
    let Some(Transfer { prolongator, columns, vectors: [coarse_r, coarse_z] }) = transfer else {
        return smoother.start(z, other, product);
    };
    // The correction goes from one of the vectors to the other, and each step too: the last one is to end in z.
    let (before, after) = if steps.len().is_multiple_of(2) { (other, z) } else { (z, other) };
    smoother.start(before, after, product)?;
    operator.apply(backend, before, product)?;
    let (p, members) = (prolongator.view(), columns.view());
    let kernel =
        RestrictResidual { prolongator: p, members, r: r.view(), q: product.view(), coarse: coarse_r.view_mut() };
    // SAFETY: all live and have the unknowns of this level, or of the next; `coarse_r` is borrowed uniquely.
    unsafe { backend.run(coarse_r.len(), kernel) }?;
    match (below.smoothed, below.inverse) {
        ([next, others @ ..], inverse) => {
            cycle(backend, rest, Matrices { smoothed: others, inverse }, next, coarse_r, coarse_z)?;
        }
        ([], Some(inverse)) => inverse.apply(backend, coarse_r, coarse_z)?,
        ([], None) => unreachable!("there is a level to go to"),
    }
    let kernel = ProlongCorrection { prolongator: p, coarse: coarse_z.view(), z: before.view(), to: after.view_mut() };
    // SAFETY: as above; `after` is borrowed uniquely.
    unsafe { backend.run(before.len(), kernel) }?;
    let (z, other) = if steps.len().is_multiple_of(2) { (after, before) } else { (before, after) };
    smoother.go_on(z, other, product)
}

/// The polynomial of a level, for a right-hand side.
struct Smoother<'a, B: Backend, T: Real> {
    backend: &'a B,
    operator: &'a dyn Operator<B, T>,
    inverse: &'a Vector<B, T>,
    steps: &'a [Factors],
    r: &'a Vector<B, T>,
}

impl<B: Backend, T: Real> Smoother<'_, B, T> {
    /// `z = q(D^-1 A) D^-1 r`.
    fn start(&self, z: &mut Vector<B, T>, other: &mut Vector<B, T>, product: &mut Vector<B, T>) -> Result<()> {
        let first = if self.steps.len().is_multiple_of(2) { &mut *other } else { &mut *z };
        let factor = T::from_f64(self.steps[0][2]);
        let kernel = PolynomialStart { factor, inverse: self.inverse.view(), r: self.r.view(), z: first.view_mut() };
        // SAFETY: all live and have the level's unknowns; the result is borrowed uniquely.
        unsafe { self.backend.run(self.inverse.len(), kernel) }?;
        let mut steps = self.steps[1..].to_vec();
        // Before the second step z_old is 0.
        steps.iter_mut().take(1).for_each(|[_, b, _]| *b = 0.0);
        self.take(&steps, z, other, product)
    }

    /// `z += q(D^-1 A) D^-1 (r - A z)`, from the z that is in `z` if the steps are even in number, and else in `other`.
    fn go_on(&self, z: &mut Vector<B, T>, other: &mut Vector<B, T>, product: &mut Vector<B, T>) -> Result<()> {
        self.take(self.steps, z, other, product)
    }

    /// Takes steps, from one of the vectors to the other and back; the last one leaves its result in z.
    fn take(
        &self,
        steps: &[Factors],
        z: &mut Vector<B, T>,
        other: &mut Vector<B, T>,
        product: &mut Vector<B, T>,
    ) -> Result<()> {
        let (mut current, mut other) = if steps.len().is_multiple_of(2) { (z, other) } else { (other, z) };
        for factors in steps {
            let step = Step {
                factors: factors.map(T::from_f64),
                inverse: self.inverse.view(),
                r: self.r.view(),
                previous: other.view_mut(),
            };
            // SAFETY: all live, have the level's unknowns and are different; `other` is borrowed uniquely.
            unsafe { self.operator.apply_step(self.backend, step, current, product) }?;
            swap(&mut current, &mut other);
        }
        Ok(())
    }
}
