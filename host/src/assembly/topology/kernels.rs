//! The symbolic phase by kernels. The connectivity and the coordinates go to the device as the mesh has them; the
//! numbering alone comes back.
//!
//! | [`Symbolic`](super::Symbolic) | here |
//! | --- | --- |
//! | `around` | [`NodeCells::new`] |
//! | `neighbours` | [`Neighbours::new`] |
//! | `Numbering::new` | [`places`], [`by_degree`] |
//! | `renumber` | [`Neighbours::rows`] |
//! | `Block::new` | [`NodeCells::place`] |

use super::{CellBlock, Topology, TypeCells};
use crate::assembly::numbering::Numbering;
use crate::assembly::patch_order::node_order;
use crate::assembly::symbolic;
use crate::device::Buffer;
use crate::element::ElementKind;
use crate::linalg::Space;
use crate::mesh::{Cells, Mesh, ordering};
use crate::result::Result;
use crate::result::choices::Ordering;
use crate::sparse::Pattern;
use kernels_rs::setup::around::{Around, CountCells, ListCells, SortCells};
use kernels_rs::setup::neighbours::{
    BeginLists, CountCandidates, FindSlots, ListNeighbours, Lists, LongestList, PlaceCells, RenumberRows,
};
use kernels_rs::setup::order::{DegreeKeys, Gather, GatherPoints, HILBERT_BITS, HilbertKeys, Invert};
use std::rc::Rc;

/// Analyses a mesh; nothing if a node has more neighbours than slots can number.
pub fn analyse(
    space: &Space,
    mesh: &Mesh,
    pairs: &[[u32; 2]],
    (order, window): (Ordering, usize),
) -> Result<Option<Topology>> {
    let n = mesh.coords.len();
    let solids = mesh.solids();
    let around: Vec<_> = solids.map(|(index, cells)| NodeCells::new(space, n, index, cells)).collect::<Result<_>>()?;
    let neighbours = Neighbours::new(space, n, &around, pairs)?;
    if neighbours.longest > u32::from(u16::MAX) {
        return Ok(None);
    }
    let mesh_coords = space.upload(&mesh.coords)?;
    let to_mesh = places(space, (mesh, pairs), &mesh_coords, order)?;
    let to_mesh = by_degree(space, to_mesh, window, &neighbours)?;
    placed(space, around, to_mesh, mesh_coords, |numbering| neighbours.rows(space, numbering)).map(Some)
}

/// Analyses cells that are on a device, whose nodes, at `coords`, stay in their order; nothing if a node has more neighbours
/// than slots can number.
pub fn of_cells(
    space: &Space,
    cells: Vec<TypeCells>,
    pairs: &[[u32; 2]],
    coords: Buffer<[f64; 3]>,
) -> Result<Option<Topology>> {
    let n = coords.len();
    let around = cells.into_iter().map(|(index, kind, nodes)| NodeCells::of(space, n, (index, kind), nodes));
    let around: Vec<_> = around.collect::<Result<_>>()?;
    let neighbours = Neighbours::new(space, n, &around, pairs)?;
    if neighbours.longest > u32::from(u16::MAX) {
        return Ok(None);
    }
    let order = space.upload_vec((0..n as u32).collect())?;
    placed(space, around, order, coords, |numbering| neighbours.rows(space, numbering)).map(Some)
}

/// Analyses a mesh whose matrix is not asked for.
pub fn without_matrix(space: &Space, mesh: &Mesh) -> Result<Topology> {
    let n = mesh.coords.len();
    let solids = mesh.solids();
    let around: Vec<_> = solids.map(|(index, cells)| NodeCells::new(space, n, index, cells)).collect::<Result<_>>()?;
    let mesh_coords = space.upload(&mesh.coords)?;
    let cells: Vec<_> = around.iter().map(|block| (block.kind, &block.nodes)).collect();
    let to_mesh = node_order(space, mesh, &mesh_coords, &cells)?;
    placed(space, around, to_mesh, mesh_coords, |_| {
        Ok(Pattern { n_rows: 0, row_start: space.upload(&[0])?, columns: space.upload(&[])? })
    })
}

/// The topology of cells in an order of the nodes.
fn placed(
    space: &Space,
    around: Vec<NodeCells>,
    to_mesh: Buffer<u32>,
    mesh_coords: Buffer<[f64; 3]>,
    pattern: impl FnOnce(&DeviceNumbering) -> Result<Pattern>,
) -> Result<Topology> {
    let n = to_mesh.len();
    let coords = gather_points(space, &to_mesh, &mesh_coords)?;
    drop(mesh_coords);
    let mut to_solver = space.zeros(n)?;
    // SAFETY: both live and have an entry per node; an order names every node once.
    unsafe { space.run(n, Invert { order: to_mesh.view(), inverse: to_solver.view_mut() }) }?;
    let numbering = DeviceNumbering { to_mesh, to_solver };
    let pattern = Rc::new(pattern(&numbering)?);
    let blocks = around.into_iter().map(|block| block.place(space, &numbering, &pattern)).collect::<Result<_>>()?;
    let DeviceNumbering { to_mesh, to_solver } = numbering;
    let numbering = Numbering { to_mesh: space.take(to_mesh)?, to_solver: space.take(to_solver)? };
    Ok(Topology { numbering, pattern, blocks, coords })
}

type DeviceNumbering = Numbering<Buffer<u32>>;

fn gather(space: &Space, index: &Buffer<u32>, from: &Buffer<u32>) -> Result<Buffer<u32>> {
    let mut out = space.zeros(index.len())?;
    let kernel = Gather { index: index.view(), from: from.view(), out: out.view_mut() };
    // SAFETY: all live until `finish`; every index here is a node's, and `from` has an entry per node.
    unsafe { space.run(index.len(), kernel) }?;
    space.finish()?;
    Ok(out)
}

/// `from[index_i]` for points.
pub fn gather_points(space: &Space, index: &Buffer<u32>, from: &Buffer<[f64; 3]>) -> Result<Buffer<[f64; 3]>> {
    let mut out = space.zeros(index.len())?;
    let kernel = GatherPoints { index: index.view(), from: from.view(), out: out.view_mut() };
    // SAFETY: as for `gather`.
    unsafe { space.run(index.len(), kernel) }?;
    space.finish()?;
    Ok(out)
}

/// Bits of numbers up to `largest`.
fn bits(largest: u64) -> u32 {
    u64::BITS - largest.leading_zeros()
}

/// The mesh's nodes in an order.
fn places(
    space: &Space,
    (mesh, pairs): (&Mesh, &[[u32; 2]]),
    coords: &Buffer<[f64; 3]>,
    order: Ordering,
) -> Result<Buffer<u32>> {
    let n = coords.len();
    match order {
        Ordering::Hilbert => {
            let (lattice, mut keys) = (ordering::lattice(&mesh.coords), space.zeros(n)?);
            // SAFETY: both live and have an entry per node.
            unsafe { space.run(n, HilbertKeys { lattice, coords: coords.view(), keys: keys.view_mut() }) }?;
            space.sort_order(&keys, HILBERT_BITS)
        }
        Ordering::Mesh => space.upload_vec((0..n as u32).collect()),
        Ordering::ReverseCuthillMckee => space.upload_vec(order.order(mesh, &symbolic::neighbours(mesh, pairs))),
    }
}

/// The same, each window sorted by falling degree.
fn by_degree(space: &Space, places: Buffer<u32>, window: usize, neighbours: &Neighbours) -> Result<Buffer<u32>> {
    if window <= 1 {
        return Ok(places);
    }
    let n = places.len();
    let mut keys = space.zeros(n)?;
    let degree_bits = bits(neighbours.longest.into());
    let kernel = DegreeKeys {
        window,
        bits: degree_bits,
        order: places.view(),
        degrees: neighbours.lengths.view(),
        keys: keys.view_mut(),
    };
    // SAFETY: all live and have an entry per node, and no degree has more bits.
    unsafe { space.run(n, kernel) }?;
    let by_degree = space.sort_order(&keys, degree_bits + bits((n / window) as u64))?;
    gather(space, &by_degree, &places)
}

/// The cells of one type around the nodes, in the mesh's numbering.
struct NodeCells {
    index: usize,
    kind: ElementKind,
    n_cells: usize,
    nodes: Buffer<u32>,
    counts: Buffer<u32>,
    offsets: Buffer<u64>,
    cells: Buffer<u32>,
}

impl NodeCells {
    fn new(space: &Space, n: usize, index: usize, block: &Cells) -> Result<Self> {
        NodeCells::of(space, n, (index, block.kind), space.upload(&block.nodes)?)
    }

    fn of(space: &Space, n: usize, (index, kind): (usize, ElementKind), nodes: Buffer<u32>) -> Result<Self> {
        let size = kind.info().n_nodes;
        let n_cells = nodes.len() / size;
        let mut counts = space.zeros(n)?;
        // SAFETY: both live; cells name nodes of the mesh.
        unsafe { space.run(n_cells, CountCells { size, nodes: nodes.view(), counts: counts.view_mut() }) }?;
        let offsets = space.exclusive_sum(&counts)?;
        let (mut listed, mut cells) = (space.zeros(n)?, space.zeros(nodes.len())?);
        let list = ListCells {
            size,
            nodes: nodes.view(),
            offsets: offsets.view(),
            listed: listed.view_mut(),
            cells: cells.view_mut(),
        };
        // SAFETY: all live until `finish`; the offsets leave room for every pair of node and cell.
        unsafe {
            space.run(n_cells, list)?;
            space.run(n, SortCells { offsets: offsets.view(), cells: cells.view_mut() })?;
        }
        space.finish()?;
        Ok(NodeCells { index, kind, n_cells, nodes, counts, offsets, cells })
    }

    fn size(&self) -> usize {
        self.kind.info().n_nodes
    }

    fn view(&self) -> Around {
        Around { size: self.size(), nodes: self.nodes.view(), offsets: self.offsets.view(), cells: self.cells.view() }
    }

    /// The same in the solver's numbering, with slots.
    fn place(self, space: &Space, numbering: &DeviceNumbering, pattern: &Pattern) -> Result<CellBlock> {
        let nodes = gather(space, &self.nodes, &numbering.to_solver)?;
        let around = space.exclusive_sum(&gather(space, &numbering.to_mesh, &self.counts)?)?;
        let mut cells = space.zeros(self.cells.len())?;
        let n_slots = if pattern.n_rows == 0 { 0 } else { self.cells.len() * self.size() };
        let mut slots = space.zeros(n_slots)?;
        let (to_mesh, offsets) = (numbering.to_mesh.view(), around.view());
        let place = PlaceCells { to_mesh, around: self.view(), offsets, cells: cells.view_mut() };
        let (size, nodes_of, pattern) = (self.size(), nodes.view(), pattern.view());
        // SAFETY: all live until `finish`; a row has as many cells as its node has, and columns for all their nodes.
        unsafe {
            space.run(numbering.to_mesh.len(), place)?;
            space.run(n_slots / size, FindSlots { size, nodes: nodes_of, pattern, slots: slots.view_mut() })?;
        }
        space.finish()?;
        Ok(CellBlock { index: self.index, kind: self.kind, n_cells: self.n_cells, nodes, around, cells, slots })
    }
}

/// The neighbours of every node, itself included, in the mesh's numbering.
struct Neighbours {
    starts: Buffer<u64>,
    nodes: Buffer<u32>,
    /// Neighbours of each node, `[n_nodes]`.
    lengths: Buffer<u32>,
    /// The most of any node.
    longest: u32,
}

impl Neighbours {
    fn new(space: &Space, n: usize, around: &[NodeCells], pairs: &[[u32; 2]]) -> Result<Self> {
        let joined = match pairs.is_empty() {
            true => None,
            false => Some(NodeCells::of(space, n, (0, ElementKind::Line2), space.upload_vec(pairs.concat())?)?),
        };
        let around = || around.iter().chain(&joined);
        let mut candidates = space.zeros(n)?;
        for block in around() {
            let others = block.size() as u32 - 1;
            let kernel = CountCandidates { others, counts: block.counts.view(), candidates: candidates.view_mut() };
            // SAFETY: both live and have an entry per node.
            unsafe { space.run(n, kernel) }?;
        }
        let starts = space.exclusive_sum(&candidates)?;
        drop(candidates);
        let room = space.read_at(&starts, n)? as usize + n;
        let mut found = Self { starts, nodes: space.zeros(room)?, lengths: space.zeros(n)?, longest: 0 };
        let (lists, lengths) = (found.lists(), found.lengths.view_mut());
        // SAFETY: all live, and there is room for every candidate; each thread writes to its node's list.
        unsafe { space.run(n, BeginLists { lists, lengths }) }?;
        for block in around() {
            // SAFETY: as above.
            unsafe { space.run(n, ListNeighbours { around: block.view(), lists, lengths }) }?;
        }
        let mut longest = space.zeros(1)?;
        // SAFETY: both live until `read_at`, which waits.
        unsafe { space.run(n, LongestList { lengths: found.lengths.view(), longest: longest.view_mut() }) }?;
        found.longest = space.read_at(&longest, 0)?;
        Ok(found)
    }

    fn lists(&mut self) -> Lists {
        Lists { starts: self.starts.view(), nodes: self.nodes.view_mut() }
    }

    /// The matrix's rows.
    fn rows(mut self, space: &Space, numbering: &DeviceNumbering) -> Result<Pattern> {
        let n_rows = numbering.to_mesh.len();
        let row_start = space.exclusive_sum(&gather(space, &numbering.to_mesh, &self.lengths)?)?;
        let mut columns = space.zeros(space.read_at(&row_start, n_rows)? as usize)?;
        let kernel = RenumberRows {
            to_mesh: numbering.to_mesh.view(),
            to_solver: numbering.to_solver.view(),
            lists: self.lists(),
            row_start: row_start.view(),
            columns: columns.view_mut(),
        };
        // SAFETY: all live until `finish`; a row has as many columns as its node has neighbours.
        unsafe { space.run(n_rows, kernel) }?;
        space.finish()?;
        Ok(Pattern { n_rows, row_start, columns })
    }
}
