//! The vertices of quadratic elements as a next level: a node in the middle of an edge moves as the mean of the edge's
//! ends.

use super::NONE;
use super::blocks::BlockRows;
use crate::setup::around::Around;
use crate::setup::lists::range;
use core::ops::Range;
use cuda_std::prelude::*;

/// The ends of the edge that a node is in the middle of; itself twice for a vertex, [`NONE`] for what is in no cell.
type Ends = [u32; 2];

/// Whether a node is a level's own, and not between two that are.
#[inline(always)]
unsafe fn is_vertex(ends: View<Ends>, node: usize) -> bool {
    let [end, _] = ends.at(node);
    end as usize == node || end == NONE
}

/// The cells of one type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cells {
    /// Their nodes, and those around each node.
    pub around: Around,
    /// Of each edge that has a node in its middle the local numbers of its ends and of that.
    pub edges: View<[u32; 3]>,
}

/// Computes: the ends of the edge that each node is in the middle of, the smaller first. A node that is a corner of any
/// cell is a vertex.
///
/// Parameters: `ends [n]`, [`NONE`] or what cells of other types have made of it. Thread mapping: an item per node.
/// Memory moved: 16 B per node, and the nodes of its cells, through the cache.
#[kernel(items)]
pub unsafe fn find_ends(node: usize, of: Cells, ends: ViewMut<Ends>) {
    let mut found = ends.at(node);
    for pair in of.around.range(node) {
        let cell = of.around.cells.at(pair) as usize * of.around.size;
        let at = |local: u32| of.around.nodes.at(cell + local as usize);
        let mut here = [node as u32; 2];
        for edge in 0..of.edges.len() {
            let [a, b, middle] = of.edges.at(edge);
            if at(middle) as usize == node {
                here = [at(a).min(at(b)), at(a).max(at(b))];
            }
        }
        if found[0] as usize != node {
            found = here;
        }
    }
    ends.set(node, found);
}

/// Computes: a mark for each vertex, and how many vertices each node depends on.
///
/// Parameters: `ends, marks, counts [n]`. Thread mapping: an item per node. Memory moved: 16 B per node.
#[kernel(items)]
pub unsafe fn mark_vertices(node: usize, ends: View<Ends>, marks: ViewMut<u32>, counts: ViewMut<u32>) {
    let is_vertex = is_vertex(ends, node);
    marks.set(node, u32::from(is_vertex));
    counts.set(node, if is_vertex { 1 } else { 2 });
}

/// Computes: what the next level takes over of each vertex: where it is and which of its components are free.
///
/// Parameters: `before [n + 1]`, how many vertices there are before each node; `coords, free [n]`; `coarse_coords,
/// coarse_free [n_vertices]`. Thread mapping: an item per node. Memory moved: 8 B per node, 50 B per vertex.
#[kernel(items)]
pub unsafe fn gather_vertices(
    node: usize,
    before: View<u64>,
    coords: View<[f64; 3]>,
    free: View<u8>,
    coarse_coords: ViewMut<[f64; 3]>,
    coarse_free: ViewMut<u8>,
) {
    let vertex = before.at(node) as usize;
    if before.at(node + 1) as usize > vertex {
        coarse_coords.set(vertex, coords.at(node));
        coarse_free.set(vertex, free.at(node));
    }
}

/// Computes: the node that each vertex is.
///
/// Parameters: `before [n + 1]`, see [`gather_vertices`]; `rows [n_vertices]`. Thread mapping: an item per node. Memory moved:
/// 8 B per node, 4 B per vertex.
#[kernel(items)]
pub unsafe fn list_vertices(node: usize, before: View<u64>, rows: ViewMut<u32>) {
    let vertex = before.at(node) as usize;
    if before.at(node + 1) as usize > vertex {
        rows.set(vertex, node as u32);
    }
}

/// Computes: the vertices of cells.
///
/// Parameters: `n_corners` of `n` nodes of a cell; `nodes [n_cells][n]`; `before [n_nodes + 1]`; `corners [n_cells][n_corners]`.
/// Thread mapping: an item per corner of a cell. Memory moved: 16 B.
#[kernel(items)]
pub unsafe fn list_corners(
    corner: usize,
    n: usize,
    n_corners: usize,
    nodes: View<u32>,
    before: View<u64>,
    corners: ViewMut<u32>,
) {
    let node = nodes.at(corner / n_corners * n + corner % n_corners);
    corners.set(corner, before.at(node as usize) as u32);
}

/// Computes: which blocks the prolongator has: a vertex its own, the middle of an edge those of both ends.
///
/// Parameters: `ends [n]`; `before [n + 1]`, see [`gather_vertices`]; `row_start [n + 1]`; `columns, rows [n_blocks]`.
/// Thread mapping: an item per node. Memory moved: 24 B per node, 8 B per block.
#[kernel(items)]
pub unsafe fn list_ends(
    node: usize,
    ends: View<Ends>,
    before: View<u64>,
    row_start: View<u64>,
    columns: ViewMut<u32>,
    rows: ViewMut<u32>,
) {
    let Range { start, end } = range(row_start, node);
    for block in start..end {
        let vertex = if end - start == 1 { node } else { ends.at(node)[block - start] as usize };
        columns.set(block, before.at(vertex) as u32);
        rows.set(block, node as u32);
    }
}

/// Computes: the values of the prolongator: 1 at a vertex, a half at each end of an edge, 0 in supported components.
///
/// Parameters: `free [n]`, `coarse_free [n_vertices]`, bits for components; `prolongator`, whose values are `values`.
/// Thread mapping: an item per block row. Memory moved: the values, 9 B per row, 5 B per block.
#[kernel(items)]
pub unsafe fn fill_interpolation(
    row: usize,
    free: View<u8>,
    coarse_free: View<u8>,
    prolongator: BlockRows<f64>,
    values: ViewMut<f64>,
) {
    let (first, width) = prolongator.pattern.row(row);
    let size = prolongator.rows;
    for block in first..first + width {
        let mask = free.at(row) & coarse_free.at(prolongator.pattern.columns.at(block) as usize);
        for i in 0..size {
            let is_free = mask >> i & 1 == 1;
            values.set((block * size + i) * size + i, if is_free { 1.0 / width as f64 } else { 0.0 });
        }
    }
}
