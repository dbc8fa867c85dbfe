//! Couplings in the hierarchy: the rows of slaves in P are those of their masters, `P_s = T P_m`. Then `A_c = P^T K P` is
//! the Galerkin product of `T^T K T`, and no other level knows of T.
//!
//! Slaves are not free in the tentative prolongator, and its smoothing by K is right for all rows but those of masters,
//! which leave out what comes from their slaves; the modes are kept exactly, as K of either side alone is 0 on them. In
//! quadratic elements the middle of an edge whose end is a slave follows the masters of that end.

use super::blocks::{BlockRows, Shape};
use crate::device::{Buffer, running_sums};
use crate::linalg::Space;
use crate::parallel;
use crate::result::Result;
use crate::sparse::{CoupledRows, Pattern};
use kernels_rs::amg::coupled::CombineRows;
use kernels_rs::coupling::{NONE, SparseRows};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Slaves of more masters are left to the smoother: their rows of P would couple all aggregates of the masters.
const MOST_MASTERS: usize = 256;

/// Rows of P that one thread looks at.
const CHUNK: usize = 1 << 14;

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
        let (n, size, n_columns) = (pattern.n_rows(), self.size, from.n_columns);
        let mut summed: Vec<usize> = self.rows.slaves.iter().map(|slave| *slave as usize / size).collect();
        summed.dedup();
        let of_sums = |row: usize| -> BTreeSet<u32> {
            let sources = self.row_of[size * row..size * (row + 1)].iter().flat_map(|sum| match *sum {
                NONE => vec![row],
                sum => self.rows.row(sum as usize).map(|(source, _)| source / size).collect(),
            });
            sources.flat_map(|source| pattern.row(source).iter().copied()).collect()
        };
        let mut of_summed: Vec<BTreeSet<u32>> = parallel::map_items(&summed, &|row| of_sums(*row));
        let is_summed = |row: usize| self.row_of[size * row..size * (row + 1)].iter().any(|sum| *sum != NONE);
        let marked: Vec<AtomicBool> = (0..n_columns).map(|_| AtomicBool::new(false)).collect();
        parallel::for_ranges(n, CHUNK, &|rows| {
            let kept = rows.filter(|row| !is_summed(*row));
            kept.flat_map(|row| pattern.row(row)).for_each(|column| marked[*column as usize].store(true, Relaxed));
        });
        of_summed.iter().flatten().for_each(|column| marked[*column as usize].store(true, Relaxed));
        // Each column keeps a block, if only of zeros: the next level has a diagonal in each row.
        for (row, of_row) in summed.iter().zip(&mut of_summed) {
            of_row.extend(pattern.row(*row).iter().filter(|column| !marked[**column as usize].swap(true, Relaxed)));
        }
        let parts: Vec<[Vec<u32>; 3]> = parallel::map_ranges(n, CHUNK, &|rows| {
            let (mut columns, mut row_of, mut lengths) = (Vec::new(), Vec::new(), Vec::with_capacity(rows.len()));
            for row in rows {
                let before = columns.len();
                match is_summed(row).then(|| summed.binary_search(&row).ok()).flatten() {
                    Some(at) => columns.extend(&of_summed[at]),
                    None => columns.extend_from_slice(pattern.row(row)),
                }
                row_of.resize(columns.len(), row as u32);
                lengths.push((columns.len() - before) as u32);
            }
            [columns, row_of, lengths]
        });
        let row_start = running_sums(parts.iter().flat_map(|part| part[2].iter().map(|length| u64::from(*length))));
        let [columns, rows] = [0, 1].map(|k| parts.iter().map(|part| &part[k][..]).collect::<Vec<_>>().concat());
        let (row_start, columns) = (space.upload_vec(row_start)?, space.upload_vec(columns)?);
        let pattern = Pattern { n_rows: n, row_start, columns };
        Ok(Shape { pattern, rows: space.upload_vec(rows)?, n_columns })
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
