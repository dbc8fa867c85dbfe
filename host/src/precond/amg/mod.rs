//! Smoothed aggregation multigrid with the rigid-body modes of the mesh: M is a cycle through ever coarser levels, so
//! that iterations hardly grow with the mesh.
//!
//! | what | equation | here | source |
//! | --- | --- | --- | --- |
//! | quadratic elements: first their vertices | `u = (u_a + u_b) / 2` in the middle of an edge | [`mod@vertices`] | |
//! | modes that cost no energy | `A B = 0` away from supports: 6 rigid motions in space, 3 in the plane, the constant for a potential | [`tentative`] | Vanek, Mandel, Brezina 1996, sec. 3 |
//! | strong couplings | `\|A_ij\|^2 >= theta_l^2 \|A_ii\| \|A_jj\|` | [`strength`] | the same, sec. 4 |
//! | aggregates of nodes | distance-2 independent sets | [`mod@aggregate`] | Bell, Dalton, Olson 2012 |
//! | tentative prolongator | `B = P_0 B_c`, orthonormal on each aggregate | [`tentative`] | Vanek, Mandel, Brezina 1996 |
//! | prolongator | `P = (I - omega D^-1 A) P_0`, `omega = 4 / (3 lambda_max)` | [`setup`] | the same |
//! | next level | `A_c = P^T A P` | [`setup`] | |
//! | flat elements | D of dense blocks, the nodes one above the other | [`stacks`] | |
//! | ranks that share the body | aggregates of a rank's own nodes; P, and what ranks have of each other's | `ranks`, `across` |
//! | couplings, `T^T A T` | `P_s = T P_m` for slaves s; `M^-1 + Z Z^T` for what thousands follow | `coupled`, `hubs` |
//! | coarsest level | `A_c^-1`, dense | [`coarsest`] | |
//! | smoother | Chebyshev polynomials of `D^-1 A` | [`smoother`] | Adams, Brezina, Hu, Tuminaro 2003 |
//! | cycle | K: steps of flexible CG on some of the next levels, on all of thin bodies | [`mod@cycle`] | Notay, Vassilevski 2008 |
//!
//! As `A B = 0`, the smoothed P represents the modes as exactly as P_0 does: `P B_c = B` wherever no support is near.
//! Supported components are recognised in the matrix by rows that have a diagonal and nothing else; the modes are 0
//! there. A mode that depends on the others on an aggregate of few nodes is left out: its column of P is 0, and the
//! next level has a diagonal entry in its place, so that it stays positive.
//!
//! Everything is done by kernels over rows and blocks, the same on every device: the CPU, the emulator, a GPU. Under
//! an iteration in double with a preconditioner in single, the set-up is in double, of K itself, and the cycle in
//! single, on the finest level with the scaled copy `S K S` of [`super::Rounded`], for which P is `S^-1 P`.
//!
//! Vanek, Mandel, Brezina: Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems,
//! Computing 56, 1996. Adams, Brezina, Hu, Tuminaro: Parallel multigrid smoothing: polynomial versus Gauss-Seidel, J.
//! Comput. Phys. 188, 2003. Bell, Dalton, Olson: Exposing fine-grained parallelism in algebraic multigrid methods, SIAM
//! J. Sci. Comput. 34, 2012. Kelley, Rajamanickam: Parallel, portable algorithms for distance-2 maximal independent set
//! and graph coarsening, IPDPS 2022. Notay, Vassilevski: Recursive Krylov-based multigrid cycles, Numer. Linear Algebra
//! Appl. 15, 2008. Goodnight: A tutorial on the sweep operator, Am. Stat. 33, 1979.

mod across;
pub mod aggregate;
pub mod blocks;
pub mod coarsest;
mod coupled;
pub mod cycle;
pub mod fine;
mod galerkin;
mod hierarchy;
mod hubs;
mod messages;
mod ranks;
pub mod setup;
mod setup_cache;
pub mod smoother;
pub mod stacks;
pub mod strength;
pub mod tentative;
pub mod vertices;

pub use cycle::MOST_SCALARS;
pub use hierarchy::{Hierarchy, LevelSize, SetupTimes};
pub use setup_cache::SetupCache;

use super::coupled::{self as couplings, Slaves};
use super::{Build, Context, Preconditioner, inverse_diagonal};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::choices::Format;
use crate::result::{Error, Result};
use crate::sparse::{self, AUTO, Coupled, CoupledRows, Halo, Interface, LinOp, Matrix, Pattern, Shared, Tuning};
use blocks::{BlockRows, Columns};
use coupled::without_slaves;
use cuda_std::prelude::View;
use cycle::{Level, LevelMatrix, Matrices, Transfer, cycle};
use fine::Fine;
use hubs::Hubs;
use kernels_rs::amg::transfer::{CopyBlocks, RoundProlongator};
use kernels_rs::real::{Real, Stored};
use kernels_rs::vectors::WIDTH;
use setup::{Coarsening, Symbolic, aggregate};
use smoother::{FEW, MORE, Smoother};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::slice;
use std::time::Instant;
use strength::{COARSE_REACH, REACH, Strength};
use tentative::Modes;

const MOST_LEVELS: usize = 12;

/// The prolongator is smoothed by this over the largest eigenvalue of `D^-1 A`.
const OMEGA: f64 = 4.0 / 3.0;

/// Steps of conjugate gradients on a coarse level, and on those of thin bodies of flat elements.
const FEW_STEPS: usize = 2;
const MORE_STEPS: usize = 4;

/// Operator complexity above which elements are stretched.
const STRETCHED: f64 = 1.5;

/// A hierarchy of levels.
pub struct Amg<T: Real> {
    levels: RefCell<Vec<Level<T>>>,
    /// Their matrices, but for the finest.
    matrices: Vec<LevelMatrix<T>>,
    inverse: Option<Matrix<T>>,
    /// Steps of conjugate gradients on the first coarse level, and on each other; 1 for the cycle alone.
    steps: [usize; 2],
    /// Corrections of the hubs, which the hierarchy holds, if there are any.
    hubs: Option<Hubs<T>>,
    hierarchy: Hierarchy,
}

impl<T: Real> Preconditioner<T> for Amg<T> {
    fn apply(&self, space: &Space, operator: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        self.apply_all(space, operator, slice::from_ref(r), slice::from_mut(z))
    }

    fn apply_all(&self, space: &Space, operator: &dyn LinOp<T>, r: &[Buffer<T>], z: &mut [Buffer<T>]) -> Result<()> {
        let (smoothed, inverse, steps) = (self.matrices.as_slice(), self.inverse.as_ref(), self.steps);
        let (below, levels) = (Matrices { smoothed, inverse, steps }, &mut *self.levels.borrow_mut());
        for (r, z) in r.chunks(WIDTH).zip(z.chunks_mut(WIDTH)) {
            levels.iter_mut().try_for_each(|level| level.widen(space, r.len()))?;
            cycle(space, levels, &below, operator, r, z)?;
        }
        if let Some(hubs) = &self.hubs {
            r.iter().zip(&mut *z).try_for_each(|(r, z)| hubs.add(space, r, z))?;
        }
        Ok(())
    }

    fn products(&self) -> usize {
        let steps = FEW.number;
        if self.hierarchy.levels.len() == 1 { steps - 1 } else { 2 * steps }
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        Some(&self.hierarchy)
    }

    fn is_linear(&self) -> bool {
        self.steps == [1; 2] || self.matrices.is_empty()
    }
}

impl<T: Real> Build<T> for Amg<T> {
    const READS_MATRIX: bool = true;

    fn build<V: Stored<Arithmetic = T>>(space: &Space, matrix: &Matrix<V>, context: &Context) -> Result<Self> {
        if let Some(interfaces) = context.ranks {
            let (halo, coupling) = (context.halo(space)?, context.coupling(space)?);
            let inverse = context.inverse_diagonal(space, matrix)?;
            let mut fine = Fine::new(space, matrix)?;
            fine.as_mut().map_or(Ok(()), |fine| space.copy(&inverse, &mut fine.inverse))?;
            let shared = Shared::new(matrix, halo.as_ref());
            let coupled = Coupled::new(shared.operator(), coupling.as_ref());
            return ranks::build(space, (coupled.operator(), inverse), fine, (context, interfaces));
        }
        // What is kept does not know of couplings.
        let kept = context.kept.filter(|_| context.coupled.is_none());
        let mut parts = Parts::new(matrix.block_size(), matrix.pattern(), kept);
        let (mut inverse, coupling) = (context.inverse_diagonal(space, matrix)?, context.coupling(space)?);
        let hubs = context.coupled.map_or(&[][..], |rows| &rows.hubs);
        let of_hubs = sparse::pick(space, &inverse, hubs)?;
        sparse::put(space, &mut inverse, hubs, &vec![T::ZERO; hubs.len()])?;
        let coupled = Coupled::new(matrix, coupling.as_ref());
        let (operator, is_half) = (coupled.operator(), V::numbers(matrix.values()).is_none());
        if let Some(original) = &context.original {
            let Some(mut fine) = Fine::new(space, original.matrix)? else { unreachable!("doubles are numbers") };
            fine.inverse = couplings::inverse_diagonal(space, original.matrix, original.coupled, Slaves::Zero)?;
            sparse::put(space, &mut fine.inverse, hubs, &vec![0.0; hubs.len()])?;
            let shared = original.matrix.shared_pattern();
            parts.finest(space, (fine, shared), (operator, inverse, is_half), context, original.inverse.view())?;
        } else if let Some(mut fine) = Fine::new(space, matrix)? {
            space.copy(&inverse, &mut fine.inverse)?;
            let shared = matrix.shared_pattern();
            parts.finest(space, (fine, shared), (operator, inverse, is_half), context, View::from_slice(&[]))?;
        } else {
            let (what, name) = ("precision for a multigrid hierarchy", V::NAME.to_owned());
            return Err(Error::NotAvailable { what, name, available: vec!["f64", "f32"] });
        }
        let mut amg = parts.amg();
        if let (Some(coupling), false) = (&coupling, hubs.is_empty()) {
            let since = Instant::now();
            let hubs = Hubs::new(space, operator, coupling, (hubs, &of_hubs), &amg)?;
            amg.hierarchy.bytes += hubs.bytes();
            amg.hierarchy.times.smoothing += since.elapsed().as_secs_f64();
            amg.hubs = Some(hubs);
        }
        Ok(amg)
    }

    fn of_operator(space: &Space, operator: &dyn LinOp<T>, inverse: Buffer<T>, context: &Context) -> Result<Self> {
        if let Some(interfaces) = context.ranks {
            return ranks::build(space, (operator, inverse), None, (context, interfaces));
        }
        if let Some(slabs) = context.slabs {
            let pattern = slabs.pattern();
            let mut parts = Parts::new(slabs.block_size(), pattern, None);
            let in_double = space.download(&inverse)?.into_iter().map(T::to_f64).collect();
            let fine = Fine::in_slabs(slabs, space.upload_vec(in_double)?);
            parts.finest(space, (fine, pattern), (operator, inverse, false), context, View::from_slice(&[]))?;
            return Ok(parts.amg());
        }
        let mut parts = Parts::without_matrix(context);
        let smoother = Smoother::new(space, operator, inverse, None, View::from_slice(&[]), FEW)?;
        parts.lap(space, |times| &mut times.smoothing)?;
        let next = vertices::known(space, context)?;
        parts.lap(space, |times| &mut times.symbolic)?;
        let next = parts.add(space, smoother, next, View::from_slice(&[]))?;
        parts.below(space, next)?;
        Ok(parts.amg())
    }
}

/// What the next level is made from: its matrix, and how its nodes came about.
struct CoarseMatrix {
    matrix: Rc<Matrix<f64>>,
    modes: Rc<Modes>,
    coords: Rc<Buffer<[f64; 3]>>,
    /// Whether its nodes are the vertices of the mesh.
    is_of_vertices: bool,
}

impl CoarseMatrix {
    /// See [`Strength::new`].
    fn reach(&self) -> f64 {
        if self.is_of_vertices { REACH } else { COARSE_REACH }
    }
}

/// A way to a next level: P, and what is there.
struct NextLevel {
    prolongator: Rc<BlockRows<f64>>,
    columns: Rc<Columns>,
    below: CoarseMatrix,
}

/// A hierarchy as it is made.
struct Parts<'a, T: Real> {
    levels: Vec<Level<T>>,
    matrices: Vec<LevelMatrix<T>>,
    inverse: Option<Matrix<T>>,
    /// Whether aggregates lie on a surface or a line; whether elements are flat; and quadratic.
    is_thin: bool,
    is_flat: bool,
    is_quadratic: bool,
    hierarchy: Hierarchy,
    /// What a hierarchy made before has left.
    kept: Option<&'a SetupCache>,
    since: Instant,
}

impl<'a, T: Real> Parts<'a, T> {
    fn new(size: usize, pattern: &Pattern, kept: Option<&'a SetupCache>) -> Self {
        Parts::begin(LevelSize { size, rows: pattern.n_rows, blocks: pattern.n_blocks() }, kept)
    }

    /// Of an operator without entries, which counts as one without blocks.
    fn without_matrix(context: &Context) -> Self {
        let size = context.vertices.map_or(0, |vertices| vertices.matrix.block_size());
        Parts::begin(LevelSize { size, rows: context.coords.map_or(0, Buffer::len), blocks: 0 }, None)
    }

    fn begin(finest: LevelSize, kept: Option<&'a SetupCache>) -> Self {
        let hierarchy = Hierarchy { levels: vec![finest], ..Hierarchy::default() };
        let (levels, matrices, inverse, since) = (Vec::new(), Vec::new(), None, Instant::now());
        let [is_thin, is_flat, is_quadratic] = [false; 3];
        Parts { levels, matrices, inverse, is_thin, is_flat, is_quadratic, hierarchy, kept, since }
    }

    /// Ends a part of the set-up.
    fn lap(&mut self, space: &Space, of: impl Fn(&mut SetupTimes) -> &mut f64) -> Result<()> {
        space.finish()?;
        *of(&mut self.hierarchy.times) += self.since.elapsed().as_secs_f64();
        self.since = Instant::now();
        Ok(())
    }

    /// Makes the finest level, and those below. `fine` is what it is made from, and its blocks, shared; the cycle's own
    /// matrix, `operator`, may be a scaled copy, by the root of `scaling`, and has the inverse of its diagonal with it,
    /// and whether it is in half precision.
    fn finest<R: Real>(
        &mut self,
        space: &Space,
        (fine, pattern): (Fine<R>, &Rc<Pattern>),
        (operator, inverse, is_half): (&dyn LinOp<T>, Buffer<T>, bool),
        context: &Context,
        scaling: View<f64>,
    ) -> Result<()> {
        let size = fine.size;
        let nowhere = if context.coords.is_none() { Some(space.zeros(fine.pattern.n_rows)?) } else { None };
        let Some(coords) = context.coords.or(nowhere.as_ref()) else { unreachable!("one or the other is there") };
        if let Some(kept) = self.kept {
            kept.recognise(space, &fine, pattern, coords)?;
            self.lap(space, |times| &mut times.aggregation)?;
        }
        // Half precision does not tell the nodes of a stack apart.
        let blocks = if is_half {
            None
        } else {
            stacks::inverse(space, &fine, coords, stacks::flat(context), context.coupled.is_some())?
        };
        let fine = Fine { blocks, ..fine };
        self.is_flat = fine.blocks.is_some();
        let smoother = Smoother::new(space, operator, inverse, fine.blocks.as_ref(), scaling, FEW)?;
        self.lap(space, |times| &mut times.smoothing)?;
        let rows: Option<&CoupledRows> = context.original.map_or(context.coupled, |original| original.coupled);
        let way = self.way(space, &fine, OMEGA / smoother.upper, || {
            if let Some(ends) = context.ends {
                let free = Strength::new(space, &fine, coords, 0, REACH)?.free;
                let free = without_slaves(space, rows, size, free)?;
                if let Some(found) = vertices::vertices(space, size, ends, coords, &free)? {
                    return found.coupled(space, rows, Some(ends)).map(Some);
                }
            }
            let number = context.modes.map_or(Modes::rigid_number(size), |modes| modes.number);
            let found = aggregate(space, &fine, coords, (0, REACH, &[]), number, |free| {
                let free = without_slaves(space, rows, size, free)?;
                Ok(Rc::new(match context.modes {
                    Some(modes) => modes.supported(space, size, &free)?,
                    None => Modes::rigid(space, size, coords, &free)?,
                }))
            })?;
            found.map(|found| found.coupled(space, rows, None)).transpose()
        })?;
        drop(fine);
        let next = self.add(space, smoother, way, scaling)?;
        self.below(space, next)
    }

    /// Makes the levels from the first on that has a matrix of its own.
    fn below(&mut self, space: &Space, mut next: Option<CoarseMatrix>) -> Result<()> {
        while let Some(below) = next {
            if below.matrix.block_size() * below.matrix.pattern().n_rows <= coarsest::MOST {
                self.inverse = Some(coarsest::inverse(space, &below.matrix)?);
                return self.lap(space, |times| &mut times.coarsest);
            }
            next = self.coarser(space, below)?;
        }
        Ok(())
    }

    /// The way to the next level, if there is one worth having.
    fn way<R: Real>(
        &mut self,
        space: &Space,
        fine: &Fine<R>,
        omega: f64,
        coarsening: impl FnOnce() -> Result<Option<Coarsening>>,
    ) -> Result<Option<NextLevel>> {
        let level = self.levels.len();
        let symbolic = match self.kept.and_then(|kept| kept.get(level)) {
            Some(known) => known,
            None => {
                let coarsening = coarsening()?;
                self.lap(space, |times| &mut times.aggregation)?;
                let found = coarsening.map(|coarsening| Symbolic::new(space, fine, coarsening)).transpose()?;
                self.lap(space, |times| &mut times.symbolic)?;
                let found = found.map(Rc::new);
                self.kept.inspect(|kept| kept.push(found.clone()));
                found
            }
        };
        let Some(symbolic) = symbolic else { return Ok(None) };
        let (prolongator, matrix) = symbolic.values(space, fine, omega)?;
        self.lap(space, |times| &mut times.numeric)?;
        // The rest of the symbolic part is needed no more, unless it is kept.
        let Coarsening { modes, coords, is_smoothed, .. } = &symbolic.coarsening;
        let (modes, coords) = (modes.clone(), coords.clone());
        let below = CoarseMatrix { matrix: Rc::new(matrix), modes, coords, is_of_vertices: !is_smoothed };
        Ok(Some(NextLevel { prolongator, columns: symbolic.columns.clone(), below }))
    }

    /// Adds a level; what the next one is made from, if there is one.
    fn coarser(&mut self, space: &Space, below: CoarseMatrix) -> Result<Option<CoarseMatrix>> {
        let (smoother, fine) = self.smoothed(space, &below, None)?;
        let (level, reach, modes) = (self.levels.len(), below.reach(), below.modes.clone());
        let way = if level < MOST_LEVELS {
            self.way(space, &fine, OMEGA / smoother.upper, || {
                aggregate(space, &fine, &below.coords, (level, reach, &[]), modes.number, |_| Ok(modes))
            })?
        } else {
            None
        };
        drop(fine);
        drop(below);
        self.add(space, smoother, way, View::from_slice(&[]))
    }

    /// The smoother of a level below the finest, whose matrix in the cycle's precision is added, and what the next level is made
    /// from. Where ranks share it, the matrix is the rank's own rows and columns.
    fn smoothed<'m>(
        &mut self,
        space: &Space,
        CoarseMatrix { matrix, coords, is_of_vertices, .. }: &'m CoarseMatrix,
        interface: Option<&Interface>,
    ) -> Result<(Smoother<T>, Fine<'m, f64>)> {
        let unscaled = View::from_slice(&[]);
        let rounded = match (matrix.clone() as Rc<dyn Any>).downcast() {
            Ok(same) => same,
            Err(_) => Rc::new(copied::<T>(space, matrix, AUTO, unscaled)?),
        };
        let mut inverse = inverse_diagonal(space, &*rounded)?;
        let Some(mut fine) = Fine::new(space, &**matrix)? else { unreachable!("doubles are numbers") };
        if let Some(interface) = interface {
            ranks::add_to_diagonal(space, &mut inverse, interface)?;
            ranks::add_to_diagonal(space, &mut fine.inverse, interface)?;
        }
        if *is_of_vertices {
            fine.blocks = stacks::inverse(space, &fine, coords, stacks::LINEAR, false)?;
        }
        let halo = interface.map(|interface| Halo::of(space, interface)).transpose()?;
        let steps = if self.is_thin || self.is_stretched() { MORE } else { FEW };
        let operator = Shared::new(&*rounded, halo.as_ref());
        let smoother = Smoother::new(space, operator.operator(), inverse, fine.blocks.as_ref(), unscaled, steps)?;
        self.matrices.push(LevelMatrix { matrix: rounded, halo });
        self.lap(space, |times| &mut times.smoothing)?;
        Ok((smoother, fine))
    }

    /// Adds a level and its way to the next.
    fn add(
        &mut self,
        space: &Space,
        smoother: Smoother<T>,
        way: Option<NextLevel>,
        scaling: View<f64>,
    ) -> Result<Option<CoarseMatrix>> {
        let Some(NextLevel { prolongator, columns, below }) = way else {
            self.levels.push(Level::new(space, smoother, None)?);
            return Ok(None);
        };
        let prolongator = scaled_to(space, prolongator, scaling)?;
        let (size, pattern) = (below.matrix.block_size(), below.matrix.pattern());
        let next = LevelSize { size, rows: pattern.n_rows, blocks: pattern.n_blocks() };
        self.is_quadratic |= below.is_of_vertices;
        self.is_thin |= !below.is_of_vertices && next.is_thin();
        self.hierarchy.levels.push(next);
        let transfer = Transfer::new(space, prolongator, columns)?;
        self.levels.push(Level::new(space, smoother, Some(transfer))?);
        self.lap(space, |times| &mut times.smoothing)?;
        Ok(Some(below))
    }

    /// Whether aggregates grow along the short edges alone.
    fn is_stretched(&self) -> bool {
        self.hierarchy.operator_complexity() > STRETCHED
    }

    fn amg(self) -> Amg<T> {
        let is_stretched = self.is_stretched();
        let Parts { levels, matrices, inverse, is_thin, is_flat, is_quadratic, mut hierarchy, .. } = self;
        let of_matrices = matrices.iter().map(|level| &*level.matrix).chain(&inverse);
        let of_matrices = of_matrices.map(|matrix| matrix.footprint().bytes(size_of::<T>()));
        hierarchy.bytes = levels.iter().map(Level::bytes).chain(of_matrices).sum();
        let steps = match is_thin {
            true if is_flat => [MORE_STEPS; 2],
            true => [FEW_STEPS; 2],
            false if is_quadratic || is_stretched => [1, FEW_STEPS],
            false => [FEW_STEPS, 1],
        };
        Amg { levels: RefCell::new(levels), matrices, inverse, steps, hubs: None, hierarchy }
    }
}

/// P in the precision of the cycle, scaled by the root of `scaling` if that is there; P itself where that is the same.
fn scaled_to<T: Real>(space: &Space, from: Rc<BlockRows<f64>>, scaling: View<f64>) -> Result<Rc<BlockRows<T>>> {
    if scaling.is_empty()
        && let Ok(same) = (from.clone() as Rc<dyn Any>).downcast()
    {
        return Ok(same);
    }
    let mut values = blocks::zeros(space, from.values.len())?;
    let (prolongator, rows) = (from.view(), from.shape.rows.view());
    let kernel = RoundProlongator { inverse: scaling, rows, prolongator, to: values.view_mut() };
    // SAFETY: all live until `finish`; a row of a block is written once.
    unsafe { space.run(from.n_items(), kernel) }?;
    space.finish()?;
    Ok(Rc::new(BlockRows { shape: from.shape.clone(), values, rows: from.rows, columns: from.columns }))
}

/// A matrix in another precision and format, its rows and columns scaled as those of P are in [`scaled_to`].
fn copied<T: Real>(space: &Space, matrix: &Matrix<f64>, format: Format, scaling: View<f64>) -> Result<Matrix<T>> {
    let pattern = matrix.shared_pattern();
    let mut copy = Matrix::<T>::zeros(space, format, matrix.block_size(), pattern, Tuning::default())?;
    let (to, n_rows) = (copy.entries(), pattern.n_rows);
    let (from, values, rounded) = (matrix.entries(), matrix.values(), copy.values_mut());
    let kernel = CopyBlocks { inverse: scaling, from, values, to, rounded };
    // SAFETY: both live and have this pattern; each entry belongs to one row.
    unsafe { space.run(n_rows * matrix.block_size(), kernel) }?;
    if matrix.is_symmetric() {
        copy.promise_symmetric();
    }
    Ok(copy)
}
