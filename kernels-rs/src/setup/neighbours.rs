//! Which nodes share cells with a node, and where they are in its row: lists with room for every candidate, from which
//! the rows of the matrix are made once their lengths are known.

use super::around::Around;
use super::lists::{List, SHORT, range};
use crate::sparse::PatternView;
use core::ops::Range;
use cuda_std::prelude::*;

/// Lists of neighbours in the mesh's numbering, a node's own number among them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Lists {
    /// Candidates before each node's: the nodes of the cells around it but for itself, `[n_nodes + 1]`.
    pub starts: View<u64>,
    /// Room for the candidates of every node and for itself, `[starts[n_nodes] + n_nodes]`.
    pub nodes: ViewMut<u32>,
}

impl Lists {
    #[inline(always)]
    unsafe fn of(self, node: usize) -> List {
        List::new(self.nodes, self.starts.at(node) as usize + node)
    }
}

/// Computes: adds to `candidates` how many nodes may be neighbours by the cells of one element type.
///
/// Parameters: `others`, nodes per cell but one; `counts [n_nodes]`, cells around each node; `candidates [n_nodes]`.
/// Thread mapping: an item per node. Memory moved: 12 B per node.
#[kernel(items)]
pub unsafe fn count_candidates(node: usize, others: u32, counts: View<u32>, candidates: ViewMut<u32>) {
    candidates.add(node, others * counts.at(node));
}

/// Computes: lists that hold each node alone.
///
/// Parameters: `lists`; `lengths [n_nodes]`. Thread mapping: an item per node. Memory moved: 16 B per node.
#[kernel(items)]
pub unsafe fn begin_lists(node: usize, lists: Lists, lengths: ViewMut<u32>) {
    lists.of(node).set(0, node as u32);
    lengths.set(node, 1);
}

/// Computes: adds to each node's list the nodes of the cells around it that it does not have yet; lists ascend.
///
/// Parameters: `around`, the cells of one element type; `lists`; `lengths [n_nodes]`. Thread mapping: an item per node.
/// Memory moved: 24 B per node; 4 + 4 N bytes per pair of node and cell (through the cache); 4 B per neighbour,
/// searched and shifted in the first-level cache.
#[kernel(items)]
pub unsafe fn list_neighbours(node: usize, around: Around, lists: Lists, lengths: ViewMut<u32>) {
    let list = lists.of(node);
    let mut len = lengths.at(node) as usize;
    let mut sorted = true;
    for pair in around.range(node) {
        let first = around.cells.at(pair) as usize * around.size;
        for b in 0..around.size {
            let other = around.nodes.at(first + b);
            if other == node as u32 {
                continue;
            }
            if len < SHORT {
                len = list.insert(len, other);
            } else {
                list.set(len, other);
                len += 1;
                sorted = false;
            }
        }
    }
    if !sorted {
        list.sort(len);
        len = list.dedup(len);
    }
    lengths.set(node, len as u32);
}

/// Computes: the length of the longest list.
///
/// Parameters: `lengths [n_nodes]`; `longest [1]`, 0 before. Thread mapping: an item per node.
/// Memory moved: 4 B read per node and an atomic maximum.
#[kernel(items)]
pub unsafe fn longest_list(node: usize, lengths: View<u32>, longest: ViewMut<u32>) {
    atomic::max(longest, 0, lengths.at(node));
}

/// Computes: the columns of each row in the solver's numbering, the diagonal first and the others ascending.
///
/// Parameters: `to_mesh, to_solver [n_nodes]`; `lists`, which are only read; `row_start [n_nodes + 1]`, the running
/// sums of the lengths by row; `columns [row_start[n_nodes]]`. Thread mapping: an item per row. Memory moved: 36 B per
/// row; per neighbour 8 B read (4 B of them gathered) and 4 B written, sorted in the first-level cache.
#[kernel(items)]
pub unsafe fn renumber_rows(
    row: usize,
    to_mesh: View<u32>,
    to_solver: View<u32>,
    lists: Lists,
    row_start: View<u64>,
    columns: ViewMut<u32>,
) {
    let list = lists.of(to_mesh.at(row) as usize);
    let Range { start: first, end } = range(row_start, row);
    columns.set(first, row as u32);
    let others = List::new(columns, first + 1);
    let mut len = 0;
    for i in 0..end - first {
        let column = to_solver.at(list.at(i) as usize);
        if column != row as u32 {
            others.set(len, column);
            len += 1;
        }
    }
    others.sort(len);
}

/// Computes: the cells around each row's node.
///
/// Parameters: `to_mesh [n_nodes]`; `around`, the lists of cells by the mesh's numbers; `offsets [n_nodes + 1]`, the start of
/// each row's list; `cells [offsets[n_nodes]]`, ascending in each. Thread mapping: an item per row. Memory moved: 28 B per
/// row; per cell of it 8 B.
#[kernel(items)]
pub unsafe fn place_cells(row: usize, to_mesh: View<u32>, around: Around, offsets: View<u64>, cells: ViewMut<u32>) {
    let Range { start, end } = around.range(to_mesh.at(row) as usize);
    let first = offsets.at(row) as usize;
    for k in 0..end - start {
        cells.set(first + k, around.cells.at(start + k));
    }
}

/// Computes: the place in the row of each cell's node a of its node b.
///
/// Parameters: `size`, N; `nodes [n_cells][N]`; `pattern`, whose rows have at most 2^16 columns; `slots [n_cells][N][N]`.
/// Thread mapping: an item per cell and a. Memory moved: 2 N B; nodes and columns are read and searched in the first-level
/// cache.
#[kernel(items)]
pub unsafe fn find_slots(item: usize, size: usize, nodes: View<u32>, pattern: PatternView, slots: ViewMut<u16>) {
    let (row, first) = (nodes.at(item) as usize, item / size * size);
    for b in 0..size {
        slots.set(item * size + b, pattern.place(row, nodes.at(first + b)) as u16);
    }
}
