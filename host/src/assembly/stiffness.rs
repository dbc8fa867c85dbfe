//! Element stiffness into a matrix, by the strategy of choice.

use super::coloring::CellColors;
use super::numeric::{DeviceBlock, DeviceMesh};
use super::strategy::Strategy;
use crate::backend::{Backend, Buffer, Vector};
use crate::element::ElementKind;
use crate::element::dispatch::{match_element, with_element};
use crate::error::{Error, Result};
use crate::sparse::Matrix;
use cuda_std::launch::Kernel;
use kernels_rs::assembly::atomic::{self, Atomic};
use kernels_rs::assembly::by_element::ByElement;
use kernels_rs::assembly::by_warp::{Atomics, ByWarp, ByWarp4Via, Sums};
use kernels_rs::assembly::ppni::Ppni;
use kernels_rs::assembly::row_owner::Stiffness;
use kernels_rs::assembly::two_kernels::{ByEntry, ENTRIES, GEOMETRY, Geometry};
use kernels_rs::assembly::{Color, Destination, MeshView, warp};
use kernels_rs::element::Element;
use kernels_rs::for_each_warp_element;
use kernels_rs::real::Real;

/// [`with_element!`] over the elements that strategies by warp are for.
macro_rules! with_warp_element {
    ($kind:expr, $E:ident => $body:expr) => {
        for_each_warp_element!(match_element, ($kind, $E, $body))
    };
}

/// A strategy and what it needs of a mesh beside the mesh itself. It depends on the topology alone, and is used again
/// however often materials change.
pub struct Assembly<B: Backend, T: Real> {
    strategy: Strategy,
    blocks: Vec<Prepared<B, T>>,
}

/// What a strategy needs of the cells of one element type; empty where it needs none.
struct Prepared<B: Backend, T: Real> {
    colors: CellColors<B>,
    /// `dN_b/dxi_j` at the quadrature points, `[Q][3][N]`, for strategies whose lanes look at different nodes.
    slopes: Vector<B, T>,
    /// What the first of two kernels leaves to the second, `[cells of a colour][GEOMETRY][Q]`.
    geometry: Vector<B, T>,
}

/// What a launch works on: cells of one element type, and the matrix.
struct Job<'a, B: Backend, T> {
    backend: &'a B,
    kind: ElementKind,
    n_nodes: usize,
    n_cells: usize,
    mesh: MeshView,
    to: Destination<T>,
}

impl<B: Backend, T: Real> Assembly<B, T> {
    /// Prepares a strategy for a mesh.
    ///
    /// # Errors
    /// [`Error::Unsuited`] if it has no code for an element type of the mesh, or does not run on this backend.
    pub fn new(backend: &B, mesh: &DeviceMesh<B>, strategy: Strategy) -> Result<Self> {
        check(backend, mesh, strategy)?;
        let prepare = |block| Prepared::new(backend, mesh, block, strategy);
        Ok(Assembly { strategy, blocks: mesh.blocks.iter().map(prepare).collect::<Result<_>>()? })
    }

    /// The strategy.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Adds the stiffness of the mesh, before supports, to a matrix of its pattern in blocks of its dimension.
    pub fn add_stiffness(&mut self, backend: &B, mesh: &DeviceMesh<B>, matrix: &mut Matrix<B, T>) -> Result<()> {
        let shape = (matrix.pattern().n_rows, matrix.block_size());
        assert_eq!(shape, (mesh.n_nodes, mesh.dim), "the matrix of another mesh");
        assert_eq!(self.blocks.len(), mesh.blocks.len(), "the assembly of another mesh");
        for (block, prepared) in mesh.blocks.iter().zip(&mut self.blocks) {
            let job = Job {
                backend,
                kind: block.kind,
                n_nodes: mesh.n_nodes,
                n_cells: block.n_cells,
                mesh: mesh.view(block),
                to: Destination { slots: block.slots(), entries: matrix.entries(), values: matrix.values_mut() },
            };
            // SAFETY: views of this mesh and this matrix, which live.
            unsafe { prepared.add(self.strategy, &job) }?;
        }
        Ok(())
    }
}

/// Refuses a strategy that cannot assemble a mesh on a backend.
fn check<B: Backend>(backend: &B, mesh: &DeviceMesh<B>, strategy: Strategy) -> Result<()> {
    let unfit = |strategy: Strategy| mesh.blocks.iter().map(|block| block.kind).find(|kind| !strategy.fits(*kind));
    let suited = |strategy: &Strategy| strategy.runs_on::<B>() && unfit(*strategy).is_none();
    let why = if !strategy.runs_on::<B>() {
        format!("needs warps, which {} has not: `--device cuda` or `--device emulate`", backend.name())
    } else if let Some(kind) = unfit(strategy) {
        format!("is for elements that divide evenly among 32 threads, which {} does not", kind.info().name)
    } else {
        return Ok(());
    };
    let available = Strategy::ALL.iter().copied().filter(suited).map(Strategy::name).collect();
    Err(Error::Unsuited { strategy: strategy.name(), why, available })
}

impl<B: Backend, T: Real> Prepared<B, T> {
    fn new(backend: &B, mesh: &DeviceMesh<B>, block: &DeviceBlock<B>, strategy: Strategy) -> Result<Self> {
        let colors = if strategy.is_colored() {
            CellColors::new(backend, block.kind, block.nodes(), mesh.n_nodes)?
        } else {
            CellColors { starts: Vec::new(), cells: backend.zeros(0)? }
        };
        let (slopes, n_points) = with_element!(block.kind, E => Ok((slopes::<E, T>(), E::QUADRATURE.len())))?;
        let largest = colors.starts.windows(2).map(|bounds| bounds[1] - bounds[0]).max().unwrap_or(0);
        let n_geometry = if strategy == Strategy::TwoKernels { largest * GEOMETRY * n_points } else { 0 };
        Ok(Prepared {
            slopes: backend.upload_vec(if strategy.needs_warps() { slopes } else { Vec::new() })?,
            geometry: backend.zeros(n_geometry)?,
            colors,
        })
    }

    /// Adds the stiffness of the cells of one type.
    ///
    /// # Safety
    /// All that the job views lives, and belongs together and to this.
    unsafe fn add(&mut self, strategy: Strategy, job: &Job<'_, B, T>) -> Result<()> {
        let (backend, kind, mesh, to) = (job.backend, job.kind, job.mesh, job.to);
        let (slopes, geometry) = (self.slopes.view(), self.geometry.view_mut());
        let mut colors = colors(&self.colors);
        // SAFETY: the caller's promise. A row is written by its owner alone, or by atomics alone, or by the one cell of a
        // colour that has its node. What two kernels leave for a colour has room for the largest.
        unsafe {
            match strategy {
                Strategy::RowOwner => with_element!(kind, E => {
                    backend.run(job.n_nodes, Stiffness::<E, T>::new(mesh, to))
                }),
                Strategy::Atomic => with_element!(kind, E => {
                    let n_items = atomic::n_items(job.n_cells, E::N);
                    backend.run(n_items, Atomic::<E, T>::new(job.n_cells, mesh, to))
                }),
                Strategy::ByElement => with_element!(kind, E => colors.try_for_each(|color| {
                    backend.run(color.len, ByElement::<E, T>::new(color, mesh, to))
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
                    backend.run(color.len * E::QUADRATURE.len(), Geometry::<E, T>::new(color, mesh, geometry))?;
                    let by_entry = ByEntry::<E, T>::new(color, slopes, geometry.as_view(), mesh, to);
                    backend.launch(color.len, ENTRIES, by_entry)
                })),
            }
        }
    }
}

impl<B: Backend, T: Real> Job<'_, B, T> {
    /// Starts a kernel that has a warp for each cell of a colour.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn warps(&self, color: Color, kernel: impl Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.backend.launch(color.len.div_ceil(warp::WARPS), warp::BLOCK, kernel) }
    }
}

/// How kernels see each colour.
fn colors<B: Backend>(of: &CellColors<B>) -> impl Iterator<Item = Color> {
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
