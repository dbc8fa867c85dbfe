//! Couplings in the hierarchy: the rows of slaves in P are those of their masters, `P_s = T P_m`. Then `A_c = P^T K P` is
//! the Galerkin product of `T^T K T`, and no other level knows of T.
//!
//! Slaves are not free in the tentative prolongator, and its smoothing by K is right for all rows but those of masters,
//! which leave out what comes from their slaves; the modes are kept exactly, as K of either side alone is 0 on them. In
//! quadratic elements the middle of an edge whose end is a slave follows the masters of that end.

use super::blocks::{BlockRows, Columns, Shape};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{self, CoupledRows, Pattern};
use kernels_rs::amg::coupled::{CombineRows, CountReplaced, ListReplaced, Replaced};
use kernels_rs::coupling::{NONE, SparseRows};
use kernels_rs::sparse::PatternView;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Slaves of more masters are left to the smoother: their rows of P would couple all aggregates of the masters.
const MOST_MASTERS: usize = 256;

/// Which scalar rows of P are sums of others.
pub struct Sums {
    rows: CoupledRows,
    size: usize,
}

impl Sums {
    /// The rows of slaves, and of the middles of edges that end at a slave, if `ends` says which.
    pub fn of(space: &Space, rows: &CoupledRows, ends: Option<&Buffer<[u32; 2]>>, size: usize) -> Result<Self> {
        let of_row = |(slave, masters): (usize, _)| (slave as u32, short(masters));
        let mut sums: Vec<(u32, Vec<(u32, f64)>)> = rows.rows().map(of_row).collect();
        sums.extend(rows.bound());
        if let Some(ends) = ends {
            let middles = middles(rows, &space.download(ends)?, size);
            let of_slave: BTreeMap<u32, usize> = sums.iter().enumerate().map(|(row, sum)| (sum.0, row)).collect();
            // Masters in the middle of an edge that ends at a slave of another coupling.
            sums.iter_mut().for_each(|(_, terms)| *terms = replaced(terms, &middles));
            let more = middles.into_iter().filter(|(unknown, _)| !of_slave.contains_key(unknown));
            sums.extend(more.collect::<Vec<_>>());
        }
        let bound: BTreeMap<u32, Vec<(u32, f64)>> = rows.bound().collect();
        if !bound.is_empty() {
            sums.iter_mut().for_each(|(_, terms)| *terms = replaced(terms, &bound));
        }
        Ok(Sums { rows: CoupledRows::new(rows.n, sums), size })
    }

    /// Each of these rows, and which others with which factors it is the sum of.
    pub fn rows(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = (usize, f64)> + '_)> + '_ {
        self.rows.rows()
    }

    /// Which blocks P has with these rows, from those that it has without; and those of its columns.
    pub fn shape(&self, space: &Space, from: &Shape) -> Result<(Shape, Columns)> {
        let found = self.shape_with(space, from, false)?;
        let columns = Columns::new(space, &found)?;
        if space.download(&columns.starts)?.windows(2).all(|of| of[0] < of[1]) {
            return Ok((found, columns));
        }
        // Each column keeps a block, if only of zeros: the next level has a diagonal in each row.
        let found = self.shape_with(space, from, true)?;
        let columns = Columns::new(space, &found)?;
        Ok((found, columns))
    }

    /// The same; the blocks that rows had before are kept, if that is asked for.
    fn shape_with(&self, space: &Space, from: &Shape, keeps: bool) -> Result<Shape> {
        let (n, n_columns, size) = (from.pattern.n_rows, from.n_columns, self.size as u32);
        // Nodes that have a sum, and of which nodes they have the blocks.
        let (mut nodes, mut row_start, mut columns) = (Vec::new(), vec![0], Vec::new());
        let unknowns = self.rows.slaves.iter().zip(0..).collect::<Vec<(&u32, usize)>>();
        for of_node in unknowns.chunk_by(|a, b| a.0 / size == b.0 / size) {
            let node = of_node[0].0 / size;
            let sources = of_node.iter().flat_map(|(_, row)| self.rows.row(*row));
            let mut sources: Vec<u32> = sources.map(|(source, _)| source as u32 / size).collect();
            if keeps || of_node.len() < self.size {
                sources.push(node);
            }
            sources.sort_unstable();
            sources.dedup();
            nodes.push(node);
            columns.extend(sources);
            row_start.push(columns.len() as u64);
        }
        let (row_start, columns) = (space.upload_vec(row_start)?, space.upload_vec(columns)?);
        let sources = PatternView { row_start: row_start.view(), columns: columns.view() };
        let pattern = from.pattern.view();
        let with = Shape::of_product(space, (nodes.len(), sources), pattern, n_columns, false)?;
        let which = sparse::places(space, n, &nodes)?;
        let rows = Replaced { pattern, with: with.pattern.view(), which: which.view() };
        let mut lengths = space.zeros(n)?;
        // SAFETY: all live until `finish`, and there is a length for each row.
        unsafe { space.run(n, CountReplaced { rows, lengths: lengths.view_mut() }) }?;
        let mut shape = Shape::with_lengths(space, &lengths, n_columns)?;
        let Pattern { row_start, columns, .. } = &mut shape.pattern;
        let (row_start, columns, rows_of) = (row_start.view(), columns.view_mut(), shape.rows.view_mut());
        // SAFETY: as above, and a place for each block.
        unsafe { space.run(n, ListReplaced { rows, row_start, columns, rows_of }) }?;
        space.finish()?;
        Ok(shape)
    }

    /// P with these rows, in blocks of [`Sums::shape`].
    pub fn replaced(&self, space: &Space, p: &BlockRows<f64>, shape: &Rc<Shape>) -> Result<BlockRows<f64>> {
        let mut whole = BlockRows::zeros(space, shape, [p.rows, p.columns])?;
        let CoupledRows { starts, masters, factors, .. } = &self.rows;
        let (starts, columns, factors) = (space.upload(starts)?, space.upload(masters)?, space.upload(factors)?);
        let (row_of, of) = (sparse::places(space, self.rows.n, &self.rows.slaves)?, shape.blocks());
        let rows = SparseRows { starts: starts.view(), columns: columns.view(), factors: factors.view() };
        let (row_of, values) = (row_of.view(), whole.values.view_mut());
        // SAFETY: all live until `finish`; each row of a block is written once.
        unsafe { space.run(whole.n_items(), CombineRows { from: p.view(), of, rows, row_of, values }) }?;
        space.finish()?;
        Ok(whole)
    }
}

/// The terms of a row that does not have too many.
fn short(terms: impl Iterator<Item = (usize, f64)>) -> Vec<(u32, f64)> {
    let terms: Vec<(u32, f64)> = terms.map(|(unknown, factor)| (unknown as u32, factor)).collect();
    if terms.len() > MOST_MASTERS { Vec::new() } else { terms }
}

/// The unknowns in the middle of an edge that ends at a slave, but for slaves, as sums of the masters and the other end.
fn middles(rows: &CoupledRows, ends: &[[u32; 2]], size: usize) -> BTreeMap<u32, Vec<(u32, f64)>> {
    let row_of = rows.row_of();
    let mut found = BTreeMap::new();
    for (node, ends) in ends.iter().enumerate() {
        if ends.iter().any(|end| *end == NONE || *end as usize == node) {
            continue;
        }
        for i in 0..size {
            let of_ends = ends.map(|end| size * end as usize + i);
            if row_of[size * node + i] != NONE || of_ends.iter().all(|end| row_of[*end] == NONE) {
                continue;
            }
            let mut terms = Vec::new();
            for end in of_ends {
                match row_of[end] {
                    NONE => terms.push((end as u32, 0.5)),
                    row => terms.extend(rows.row(row as usize).map(|(master, factor)| (master as u32, 0.5 * factor))),
                }
            }
            found.insert((size * node + i) as u32, merged(terms));
        }
    }
    // A master may be such a middle itself; what is left after some rounds is a ring of couplings, and dropped.
    for _ in 0..4 {
        let before = found.clone();
        found.values_mut().for_each(|terms| *terms = replaced(terms, &before));
    }
    let is_middle: BTreeSet<u32> = found.keys().copied().collect();
    found.values_mut().for_each(|terms| terms.retain(|(unknown, _)| !is_middle.contains(unknown)));
    found
}

/// Terms with those of other sums in place of their unknowns.
fn replaced(terms: &[(u32, f64)], sums: &BTreeMap<u32, Vec<(u32, f64)>>) -> Vec<(u32, f64)> {
    if terms.iter().all(|(unknown, _)| !sums.contains_key(unknown)) {
        return terms.to_vec();
    }
    let mut all = Vec::new();
    for (unknown, factor) in terms {
        match sums.get(unknown) {
            Some(of) => all.extend(of.iter().map(|(source, share)| (*source, factor * share))),
            None => all.push((*unknown, *factor)),
        }
    }
    merged(all)
}

/// Each unknown once, ascending, without those whose factors cancel.
fn merged(mut terms: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    terms.sort_by_key(|(unknown, _)| *unknown);
    let sums = terms.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|term| term.1).sum()));
    sums.filter(|term| term.1 != 0.0).collect()
}

/// The bits of free components, but for slaves and what else is bound on the levels below.
pub fn without_slaves(space: &Space, rows: Option<&CoupledRows>, size: usize, free: Buffer<u8>) -> Result<Buffer<u8>> {
    let Some(rows) = rows else { return Ok(free) };
    let mut free = space.take(free)?;
    for held in rows.slaves.iter().copied().chain(rows.bound().map(|bound| bound.0)) {
        free[held as usize / size] &= !(1 << (held as usize % size));
    }
    space.upload_vec(free)
}
