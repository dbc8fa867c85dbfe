//! From a level to the next: aggregates, the smoothed prolongator P and the Galerkin product `A_c = P^T A P`; first
//! which blocks these have, then their values.
//!
//! All of it is in double, whatever the matrix is in: what rounding leaves of `P^T A P` in single may be indefinite
//! where A nearly is.

use super::aggregate::Aggregates;
use super::blocks::{BlockRows, Columns, Shape};
use super::coupled::Sums;
use super::fine::{Fine, Slab};
use super::strength::Strength;
use super::tentative::{Modes, centroids, members};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{AUTO, CoupledRows, Matrix, Pattern, SLABS, Tuning};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::amg::blocks::{Blocks, height};
use kernels_rs::amg::product::{FillEmptyRows, GalerkinProduct, MultiplyBlocks, SmoothProlongator};
use kernels_rs::real::Real;
use kernels_rs::sparse::Entries;
use std::rc::Rc;

/// A level does not help if it has more than this part of the unknowns of the one above.
pub const WORTHWHILE: f64 = 0.7;

/// The nodes of a next level, and what it represents of this one.
pub struct Coarsening {
    /// P_0.
    pub tentative: Rc<BlockRows<f64>>,
    /// Whether P is P_0 smoothed, and not P_0 itself.
    pub is_smoothed: bool,
    /// The modes on the next level.
    pub modes: Rc<Modes>,
    /// Where its nodes are.
    pub coords: Rc<Buffer<[f64; 3]>>,
    /// Which rows of P are sums of others.
    pub sums: Option<Sums>,
}

impl Coarsening {
    /// The same with the rows of slaves as sums of those of their masters.
    pub fn coupled(
        self,
        space: &Space,
        rows: Option<&CoupledRows>,
        ends: Option<&Buffer<[u32; 2]>>,
    ) -> Result<Coarsening> {
        let Some(rows) = rows else { return Ok(self) };
        let sums = Sums::of(space, rows, ends, self.tentative.rows)?;
        let shape = Rc::new(sums.shape(space, &self.tentative.shape)?.0);
        let tentative = Rc::new(sums.replaced(space, &self.tentative, &shape)?);
        Ok(Coarsening { tentative, sums: Some(sums), ..self })
    }
}

/// P and A_c.
pub type Values = (Rc<BlockRows<f64>>, Matrix<f64>);

/// The way to a next level as far as it does not depend on the values of the matrix: another one with the same blocks
/// needs [`Symbolic::values`] alone.
pub struct Symbolic {
    /// The nodes of the next level.
    pub coarsening: Coarsening,
    /// Which blocks P has.
    pub prolongator: Rc<Shape>,
    /// The blocks of its columns.
    pub columns: Rc<Columns>,
    /// Which blocks `A P_0` has, if they are not those of P.
    unsolved: Option<Rc<Shape>>,
    /// Which blocks the smoothed P has before some rows are sums of others.
    uncoupled: Option<Rc<Shape>>,
    /// Which blocks `A P` has.
    product: Rc<Shape>,
    /// Which blocks A_c has, and those of them on the diagonal and right of it.
    pattern: Rc<Pattern>,
    upper: Shape,
    n_blocks: usize,
}

/// Puts the nodes of level number `level`, which are at `coords`, together, those within `reach` (see [`Strength::new`]);
/// nothing if there is no next level worth having. Where ranks share it, `beside` has the rows that are coupled to other
/// ranks' nodes, with a bit for each component that is. Of the finest level the `n_modes` modes are not known yet: `modes` makes them from a bit for each component
/// that is free.
///
/// # Errors
///
/// [`crate::result::Error::OutOfMemory`], [`crate::result::Error::TooLarge`]
pub fn aggregate<R: Real>(
    space: &Space,
    fine: &Fine<R>,
    coords: &Buffer<[f64; 3]>,
    (level, reach, beside): (usize, f64, &[(u32, u8)]),
    n_modes: usize,
    modes: impl FnOnce(Buffer<u8>) -> Result<Rc<Modes>>,
) -> Result<Option<Coarsening>> {
    let (n, size) = (fine.pattern.n_rows, fine.size);
    let is_worthwhile = |number: usize| (n_modes * number) as f64 <= WORTHWHILE * (size * n) as f64;
    let mut strength = Strength::new(space, fine, coords, level, reach)?;
    let mut aggregates = Aggregates::new(space, fine.pattern, &strength)?;
    if !is_worthwhile(aggregates.number) {
        // Pairs of nodes across a flat element have as many modes as unknowns.
        strength = Strength::new(space, fine, coords, level, f64::INFINITY)?;
        aggregates = Aggregates::new(space, fine.pattern, &strength)?;
    }
    if aggregates.number == 0 || !is_worthwhile(aggregates.number) {
        return Ok(None);
    }
    strength.couple(space, beside)?;
    aggregates.add_single(space, beside)?;
    let modes = modes(strength.free)?;
    let shape = members(space, &aggregates)?;
    let columns = Columns::new(space, &shape)?;
    let coords = centroids(space, aggregates.number, &columns, coords)?;
    let (tentative, modes) = modes.orthonormalised(space, fine.size, shape, &columns)?;
    let (tentative, modes, coords) = (Rc::new(tentative), Rc::new(modes), Rc::new(coords));
    Ok(Some(Coarsening { tentative, is_smoothed: true, modes, coords, sums: None }))
}

impl Symbolic {
    /// Finds which blocks there are.
    pub fn new<R: Real>(space: &Space, fine: &Fine<R>, coarsening: Coarsening) -> Result<Self> {
        let from = &coarsening.tentative.shape;
        let n_coarse = from.n_columns;
        let (mut prolongator, mut unsolved, mut uncoupled, mut columns) = (from.clone(), None, None, None);
        if coarsening.is_smoothed {
            let of_product = |x, y: &Shape| Shape::of_product(space, x, y.pattern.view(), n_coarse, false);
            prolongator = Rc::new(of_product(fine.rows(), from)?);
            if let Some(blocks) = &fine.blocks {
                let whole = of_product((fine.pattern.n_rows, blocks.pattern().view()), &prolongator)?;
                unsolved = Some(std::mem::replace(&mut prolongator, Rc::new(whole)));
            }
            if let Some(sums) = &coarsening.sums {
                let (whole, of_whole) = sums.shape(space, &prolongator)?;
                uncoupled = Some(std::mem::replace(&mut prolongator, Rc::new(whole)));
                columns = Some(of_whole);
            }
        }
        let columns = columns.map_or_else(|| Columns::new(space, &prolongator), Ok)?;
        let product = Shape::of_product(space, fine.rows(), prolongator.pattern.view(), n_coarse, false)?;
        let transposed = (n_coarse, columns.transposed());
        let pattern = Shape::of_long_rows(space, transposed, product.pattern.view(), n_coarse, true)?.pattern;
        Ok(Symbolic {
            coarsening,
            prolongator,
            columns: Rc::new(columns),
            unsolved,
            uncoupled,
            product: Rc::new(product),
            upper: Shape::upper(space, &pattern)?,
            pattern: Rc::new(pattern),
            n_blocks: fine.pattern.n_blocks(),
        })
    }

    /// P, smoothed by the weight `omega`, and `A_c = P^T A P`.
    ///
    /// # Panics
    ///
    /// For a matrix that has not the blocks that this was made of.
    pub fn values<R: Real>(&self, space: &Space, fine: &Fine<R>, omega: f64) -> Result<Values> {
        let sizes = (fine.pattern.n_rows, fine.pattern.n_blocks(), fine.size);
        let Coarsening { tentative, is_smoothed, .. } = &self.coarsening;
        assert!(sizes == (tentative.shape.pattern.n_rows, self.n_blocks, tentative.rows), "a matrix of other blocks");
        let prolongator = if *is_smoothed { Rc::new(self.smoothed(space, fine, omega)?) } else { tentative.clone() };
        let matrix = self.galerkin(space, fine, &prolongator)?;
        Ok((prolongator, matrix))
    }

    /// `P = P_0 - omega D^-1 A P_0`.
    fn smoothed<R: Real>(&self, space: &Space, fine: &Fine<R>, omega: f64) -> Result<BlockRows<f64>> {
        let tentative = &self.coarsening.tentative;
        let shape = self.uncoupled.as_ref().unwrap_or(&self.prolongator);
        let (mut p, mut inverse) = (None, fine.inverse.view());
        if let (Some(blocks), Some(unsolved)) = (&fine.blocks, &self.unsolved) {
            let unsolved = product(space, fine, tentative, unsolved)?;
            let mut solved = BlockRows::zeros(space, shape, [fine.size, tentative.columns])?;
            let of_solved = (shape.blocks(), solved.values.view_mut());
            multiply(space, (blocks.entries(), blocks.values()), &unsolved, of_solved)?;
            p = Some(solved);
            inverse = View::from_slice(&[]);
        }
        let mut p = p.map_or_else(|| product(space, fine, tentative, shape), Ok)?;
        let (of, values) = (p.shape.blocks(), p.values.view_mut());
        let kernel = SmoothProlongator { omega, inverse, tentative: tentative.view(), of, values };
        // SAFETY: all live until `finish`; each row of a block is written once.
        unsafe { space.run(p.n_items(), kernel) }?;
        space.finish()?;
        match &self.coarsening.sums {
            Some(sums) => sums.replaced(space, &p, &self.prolongator),
            None => Ok(p),
        }
    }

    /// `P^T A P`, from `A P`: some rows of it after the others where A is in slabs or memory is the host's, as all of them
    /// are as large as A.
    fn galerkin<R: Real>(&self, space: &Space, fine: &Fine<R>, p: &BlockRows<f64>) -> Result<Matrix<f64>> {
        let mut matrix = Matrix::<f64>::zeros(space, AUTO, p.columns, &self.pattern, Tuning::default())?;
        let n = fine.pattern.n_rows;
        let height = if space.on_host() { n.div_ceil(SLABS) } else { n }.max(1);
        fine.for_each_slab(space, &mut |Slab { entries, values, rows }| {
            for first in rows.clone().step_by(height) {
                let rows = first..(first + height).min(rows.end);
                let of = if rows.len() == n { self.product.clone() } else { Rc::new(self.product.rows(space, &rows)?) };
                let mut right = BlockRows::zeros(space, &of, [fine.size, p.columns])?;
                multiply(space, (entries, values), p, (of.blocks(), right.values.view_mut()))?;
                self.add_galerkin(space, p, &right, &mut matrix)?;
            }
            Ok(())
        })?;
        let (entries, values) = (matrix.entries(), matrix.values_mut());
        // SAFETY: all live until `finish`; each row is written once.
        unsafe { space.run(self.pattern.n_rows, FillEmptyRows { entries, values }) }?;
        space.finish()?;
        matrix.promise_symmetric();
        Ok(matrix)
    }

    /// Adds `P^T A P` to A_c, of some rows of A P.
    fn add_galerkin(&self, space: &Space, p: &BlockRows<f64>, ap: &BlockRows<f64>, to: &mut Matrix<f64>) -> Result<()> {
        let (size, of) = (p.columns, self.upper.blocks());
        let (entries, values) = (to.entries(), to.values_mut());
        let items = self.upper.rows.len() * size / height(size);
        let (prolongator, members, product) = (p.view(), self.columns.view(), ap.view());
        // SAFETY: all live until `finish`; each entry is written by one item.
        unsafe {
            match size {
                1 => space.run(items, GalerkinProduct::<1> { prolongator, members, product, of, entries, values }),
                2 => space.run(items, GalerkinProduct::<2> { prolongator, members, product, of, entries, values }),
                3 => space.run(items, GalerkinProduct::<3> { prolongator, members, product, of, entries, values }),
                _ => space.run(items, GalerkinProduct::<6> { prolongator, members, product, of, entries, values }),
            }
        }?;
        space.finish()
    }
}

/// `C = A B`, with these blocks.
fn product<R: Real>(space: &Space, a: &Fine<R>, b: &BlockRows<f64>, shape: &Rc<Shape>) -> Result<BlockRows<f64>> {
    let mut c = BlockRows::zeros(space, shape, [a.size, b.columns])?;
    let of_block = a.size * b.columns;
    a.for_each_slab(space, &mut |Slab { entries, values, rows }| {
        let blocks = shape.pattern.range(space, &rows)?;
        let to = c.values.view_mut().part(of_block * blocks.start..of_block * blocks.end);
        multiply(space, (entries, values), b, (shape.blocks().part(blocks), to))
    })?;
    Ok(c)
}

/// Some blocks of `A B`.
fn multiply<R: Real>(
    space: &Space,
    (entries, values): (Entries, View<R>),
    b: &BlockRows<f64>,
    (of, product): (Blocks, ViewMut<f64>),
) -> Result<()> {
    let (columns, b) = (b.columns, b.view());
    let items = |height: usize| of.rows.len() * entries.size / height;
    // SAFETY: all live until `finish`, B has as many rows as A has columns, and each row of a block of C is written once.
    unsafe {
        match (entries.size, columns) {
            (1, _) => space.run(items(1), MultiplyBlocks::<R, 1, 1> { entries, values, b, of, product }),
            (2, 2) => space.run(items(1), MultiplyBlocks::<R, 1, 2> { entries, values, b, of, product }),
            (2, _) => space.run(items(1), MultiplyBlocks::<R, 1, 3> { entries, values, b, of, product }),
            (_, 3) => space.run(items(3), MultiplyBlocks::<R, 3, 3> { entries, values, b, of, product }),
            _ => space.run(items(3), MultiplyBlocks::<R, 3, 6> { entries, values, b, of, product }),
        }
    }?;
    space.finish()
}
