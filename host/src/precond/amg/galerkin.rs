//! The next level's matrix in rows that have something of other ranks' nodes: see [`super::ranks`].

use super::blocks::BlockRows;
use super::coupled::Sums;
use super::fine::Fine;
use super::messages::{Message, NodeRows, all_to_all, exchange_rows, neighbours_of};
use super::setup::Coarsening;
use crate::linalg::Space;
use crate::parallel;
use crate::result::Result;
use crate::sparse::{self, CrossRows, CrossTransfer, Interface, Node, Sparsity, add_product, add_transposed_product};
use kernels_rs::real::Real;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks of a row by column.
type BlockRow = Vec<(u32, Vec<f64>)>;

/// What is known when the next level's matrix is made.
pub(super) struct Galerkin<'a, R: Real> {
    pub space: &'a Space,
    pub fine: &'a Fine<'a, R>,
    pub interface: &'a Interface,
    /// P_r.
    pub prolongator: &'a BlockRows<f64>,
    /// P_0, whether it is smoothed, and which rows are sums of others.
    pub from: &'a Coarsening,
    /// The weight of the smoothing.
    pub omega: f64,
}

impl<R: Real> Galerkin<'_, R> {
    /// What the next level's rows have of other ranks, and the way there; `cross` is X if it is known.
    pub(super) fn interface(&self, cross: Option<&CrossRows>) -> Result<(Interface, CrossTransfer)> {
        let Interface { rank, neighbours, rows: h } = self.interface;
        let node = |row: u32| Node { rank: *rank, row };
        let (size, n_modes) = (h.size[0], self.prolongator.columns);
        let mut x = cross.map_or_else(|| self.cross(node), |x| Ok(x.clone()))?;
        self.from.sums.iter().for_each(|sums| follow(&mut x, sums));
        // Rows with something of other ranks, or that others have something of.
        let sent = neighbours.iter().flat_map(|of| &of.sends);
        let edge: BTreeSet<u32> = h.rows.keys().chain(x.rows.keys()).chain(sent).copied().collect();
        let edge: Vec<u32> = edge.into_iter().collect();
        let a: BTreeMap<u32, BlockRow> = edge.iter().copied().zip(matrix_rows(self.space, self.fine, &edge)?).collect();
        let near: BTreeSet<u32> = a.values().flatten().map(|of| of.0).chain(edge.iter().copied()).collect();
        let near: Vec<u32> = near.into_iter().collect();
        let p_r: BTreeMap<u32, BlockRow> =
            near.iter().copied().zip(rows_of(self.space, self.prolongator, &near)?).collect();
        // All of P in rows that are sent, and in those that come.
        let mut p: NodeRows = BTreeMap::new();
        for row in &near {
            let own = p_r[row].iter().map(|(column, block)| (node(*column), block.clone()));
            let mut sum = CrossRows::new([size, n_modes]);
            own.chain(x.row(*row).map(|(node, block)| (node, block.to_vec())))
                .for_each(|(node, block)| sum.add(0, node, &block));
            p.insert(node(*row), sum.rows.remove(&0).into_iter().flatten().collect());
        }
        let empty = Vec::new();
        let sent = |row: u32| p.get(&node(row)).unwrap_or(&empty).clone();
        p.extend(exchange_rows(self.space, neighbours, size * n_modes, sent)?);
        let sums = Products { node: &node, a: &a, h, p: &p, p_r: &p_r, x: &x, size, n_modes }.sums(&near);
        let rows = self.own_sums(sums, n_modes)?;
        let next = neighbours_of(
            self.space,
            *rank,
            rows.blocks().map(|(_, node, _)| node).chain(x.blocks().map(|(_, node, _)| node)),
        )?;
        let mut down = CrossRows::new([n_modes, size]);
        for (row, coarse, block) in x.blocks().filter(|(_, coarse, _)| coarse.rank == *rank) {
            down.add(coarse.row, node(row), &transposed(block, n_modes));
        }
        for (ghost, blocks) in p.iter().filter(|(node, _)| node.rank != *rank) {
            for (coarse, block) in blocks.iter().filter(|(coarse, _)| coarse.rank == *rank) {
                down.add(coarse.row, *ghost, &transposed(block, n_modes));
            }
        }
        Ok((Interface { rank: *rank, neighbours: next, rows }, CrossTransfer { up: x, down }))
    }

    /// X of a smoothed P.
    fn cross(&self, node: impl Fn(u32) -> Node) -> Result<CrossRows> {
        let Interface { neighbours, rows: h, .. } = self.interface;
        let Coarsening { tentative, is_smoothed, .. } = self.from;
        let (size, n_modes) = (h.size[0], tentative.columns);
        let mut x = CrossRows::new([size, n_modes]);
        if !is_smoothed {
            return Ok(x);
        }
        let is_own = |of: &Node| *of == node(of.row);
        let sent = neighbours.iter().flat_map(|of| &of.sends).copied();
        let own: BTreeSet<u32> = h.blocks().map(|(_, of, _)| of).filter(is_own).map(|of| of.row).chain(sent).collect();
        let own: Vec<u32> = own.into_iter().collect();
        let tentative = rows_of(self.space, tentative, &own)?;
        let mut p_0: NodeRows = BTreeMap::new();
        for (row, blocks) in own.iter().zip(tentative) {
            p_0.insert(node(*row), blocks.into_iter().map(|(column, block)| (node(column), block)).collect());
        }
        let empty = Vec::new();
        let sent = |row: u32| p_0.get(&node(row)).unwrap_or(&empty).clone();
        let come = exchange_rows(self.space, neighbours, size * n_modes, sent)?;
        p_0.extend(come);
        let rows: Vec<u32> = h.rows.keys().copied().collect();
        for (row, inverse) in rows.iter().zip(self.inverse_rows(&rows)?) {
            let mut product = CrossRows::new([size, n_modes]);
            for (column, block) in h.row(*row) {
                for (coarse, value) in p_0.get(&column).into_iter().flatten() {
                    add_product(product.block(0, *coarse), block, value, size);
                }
            }
            // D is symmetric: the blocks of its inverse in a column are those of the row, transposed.
            for (of, block) in inverse.iter().filter(|(_, block)| block.iter().any(|entry| *entry != 0.0)) {
                let weights: Vec<f64> = block.iter().map(|entry| -self.omega * entry).collect();
                product.row(0).for_each(|(coarse, value)| {
                    add_transposed_product(x.block(*of, coarse), &weights, value, size);
                });
            }
        }
        Ok(x)
    }

    /// Rows of the inverse of D.
    fn inverse_rows(&self, rows: &[u32]) -> Result<Vec<BlockRow>> {
        let (space, size) = (self.space, self.fine.size);
        if let Some(blocks) = &self.fine.blocks {
            let Some(inverse) = Fine::new(space, blocks)? else { unreachable!("doubles are numbers") };
            return matrix_rows(space, &inverse, rows);
        }
        let places: Vec<u32> = rows.iter().flat_map(|row| row * size as u32..(row + 1) * size as u32).collect();
        let diagonal = sparse::pick(space, &self.fine.inverse, &places)?;
        let block = |(row, diagonal): (&u32, &[R])| {
            let mut block = vec![0.0; size * size];
            diagonal.iter().enumerate().for_each(|(i, entry)| block[i * (size + 1)] = entry.to_f64());
            vec![(*row, block)]
        };
        Ok(rows.iter().zip(diagonal.chunks_exact(size)).map(block).collect())
    }

    /// The sums of all ranks in the coarse rows of this one: sums of other ranks' rows go there.
    fn own_sums(&self, sums: BlockSums, n_modes: usize) -> Result<CrossRows> {
        let (rank, comm) = (self.interface.rank, self.space.comm());
        let mut to_ranks = vec![Message::default(); comm.size()];
        for ([row, column], block) in &sums {
            to_ranks[row.rank as usize].add(*row, *column, block);
        }
        let mut rows = CrossRows::new([n_modes; 2]);
        for (row, column, block) in
            all_to_all(self.space, &to_ranks)?.iter().flat_map(|of| of.blocks(n_modes * n_modes))
        {
            debug_assert_eq!(row.rank, rank, "a row of another rank");
            rows.add(row.row, column, block);
        }
        Ok(rows)
    }
}

/// Rows of a matrix.
fn matrix_rows<R: Real>(space: &Space, of: &Fine<R>, rows: &[u32]) -> Result<Vec<BlockRow>> {
    let (size, (sparsity, _)) = (of.size, of.pattern.of_rows(space, rows)?);
    let values = of.blocks_of(space, (rows, &sparsity.row_start))?;
    Ok(by_row(&sparsity, values.chunks_exact(size * size).map(<[f64]>::to_vec)))
}

/// Gives rows that are sums of others the sums of what those have.
fn follow(x: &mut CrossRows, sums: &Sums) {
    let ([size, n_modes], from) = (x.size, x.clone());
    let entries = |unknown: usize| n_modes * (unknown % size)..n_modes * (unknown % size + 1);
    for (unknown, terms) in sums.rows() {
        let row = (unknown / size) as u32;
        x.rows.get_mut(&row).into_iter().flatten().for_each(|(_, block)| block[entries(unknown)].fill(0.0));
        for (source, factor) in terms {
            for (coarse, block) in from.row((source / size) as u32) {
                let to = &mut x.block(row, coarse)[entries(unknown)];
                to.iter_mut().zip(&block[entries(source)]).for_each(|(sum, value)| *sum += factor * value);
            }
        }
    }
}

/// Sums by coarse row and column.
type BlockSums = BTreeMap<[Node; 2], Vec<f64>>;

/// What E and the sums over rows of the rank are made of.
struct Products<'a, F: Fn(u32) -> Node + Sync> {
    node: &'a F,
    /// A_r in rows with other ranks' nodes.
    a: &'a BTreeMap<u32, BlockRow>,
    h: &'a CrossRows,
    /// P, and P_r.
    p: &'a NodeRows,
    p_r: &'a BTreeMap<u32, BlockRow>,
    x: &'a CrossRows,
    size: usize,
    n_modes: usize,
}

/// Rows whose sums are formed by themselves, and then added in order.
const ROWS: usize = 256;

impl<F: Fn(u32) -> Node + Sync> Products<'_, F> {
    /// `P_r^T E + X^T (A_r P_r + E)`, of all these rows.
    fn sums(&self, rows: &[u32]) -> BlockSums {
        // A_r is symmetric: the blocks of a column are those of the row, transposed.
        let mut columns: BTreeMap<u32, Vec<(u32, &[f64])>> = BTreeMap::new();
        for (row, blocks) in self.a {
            blocks.iter().for_each(|(column, block)| columns.entry(*column).or_default().push((*row, block)));
        }
        let of_rows = |rows: &[u32]| {
            let mut sums = BlockSums::new();
            rows.iter().for_each(|row| self.add_row(*row, columns.get(row).map_or(&[][..], Vec::as_slice), &mut sums));
            sums
        };
        let mut total = BlockSums::new();
        for (place, block) in parallel::map(rows.chunks(ROWS), &of_rows).into_iter().flatten() {
            let sum = total.entry(place).or_insert_with(|| vec![0.0; block.len()]);
            sum.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        total
    }

    /// Adds what a row makes; `column` are the blocks of A_r in its column.
    fn add_row(&self, row: u32, column: &[(u32, &[f64])], sums: &mut BlockSums) {
        let (size, n_modes) = (self.size, self.n_modes);
        let mut e = CrossRows::new([size, n_modes]);
        for (other, block) in column {
            self.x.row(*other).for_each(|(coarse, value)| {
                add_transposed_product(e.block(0, coarse), block, value, size);
            });
        }
        for (column, block) in self.h.row(row) {
            for (coarse, value) in self.p.get(&column).into_iter().flatten() {
                add_product(e.block(0, *coarse), block, value, size);
            }
        }
        let mut add = |place: [Node; 2], left: &[f64], right: &[f64]| {
            let sum = sums.entry(place).or_insert_with(|| vec![0.0; n_modes * n_modes]);
            add_transposed_product(sum, left, right, size);
        };
        for (coarse, left) in self.p_r.get(&row).into_iter().flatten() {
            e.row(0).for_each(|(column, right)| add([(self.node)(*coarse), column], left, right));
        }
        if !self.x.rows.contains_key(&row) {
            return;
        }
        for (column, block) in self.a.get(&row).into_iter().flatten() {
            for (coarse, value) in self.p_r.get(column).into_iter().flatten() {
                add_product(e.block(0, (self.node)(*coarse)), block, value, size);
            }
        }
        for (coarse, left) in self.x.row(row) {
            e.row(0).for_each(|(column, right)| add([coarse, column], left, right));
        }
    }
}

/// `B^T` of a block with so many columns.
fn transposed(block: &[f64], columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|j| block.iter().skip(j).step_by(columns).copied()).collect()
}

/// Rows of a matrix of blocks.
fn rows_of(space: &Space, of: &BlockRows<f64>, rows: &[u32]) -> Result<Vec<BlockRow>> {
    let ((sparsity, first), size) = (of.shape.pattern.of_rows(space, rows)?, of.rows * of.columns);
    let values_of = |(row, first): (usize, &u64)| {
        let first = *first as usize * size;
        (first..first + sparsity.row(row).len() * size).map(|k| k as u32)
    };
    let places: Vec<u32> = first.iter().enumerate().flat_map(values_of).collect();
    let values = sparse::pick(space, &of.values, &places)?;
    // Kernels have columns one after the other.
    Ok(by_row(&sparsity, values.chunks_exact(size).map(|block| transposed(block, of.rows))))
}

/// Blocks with their columns, by row, where they come row after row.
fn by_row(pattern: &Sparsity, mut blocks: impl Iterator<Item = Vec<f64>>) -> Vec<BlockRow> {
    (0..pattern.n_rows()).map(|row| pattern.row(row).iter().copied().zip(&mut blocks).collect()).collect()
}
