//! Colouring of cells, so that no two cells of a colour share a node (WARP sec. 3.4): first fit in a given order, with
//! all cells at once that no longer wait for another (Jones and Plassmann 1993).
//!
//! Each node has a list of its cells in that order. A cell is ready when it is the next at all its nodes, so cells that
//! are ready together share no node. One launch gives each of them the first colour that is free at its nodes and finds
//! those that are ready then. Who is ready follows from the order alone, hence so do the colours, whoever came first;
//! they are those of first fit one by one.

use super::lists::List;
use cuda_std::prelude::*;

/// Threads that [`color_ready`] is launched with at most; each goes on to the cell this many further.
pub const LANES: usize = 1 << 15;

/// What waits at each node, and what has been given there.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Waiting {
    /// Nodes per cell, N.
    pub size: usize,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: View<u32>,
    /// Start of each node's list, `[n_nodes + 1]`.
    pub offsets: View<u64>,
    /// For each node the colours given to its cells, then the cells that wait, in order, `[offsets[n_nodes]]`.
    pub lists: ViewMut<u32>,
    /// How many colours each node's list begins with, `[n_nodes]`.
    pub given: ViewMut<u32>,
}

/// The cells that get ready.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ready {
    /// How many of its nodes each cell is the next at, `[n_cells]`; 0 before the first.
    pub next_at: ViewMut<u32>,
    /// The cells that are ready in the next round, in any order, `[n_cells]`.
    pub cells: ViewMut<u32>,
    /// How many are ready in a round, in that after it, and in that before it, which is cleared, `[3]`; 0 at first.
    pub counts: ViewMut<u32>,
    /// Which of the counts is the next round's.
    pub next: usize,
}

/// The colours.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Colors {
    /// Of each cell, `[n_cells]`.
    pub of_cells: ViewMut<u64>,
    /// Their number, `[1]`; 0 before.
    pub number: ViewMut<u32>,
}

impl Waiting {
    /// Position of the first cell that waits at a node, and one past the node's list.
    #[inline(always)]
    unsafe fn range(self, node: usize) -> (usize, usize) {
        (self.offsets.at(node) as usize + self.given.at(node) as usize, self.offsets.at(node + 1) as usize)
    }

    /// The first colour that none of a cell's nodes has; 64 are looked at a time.
    #[inline(always)]
    unsafe fn first_free(self, cell: usize) -> u32 {
        let mut first = 0;
        loop {
            let mut taken = 0_u64;
            for b in 0..self.size {
                let node = self.nodes.at(cell * self.size + b) as usize;
                let (end, _) = self.range(node);
                for place in self.offsets.at(node) as usize..end {
                    let color = self.lists.at(place).wrapping_sub(first);
                    if color < u64::BITS {
                        taken |= 1 << color;
                    }
                }
            }
            if taken != u64::MAX {
                return first + taken.trailing_ones();
            }
            first += u64::BITS;
        }
    }

    /// Tells the cell that is next at a node so; it is ready if it is the next at all its nodes.
    #[inline(always)]
    unsafe fn call_next(self, node: usize, to: Ready) {
        let (place, end) = self.range(node);
        if place == end {
            return;
        }
        let cell = self.lists.at(place);
        // A cell that has the node twice is in the list twice, in a row.
        let mut times = 1;
        while place + times < end && self.lists.at(place + times) == cell {
            times += 1;
        }
        let before = atomic::add(to.next_at, cell as usize, times as u32) as usize;
        if before + times == self.size {
            to.cells.set(atomic::add(to.counts, to.next, 1) as usize, cell);
        }
    }
}

/// Computes: which cells are ready as lists begin.
///
/// Parameters: `waiting`; `to`, where [`Ready::next`] is the first round's. Thread mapping: an item per node.
/// Memory moved: 24 B per node; per node an atomic addition that it waits for.
#[kernel(items)]
pub unsafe fn first_ready(node: usize, waiting: Waiting, to: Ready) {
    waiting.call_next(node, to);
}

/// Computes: one round, the colours of the cells that are ready and which cells are ready then.
///
/// Parameters: `ready [n_cells]`, of which the count before [`Ready::next`] says how many are; `waiting`; `to`, whose
/// cells are another array; `colors`. Thread mapping: [`LANES`] items, or as many as there are
/// cells if these are fewer; each takes every so many-th of the cells that are ready.
/// Memory moved: per cell 12 B, and per node of it 28 B, the colours given there (4 B each) and an atomic addition that
/// it waits for. A round of few cells takes as long as these reads take one after the other, some microseconds.
#[kernel(items)]
pub unsafe fn color_ready(lane: usize, ready: View<u32>, waiting: Waiting, to: Ready, colors: Colors) {
    let n_ready = to.counts.at((to.next + 2) % 3) as usize;
    if lane == 0 {
        to.counts.set((to.next + 1) % 3, 0);
    }
    let mut number = 0;
    let mut i = lane;
    while i < n_ready {
        let cell = ready.at(i);
        let color = waiting.first_free(cell as usize);
        colors.of_cells.set(cell as usize, u64::from(color));
        number = u32::max(number, color + 1);
        for b in 0..waiting.size {
            let node = waiting.nodes.at(cell as usize * waiting.size + b) as usize;
            let (place, end) = waiting.range(node);
            waiting.lists.set(place, color);
            waiting.given.add(node, 1);
            let again = place + 1 < end && waiting.lists.at(place + 1) == cell;
            if !again {
                waiting.call_next(node, to);
            }
        }
        i += LANES;
    }
    if number > 0 {
        atomic::max(colors.number, 0, number);
    }
}

/// Computes: what waits at each node, in the order of the cells' numbers read from their last bit to the first.
///
/// In the order of their numbers cells of a long thin mesh wait for each other in a chain as long as the mesh. In this
/// one, as in one at random, chains are short: at most about 140 cells on the boxes and meshes tried. Of a box of
/// hexahedra it takes turns in the three directions, and needs 8 to 16 colours where one at random needs 18.
///
/// Parameters: `waiting`. Thread mapping: an item per node. Memory moved: 20 B per node, 8 B per cell that waits at it;
/// the rest in the first-level cache.
#[kernel(items)]
pub unsafe fn reorder_waiting(node: usize, waiting: Waiting) {
    let (start, end) = waiting.range(node);
    let list = List::new(waiting.lists, start);
    for i in 0..end - start {
        list.set(i, list.at(i).reverse_bits());
    }
    list.sort(end - start);
    for i in 0..end - start {
        list.set(i, list.at(i).reverse_bits());
    }
}

/// Computes: where each colour starts among cells sorted by colour.
///
/// Parameters: `colors [n_cells]`, by cell, with cells of every colour below the largest; `order [n_cells]`, the cells;
/// `starts [n_colors]`. Thread mapping: an item per cell. Memory moved: 4 B read in order and 8 B gathered per cell.
#[kernel(items)]
pub unsafe fn color_starts(place: usize, colors: View<u64>, order: View<u32>, starts: ViewMut<u32>) {
    let color = colors.at(order.at(place) as usize);
    if place == 0 || colors.at(order.at(place - 1) as usize) != color {
        starts.set(color as usize, place as u32);
    }
}
