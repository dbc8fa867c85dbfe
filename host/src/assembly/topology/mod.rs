//! The symbolic phase on a backend: by [`Symbolic`] on the host, by kernels elsewhere. Both give the same entries.

mod kernels;

use super::numbering::Numbering;
use super::symbolic::{Block, Symbolic};
use crate::backend::{Backend, Vector};
use crate::element::ElementKind;
use crate::mesh::Mesh;
use crate::result::Result;
use crate::result::choices::Ordering;
use crate::sparse::Pattern;
use std::rc::Rc;

/// The cells of one element type on a backend, in the solver's numbering of nodes.
pub struct CellBlock<B: Backend> {
    /// Its position in `mesh.cells`.
    pub index: usize,
    /// Element type.
    pub kind: ElementKind,
    /// Number of cells.
    pub n_cells: usize,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: Vector<B, u32>,
    /// Start of each node's list of cells, `[n_nodes + 1]`.
    pub around: Vector<B, u64>,
    /// Cells around each node, ascending, `[around[n_nodes]]`.
    pub cells: Vector<B, u32>,
    /// The place in the row of each cell's node a of its node b, `[n_cells][N][N]`.
    pub slots: Vector<B, u16>,
}

/// What a mesh's topology says about its matrix, on a backend.
pub struct Topology<B: Backend> {
    /// The solver's numbering.
    pub numbering: Numbering,
    /// Which blocks of the matrix are not zero.
    pub pattern: Rc<Pattern<B>>,
    /// The cells, one entry per element type.
    pub blocks: Vec<CellBlock<B>>,
    /// Node coordinates, `[n_nodes]`.
    pub coords: Vector<B, [f64; 3]>,
}

impl<B: Backend> Topology<B> {
    /// Analyses a mesh. A node with more than 65,535 neighbours is an error.
    pub fn new(backend: &B, mesh: &Mesh, order: Ordering, window: usize) -> Result<Self> {
        let on_device = if B::ON_HOST { None } else { kernels::analyse(backend, mesh, order, window)? };
        match on_device {
            Some(topology) => Ok(topology),
            None => Topology::upload(backend, mesh, Symbolic::new(mesh, order, window)?),
        }
    }

    /// Moves to a backend what the host has found out about a mesh.
    pub fn upload(backend: &B, mesh: &Mesh, symbolic: Symbolic) -> Result<Self> {
        let Symbolic { numbering, sparsity, blocks } = symbolic;
        Ok(Topology {
            pattern: Rc::new(Pattern::upload(backend, sparsity)?),
            blocks: blocks.into_iter().map(|block| CellBlock::upload(backend, mesh, block)).collect::<Result<_>>()?,
            coords: backend.upload_vec(numbering.gather(&mesh.coords))?,
            numbering,
        })
    }
}

impl<B: Backend> CellBlock<B> {
    fn upload(backend: &B, mesh: &Mesh, block: Block) -> Result<Self> {
        Ok(CellBlock {
            index: block.index,
            kind: block.kind,
            n_cells: mesh.cells[block.index].len(),
            nodes: backend.upload_vec(block.nodes)?,
            around: backend.upload_vec(block.around.offsets)?,
            cells: backend.upload_vec(block.around.cells)?,
            slots: backend.upload_vec(block.slots)?,
        })
    }
}
