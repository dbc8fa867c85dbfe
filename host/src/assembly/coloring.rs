//! Cells by colour on a backend.

use crate::backend::{Backend, Vector};
use crate::element::ElementKind;
use crate::error::Result;
use crate::mesh::Cells;
use crate::mesh::coloring::Coloring;

/// The cells of one element type sorted by colour: no two cells of a colour share a node.
pub struct CellColors<B: Backend> {
    /// Where each colour starts in `cells`, and where the last ends, `[n_colors + 1]`.
    pub starts: Vec<usize>,
    /// The cells of each colour, `[n_cells]`.
    pub cells: Vector<B, u32>,
}

impl<B: Backend> CellColors<B> {
    /// Colours cells on the host, first fit; `nodes [n_cells][N]` are those of each, below `n_nodes`.
    pub fn new(backend: &B, kind: ElementKind, nodes: &Vector<B, u32>, n_nodes: usize) -> Result<Self> {
        let nodes = backend.download(nodes)?;
        let n_cells = nodes.len() / kind.info().n_nodes;
        let cells = Cells { kind, nodes, tags: vec![0; n_cells] };
        let Coloring { starts, cells } = Coloring::first_fit(&cells, n_nodes);
        Ok(CellColors { starts, cells: backend.upload_vec(cells)? })
    }
}
