//! What the rows that a rank has of a matrix have of other ranks' nodes, on the host.

use std::collections::BTreeMap;

/// A node of a level, by the rank that has it and its row there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The rank.
    pub rank: u32,
    /// The row.
    pub row: u32,
}

/// Another rank that nodes are sent to or come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Its number.
    pub rank: usize,
    /// The rows here whose nodes go there, in the order that they are sent in.
    pub sends: Vec<u32>,
    /// The nodes that come from there, in the order that they come in.
    pub ghosts: Vec<Node>,
}

/// Blocks of some rows here, by the nodes of their columns, which may be anywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossRows {
    /// Rows and columns of a block.
    pub size: [usize; 2],
    /// Of each row its blocks, `[size[0]][size[1]]` flat.
    pub rows: BTreeMap<u32, BTreeMap<Node, Vec<f64>>>,
}

impl CrossRows {
    /// None.
    pub fn new(size: [usize; 2]) -> Self {
        CrossRows { size, rows: BTreeMap::new() }
    }

    /// A block, 0 at first.
    pub fn block(&mut self, row: u32, column: Node) -> &mut [f64] {
        let n = self.size[0] * self.size[1];
        self.rows.entry(row).or_default().entry(column).or_insert_with(|| vec![0.0; n])
    }

    /// Adds a block.
    pub fn add(&mut self, row: u32, column: Node, block: &[f64]) {
        self.block(row, column).iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
    }

    /// The blocks of a row.
    pub fn row(&self, row: u32) -> impl Iterator<Item = (Node, &[f64])> {
        self.rows.get(&row).into_iter().flatten().map(|(node, block)| (*node, &block[..]))
    }

    /// All blocks with their rows.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, Node, &[f64])> {
        self.rows.iter().flat_map(|(row, blocks)| blocks.iter().map(|(node, block)| (*row, *node, &block[..])))
    }
}

/// `C += A B` of blocks of `inner` columns of A and rows of B.
pub fn add_product(c: &mut [f64], a: &[f64], b: &[f64], inner: usize) {
    let columns = b.len() / inner;
    for (row, sums) in a.chunks_exact(inner).zip(c.chunks_exact_mut(columns)) {
        for (value, other) in row.iter().zip(b.chunks_exact(columns)) {
            sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += value * other);
        }
    }
}

/// `C += A^T B` of blocks of `inner` rows each.
pub fn add_transposed_product(c: &mut [f64], a: &[f64], b: &[f64], inner: usize) {
    let (rows, columns) = (a.len() / inner, b.len() / inner);
    for (left, right) in a.chunks_exact(rows).zip(b.chunks_exact(columns)) {
        for (value, sums) in left.iter().zip(c.chunks_exact_mut(columns)) {
            sums.iter_mut().zip(right).for_each(|(sum, other)| *sum += value * other);
        }
    }
}

/// What a level of a rank has to do with the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Interface {
    /// This rank.
    pub rank: u32,
    /// The ranks that have something to do with it, ascending.
    pub neighbours: Vec<Neighbour>,
    /// What the whole matrix has in rows of this rank beside the rank's own matrix.
    pub rows: CrossRows,
}

/// What a prolongator of all ranks has beside the rank's own, from its own coarse nodes to its own rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossTransfer {
    /// Blocks of P by own row and coarse node.
    pub up: CrossRows,
    /// Blocks of `P^T` by own coarse row and node of the finer level: what `up` has of own coarse nodes, and what rows of other
    /// ranks have of them.
    pub down: CrossRows,
}

/// What multigrid has to know of the ranks' interfaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Interfaces {
    /// That of the finest level.
    pub finest: Interface,
    /// The rows of that level whose nodes are the rank's own, ascending.
    pub own: Vec<u32>,
    /// That of the level of the vertices with the rank's own rows there, and the way to it; of elements with nodes in the middle
    /// of edges.
    pub vertices: Option<(Interface, Vec<u32>, CrossTransfer)>,
    /// Whether unknowns of any rank are coupled.
    pub is_coupled: bool,
    /// Levels of so many unknowns or fewer are on each rank as a whole.
    pub gathered: usize,
}
