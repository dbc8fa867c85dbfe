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
//! An application launches kernels and nothing else. Several vectors go through the cycle together: what reads matrices reads
//! them once for all, and the bits of each are those that it has alone.

use super::MOST_LEVELS;
use super::across::{Across, Gathered};
use super::blocks::{BlockRows, Columns};
use super::smoother::{Equations, Smoother};
use crate::device::Buffer;
use crate::linalg::{N_SCALARS, Quotient, Scalar, Space, views, views_mut};
use crate::result::Result;
use crate::sparse::{Halo, LinOp, Matrix, Shared};
use kernels_rs::amg::transfer::{AddShares, ProlongCorrection, RestrictShare, SHARES};
use kernels_rs::real::Real;
use kernels_rs::vectors::{NARROW, WIDTH};
use std::array;
use std::mem::swap;
use std::rc::Rc;
use std::slice;

/// The way from a level to the next.
pub struct Transfer<T: Real> {
    prolongator: Rc<BlockRows<T>>,
    columns: Rc<Columns>,
    /// Of the residuals that come to the next level, see [`RestrictShare`]: of one vector, and of all that go at once.
    shares: [Buffer<T>; 2],
    /// On the next level, of each vector that goes through the cycle: the residual, its correction, and what conjugate
    /// gradients take besides.
    vectors: [Vec<Buffer<T>>; 5],
    /// What ranks have of each other's.
    across: Option<Across<T>>,
}

impl<T: Real> Transfer<T> {
    /// By the prolongator P; `columns` are the blocks of its columns.
    pub fn new(space: &Space, prolongator: Rc<BlockRows<T>>, columns: Rc<Columns>) -> Result<Self> {
        let mut transfer = Transfer {
            prolongator,
            columns,
            shares: [space.zeros(0)?, space.zeros(0)?],
            vectors: array::from_fn(|_| vec![]),
            across: None,
        };
        transfer.widen(space, 1)?;
        Ok(transfer)
    }

    /// The same with what other ranks have of it.
    pub fn across(self, across: Option<Across<T>>) -> Self {
        Transfer { across, ..self }
    }

    /// See [`Level::gather`].
    fn gather(&mut self, space: &Space, gathered: Gathered<T>) -> Result<()> {
        let Some(across) = &mut self.across else { unreachable!("ranks share this level") };
        let n = gathered.n();
        across.gathered = Some(gathered);
        for vectors in &mut self.vectors {
            *vectors = vec![space.zeros(n)?];
        }
        Ok(())
    }

    /// Unknowns of the next level.
    pub fn n_coarse(&self) -> usize {
        self.prolongator.shape.n_columns * self.prolongator.columns
    }

    /// The residuals on the next level, and their corrections.
    pub fn on_next(&mut self) -> [&mut Vec<Buffer<T>>; 2] {
        let [r, z, ..] = &mut self.vectors;
        [r, z]
    }

    /// Makes room for so many vectors.
    pub fn widen(&mut self, space: &Space, width: usize) -> Result<()> {
        let n = self.n_coarse();
        let (shares, factor) = if is_one_by_one(space, width) { (0, 1) } else { (1, WIDTH) };
        if self.shares[shares].is_empty() {
            self.shares[shares] = space.zeros(n * SHARES * factor)?;
        }
        self.vectors.iter_mut().try_for_each(|vectors| space.widen(vectors, n, width))
    }

    /// Takes `P^T (r - q)` to the next level; q is scratch afterwards.
    fn restrict(&mut self, space: &Space, r: &[Buffer<T>], q: &mut [Buffer<T>]) -> Result<()> {
        if let Some(across) = self.across.take() {
            let restricted = self.restrict_across(space, &across, &r[0], &mut q[0]);
            self.across = Some(across);
            return restricted;
        }
        if !is_one_by_one(space, r.len()) {
            return match space.is_idle_with(self.n_coarse()) {
                true => self.restrict_parts::<NARROW>(space, (r, q), 0),
                false => self.restrict_parts::<WIDTH>(space, (r, q), 0),
            };
        }
        (0..r.len()).try_for_each(|k| self.restrict_parts::<1>(space, (&r[k..=k], &q[k..=k]), k))
    }

    /// The same of some vectors, W a thread, to those of the next level from one on.
    pub fn restrict_parts<const W: usize>(
        &mut self,
        space: &Space,
        (r, q): (&[Buffer<T>], &[Buffer<T>]),
        first: usize,
    ) -> Result<()> {
        let (n, width) = (self.n_coarse(), r.len());
        let (prolongator, members) = (self.prolongator.view(), self.columns.view());
        let of_shares = &mut self.shares[usize::from(W > 1)];
        let (r, q, shares) = (views(r), views(q), of_shares.view_mut());
        let columns = prolongator.columns;
        let n_shares = n * SHARES;
        let (n_items, parts) = (n_shares * width.div_ceil(W), width.div_ceil(W));
        // SAFETY: all live and have the unknowns of this level, or of the next; the vectors are borrowed uniquely.
        unsafe {
            match columns {
                1 => space.run(n_items, RestrictShare::<T, 1, W> { n_shares, prolongator, members, r, q, shares }),
                2 => space.run(n_items, RestrictShare::<T, 2, W> { n_shares, prolongator, members, r, q, shares }),
                3 => space.run(n_items, RestrictShare::<T, 3, W> { n_shares, prolongator, members, r, q, shares }),
                _ => space.run(n_items, RestrictShare::<T, 6, W> { n_shares, prolongator, members, r, q, shares }),
            }?;
            let coarse = views_mut(&mut self.vectors[0][first..first + width]);
            space.run(n * parts, AddShares::<T, W> { n, columns, shares: of_shares.view(), coarse })
        }
    }

    /// Sets `to = z + P c`, c the next level's corrections.
    fn prolong(&mut self, space: &Space, z: &[Buffer<T>], to: &mut [Buffer<T>]) -> Result<()> {
        if let Some(across) = self.across.take() {
            let prolonged = self.prolong_across(space, &across, &z[0], &mut to[0]);
            self.across = Some(across);
            return prolonged;
        }
        if !is_one_by_one(space, z.len()) {
            return match space.is_idle_with(z[0].len()) {
                true => self.prolong_parts::<NARROW>(space, z, to, 0),
                false => self.prolong_parts::<WIDTH>(space, z, to, 0),
            };
        }
        (0..z.len()).try_for_each(|k| self.prolong_parts::<1>(space, &z[k..=k], &mut to[k..=k], k))
    }

    /// The same of some vectors, W a thread, from those of the next level from one on.
    pub fn prolong_parts<const W: usize>(
        &self,
        space: &Space,
        z: &[Buffer<T>],
        to: &mut [Buffer<T>],
        first: usize,
    ) -> Result<()> {
        let (n, width, prolongator) = (z[0].len(), z.len(), self.prolongator.view());
        let (coarse, z, to) = (views(&self.vectors[1][first..first + width]), views(z), views_mut(to));
        let kernel = ProlongCorrection::<T, W> { n, prolongator, coarse, z, to };
        // SAFETY: all live and have the unknowns of this level, or of the next; `to` is borrowed uniquely.
        unsafe { space.run(n * width.div_ceil(W), kernel) }
    }

    /// `P^T (r - q)` where ranks share the levels; q is scratch afterwards.
    fn restrict_across(
        &mut self,
        space: &Space,
        Across { down, gathered, .. }: &Across<T>,
        r: &Buffer<T>,
        q: &mut Buffer<T>,
    ) -> Result<()> {
        if let Some(gathered) = gathered {
            swap(&mut self.vectors[0][0], &mut gathered.vectors.borrow_mut()[0]);
        }
        self.restrict_parts::<1>(space, (slice::from_ref(r), slice::from_ref(q)), 0)?;
        space.xpby(r, Quotient::MINUS_ONE, q)?;
        let coarse = &mut self.vectors[0][0];
        down.add(space, q, coarse)?;
        if let Some(gathered) = gathered {
            let own = &mut gathered.vectors.borrow_mut()[0];
            swap(coarse, own);
            gathered.join(space, own, coarse)?;
        }
        Ok(())
    }

    /// `to = z + P c` where ranks share the levels.
    fn prolong_across(
        &mut self,
        space: &Space,
        Across { up, gathered, .. }: &Across<T>,
        z: &Buffer<T>,
        to: &mut Buffer<T>,
    ) -> Result<()> {
        let exchange = |transfer: &mut Self| {
            let vectors = gathered.as_ref().map(|gathered| gathered.vectors.borrow_mut());
            vectors.into_iter().for_each(|mut vectors| swap(&mut transfer.vectors[1][0], &mut vectors[1]));
        };
        if let Some(gathered) = gathered {
            gathered.part(space, &self.vectors[1][0], &mut gathered.vectors.borrow_mut()[1])?;
        }
        exchange(self);
        self.prolong_parts::<1>(space, slice::from_ref(z), slice::from_mut(to), 0)?;
        up.add(space, &self.vectors[1][0], to)?;
        exchange(self);
        Ok(())
    }
}

/// Whether vectors go through transfers one after the other: a single one, and all on the CPU.
fn is_one_by_one(space: &Space, width: usize) -> bool {
    width == 1 || space.on_host()
}

/// A level of the cycle.
pub struct Level<T: Real> {
    smoother: Smoother<T>,
    /// The way down; none from the last level that is smoothed.
    transfer: Option<Transfer<T>>,
    /// Of each vector that goes through the cycle: what z was a step before, and a product with the matrix.
    scratch: [Vec<Buffer<T>>; 2],
}

/// The matrix of a level below the finest.
pub struct LevelMatrix<T: Real> {
    /// The matrix, or a rank's own rows and columns of it.
    pub matrix: Rc<Matrix<T>>,
    /// What these rows have of other ranks' nodes.
    pub halo: Option<Halo<T>>,
}

/// The matrices below the finest level.
pub struct Matrices<'a, T: Real> {
    /// Of each level that is smoothed.
    pub smoothed: &'a [LevelMatrix<T>],
    /// The inverse of the coarsest one, if the last level that is smoothed has a next one.
    pub inverse: Option<&'a Matrix<T>>,
    /// Steps of conjugate gradients on the first of these levels, and on each of the others; 1 for the cycle alone, a V.
    pub steps: [usize; 2],
}

impl<T: Real> Level<T> {
    /// A level with its way down.
    pub fn new(space: &Space, smoother: Smoother<T>, transfer: Option<Transfer<T>>) -> Result<Self> {
        let mut level = Level { smoother, transfer, scratch: [vec![], vec![]] };
        level.widen(space, 1)?;
        Ok(level)
    }

    /// Makes room for so many vectors.
    pub fn widen(&mut self, space: &Space, width: usize) -> Result<()> {
        let n = self.smoother.n();
        self.scratch.iter_mut().try_for_each(|vectors| space.widen(vectors, n, width))?;
        self.transfer.iter_mut().try_for_each(|transfer| transfer.widen(space, width))
    }

    /// From now on the next level is on each rank as a whole.
    pub fn gather(&mut self, space: &Space, gathered: Gathered<T>) -> Result<()> {
        let Some(transfer) = &mut self.transfer else { unreachable!("there is a way to the next level") };
        transfer.gather(space, gathered)
    }

    /// Bytes of what it has besides its matrix.
    pub fn bytes(&self) -> u64 {
        let of = |vectors: &[Vec<Buffer<T>>]| vectors.iter().flatten().map(Buffer::bytes).sum::<u64>();
        let transfer =
            self.transfer.as_ref().map_or(0, |Transfer { prolongator, columns, shares, vectors, .. }| {
                prolongator.bytes() + columns.bytes() + of(vectors) + shares.iter().map(Buffer::bytes).sum::<u64>()
            });
        transfer + self.smoother.bytes() + of(&self.scratch)
    }
}

/// `z = M^-1 r` of the first of the levels, whose matrix is `operator`, for as many vectors as the levels have room for.
pub fn cycle<T: Real>(
    space: &Space,
    levels: &mut [Level<T>],
    below: &Matrices<T>,
    operator: &dyn LinOp<T>,
    r: &[Buffer<T>],
    z: &mut [Buffer<T>],
) -> Result<()> {
    let Some((Level { smoother, transfer, scratch }, rest)) = levels.split_first_mut() else {
        unreachable!("a hierarchy has its finest level")
    };
    let [other, product] = scratch.each_mut().map(|vectors| &mut vectors[..r.len()]);
    let of = Equations { space, operator, r };
    let Some(transfer) = transfer else {
        return smoother.start(&of, [z, other, product]);
    };
    // The correction goes from one of the vectors to the other, and each step too: the last one is to end in z.
    let (before, after) = if smoother.is_even() { (other, z) } else { (z, other) };
    smoother.start(&of, [&mut *before, &mut *after, &mut *product])?;
    operator.apply_all(space, before, product)?;
    transfer.restrict(space, r, product)?;
    let is_whole = transfer.across.as_ref().is_some_and(|across| across.gathered.is_some());
    let on_next = transfer.vectors.each_mut().map(|vectors| &mut vectors[..r.len()]);
    match (below.smoothed, below.inverse) {
        ([next, others @ ..], inverse) => {
            let [steps, on_others] = below.steps;
            let below = Matrices { smoothed: others, inverse, steps: [on_others; 2] };
            let next = Shared::new(&*next.matrix, next.halo.as_ref());
            let solve = || {
                if steps > 1 {
                    return conjugate_gradients(space, rest, &below, steps, next.operator(), on_next);
                }
                let [r, z, ..] = on_next;
                cycle(space, rest, &below, next.operator(), r, z)
            };
            if is_whole { space.apart(solve) } else { solve() }?;
        }
        ([], Some(inverse)) => {
            let [r, z, ..] = on_next;
            inverse.apply_all(space, r, z)?;
        }
        ([], None) => unreachable!("there is a level to go to"),
    }
    transfer.prolong(space, before, after)?;
    let (z, other) = if smoother.is_even() { (after, before) } else { (before, after) };
    smoother.go_on(&of, [z, other, product])
}

/// Scalars that [`conjugate_gradients`] has on a level for a vector: the last ones of the bank but for those that others have,
/// as the iteration outside has the first.
const SCALARS: usize = 5;
/// Scalars at the end of the bank that others have: hubs, norms, operators of elements, and the constant 1.
const OF_OTHERS: usize = 5;
/// That of `hubs` among them.
pub(super) const OF_HUBS: Scalar = Scalar::new(N_SCALARS - OF_OTHERS);
/// All of them together.
pub const MOST_SCALARS: usize = OF_OTHERS + SCALARS * WIDTH * MOST_LEVELS;

/// `x ~ A^-1 r` on the first of the levels, whose matrix is `a`, by some steps of flexible conjugate gradients, two or
/// more, that its cycle preconditions, for each vector. r becomes the residual before the last step.
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
    a: &dyn LinOp<T>,
    [r, x, v, p, next]: [&mut [Buffer<T>]; 5],
) -> Result<()> {
    let (width, depth) = (r.len(), levels.len());
    let scalars: Vec<[Scalar; SCALARS]> = (0..width)
        .map(|k| array::from_fn(|i| Scalar::new(N_SCALARS - OF_OTHERS - SCALARS * (WIDTH * depth - k) + i)))
        .collect();
    let of_each = |take: &mut dyn FnMut(usize, [Scalar; SCALARS]) -> Result<()>| {
        scalars.iter().enumerate().try_for_each(|(k, scalars)| take(k, *scalars))
    };
    cycle(space, levels, below, a, r, x)?;
    a.apply_all(space, x, v)?;
    of_each(&mut |k, [xr, xv, ..]| {
        space.dot(&x[k], &v[k], xv)?;
        space.dot(&x[k], &r[k], xr)?;
        space.axpy(Quotient::new(xr, xv).minus(), &v[k], &mut r[k])
    })?;
    cycle(space, levels, below, a, r, p)?;
    of_each(&mut |k, [_, xv, vp, ..]| {
        space.dot(&v[k], &p[k], vp)?;
        space.axpy(Quotient::new(vp, xv).minus(), &x[k], &mut p[k])
    })?;
    a.apply_all(space, p, v)?;
    of_each(&mut |k, [xr, xv, _, pr, pv]| {
        space.dot(&p[k], &v[k], pv)?;
        space.dot(&p[k], &r[k], pr)?;
        space.axpby([Quotient::new(pr, pv), Quotient::new(xr, xv)], &p[k], &mut x[k])
    })?;
    let (mut p, mut next) = (p, next);
    for _ in 2..steps {
        of_each(&mut |k, [.., pr, pv]| space.axpy(Quotient::new(pr, pv).minus(), &v[k], &mut r[k]))?;
        cycle(space, levels, below, a, r, next)?;
        of_each(&mut |k, [_, _, vp, _, pv]| {
            space.dot(&v[k], &next[k], vp)?;
            space.axpy(Quotient::new(vp, pv).minus(), &p[k], &mut next[k])
        })?;
        swap(&mut p, &mut next);
        a.apply_all(space, p, v)?;
        of_each(&mut |k, [_, _, _, pr, pv]| {
            space.dot(&p[k], &v[k], pv)?;
            space.dot(&p[k], &r[k], pr)?;
            space.axpy(Quotient::new(pr, pv), &p[k], &mut x[k])
        })?;
    }
    Ok(())
}
