//! The cycle: a Chebyshev polynomial of `D^-1 A` before and after each correction (Adams, Brezina, Hu, Tuminaro 2003).
//!
//! ```text
//! z = q(D^-1 A) D^-1 r,   z += P c, A_c c ~ P^T (r - A z),   z += q(D^-1 A) D^-1 (r - A z)
//! ```
//!
//! The correction c is exact on the coarsest level. On others it comes from some steps of flexible conjugate gradients,
//! each with the next level's cycle as preconditioner: the K-cycle (Notay, Vassilevski 2008). On all levels that is for
//! thin bodies, whose bending a single cycle, a V, solves badly, level by level worse. Two steps do, and four where
//! elements are flat: a shell of 32 x 32 x 1 hex20, 1/100 thick, takes 38 iterations, not 70. Compact bodies have two steps
//! on the first coarse level alone, and those of quadratic or stretched elements, whose first coarse level is large, on the
//! others: iterations then do not grow with the mesh. With a V a cube of hex8 takes 9 of 6,591 unknowns and 12 of 3 million.
//!
//! The polynomial before is the one after, and a polynomial of `D^-1 A` times `D^-1` is symmetric: so is a cycle of two
//! levels, and a V. It is positive definite as the residual `1 - t q(t)` is below 1 in size on the whole spectrum. The
//! coefficients of a K's steps depend on r, and the iteration outside has to be flexible too.
//!
//! An application launches kernels and nothing else.

use super::blocks::{BlockRows, Columns};
use super::smoother::{Equations, Smoother};
use crate::device::Buffer;
use crate::linalg::{N_SCALARS, Quotient, Scalar, Space};
use crate::result::Result;
use crate::sparse::{LinOp, Matrix};
use kernels_rs::amg::transfer::{AddShares, ProlongCorrection, RestrictShare, SHARES};
use kernels_rs::real::Real;
use std::mem::swap;
use std::rc::Rc;

/// The way from a level to the next.
pub struct Transfer<T: Real> {
    prolongator: Rc<BlockRows<T>>,
    columns: Rc<Columns>,
    /// Of the residual that comes to the next level, see [`RestrictShare`].
    shares: Buffer<T>,
    /// On the next level: the residual, its correction, and what conjugate gradients take besides.
    vectors: [Buffer<T>; 5],
}

impl<T: Real> Transfer<T> {
    /// By the prolongator P; `columns` are the blocks of its columns.
    pub fn new(space: &Space, prolongator: Rc<BlockRows<T>>, columns: Rc<Columns>) -> Result<Self> {
        let n = prolongator.shape.n_columns * prolongator.columns;
        let zeros = || space.zeros(n);
        let shares = space.zeros(n * SHARES)?;
        let vectors = [zeros()?, zeros()?, zeros()?, zeros()?, zeros()?];
        Ok(Transfer { prolongator, columns, shares, vectors })
    }

    /// Takes `P^T (r - q)` to the next level.
    fn restrict(&mut self, space: &Space, r: &Buffer<T>, q: &Buffer<T>) -> Result<()> {
        let (prolongator, members) = (self.prolongator.view(), self.columns.view());
        let (r, q, shares) = (r.view(), q.view(), self.shares.view_mut());
        let (columns, coarse) = (prolongator.columns, &mut self.vectors[0]);
        let n_shares = coarse.len() / columns * SHARES;
        // SAFETY: all live and have the unknowns of this level, or of the next; the vectors are borrowed uniquely.
        unsafe {
            match columns {
                1 => space.run(n_shares, RestrictShare::<T, 1> { prolongator, members, r, q, shares }),
                2 => space.run(n_shares, RestrictShare::<T, 2> { prolongator, members, r, q, shares }),
                3 => space.run(n_shares, RestrictShare::<T, 3> { prolongator, members, r, q, shares }),
                _ => space.run(n_shares, RestrictShare::<T, 6> { prolongator, members, r, q, shares }),
            }?;
            let shares = self.shares.view();
            space.run(coarse.len(), AddShares { columns, shares, coarse: coarse.view_mut() })
        }
    }
}

/// A level of the cycle.
pub struct Level<T: Real> {
    smoother: Smoother<T>,
    /// The way down; none from the last level that is smoothed.
    transfer: Option<Transfer<T>>,
    /// What z was a step before, and a product with the matrix.
    scratch: [Buffer<T>; 2],
}

/// The matrices below the finest level.
pub struct Matrices<'a, T: Real> {
    /// Of each level that is smoothed.
    pub smoothed: &'a [Rc<Matrix<T>>],
    /// The inverse of the coarsest one, if the last level that is smoothed has a next one.
    pub inverse: Option<&'a Matrix<T>>,
    /// Steps of conjugate gradients on the first of these levels, and on each of the others; 1 for the cycle alone, a V.
    pub steps: [usize; 2],
}

impl<T: Real> Level<T> {
    /// A level with its way down.
    pub fn new(space: &Space, smoother: Smoother<T>, transfer: Option<Transfer<T>>) -> Result<Self> {
        let scratch = [space.zeros(smoother.n())?, space.zeros(smoother.n())?];
        Ok(Level { smoother, transfer, scratch })
    }

    /// Bytes of what it has besides its matrix.
    pub fn bytes(&self) -> u64 {
        let of = |vectors: &[Buffer<T>]| vectors.iter().map(Buffer::bytes).sum::<u64>();
        let transfer = self.transfer.as_ref().map_or(0, |Transfer { prolongator, columns, shares, vectors }| {
            prolongator.bytes() + columns.bytes() + of(vectors) + shares.bytes()
        });
        transfer + self.smoother.bytes() + of(&self.scratch)
    }
}

/// `z = M^-1 r` of the first of the levels, whose matrix is `operator`.
pub fn cycle<T: Real>(
    space: &Space,
    levels: &mut [Level<T>],
    below: &Matrices<T>,
    operator: &dyn LinOp<T>,
    r: &Buffer<T>,
    z: &mut Buffer<T>,
) -> Result<()> {
    let Some((Level { smoother, transfer, scratch: [other, product] }, rest)) = levels.split_first_mut() else {
        unreachable!("a hierarchy has its finest level")
    };
    let of = Equations { space, operator, r };
    let Some(transfer) = transfer else {
        return smoother.start(&of, [z, other, product]);
    };
    // The correction goes from one of the vectors to the other, and each step too: the last one is to end in z.
    let (before, after) = if smoother.is_even() { (other, z) } else { (z, other) };
    smoother.start(&of, [&mut *before, &mut *after, &mut *product])?;
    operator.apply(space, before, product)?;
    transfer.restrict(space, r, product)?;
    let Transfer { prolongator, vectors: on_next, .. } = transfer;
    match (below.smoothed, below.inverse) {
        ([next, others @ ..], inverse) => {
            let [steps, on_others] = below.steps;
            let below = Matrices { smoothed: others, inverse, steps: [on_others; 2] };
            if steps > 1 {
                conjugate_gradients(space, rest, &below, steps, next, on_next)?;
            } else {
                let [r, z, ..] = on_next;
                cycle(space, rest, &below, &**next, r, z)?;
            }
        }
        ([], Some(inverse)) => {
            let [r, z, ..] = on_next;
            inverse.apply(space, r, z)?;
        }
        ([], None) => unreachable!("there is a level to go to"),
    }
    let kernel = ProlongCorrection {
        prolongator: prolongator.view(),
        coarse: on_next[1].view(),
        z: before.view(),
        to: after.view_mut(),
    };
    // SAFETY: all live and have the unknowns of this level, or of the next; `after` is borrowed uniquely.
    unsafe { space.run(before.len(), kernel) }?;
    let (z, other) = if smoother.is_even() { (after, before) } else { (before, after) };
    smoother.go_on(&of, [z, other, product])
}

/// Scalars that [`conjugate_gradients`] has on a level: the last ones of the bank but for two that others have, as the
/// iteration outside has the first.
const SCALARS: usize = 5;

/// `x ~ A^-1 r` on the first of the levels, whose matrix is `a`, by some steps of flexible conjugate gradients, two or
/// more, that its cycle preconditions. r becomes the residual before the last step.
///
/// ```text
/// x = M^-1 r,   v = A x,   alpha = x.r / x.v,   r -= alpha v
/// p = M^-1 r - (v . M^-1 r / x.v) x,   v = A p,   gamma = p.r / p.v,   x = alpha x + gamma p,   r -= gamma v
/// p = M^-1 r - (v . M^-1 r / p.v) p,   v = A p,   gamma = p.r / p.v,   x += gamma p,   and so on
/// ```
fn conjugate_gradients<T: Real>(
    space: &Space,
    levels: &mut [Level<T>],
    below: &Matrices<T>,
    steps: usize,
    a: &Matrix<T>,
    [r, x, v, p, next]: &mut [Buffer<T>; 5],
) -> Result<()> {
    let first = N_SCALARS - 3 - SCALARS * levels.len();
    let [xr, xv, vp, pr, pv] = core::array::from_fn(|i| Scalar::new(first + i));
    cycle(space, levels, below, a, r, x)?;
    a.apply_dot(space, x, v, xv)?;
    space.dot(x, r, xr)?;
    let (alpha, gamma) = (Quotient::new(xr, xv), Quotient::new(pr, pv));
    space.axpy(alpha.minus(), v, r)?;
    cycle(space, levels, below, a, r, p)?;
    space.dot(v, p, vp)?;
    space.axpy(Quotient::new(vp, xv).minus(), x, p)?;
    a.apply_dot(space, p, v, pv)?;
    space.dot(p, r, pr)?;
    space.axpby([gamma, alpha], p, x)?;
    let (mut p, mut next) = (p, next);
    for _ in 2..steps {
        space.axpy(gamma.minus(), v, r)?;
        cycle(space, levels, below, a, r, next)?;
        space.dot(v, next, vp)?;
        space.axpy(Quotient::new(vp, pv).minus(), p, next)?;
        swap(&mut p, &mut next);
        a.apply_dot(space, p, v, pv)?;
        space.dot(p, r, pr)?;
        space.axpy(gamma, p, x)?;
    }
    Ok(())
}
