//! Couplings in the hierarchy: the rows of slaves in P are those of their masters, `P_s = T P_m`. Then `A_c = P^T K P` is
//! the Galerkin product of `T^T K T`, and no other level knows of T.
//!
//! Slaves are not free in the tentative prolongator, and its smoothing by K is right for all rows but those of masters,
//! which leave out what comes from their slaves; the modes are kept exactly, as K of either side alone is 0 on them. In
//! quadratic elements the middle of an edge whose end is a slave follows the masters of that end.

use super::blocks::{BlockRows, Shape};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{CoupledRows, Pattern};
use kernels_rs::amg::coupled::CombineRows;
use kernels_rs::coupling::{NONE, SparseRows};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Slaves of more masters are left to the smoother: their rows of P would couple all aggregates of the masters.
const MOST_MASTERS: usize = 256;

/// Which scalar rows of P are sums of others.
pub struct Sums {
    rows: CoupledRows,
    row_of: Vec<u32>,
    size: usize,
}

impl Sums {
    /// The rows of slaves, and of the middles of edges that end at a slave, if `ends` says which.
    pub fn of(space: &Space, rows: &CoupledRows, ends: Option<&Buffer<[u32; 2]>>, size: usize) -> Result<Self> {
        let short = |terms: Vec<(u32, f64)>| if terms.len() > MOST_MASTERS { Vec::new() } else { terms };
        let of_row = |(slave, masters): (usize, _)| (slave as u32, short(wide(masters)));
        let mut sums: Vec<(u32, Vec<(u32, f64)>)> = rows.rows().map(|(s, m)| of_row((s, m.collect()))).collect();
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
        sums.iter_mut().for_each(|(_, terms)| *terms = replaced(terms, &bound));
        let rows = CoupledRows::new(rows.n, sums);
        let row_of = rows.row_of();
        Ok(Sums { rows, row_of, size })
    }

    /// Which blocks P has with these rows, from those that it has without.
    pub fn shape(&self, space: &Space, from: &Shape) -> Result<Shape> {
        let pattern = from.pattern.download(space)?;
        let (n, size) = (pattern.n_rows(), self.size);
        let of_row = |row: usize| -> Cow<'_, [u32]> {
            let sums = &self.row_of[size * row..size * (row + 1)];
            if sums.iter().all(|sum| *sum == NONE) {
                return Cow::Borrowed(pattern.row(row));
            }
            let mut found = BTreeSet::<u32>::new();
            for sum in sums {
                match *sum {
                    NONE => found.extend(pattern.row(row)),
                    sum => {
                        let sources = self.rows.row(sum as usize);
                        found.extend(sources.flat_map(|(source, _)| pattern.row(source / size)));
                    }
                }
            }
            Cow::Owned(found.into_iter().collect())
        };
        let mut is_empty = vec![true; from.n_columns];
        (0..n).for_each(|row| of_row(row).iter().for_each(|column| is_empty[*column as usize] = false));
        let (mut row_start, mut columns, mut rows) = (vec![0], Vec::new(), Vec::new());
        for row in 0..n {
            let mut of_row = of_row(row);
            // Each column keeps a block, if only of zeros: the next level has a diagonal in each row.
            let lost = pattern.row(row).iter().filter(|column| is_empty[**column as usize]);
            let lost: Vec<u32> = lost.copied().collect();
            if !lost.is_empty() {
                lost.iter().for_each(|column| is_empty[*column as usize] = false);
                of_row.to_mut().extend(lost);
                of_row.to_mut().sort_unstable();
            }
            columns.extend_from_slice(&of_row);
            rows.resize(columns.len(), row as u32);
            row_start.push(columns.len() as u64);
        }
        let (row_start, columns) = (space.upload_vec(row_start)?, space.upload_vec(columns)?);
        let pattern = Pattern { n_rows: n, row_start, columns };
        Ok(Shape { pattern, rows: space.upload_vec(rows)?, n_columns: from.n_columns })
    }

    /// P with these rows, in blocks of [`Sums::shape`].
    pub fn replaced(&self, space: &Space, p: &BlockRows<f64>, shape: &Rc<Shape>) -> Result<BlockRows<f64>> {
        let mut whole = BlockRows::zeros(space, shape, [p.rows, p.columns])?;
        let CoupledRows { starts, masters, factors, .. } = &self.rows;
        let (starts, columns, factors) = (space.upload(starts)?, space.upload(masters)?, space.upload(factors)?);
        let (row_of, of) = (space.upload(&self.row_of)?, shape.blocks());
        let rows = SparseRows { starts: starts.view(), columns: columns.view(), factors: factors.view() };
        let (row_of, values) = (row_of.view(), whole.values.view_mut());
        // SAFETY: all live until `finish`; each row of a block is written once.
        unsafe { space.run(whole.n_items(), CombineRows { from: p.view(), of, rows, row_of, values }) }?;
        space.finish()?;
        Ok(whole)
    }
}

/// Terms with narrow indices.
fn wide(terms: Vec<(usize, f64)>) -> Vec<(u32, f64)> {
    terms.into_iter().map(|(unknown, factor)| (unknown as u32, factor)).collect()
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

/// Each unknown once, ascending.
fn merged(mut terms: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    terms.sort_by_key(|(unknown, _)| *unknown);
    terms.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|term| term.1).sum())).collect()
}

/// The bits of free components, but for slaves and what else is bound on the levels below.
pub fn without_slaves(
    space: &Space,
    rows: &CoupledRows,
    size: usize,
    free: &Buffer<u8>,
) -> Result<Buffer<u8>> {
    let mut free = space.download(free)?;
    for held in rows.slaves.iter().copied().chain(rows.bound().map(|bound| bound.0)) {
        free[held as usize / size] &= !(1 << (held as usize % size));
    }
    space.upload_vec(free)
}
