//! Element stiffness into a matrix, by the strategy of choice.

use super::coloring::CellColors;
use super::forms::{match_revolved, with_general, with_isotropic};
use super::numeric::{DeviceBlock, DeviceMesh};
use super::topology::CellBlock;
use crate::device::{Buffer, Grid, MAX_SHARED};
use crate::element::ElementKind;
use crate::element::dispatch::{match_element, with_element, with_paper_element};
use crate::linalg::Space;
use crate::mesh::coloring::Balance;
use crate::model::FormKind;
use crate::result::choices::Strategy;
use crate::result::{Error, Result};
use crate::sparse::{Matrix, Pattern};
use cuda_std::launch::Kernel;
use cuda_std::prelude::View;
use kernels_rs::assembly::atomic::{self, Atomic};
use kernels_rs::assembly::by_element::ByElement;
use kernels_rs::assembly::by_warp::{Atomics, ByWarp, ByWarp4Via, Sums};
use kernels_rs::assembly::ppni::Ppni;
use kernels_rs::assembly::row_group::{GeneralRows, Room, StiffnessRows, lanes};
use kernels_rs::assembly::row_owner::{GeneralStiffness, Stiffness};
use kernels_rs::assembly::two_kernels::{ByEntry, ENTRIES, GEOMETRY, Geometry};
use kernels_rs::assembly::{Color, Destination, MeshView, warp};
use kernels_rs::element::Element;
use kernels_rs::for_each_warp_element;
use kernels_rs::form::Form;
use kernels_rs::real::Real;

/// [`with_element!`] over the elements that strategies by warp are for.
macro_rules! with_warp_element {
    ($kind:expr, $E:ident => $body:expr) => {
        for_each_warp_element!(match_element, ($kind, $E, $body))
    };
}

/// A strategy and what it needs of a mesh beside the mesh itself. It depends on the topology alone, and is used again
/// however often materials change.
pub struct Assembly<T: Real> {
    strategy: Strategy,
    blocks: Vec<Prepared<T>>,
}

/// What a strategy needs of the cells of one element type; empty where it needs none.
struct Prepared<T: Real> {
    colors: CellColors,
    /// `dN_b/dxi_j` at the quadrature points, `[Q][3][N]`, for strategies whose lanes look at different nodes.
    slopes: Buffer<T>,
    /// Columns of a row that a group of lanes sums in shared memory.
    columns: usize,
    /// What the first of two kernels leaves to the second, `[cells of a colour][GEOMETRY][Q]`.
    geometry: Buffer<T>,
}

/// What a launch works on: cells of one element type, and the matrix.
struct Job<'a, T> {
    space: &'a Space,
    form: FormKind,
    kind: ElementKind,
    n_nodes: usize,
    n_cells: usize,
    /// Whether element types before this one have added to the matrix.
    adds: bool,
    mesh: MeshView,
    to: Destination<T>,
}

impl<T: Real> Assembly<T> {
    /// Prepares a strategy for a mesh, whose matrix has this pattern.
    ///
    /// # Errors
    /// [`Error::Unsuited`] if it has no code for an element type of the mesh, or does not run on this device.
    pub fn new(space: &Space, mesh: &DeviceMesh, pattern: &Pattern, strategy: Strategy) -> Result<Self> {
        check(space, mesh, strategy)?;
        let columns = if sets_rows(space, strategy) { columns(space, pattern)? } else { 0 };
        let prepare = |block: &DeviceBlock| Prepared::new(space, &block.cells, columns, strategy);
        Ok(Assembly { strategy, blocks: mesh.blocks.iter().map(prepare).collect::<Result<_>>()? })
    }

    /// The strategy.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// How many cells the colours have, those of all element types; zeros if the strategy takes no colours.
    pub fn balance(&self) -> Balance {
        let mut starts = vec![0];
        for block in &self.blocks {
            let before = starts[starts.len() - 1];
            starts.extend(block.colors.starts[1..].iter().map(|end| before + end));
        }
        Balance::of(&starts)
    }

    /// Sets a matrix of the mesh's pattern, in blocks of its unknowns per node, to the mesh's stiffness before
    /// supports.
    pub fn assemble(&mut self, space: &Space, mesh: &DeviceMesh, matrix: &mut Matrix<T>) -> Result<()> {
        let slots: Vec<View<u16>> = mesh.blocks.iter().map(|block| block.cells.slots.view()).collect();
        self.assemble_by(space, mesh, &slots, matrix)
    }

    /// The same of a mesh that has no slots: these are those of each element type.
    pub(super) fn assemble_by(
        &mut self,
        space: &Space,
        mesh: &DeviceMesh,
        slots: &[View<u16>],
        matrix: &mut Matrix<T>,
    ) -> Result<()> {
        let shape = (matrix.pattern().n_rows, matrix.block_size());
        assert_eq!(shape, (mesh.n_nodes, mesh.components()), "the matrix of another mesh");
        assert_eq!(self.blocks.len(), mesh.blocks.len(), "the assembly of another mesh");
        if !sets_rows(space, self.strategy) || mesh.blocks.is_empty() {
            matrix.clear(space)?;
        }
        for (i, (block, prepared)) in mesh.blocks.iter().zip(&mut self.blocks).enumerate() {
            let CellBlock { kind, n_cells, .. } = block.cells;
            let (form, n_nodes, adds) = (mesh.form, mesh.n_nodes, i > 0);
            let to = Destination { slots: slots[i], entries: matrix.entries(), values: matrix.values_mut() };
            let view = if form.is_isotropic { mesh.view(block) } else { mesh.general_view(block) };
            let job = Job { space, form, kind, n_nodes, n_cells, adds, mesh: view, to };
            // SAFETY: views of this mesh and this matrix, which live.
            unsafe { prepared.add(self.strategy, &job) }?;
            mesh.condense(space, block, matrix)?;
        }
        if let Some(addition) = &mesh.addition {
            addition.add_to(space, matrix)?;
        }
        matrix.promise_symmetric();
        Ok(())
    }
}

/// Whether groups of lanes own the rows: they set them, and nothing needs to be cleared before.
fn sets_rows(space: &Space, strategy: Strategy) -> bool {
    strategy == Strategy::RowOwner && !space.on_host()
}

fn check(space: &Space, mesh: &DeviceMesh, strategy: Strategy) -> Result<()> {
    let unfit =
        |strategy: Strategy| mesh.blocks.iter().map(|block| block.cells.kind).find(|kind| !strategy.fits(*kind));
    let suited =
        |strategy: &Strategy| strategy.solves(mesh.form) && strategy.runs_on(space) && unfit(*strategy).is_none();
    let why = if !strategy.solves(mesh.form) {
        match mesh.form.is_isotropic {
            true => format!("is not available for {}", mesh.analysis.name()),
            false => "is for isotropic materials, and not for bodies of revolution".to_string(),
        }
    } else if !strategy.runs_on(space) {
        format!("needs warps, which {} has not: `--device cuda` or `--device emulate`", space.name())
    } else if let Some(kind) = unfit(strategy) {
        let name = kind.info().name;
        match strategy.needs_warps() {
            true => format!("is for elements that divide evenly among 32 threads, which {name} does not"),
            false => format!("has no kernels for {name}"),
        }
    } else {
        return Ok(());
    };
    let available = Strategy::ALL.iter().copied().filter(suited).map(Strategy::name).collect();
    Err(Error::Unsuited { what: "assembly strategy", name: strategy.name(), why, available })
}

impl<T: Real> Prepared<T> {
    fn new(space: &Space, block: &CellBlock, columns: usize, strategy: Strategy) -> Result<Self> {
        let colors = if strategy.is_colored() {
            CellColors::new(space, block)?
        } else {
            CellColors { starts: vec![0], cells: space.zeros(0)? }
        };
        let slopes = match strategy.needs_warps() {
            true => with_warp_element!(block.kind, E => Ok(slopes::<E, T>()))?,
            false => Vec::new(),
        };
        let n_geometry = match strategy {
            Strategy::TwoKernels => colors.balance().largest * GEOMETRY * block.kind.info().shape.quadrature.len(),
            _ => 0,
        };
        Ok(Prepared { slopes: space.upload_vec(slopes)?, columns, geometry: space.zeros(n_geometry)?, colors })
    }

    /// Adds the stiffness of the cells of one type.
    ///
    /// # Safety
    /// All that the job views lives, and belongs together and to this.
    unsafe fn add(&mut self, strategy: Strategy, job: &Job<'_, T>) -> Result<()> {
        let Job { space, form, kind, mesh, to, .. } = *job;
        let (slopes, geometry) = (self.slopes.view(), self.geometry.view_mut());
        let mut colors = colors(&self.colors);
        // SAFETY: the caller's promise. A row is written by its owner alone, or by atomics alone, or by the one cell of
        // a colour that has its node. What two kernels leave for a colour has room for the largest.
        unsafe {
            match strategy {
                Strategy::RowOwner if form.is_isotropic => with_isotropic!(form, kind, P, E => {
                    if space.on_host() {
                        return space.run(job.n_nodes, Stiffness::<E, P, T>::new(mesh, to));
                    }
                    let (room, grid) = room::<E, P, T>(job.n_nodes, self.columns);
                    let adds = u32::from(job.adds);
                    space.launch(grid, StiffnessRows::<E, P, T>::new(job.n_nodes, room, adds, mesh, to))
                }),
                Strategy::RowOwner => with_general!(form, kind, P, E => {
                    if space.on_host() {
                        return space.run(job.n_nodes, GeneralStiffness::<E, P, T>::new(mesh, to));
                    }
                    let (room, grid) = room::<E, P, T>(job.n_nodes, self.columns);
                    let adds = u32::from(job.adds);
                    space.launch(grid, GeneralRows::<E, P, T>::new(job.n_nodes, room, adds, mesh, to))
                }),
                Strategy::Atomic => with_isotropic!(form, kind, P, E in with_paper_element => {
                    let n_items = atomic::n_items(job.n_cells, E::N);
                    space.run(n_items, Atomic::<E, P, T>::new(job.n_cells, mesh, to))
                }),
                Strategy::ByElement => with_paper_element!(kind, E => colors.try_for_each(|color| {
                    space.run(color.len, ByElement::<E, T>::new(color, mesh, to))
                })),
                Strategy::ByWarp4 => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    job.warps(color, ByWarp::<E, T, 4>::new(color, slopes, mesh, to))
                })),
                Strategy::ByWarp8 => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    job.warps(color, ByWarp::<E, T, 8>::new(color, slopes, mesh, to))
                })),
                Strategy::ByWarp4Shared => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    job.warps(color, ByWarp4Via::<E, T, Sums>::new(color, slopes, mesh, to))
                })),
                Strategy::ByWarp4Atomic => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    job.warps(color, ByWarp4Via::<E, T, Atomics>::new(color, slopes, mesh, to))
                })),
                Strategy::Ppni4 => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    job.warps(color, Ppni::<E, T, 4>::new(color, slopes, mesh, to))
                })),
                Strategy::Ppni8 => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    job.warps(color, Ppni::<E, T, 8>::new(color, slopes, mesh, to))
                })),
                Strategy::TwoKernels => with_warp_element!(kind, E => colors.try_for_each(|color| {
                    space.run(color.len * E::QUADRATURE.len(), Geometry::<E, T>::new(color, mesh, geometry))?;
                    let by_entry = ByEntry::<E, T>::new(color, slopes, geometry.as_view(), mesh, to);
                    space.launch(Grid::new(color.len, ENTRIES), by_entry)
                })),
            }
        }
    }
}

impl<T: Real> Job<'_, T> {
    /// Starts a kernel that has a warp for each cell of a colour.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn warps(&self, color: Color, kernel: impl Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.space.launch(Grid::new(color.len.div_ceil(warp::WARPS), warp::BLOCK), kernel) }
    }
}

/// Columns of a row for which a group of lanes has room: as many as the longest row, but not many more than most rows
/// have, as room for the longest leaves threads out.
fn columns(space: &Space, pattern: &Pattern) -> Result<usize> {
    let mean = pattern.n_blocks() as f64 / pattern.n_rows.max(1) as f64;
    Ok(pattern.longest_row(space)?.min((1.25 * mean).ceil() as usize))
}

/// Most rows of a block of threads: a slice of the format.
const ROWS: usize = 32;

/// The rows that fit in a block's shared memory, and the threads that own them.
fn room<E: Element, P: Form, T: Real>(n_nodes: usize, mut columns: usize) -> (Room, Grid) {
    let mut room = Room { columns, rows: ROWS };
    let bytes = |room: Room| room.rows * room.group_words::<E, P>() * size_of::<T>();
    while bytes(room) > MAX_SHARED {
        if room.rows > 1 {
            room.rows /= 2;
        } else {
            columns /= 2;
            room = Room { columns, rows: ROWS };
        }
    }
    let (blocks, threads) = (n_nodes.div_ceil(room.rows), room.rows * lanes::<E>());
    (room, Grid { blocks, threads, shared_bytes: bytes(room) })
}

fn colors(of: &CellColors) -> impl Iterator<Item = Color> {
    let cells = of.cells.view();
    of.starts.windows(2).map(move |bounds| Color { cells, first: bounds[0], len: bounds[1] - bounds[0] })
}

/// `dN_b/dxi_j` at the quadrature points, `[Q][3][N]`.
fn slopes<E: Element, T: Real>() -> Vec<T> {
    let of_point = |(xi, _): &([f64; 3], f64)| {
        let xi = xi.map(T::from_f64);
        let along = move |j: usize| (0..E::N).map(move |b| E::shape_gradient(b, xi)[j]);
        (0..3).flat_map(along).collect::<Vec<T>>()
    };
    E::QUADRATURE.iter().flat_map(of_point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels_rs::element::{Hex20, Tri3};
    use kernels_rs::form::{Conduction, Elasticity};

    #[test]
    fn rows_of_any_length_leave_a_block_within_its_shared_memory() {
        for columns in [0, 1, 15, 81, 500, 640, 700, 5000, 65_535] {
            let (room, grid) = room::<Hex20, Elasticity, f64>(100, columns);
            assert!(
                grid.shared_bytes <= MAX_SHARED && room.columns <= columns && room.rows >= 1,
                "{columns}: {room:?}"
            );
            assert!(grid.blocks * room.rows >= 100 && grid.threads == room.rows * lanes::<Hex20>());
            assert!(room.columns == columns || columns > 600, "{columns}: {room:?}");
        }
        assert_eq!(room::<Tri3, Elasticity, f32>(64, 7).0, Room { columns: 7, rows: ROWS });
        // A ninth of the room of elasticity's blocks: the longest row of hex20 has place.
        assert_eq!(room::<Hex20, Conduction, f64>(64, 81).0.columns, 81);
    }
}
