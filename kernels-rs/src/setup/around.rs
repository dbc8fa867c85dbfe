//! Which cells meet at a node: counted, listed by atomics in any order, then each node's list sorted. What comes out
//! does not depend on who came first.

use super::lists::{List, range};
use core::ops::Range;
use cuda_std::prelude::*;

/// The cells of one element type and for each node the cells around it, in the mesh's numbering of nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Around {
    /// Nodes per cell, N.
    pub size: usize,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: View<u32>,
    /// Start of each node's list of cells, `[n_nodes + 1]`.
    pub offsets: View<u64>,
    /// Cells around each node, ascending, `[offsets[n_nodes]]`.
    pub cells: View<u32>,
}

impl Around {
    /// The places of the cells around `node`.
    #[inline(always)]
    pub unsafe fn range(self, node: usize) -> Range<usize> {
        range(self.offsets, node)
    }
}

/// Computes: adds to `counts` how many cells there are around each node.
///
/// Parameters: `size`, nodes per cell; `nodes [n_cells][size]`; `counts [n_nodes]`. Thread mapping: an item per cell.
/// Memory moved: per pair of cell and node 4 B read and an atomic addition.
#[kernel(items)]
pub unsafe fn count_cells(cell: usize, size: usize, nodes: View<u32>, counts: ViewMut<u32>) {
    for b in 0..size {
        atomic::accumulate(counts, nodes.at(cell * size + b) as usize, 1);
    }
}

/// Computes: lists the cells around each node, in the order in which threads arrive.
///
/// Parameters: `size`, nodes per cell; `nodes [n_cells][size]`; `offsets [n_nodes + 1]`, the counts' running sums;
/// `listed [n_nodes]`, 0 before; `cells [offsets[n_nodes]]`. Thread mapping: an item per cell.
/// Memory moved: per pair of cell and node 12 B read, 4 B written and an atomic addition that it waits for.
#[kernel(items)]
pub unsafe fn list_cells(
    cell: usize,
    size: usize,
    nodes: View<u32>,
    offsets: View<u64>,
    listed: ViewMut<u32>,
    cells: ViewMut<u32>,
) {
    for b in 0..size {
        let node = nodes.at(cell * size + b) as usize;
        let place = offsets.at(node) as usize + atomic::add(listed, node, 1) as usize;
        cells.set(place, cell as u32);
    }
}

/// Computes: sorts each node's list of cells.
///
/// Parameters: `offsets [n_nodes + 1]`; `cells [offsets[n_nodes]]`. Thread mapping: an item per node.
/// Memory moved: 16 B per node, 8 B per cell in its list; the rest in the first-level cache.
#[kernel(items)]
pub unsafe fn sort_cells(node: usize, offsets: View<u64>, cells: ViewMut<u32>) {
    let Range { start, end } = range(offsets, node);
    List::new(cells, start).sort(end - start);
}
