//! Aggregates of strongly coupled nodes: around the nodes of a maximal independent set of the graph's square (Bell,
//! Dalton, Olson 2012, sec. 4.3).
//!
//! A node that is undecided and has the greatest key within two steps is in the set, and those around it are out. Keys
//! are made of numbers that follow no pattern: so a few rounds decide all nodes, and the same ones every time.

use super::NONE;
use super::strength::Graph;
use crate::real::mixed;
use cuda_std::prelude::*;

const UNDECIDED: u64 = 1;
const IN: u64 = 2;

/// What is known of a node: its state, then a priority, then its number, so that no two are equal. 0 if it is out.
#[inline(always)]
fn key(state: u64, node: usize) -> u64 {
    state << 62 | (mixed(node) >> 34) << 32 | node as u64
}

#[inline(always)]
fn state(key: u64) -> u64 {
    key >> 62
}

/// Computes: the keys before the first round: undecided are all nodes that are coupled to others.
///
/// Parameters: `linked [n]`, see [`super::strength::Couplings`]; `keys [n]`. Thread mapping: an item per node.
/// Memory moved: 9 B per node.
#[kernel(items)]
pub unsafe fn begin_set(node: usize, linked: View<u8>, keys: ViewMut<u64>) {
    keys.set(node, if linked.at(node) == 1 { key(UNDECIDED, node) } else { 0 });
}

/// The greatest key of a node and its neighbours.
#[inline(always)]
unsafe fn greatest(graph: Graph, node: usize, keys: View<u64>) -> u64 {
    let mut greatest = keys.at(node);
    let (first, width) = graph.pattern.row(node);
    for block in first + 1..first + width {
        if graph.strengths.at(block) > 0.0 {
            greatest = greatest.max(keys.at(graph.pattern.columns.at(block) as usize));
        }
    }
    greatest
}

/// Computes: the greatest key of a node and its neighbours.
///
/// Parameters: `from, to [n]`. Thread mapping: an item per node.
/// Memory moved: 16 B per node; per block an index and a strength, and the key (gathered) if it is strong.
#[kernel(items)]
pub unsafe fn spread_keys(node: usize, graph: Graph, from: View<u64>, to: ViewMut<u64>) {
    to.set(node, greatest(graph, node, from));
}

/// Computes: who is in and who is out, from the greatest keys within two steps; how many remain undecided.
///
/// Parameters: `within_one`, the greatest keys within a step, and `keys`, `[n]`; `undecided [1]`, 0 before. Thread
/// mapping: an item per node. Memory moved: 8 B per node; of an undecided one as [`spread_keys`].
#[kernel(items)]
pub unsafe fn decide(node: usize, graph: Graph, within_one: View<u64>, keys: ViewMut<u64>, undecided: ViewMut<u32>) {
    let own = keys.at(node);
    if state(own) != UNDECIDED {
        return;
    }
    let greatest = greatest(graph, node, within_one);
    if greatest == own {
        keys.set(node, key(IN, node));
    } else if state(greatest) == IN {
        keys.set(node, 0);
    } else {
        atomic::add(undecided, 0, 1);
    }
}

/// Computes: 1 for each node of the set, 0 for the others.
///
/// Parameters: `keys, roots [n]`. Thread mapping: an item per node. Memory moved: 12 B per node.
#[kernel(items)]
pub unsafe fn mark_roots(node: usize, keys: View<u64>, roots: ViewMut<u32>) {
    roots.set(node, u32::from(state(keys.at(node)) == IN));
}

/// The nodes that aggregates begin with, and their aggregates' numbers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Roots {
    /// 1 for each root, `[n]`.
    pub marks: View<u32>,
    /// Roots before each node, `[n + 1]`.
    pub before: View<u64>,
}

/// Computes: the aggregates of roots and of their neighbours, [`NONE`] for other nodes.
///
/// Parameters: `to [n]`. Thread mapping: an item per node. Memory moved: 16 B per node; per block an index and a
/// strength, and a mark (gathered) if it is strong.
#[kernel(items)]
pub unsafe fn gather_around(node: usize, graph: Graph, roots: Roots, to: ViewMut<u32>) {
    let root = if roots.marks.at(node) == 1 {
        node as u32
    } else {
        strongest(graph, node, |other| roots.marks.at(other) == 1)
    };
    to.set(node, if root == NONE { NONE } else { roots.before.at(root as usize) as u32 });
}

/// Computes: the aggregates of all nodes: those that have none join that of their strongest neighbour that has one.
///
/// Parameters: `from, to [n]`. Thread mapping: an item per node. Memory moved: 8 B per node, and the couplings of nodes
/// that join.
#[kernel(items)]
pub unsafe fn join_neighbours(node: usize, graph: Graph, from: View<u32>, to: ViewMut<u32>) {
    let mut aggregate = from.at(node);
    if aggregate == NONE {
        let other = strongest(graph, node, |other| from.at(other) != NONE);
        if other != NONE {
            aggregate = from.at(other as usize);
        }
    }
    to.set(node, aggregate);
}

/// The strongest neighbour that `is_meant`, the first of equals; [`NONE`] if there is none.
#[inline(always)]
unsafe fn strongest(graph: Graph, node: usize, is_meant: impl Fn(usize) -> bool) -> u32 {
    let (mut found, mut largest) = (NONE, 0.0);
    let (first, width) = graph.pattern.row(node);
    for block in first + 1..first + width {
        let strength = graph.strengths.at(block);
        let other = graph.pattern.columns.at(block);
        if strength > largest && is_meant(other as usize) {
            (found, largest) = (other, strength);
        }
    }
    found
}
