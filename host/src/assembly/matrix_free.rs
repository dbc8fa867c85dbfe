//! K without a matrix: products from the mesh's coordinates and materials, by patches of cells. See
//! [`kernels_rs::matrix_free`].
//!
//! It is K after supports, as [`Supports::eliminate`] makes it: held components have the diagonal of K alone.

use super::addition::RowBlock;
use super::patches::{Fixed, PatchList, Patches};
use super::{DeviceBlock, DeviceMesh, Supports};
use crate::device::{Buffer, Grid};
use crate::element::ElementKind;
use crate::linalg::{Scalar, Space, views, views_mut};
use crate::model::{FormKind, Physics};
use crate::parallel;
use crate::result::choices::Operator as Choice;
use crate::result::{Error, Result};
use crate::sparse::{Epilogue, LinOp};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::form::Elasticity;
use kernels_rs::matrix_free::cell::Tables;
use kernels_rs::matrix_free::fixed::SEVERAL;
use kernels_rs::matrix_free::product::{
    ACROSS, AllSums, DIAGONAL, IsotropicPatchBlocks, PatchBlocks, ROW_SUMS, blocks,
};
use kernels_rs::matrix_free::shared::{HoldNodes, NodeSums, SumAddition, SumDots, SumNodes};
use kernels_rs::matrix_free::{
    CurvedTet10, Held, LinearTet4, Operator, Plane, Ring, SerendipityHex20, Solid, StraightTet10, Sums, TrilinearHex8,
};
use kernels_rs::precond::{InvertEntries, ToSingle};
use kernels_rs::real::{Real, Stored};
use kernels_rs::vectors::{Vectors, VectorsMut};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::slice;

/// Evaluates `$body` with `$P` naming the form with all constants of a material, and `$E` what stands for the elements of this
/// dimension.
macro_rules! with_general {
    ($mesh:expr, $dim:expr, $E:ident, $P:ident => $body:expr) => {
        match ($mesh.form.physics, $mesh.form.is_revolved, $dim) {
            (Physics::Elasticity, true, _) => with_general!($E = Ring, $P = General, $body),
            (Physics::Elasticity, false, 2) => with_general!($E = Plane, $P = General, $body),
            (Physics::Elasticity, false, _) => with_general!($E = Solid, $P = General, $body),
            (Physics::Potential | Physics::Heat, true, _) => with_general!($E = Ring, $P = Scalar, $body),
            (Physics::Potential | Physics::Heat, false, 2) => with_general!($E = Plane, $P = Scalar, $body),
            (Physics::Potential | Physics::Heat, false, _) => with_general!($E = Solid, $P = Scalar, $body),
        }
    };
    ($E:ident = $Element:ident, $P:ident = $Form:ident, $body:expr) => {{
        type $E = $Element;
        type $P = kernels_rs::form::$Form;
        $body
    }};
}

mod products;

/// How a mesh is divided, and by what its products are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Cells of a patch at most; fewer where these have no room.
    pub most: usize,
    /// Whether elements are computed by [formulas of their own](kernels_rs::matrix_free::fixed) where there are any.
    pub by_formulas: bool,
}

impl Default for Division {
    fn default() -> Self {
        Division { most: usize::MAX, by_formulas: true }
    }
}

/// What there is for a cell's forces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Formulas {
    Isotropic,
    General,
    LinearTet4,
    StraightTet10,
    CurvedTet10,
    TrilinearHex8,
    SerendipityHex20,
}

impl Formulas {
    /// Those of an element type whose edges are straight or not.
    fn of(mesh: &DeviceMesh, block: &DeviceBlock, is_straight: bool, division: Division) -> Self {
        if !mesh.form.is_isotropic_elasticity() {
            return Formulas::General;
        }
        match block.cells.kind {
            _ if !division.by_formulas => Formulas::Isotropic,
            ElementKind::Tet4 => Formulas::LinearTet4,
            ElementKind::Tet10 if is_straight => Formulas::StraightTet10,
            ElementKind::Tet10 => Formulas::CurvedTet10,
            ElementKind::Hex8 => Formulas::TrilinearHex8,
            ElementKind::Hex20 => Formulas::SerendipityHex20,
            _ => Formulas::Isotropic,
        }
    }

    /// How patches are laid out for them.
    fn layout(self) -> Option<Fixed> {
        match self {
            Formulas::Isotropic | Formulas::General => None,
            Formulas::LinearTet4 => Some(Fixed::of::<LinearTet4>()),
            Formulas::StraightTet10 => Some(Fixed::of::<StraightTet10>()),
            Formulas::CurvedTet10 => Some(Fixed::of::<CurvedTet10>()),
            Formulas::TrilinearHex8 => Some(Fixed::of::<TrilinearHex8>()),
            Formulas::SerendipityHex20 => Some(Fixed::of::<SerendipityHex20>()),
        }
    }
}

/// K of a mesh, without its entries.
pub struct MatrixFree<T: Real> {
    mesh: Rc<DeviceMesh>,
    patches: Rc<Patches>,
    /// Coordinates of the patches' nodes, one entry per element type.
    coords: Vec<Buffer<T>>,
    rules: Vec<Rule<T>>,
    formulas: Vec<Formulas>,
    held: DeviceHeld<T>,
    diagonal: Rc<Buffer<f64>>,
    /// Sums of nodes that patches share, of as many vectors as there have been at once.
    partial: RefCell<Vec<Buffer<T>>>,
    /// Parts of `x . y` of each, one of each warp.
    dots: RefCell<Vec<Buffer<f64>>>,
}

/// The rule of an element's stiffness on a device.
struct Rule<T> {
    n: usize,
    weights: Buffer<T>,
    shape: Buffer<T>,
    slopes: Buffer<[T; 3]>,
}

/// What supports hold, on a device.
struct DeviceHeld<T> {
    rows: Buffer<u32>,
    free: Buffer<[T; 6]>,
    part: Buffer<[T; 6]>,
}

impl<T: Real> MatrixFree<T> {
    /// Divides a mesh into patches and computes the diagonal.
    ///
    /// # Errors
    ///
    /// [`Error::Unsuited`] in single precision for all but isotropic elasticity, and for elements whose stiffness is not the
    /// sum over a rule.
    pub fn new(space: &Space, mesh: &Rc<DeviceMesh>, supports: &Supports, division: Division) -> Result<Self> {
        assert_eq!(supports.fixed.len(), mesh.n_nodes, "the supports of another mesh");
        check(mesh, T::NAME != f64::NAME)?;
        let rows = supports.nodes();
        let formulas = |block: &DeviceBlock, is_straight: bool| Formulas::of(mesh, block, is_straight, division);
        let layout = |block: &DeviceBlock, is_straight: bool| formulas(block, is_straight).layout();
        let device_rows = space.upload(&rows)?;
        let (patches, coords) = Patches::new(space, mesh, &device_rows, division.most, layout)?;
        let rules = mesh.blocks.iter().map(|block| Rule::new(space, block)).collect::<Result<_>>()?;
        let lists = mesh.blocks.iter().zip(&patches.lists);
        let formulas = lists.map(|(block, list)| formulas(block, list.is_straight)).collect();
        let (held, diagonal) = hold(space, mesh, &patches, supports, (&rows, device_rows))?;
        let partial = RefCell::new(vec![space.zeros(mesh.components() * patches.n_partial)?]);
        let dots = RefCell::new(vec![space.zeros(patches.lists.iter().map(PatchList::n_warps).sum())?]);
        let (mesh, patches, diagonal) = (mesh.clone(), Rc::new(patches), Rc::new(diagonal));
        Ok(MatrixFree { mesh, patches, coords, rules, formulas, held, diagonal, partial, dots })
    }

    /// The diagonal of K after supports, `[n_nodes][components]`.
    pub fn diagonal(&self) -> &Buffer<f64> {
        &self.diagonal
    }

    /// The inverse of the diagonal; 0 where that is 0.
    pub fn inverse_diagonal(&self, space: &Space) -> Result<Buffer<T>> {
        let mut inverse = space.zeros(self.diagonal.len())?;
        let kernel = InvertEntries { diagonal: self.diagonal.view(), inverse: inverse.view_mut() };
        // SAFETY: both have as many entries and live until `finish`.
        unsafe { space.run(self.diagonal.len(), kernel) }?;
        space.finish()?;
        Ok(inverse)
    }

    /// Bytes that it keeps beside the mesh.
    pub fn bytes(&self) -> u64 {
        let held = self.held.rows.bytes() + self.held.free.bytes() + self.held.part.bytes();
        let bytes = |of: &Vec<Buffer<f64>>| of.iter().map(Buffer::bytes).sum::<u64>();
        let sums = self.partial.borrow().iter().map(Buffer::bytes).sum::<u64>() + bytes(&self.dots.borrow());
        let coords: u64 = self.coords.iter().map(Buffer::bytes).sum();
        self.patches.bytes() + coords + self.diagonal.bytes() + sums + held
    }

    /// The products with up to [`SEVERAL`] vectors, and each warp's parts of `x . y` if they are asked for.
    fn products(&self, space: &Space, x: &[Buffer<T>], y: &mut [Buffer<T>], with_dots: bool) -> Result<()> {
        let of_mesh = |of: &[Buffer<T>]| of.iter().all(|of| of.len() == self.n());
        assert!(x.len() == y.len() && of_mesh(x) && of_mesh(y), "vectors of another mesh");
        let (mut partial, mut dots, n) = (self.partial.borrow_mut(), self.dots.borrow_mut(), x.len());
        while partial.len() < n {
            let (of_partial, of_dots) = (space.zeros(partial[0].len())?, space.zeros(dots[0].len())?);
            partial.push(of_partial);
            dots.push(of_dots);
        }
        let mut first_dot = 0;
        for (i, list) in self.patches.lists.iter().enumerate() {
            let dots = views_mut(if with_dots { &mut dots[..n] } else { &mut [] });
            let to = AllSums { y: views_mut(y), partial: views_mut(&mut partial[..n]), dots, first_dot };
            if n == 1 || !self.multiply_several(space, i, views(x), to)? {
                (0..n).try_for_each(|m| self.multiply(space, i, x[m].view(), to.of(m)))?;
            }
            first_dot += list.n_warps();
        }
        self.add_up(space, x, y, &mut partial[..n])
    }

    /// y of the nodes that patches share, and of the held ones.
    fn add_up(&self, space: &Space, x: &[Buffer<T>], y: &mut [Buffer<T>], partial: &mut [Buffer<T>]) -> Result<()> {
        let (size, shared, held) = (self.mesh.components(), self.patches.shared(), self.held.view());
        if let (Some(addition), Some(at)) = (&self.mesh.addition, &self.patches.addition) {
            let (addition, places) = (addition.with_columns(&at.columns), at.places.view());
            for (x, partial) in x.iter().zip(&mut *partial) {
                let (x, partial) = (x.view(), partial.view_mut());
                // SAFETY: as in `multiply`; each row has a place of its own.
                unsafe { space.run(at.places.len(), SumAddition { size, addition, places, held, x, partial }) }?;
            }
        }
        let of = NodeSums { size, shared, n_free: self.patches.n_free, held };
        let n = x.len() * of.items();
        // SAFETY: as in `multiply`; a node is shared once, and held once.
        unsafe {
            if x.len() == 1 {
                let (x, y, partial) = (views(x), views_mut(y), views(partial));
                return space.run(n, SumNodes::<1, T> { of, partial, x, y });
            }
            let (x, y, partial) = (views(x), views_mut(y), views(partial));
            space.run(n, SumNodes::<SEVERAL, T> { of, partial, x, y })
        }
    }

    /// `x . y` of vector m, from its parts.
    fn add_up_dots(&self, space: &Space, x: &Buffer<T>, m: usize, out: Scalar) -> Result<()> {
        let (size, held, dots) = (self.mesh.components(), self.held.view(), self.dots.borrow()[m].view());
        let kernel = |to| SumDots { size, held, x: x.view(), dots, to };
        // SAFETY: as in `multiply`; there is a part of each warp.
        unsafe { space.sum_on_gpu(dots.len() + held.rows.len(), [out], kernel) }
    }

    /// What the products of an element type are computed from.
    fn operator(&self, i: usize) -> Operator<T> {
        let (block, tables) = (&self.mesh.blocks[i], self.rules[i].view());
        let is_general = self.formulas[i] == Formulas::General;
        let mesh = if is_general { self.mesh.general_view(block) } else { self.mesh.view(block) };
        let patches = self.patches.lists[i].view(self.coords[i].view());
        Operator { patches, tables, mesh, held: self.held.view() }
    }
}

/// What of a form on these elements has no kernels, as the rest of a sentence; nothing if all has.
pub fn lacks(form: FormKind, kinds: &[ElementKind], in_single: bool) -> Option<String> {
    if in_single && !form.is_isotropic_elasticity() {
        return Some("is in single precision for isotropic elasticity alone".into());
    }
    kinds.iter().find(|kind| kind.has_modes()).map(|kind| format!("has no kernels for {}", kind.info().name))
}

/// Refuses what has no kernels.
fn check(mesh: &DeviceMesh, in_single: bool) -> Result<()> {
    let kinds: Vec<ElementKind> = mesh.blocks.iter().map(|block| block.cells.kind).collect();
    let Some(why) = lacks(mesh.form, &kinds, in_single) else { return Ok(()) };
    let (name, available) = (Choice::MatrixFree.name(), vec![Choice::Assembled.name()]);
    Err(Error::Unsuited { what: "operator", name, why, available })
}

/// Runs some work over the patches of one element type on the threads of a CPU, each with memory for one.
fn on_cpu(grid: Grid, list: &PatchList, work: &(dyn Fn(Range<usize>, &mut [u128]) + Sync)) {
    let n = grid.shared_bytes.div_ceil(size_of::<u128>());
    parallel::for_ranges(list.n_patches, 1, &|patches| work(patches, &mut vec![0; n]));
}

/// One part of the diagonal blocks of K before supports, `[n_nodes][components]`.
fn node_blocks(
    space: &Space,
    mesh: &DeviceMesh,
    patches: &Patches,
    rows: &Buffer<u32>,
    part: u32,
) -> Result<Buffer<f64>> {
    let size = mesh.components();
    let (mut y, mut partial) = (space.zeros(size * mesh.n_nodes)?, added_blocks(space, mesh, patches, part)?);
    let (none, empty) = (View::from_slice(&[]), View::from_slice(&[]));
    let held = Held { rows: rows.view(), free: empty, part: empty };
    let rules: Vec<Rule<f64>> = mesh.blocks.iter().map(|block| Rule::new(space, block)).collect::<Result<_>>()?;
    for ((block, list), rule) in mesh.blocks.iter().zip(&patches.lists).zip(&rules) {
        let patches = list.view(View::from_slice(&[]));
        let is_isotropic = mesh.form.is_isotropic_elasticity();
        let view = if is_isotropic { mesh.view(block) } else { mesh.general_view(block) };
        let operator = Operator { patches, tables: rule.view(), mesh: view, held };
        let (grid, dim) = (list.common_grid::<f64>(), block.cells.kind.info().dim);
        let to =
            Sums { y: y.view_mut(), partial: partial.view_mut(), dots: ViewMut::from_slice(&mut []), first_dot: 0 };
        macro_rules! run {
            ($Kernel:ident, $E:ident, $P:ident) => {
                if space.on_host() {
                    // SAFETY: as in `MatrixFree::multiply`.
                    on_cpu(grid, list, &|patches, memory| unsafe {
                        blocks::<$E, $P>(patches, memory, operator, part, to)
                    });
                } else {
                    // SAFETY: as there.
                    unsafe { space.launch(grid, $Kernel::<$E, $P>::new(operator, part, to)) }?;
                }
            };
        }
        match dim {
            _ if !is_isotropic => with_general!(mesh, dim, E, P => run!(PatchBlocks, E, P)),
            2 => run!(IsotropicPatchBlocks, Plane, Elasticity),
            _ => run!(IsotropicPatchBlocks, Solid, Elasticity),
        }
    }
    // Here no node is held.
    let of = NodeSums { size, shared: patches.shared(), n_free: patches.n_shared, held: Held { rows: none, ..held } };
    let (partial, x) = (Vectors([partial.view()]), Vectors([View::from_slice(&[])]));
    let kernel = SumNodes::<1, f64> { of, partial, x, y: VectorsMut([y.view_mut()]) };
    // SAFETY: as above.
    unsafe { space.run(of.items(), kernel) }?;
    space.finish()?;
    Ok(y)
}

/// Room for sums, those of what is added to the cells' stiffness filled in: the same part of its blocks.
fn added_blocks(space: &Space, mesh: &DeviceMesh, patches: &Patches, part: u32) -> Result<Buffer<f64>> {
    let size = mesh.components();
    let (Some(addition), Some(at)) = (&mesh.addition, &patches.addition) else {
        return space.zeros(size * patches.n_partial);
    };
    let mut partial = vec![0.0; size * patches.n_partial];
    let (rows, places) = (addition.rows(space)?, space.download(&at.places)?);
    for ((row, place), blocks) in rows.iter().zip(places).zip(addition.of_rows(space)?) {
        let sum = |i: usize, term: &dyn Fn(&RowBlock) -> f64| -> (usize, f64) {
            (size * place as usize + i, blocks.iter().map(term).sum())
        };
        for i in 0..size {
            let (entry, value) = match part {
                ROW_SUMS => sum(i, &|(_, block)| block[i][..size].iter().map(|value| value.abs()).sum()),
                _ => {
                    let [a, b] = if part == ACROSS { [[0, 1], [1, 2], [0, 2]][i] } else { [i; 2] };
                    sum(i, &|(column, block)| if column == row { block[a][b] } else { 0.0 })
                }
            };
            partial[entry] = value;
        }
    }
    space.upload_vec(partial)
}

/// What supports hold, and the diagonal of K after them.
fn hold<T: Real>(
    space: &Space,
    mesh: &DeviceMesh,
    patches: &Patches,
    supports: &Supports,
    (rows, device_rows): (&[u32], Buffer<u32>),
) -> Result<(DeviceHeld<T>, Buffer<f64>)> {
    let directions = |row: &u32| {
        let mut all = [[0.0; 3]; 3];
        all.iter_mut().zip(supports.directions(*row as usize)).for_each(|(to, n)| *to = n);
        all
    };
    let directions: Vec<[[f64; 3]; 3]> = rows.iter().map(directions).collect();
    let (rows, directions) = (device_rows, space.upload_vec(directions)?);
    let mut diagonal = node_blocks(space, mesh, patches, &rows, DIAGONAL)?;
    // Along components the entries beside the diagonal take no part.
    let across = match supports.slanted.rows.is_empty() {
        true => space.zeros(diagonal.len())?,
        false => node_blocks(space, mesh, patches, &rows, ACROSS)?,
    };
    let (mut free, mut part) = (space.zeros(rows.len())?, space.zeros(rows.len())?);
    let kernel = HoldNodes {
        size: mesh.components(),
        rows: rows.view(),
        directions: directions.view(),
        diagonal: diagonal.view_mut(),
        across: across.view(),
        free: free.view_mut(),
        part: part.view_mut(),
    };
    // SAFETY: an entry for each held node and each unknown; all live until `finish`.
    unsafe { space.run(rows.len(), kernel) }?;
    space.finish()?;
    Ok((DeviceHeld { rows, free, part }, diagonal))
}

impl<T: Real> Rule<T> {
    fn new(space: &Space, block: &DeviceBlock) -> Result<Self> {
        let points = &block.cells.kind.table().quadrature;
        let slopes = points.iter().flat_map(|at| at.dn.iter().map(|dn| dn.map(T::from_f64)));
        let shape = points.iter().flat_map(|at| at.n.iter().map(|n| T::from_f64(*n)));
        Ok(Rule {
            n: block.cells.kind.info().n_nodes,
            weights: space.upload_vec(points.iter().map(|at| T::from_f64(at.weight)).collect())?,
            shape: space.upload_vec(shape.collect())?,
            slopes: space.upload_vec(slopes.collect())?,
        })
    }

    fn view(&self) -> Tables<T> {
        Tables { n: self.n, weights: self.weights.view(), shape: self.shape.view(), slopes: self.slopes.view() }
    }
}

impl MatrixFree<f64> {
    /// The same in single precision, by the same patches.
    ///
    /// # Errors
    ///
    /// As [`MatrixFree::new`].
    pub fn rounded(&self, space: &Space) -> Result<MatrixFree<f32>> {
        let mesh = self.mesh.clone();
        check(&mesh, true)?;
        Ok(MatrixFree {
            coords: self.coords.iter().map(|coords| rounded(space, coords)).collect::<Result<_>>()?,
            rules: mesh.blocks.iter().map(|block| Rule::new(space, block)).collect::<Result<_>>()?,
            mesh,
            patches: self.patches.clone(),
            formulas: self.formulas.clone(),
            held: self.held.rounded(space)?,
            diagonal: self.diagonal.clone(),
            partial: RefCell::new(vec![space.zeros(self.partial.borrow()[0].len())?]),
            dots: RefCell::new(vec![space.zeros(self.dots.borrow()[0].len())?]),
        })
    }
}

/// Numbers in single precision.
fn rounded(space: &Space, from: &Buffer<f64>) -> Result<Buffer<f32>> {
    let mut to = space.zeros(from.len())?;
    let kernel = ToSingle { inverse: View::from_slice(&[]), r: from.view(), rounded: to.view_mut() };
    // SAFETY: both have as many entries and live until `finish`.
    unsafe { space.run(from.len(), kernel) }?;
    space.finish()?;
    Ok(to)
}

impl DeviceHeld<f64> {
    fn rounded(&self, space: &Space) -> Result<DeviceHeld<f32>> {
        let single = |values: &Buffer<[f64; 6]>| {
            let values = space.download(values)?.into_iter();
            space.upload_vec(values.map(|of| of.map(|value| value as f32)).collect())
        };
        let rows = space.upload(&space.download(&self.rows)?)?;
        Ok(DeviceHeld { rows, free: single(&self.free)?, part: single(&self.part)? })
    }
}

impl<T: Real> DeviceHeld<T> {
    fn view(&self) -> Held<T> {
        Held { rows: self.rows.view(), free: self.free.view(), part: self.part.view() }
    }
}

impl<T: Real> LinOp<T> for MatrixFree<T> {
    fn n(&self) -> usize {
        self.mesh.components() * self.mesh.n_nodes
    }

    fn apply(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        self.products(space, slice::from_ref(x), slice::from_mut(y), false)
    }

    fn apply_all(&self, space: &Space, x: &[Buffer<T>], y: &mut [Buffer<T>]) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors without a product");
        x.chunks(SEVERAL).zip(y.chunks_mut(SEVERAL)).try_for_each(|(x, y)| self.products(space, x, y, false))
    }

    unsafe fn apply_then(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>, then: Epilogue<T>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.apply_all_then(space, slice::from_ref(x), slice::from_mut(y), &[then]) }
    }

    unsafe fn apply_all_then(
        &self,
        space: &Space,
        x: &[Buffer<T>],
        y: &mut [Buffer<T>],
        then: &[Epilogue<T>],
    ) -> Result<()> {
        assert!(x.len() == y.len() && x.len() == then.len(), "vectors without a product");
        for ((x, y), then) in x.chunks(SEVERAL).zip(y.chunks_mut(SEVERAL)).zip(then.chunks(SEVERAL)) {
            let are_dots = then.iter().all(|then| matches!(then, Epilogue::Dot(_)));
            // What springs add is in no patch.
            let with_dots = are_dots && !space.on_host() && self.patches.addition.is_none();
            self.products(space, x, y, with_dots)?;
            for (m, ((x, y), then)) in x.iter().zip(y).zip(then).enumerate() {
                // SAFETY: the caller's promise.
                unsafe {
                    match then {
                        Epilogue::Dot(out) if with_dots => self.add_up_dots(space, x, m, *out)?,
                        _ => then.after(space, x, y)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Bounds of them before supports, for each unknown: by `|K_ij| <= sqrt(K_ii K_jj)` in each cell.
    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        node_blocks(space, &self.mesh, &self.patches, &self.held.rows, ROW_SUMS)
    }
}
