//! How large a factor is, before any of its numbers: from the graph of the nodes alone.
//!
//! `L` of a symmetric matrix has in column j the rows of the columns whose parent j is in the elimination tree (Liu
//! 1990, SIAM J. Matrix Anal. Appl. 11:134). How many that are is counted without listing them, by the leaves of the
//! subtrees that rows of the matrix span (Gilbert, Ng and Peyton 1994, SIAM J. Matrix Anal. Appl. 15:1075; Davis 2006,
//! Direct Methods for Sparse Linear Systems, ch. 4): nearly as fast as the graph can be read.
//!
//! Nodes with `s` unknowns each are eliminated together, so a node with c nodes in its column, itself included, has
//! columns of `s c, s c - 1, .., s c - s + 1` values.

use super::Dissection;
use crate::device::running_sums;
use crate::parallel::{self, PART};
use crate::result::Fill;
use crate::sparse::Sparsity;

const NONE: u32 = u32::MAX;

impl Fill {
    /// Of a symmetric sparsity of nodes with `size` unknowns each, eliminated in this order.
    pub fn of(sparsity: &Sparsity, dissection: &Dissection, size: usize) -> Fill {
        let graph = in_order(sparsity, &dissection.order);
        let mut fill = Fill { nonzeros: 0, operations: 0.0 };
        for count in column_counts(&graph) {
            for i in 0..size as u64 {
                let column = size as u64 * u64::from(count) - i;
                fill.nonzeros += column;
                fill.operations += 0.5 * (column as f64).powi(2);
            }
        }
        fill
    }
}

/// The sparsity with rows and columns by their places in an order; columns of a row in any order.
fn in_order(sparsity: &Sparsity, order: &[u32]) -> Sparsity {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, node)| place[*node as usize] = at as u32);
    let row_start = running_sums(order.iter().map(|node| sparsity.row(*node as usize).len() as u64));
    let mut columns = vec![0; sparsity.n_blocks()];
    let bounds: Vec<usize> = (0..order.len()).step_by(PART).chain([order.len()]).collect();
    parallel::map_parts(&mut columns, bounds.iter().map(|at| row_start[*at] as usize), &|part, to| {
        let nodes = order[bounds[part]..bounds[part + 1]].iter();
        let others = nodes.flat_map(|node| sparsity.row(*node as usize));
        to.iter_mut().zip(others).for_each(|(to, other)| *to = place[*other as usize]);
    });
    Sparsity { row_start, columns }
}

/// The parent of each node in the elimination tree, [`NONE`] of a root.
fn elimination_tree(graph: &Sparsity) -> Vec<u32> {
    let n = graph.n_rows();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for node in 0..n as u32 {
        for &other in graph.row(node as usize).iter().filter(|other| **other < node) {
            // From there up to the root, which `node` becomes.
            let mut at = other;
            while at != NONE && at != node {
                let next = std::mem::replace(&mut ancestor[at as usize], node);
                if next == NONE {
                    parent[at as usize] = node;
                }
                at = next;
            }
        }
    }
    parent
}

/// The nodes of a forest whose parents come behind their children, each behind all nodes below it.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    // Children of each, the first by a lower number than the next.
    let (mut head, mut next) = (vec![NONE; n], vec![NONE; n]);
    for (node, up) in parent.iter().enumerate().rev().filter(|(_, up)| **up != NONE) {
        next[node] = std::mem::replace(&mut head[*up as usize], node as u32);
    }
    let (mut order, mut stack) = (Vec::with_capacity(n), Vec::new());
    for root in (0..n).filter(|node| parent[*node] == NONE) {
        stack.push(root as u32);
        while let Some(&node) = stack.last() {
            let child = std::mem::replace(&mut head[node as usize], NONE);
            if child == NONE {
                order.push(node);
                stack.pop();
                // Its sibling takes its place.
                if next[node as usize] != NONE {
                    stack.push(next[node as usize]);
                }
            } else {
                stack.push(child);
            }
        }
    }
    order
}

/// How many rows each column of L has, its diagonal included, `[n]`.
fn column_counts(graph: &Sparsity) -> Vec<u32> {
    let n = graph.n_rows();
    let parent = elimination_tree(graph);
    let order = postorder(&parent);
    // The place in postorder of the first node below each, and what a column has more than its children together.
    let (mut first, mut more) = (vec![NONE; n], vec![0i64; n]);
    for (place, node) in order.iter().enumerate() {
        more[*node as usize] = i64::from(first[*node as usize] == NONE);
        let mut at = *node;
        while at != NONE && first[at as usize] == NONE {
            first[at as usize] = place as u32;
            at = parent[at as usize];
        }
    }
    let mut leaves = Leaves { highest: vec![NONE; n], last: vec![NONE; n], ancestor: (0..n as u32).collect() };
    for &node in &order {
        let up = parent[node as usize];
        if up != NONE {
            more[up as usize] -= 1;
        }
        for &row in graph.row(node as usize).iter().filter(|row| **row > node) {
            let Some(shared) = leaves.visit(row, node, first[node as usize]) else { continue };
            more[node as usize] += 1;
            if shared != NONE {
                more[shared as usize] -= 1;
            }
        }
        if up != NONE {
            leaves.ancestor[node as usize] = up;
        }
    }
    for node in 0..n {
        if parent[node] != NONE {
            more[parent[node] as usize] += more[node];
        }
    }
    more.into_iter().map(|count| count as u32).collect()
}

/// What is known of the subtrees that rows span while nodes are visited in postorder.
struct Leaves {
    /// The largest `first` of the nodes visited for a row, [`NONE`] before.
    highest: Vec<u32>,
    /// The last leaf of a row's subtree.
    last: Vec<u32>,
    /// A node above each that has been visited, itself at first.
    ancestor: Vec<u32>,
}

impl Leaves {
    /// Whether a node is a leaf of a row's subtree; if it is, the node where its path meets that of the leaf before, or
    /// [`NONE`] of the first.
    fn visit(&mut self, row: u32, node: u32, first: u32) -> Option<u32> {
        let row = row as usize;
        if self.highest[row] != NONE && first <= self.highest[row] {
            return None;
        }
        self.highest[row] = first;
        let before = std::mem::replace(&mut self.last[row], node);
        if before == NONE {
            return Some(NONE);
        }
        let mut root = before;
        while root != self.ancestor[root as usize] {
            root = self.ancestor[root as usize];
        }
        let mut at = before;
        while at != root {
            at = std::mem::replace(&mut self.ancestor[at as usize], root);
        }
        Some(root)
    }
}
