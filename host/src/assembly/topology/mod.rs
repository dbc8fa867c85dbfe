//! The symbolic phase on a device: by [`Symbolic`] on the host, by kernels elsewhere. Both give the same entries.

mod kernels;

pub(super) use kernels::gather_points;

use super::numbering::Numbering;
use super::symbolic::{Block, Symbolic};
use crate::device::Buffer;
use crate::element::ElementKind;
use crate::linalg::Space;
use crate::mesh::Mesh;
use crate::result::choices::Ordering;
use crate::result::{Error, Result};
use crate::sparse::Pattern;
use std::rc::Rc;

/// The cells of one element type on a device, in the solver's numbering of nodes.
pub struct CellBlock {
    /// Its position in `mesh.cells`.
    pub index: usize,
    /// Element type.
    pub kind: ElementKind,
    /// Number of cells.
    pub n_cells: usize,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: Buffer<u32>,
    /// Start of each node's list of cells, `[n_nodes + 1]`.
    pub around: Buffer<u64>,
    /// Cells around each node, ascending, `[around[n_nodes]]`.
    pub cells: Buffer<u32>,
    /// The place in the row of each cell's node a of its node b, `[n_cells][N][N]`; empty without a matrix.
    pub slots: Buffer<u16>,
}

/// Cells of one type on a device: their position in `mesh.cells`, their kind, and their nodes.
pub type TypeCells = (usize, ElementKind, Buffer<u32>);

/// What a mesh's topology says about its matrix, on a device.
pub struct Topology {
    /// The solver's numbering.
    pub numbering: Numbering,
    /// Which blocks of the matrix are not zero; no rows without a matrix.
    pub pattern: Rc<Pattern>,
    /// The cells, one entry per element type.
    pub blocks: Vec<CellBlock>,
    /// Node coordinates, `[n_nodes]`.
    pub coords: Buffer<[f64; 3]>,
}

impl Topology {
    /// Analyses a mesh; the nodes of each of some pairs are neighbours, too. A node with more than 65,535 of them is an error.
    pub fn new(space: &Space, mesh: &Mesh, pairs: &[[u32; 2]], order: Ordering, window: usize) -> Result<Self> {
        let on_device = if space.on_host() { None } else { kernels::analyse(space, mesh, pairs, (order, window))? };
        match on_device {
            Some(topology) => Ok(topology),
            None => Topology::upload(space, mesh, Symbolic::new(mesh, pairs, order, window)?),
        }
    }

    /// Analyses a mesh whose matrix is not asked for: the nodes of a [patch](super::patches) lie together.
    pub fn without_matrix(space: &Space, mesh: &Mesh) -> Result<Self> {
        kernels::without_matrix(space, mesh)
    }

    /// Of cells that are on a device, whose nodes, at `coords`, stay in their order, and of pairs of nodes as above.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] where a node has more than 65,535 neighbours.
    pub fn of_cells(
        space: &Space,
        cells: Vec<TypeCells>,
        pairs: &[[u32; 2]],
        coords: Buffer<[f64; 3]>,
    ) -> Result<Self> {
        let too_many = || Error::TooLarge(format!("a node has more than {} neighbours", u16::MAX));
        kernels::of_cells(space, cells, pairs, coords)?.ok_or_else(too_many)
    }

    /// Moves to a device what the host has found out about a mesh.
    pub fn upload(space: &Space, mesh: &Mesh, symbolic: Symbolic) -> Result<Self> {
        let Symbolic { numbering, sparsity, blocks } = symbolic;
        Ok(Topology {
            pattern: Rc::new(Pattern::upload(space, sparsity)?),
            blocks: blocks.into_iter().map(|block| CellBlock::upload(space, mesh, block)).collect::<Result<_>>()?,
            coords: space.upload_vec(numbering.gather(&mesh.coords))?,
            numbering,
        })
    }
}

impl CellBlock {
    fn upload(space: &Space, mesh: &Mesh, block: Block) -> Result<Self> {
        Ok(CellBlock {
            index: block.index,
            kind: block.kind,
            n_cells: mesh.cells[block.index].len(),
            nodes: space.upload_vec(block.nodes)?,
            around: space.upload_vec(block.around.offsets)?,
            cells: space.upload_vec(block.around.cells)?,
            slots: space.upload_vec(block.slots)?,
        })
    }
}
