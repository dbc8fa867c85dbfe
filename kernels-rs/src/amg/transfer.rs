//! From a level to the next and back, and from the precision of the set-up to that of the cycle.

use super::blocks::BlockRows;
use super::pattern::Lists;
#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu::prefetch;
use crate::real::{Real, fma};
use crate::sparse::Entries;
use crate::vectors::{Vectors, VectorsMut, WIDTH};
use core::ops::Range;
use cuda_std::prelude::*;

/// Shares in which the sum over a column of P is formed: a column of a finest level has some two hundred blocks, and there
/// are too few columns for a thread each.
pub const SHARES: usize = 16;

/// Computes: a share of an entry of `P^T (r - q)`, from every [`SHARES`]th block of its column, for W of the vectors.
///
/// Parameters: `n_shares`, of all entries; `prolongator`, P, of N columns of a block; `members`, the blocks of its columns;
/// `r, q [WIDTH][n]`; `shares [parts][n_columns][SHARES][N][W]`. Thread mapping: an item per share and part of the vectors;
/// neighbours read one block. Memory moved: P once; r and q through the cache; 8 B per block; the shares.
#[kernel(items, cpu = restrict_columns, T = [f32, f64], N = [1, 2, 3, 6], W = [1, 2, 8])]
pub unsafe fn restrict_share<T: Real, const N: usize, const W: usize>(
    item: usize,
    n_shares: usize,
    prolongator: BlockRows<T>,
    members: Lists,
    r: Vectors<T, WIDTH>,
    q: Vectors<T, WIDTH>,
    shares: ViewMut<T>,
) {
    let (of_part, part) = (item % n_shares, item / n_shares);
    let (r, q) = (r.part::<W>(part), q.part::<W>(part));
    let (share, c) = (of_part / N, of_part % N);
    let (column, share) = (share / SHARES, share % SHARES);
    let Range { start, end } = members.range(column);
    let mut sums = [T::ZERO; W];
    let mut member = start + share;
    while member < end {
        let (row, block) = (members.rows.at(member) as usize, members.places.at(member) as usize);
        for i in 0..prolongator.rows {
            let entry = row * prolongator.rows + i;
            let factor = prolongator.at(block, i, c);
            for m in 0..W {
                sums[m] = fma(factor, r[m].at(entry) - q[m].at(entry), sums[m]);
            }
        }
        member += SHARES;
    }
    for m in 0..W {
        shares.set(item * W + m, sums[m]);
    }
}

/// The items of `restrict_share` in a range, of one vector: all shares of a column at once, as its blocks come.
#[cfg(not(target_arch = "nvptx64"))]
unsafe fn restrict_columns<T: Real, const N: usize, const W: usize>(
    items: Range<usize>,
    _n_shares: usize,
    prolongator: BlockRows<T>,
    members: Lists,
    r: Vectors<T, WIDTH>,
    q: Vectors<T, WIDTH>,
    shares: ViewMut<T>,
) {
    assert!(W == 1, "the CPU takes one vector after the other");
    let ([r], [q]) = (r.part::<1>(0), q.part::<1>(0));
    let entries = prolongator.values.slice(0..prolongator.values.len());
    // Blocks that are asked for ahead: each is somewhere else in memory.
    const AHEAD: usize = 8;
    let size = N * prolongator.rows;
    for column in items.start / (SHARES * N)..items.end.div_ceil(SHARES * N) {
        let Range { start, end } = members.range(column);
        let mut sums = [[T::ZERO; N]; SHARES];
        for member in start..end {
            let ahead = members.places.at((member + AHEAD).min(end - 1)) as usize;
            prefetch(entries, ahead * size, size);
            let sums = &mut sums[(member - start) % SHARES];
            let (from, block) = (members.rows.at(member) as usize, members.places.at(member) as usize);
            for i in 0..prolongator.rows {
                let entry = from * prolongator.rows + i;
                let residual = r.at(entry) - q.at(entry);
                let row: [T; N] = prolongator.row(block, i);
                for c in 0..N {
                    sums[c] = fma(row[c], residual, sums[c]);
                }
            }
        }
        for item in items.start.max(column * SHARES * N)..items.end.min((column + 1) * SHARES * N) {
            shares.set(item, sums[item / N % SHARES][item % N]);
        }
    }
}

/// Computes: an entry of `P^T (r - q)`, the sum of its shares, for W of the vectors.
///
/// Parameters: `n` of the next level; `columns` of a block; `shares [parts][n_columns][SHARES][columns][W]`;
/// `coarse [WIDTH][n]`. Thread mapping: an item per entry and part of the vectors. Memory moved: the shares once, a word per
/// entry and vector.
#[kernel(items, T = [f32, f64], W = [1, 2, 8])]
pub unsafe fn add_shares<T: Real, const W: usize>(
    item: usize,
    n: usize,
    columns: usize,
    shares: View<T>,
    coarse: VectorsMut<T, WIDTH>,
) {
    let (entry, part) = (item % n, item / n);
    let (column, c) = (item / columns, item % columns);
    let mut sums = [T::ZERO; W];
    for share in 0..SHARES {
        let first = ((column * SHARES + share) * columns + c) * W;
        for m in 0..W {
            sums[m] += shares.at(first + m);
        }
    }
    let coarse = coarse.part::<W>(part);
    for m in 0..W {
        if !coarse[m].is_empty() {
            coarse[m].set(entry, sums[m]);
        }
    }
}

/// Computes: an entry of `z + P z_coarse`, for W of the vectors.
///
/// Parameters: `n` entries; `prolongator`, P; `coarse [WIDTH][n_coarse]`; `z, to [WIDTH][n]`. Thread mapping: an item per entry
/// and part of the vectors. Memory moved: P once, z and `to` once; `coarse` through the cache.
#[kernel(items, T = [f32, f64], W = [1, 2, 8])]
pub unsafe fn prolong_correction<T: Real, const W: usize>(
    item: usize,
    n: usize,
    prolongator: BlockRows<T>,
    coarse: Vectors<T, WIDTH>,
    z: Vectors<T, WIDTH>,
    to: VectorsMut<T, WIDTH>,
) {
    let (entry, part) = (item % n, item / n);
    let (coarse, z, to) = (coarse.part::<W>(part), z.part::<W>(part), to.part::<W>(part));
    let (row, i) = (entry / prolongator.rows, entry % prolongator.rows);
    let blocks = prolongator.pattern.blocks(row);
    let mut sums: [T; W] = core::array::from_fn(|m| z[m].at(entry));
    for block in blocks {
        let column = prolongator.pattern.columns.at(block) as usize * prolongator.columns;
        for c in 0..prolongator.columns {
            let factor = prolongator.at(block, i, c);
            for m in 0..W {
                sums[m] = fma(factor, coarse[m].at(column + c), sums[m]);
            }
        }
    }
    for m in 0..W {
        if !to[m].is_empty() {
            to[m].set(entry, sums[m]);
        }
    }
}

/// What an entry is scaled by, from the inverse of the diagonal: 1 without one.
#[inline(always)]
unsafe fn root(inverse: View<f64>, i: usize) -> f64 {
    if inverse.is_empty() {
        return 1.0;
    }
    let inverse = inverse.at(i).abs();
    if inverse > 0.0 { 1.0 / inverse.sqrt() } else { 0.0 }
}

/// Computes: the values of P in the precision of the cycle, its rows scaled by `inverse^-1/2` if there is such a
/// scaling.
///
/// Parameters: `inverse [n]`, that of the diagonal, or nothing; `rows [n_blocks]`; `prolongator`; `to`, as its values.
/// Thread mapping: an item per row of a block. Memory moved: the values read and written.
#[kernel(items, T = [f32, f64])]
pub unsafe fn round_prolongator<T: Real>(
    item: usize,
    inverse: View<f64>,
    rows: View<u32>,
    prolongator: BlockRows<f64>,
    to: ViewMut<T>,
) {
    let (block, i) = (item / prolongator.rows, item % prolongator.rows);
    let scale = root(inverse, rows.at(block) as usize * prolongator.rows + i);
    for c in 0..prolongator.columns {
        let place = (block * prolongator.columns + c) * prolongator.rows + i;
        to.set(place, T::from_f64(scale * prolongator.values.at(place)));
    }
}

/// Computes: the blocks of a matrix in another format or precision, its rows and columns scaled by `inverse^-1/2` if
/// there is such a scaling.
///
/// Parameters: `inverse [n]`, that of the diagonal, or nothing; `from, values`, the matrix; `to, rounded`, one of the
/// same pattern and block size. Thread mapping: an item per row. Memory moved: every value of a block read and written.
#[kernel(items, T = [f32, f64])]
pub unsafe fn copy_blocks<T: Real>(
    item: usize,
    inverse: View<f64>,
    from: Entries,
    values: View<f64>,
    to: Entries,
    rounded: ViewMut<T>,
) {
    let (row, i) = (item / from.size, item % from.size);
    let (first, width) = from.pattern.row(row);
    for k in 0..width {
        let column = from.pattern.columns.at(first + k) as usize;
        for j in 0..from.size {
            let scale = root(inverse, item) * root(inverse, column * from.size + j);
            let value = scale * values.at(from.at(row, k, i, j));
            rounded.set(to.at(row, k, i, j), T::from_f64(value));
        }
    }
}
