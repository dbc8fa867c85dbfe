//! Products as a CPU does them: a row of blocks at a time (Gustavson 1978).
//!
//! A thread has many neighbouring items, so it can add up a whole row of the result in its cache. Which blocks of the
//! right factor meet is then read from a table of the row's columns, where a thread of a GPU searches for each; and a
//! block is read once, not for each of its columns. Sums are formed in the kernels' order, so the bits are theirs.

use super::blocks::{BlockRows, Blocks, Mirrored, height};
use super::pattern::Lists;
use crate::real::{Real, fma};
use crate::setup::lists::bisect;
use crate::sparse::Entries;
use cuda_std::prelude::*;
use std::ops::Range;

/// Where the columns of a row are among its blocks.
struct Places {
    /// For each column, [`Places::NONE`] where the row has no block; as long as needed so far.
    of: Vec<u32>,
}

impl Places {
    const NONE: u32 = u32::MAX;

    /// Enters the columns of a row, in the order of its blocks.
    fn enter(&mut self, columns: &[u32]) {
        for (place, &column) in columns.iter().enumerate() {
            if self.of.len() <= column as usize {
                self.of.resize(column as usize + 1, Self::NONE);
            }
            self.of[column as usize] = place as u32;
        }
    }

    /// Takes them out again.
    fn leave(&mut self, columns: &[u32]) {
        columns.iter().for_each(|&column| self.of[column as usize] = Self::NONE);
    }

    /// The place of a column's block.
    fn get(&self, column: u32) -> Option<usize> {
        self.of.get(column as usize).filter(|place| **place != Self::NONE).map(|place| *place as usize)
    }
}

/// Rows and columns of a block at most: the modes of a node in space.
const MAX: usize = 6;

/// Adds `left right` to a block of N columns, `sums [rows][N]`, where `left` is `[columns][MAX]`, column by column, and
/// `right` is `[columns][N]`: M rows at a time, which the registers hold.
#[inline(always)]
fn add_product<const M: usize, const N: usize>(left: &[[f64; MAX]], right: &[[f64; N]], sums: &mut [[f64; N]]) {
    for (part, sums) in sums.as_chunks_mut::<M>().0.iter_mut().enumerate() {
        let mut kept = *sums;
        for (left, right) in left.iter().zip(right) {
            let left = &left.as_chunks::<M>().0[part];
            for i in 0..M {
                for c in 0..N {
                    kept[i][c] = fma(left[i], right[c], kept[i][c]);
                }
            }
        }
        *sums = kept;
    }
}

/// Calls `row` for each block row of which there are blocks in `blocks`: its number, those of its blocks, where their
/// columns are among them, and room for a sum `[blocks][size]`, zeros.
unsafe fn for_rows<const N: usize>(
    blocks: Range<usize>,
    of: Blocks,
    size: usize,
    mut row: impl FnMut(usize, Range<usize>, &Places, &mut [[f64; N]]),
) {
    let (mut places, mut sums) = (Places { of: Vec::new() }, Vec::new());
    let (rows, columns) = (of.rows.slice(blocks.clone()), of.columns.slice(blocks.clone()));
    let mut first = blocks.start;
    for (rows, columns) in rows.chunk_by(|a, b| a == b).scan(0, |start, rows| {
        *start += rows.len();
        Some((rows, &columns[*start - rows.len()..*start]))
    }) {
        places.enter(columns);
        sums.clear();
        sums.resize(columns.len() * size, [0.0; N]);
        row(rows[0] as usize, first..first + rows.len(), &places, &mut sums);
        places.leave(columns);
        first += rows.len();
    }
}

/// The items of `multiply_blocks` in a range.
pub unsafe fn multiply_rows<T: Real, const M: usize, const N: usize>(
    items: Range<usize>,
    entries: Entries,
    values: View<T>,
    b: BlockRows<f64>,
    of: Blocks,
    product: ViewMut<f64>,
) {
    let size = entries.size;
    let parts = size / M;
    let blocks = items.start / parts..items.end.div_ceil(parts);
    for_rows::<N>(blocks, of, size, |row, blocks, places, sums| {
        let (first, width) = entries.pattern.row(row);
        let (mut left, mut right) = ([[0.0; MAX]; MAX], [[0.0; N]; MAX]);
        for k in 0..width {
            for (j, i) in (0..size).flat_map(|j| (0..size).map(move |i| (j, i))) {
                left[j][i] = values.at(entries.at(row, k, i, j)).to_f64();
            }
            let (start, n) = b.pattern.row(entries.pattern.columns.at(first + k) as usize);
            for other in start..start + n {
                let Some(place) = places.get(b.pattern.columns.at(other)) else { continue };
                (0..size).for_each(|j| right[j] = b.row(other, j));
                add_product::<M, N>(&left[..size], &right, &mut sums[place * size..(place + 1) * size]);
            }
        }
        for item in items.start.max(blocks.start * parts)..items.end.min(blocks.end * parts) {
            let (block, top) = (item / parts, item % parts * M);
            for i in top..top + M {
                for c in 0..N {
                    product.set((block * N + c) * size + i, sums[(block - blocks.start) * size + i][c]);
                }
            }
        }
    });
}

/// The items of `galerkin_product` in a range.
pub unsafe fn galerkin_rows<const N: usize>(
    items: Range<usize>,
    prolongator: BlockRows<f64>,
    members: Lists,
    product: BlockRows<f64>,
    of: Blocks,
    entries: Entries,
    values: ViewMut<f64>,
) {
    let height = const { height(N) };
    let parts = N / height;
    let blocks = items.start / parts..items.end.div_ceil(parts);
    for_rows::<N>(blocks, of, N, |row, blocks, places, sums| {
        // Of the members, which ascend, those that `product` has rows of: often none.
        let Range { start, end } = members.range(row);
        let (starts, n_blocks) = (product.pattern.row_start, product.pattern.columns.len() as u64);
        let end = bisect(start, end, |member| starts.at(members.rows.at(member) as usize) < n_blocks);
        let start = bisect(start, end, |member| starts.at(members.rows.at(member) as usize + 1) == 0);
        if start == end {
            return;
        }
        // Rows of the items' blocks.
        let own = items.start.max(blocks.start * parts)..items.end.min(blocks.end * parts);
        let own = own.start * height..own.end * height;
        let to: Vec<Mirrored> = (blocks.clone())
            .map(|block| Mirrored::new(entries, values, [row, of.columns.at(block) as usize]))
            .collect();
        for (i, c) in own.clone().flat_map(|i| (0..N).map(move |c| (i, c))) {
            sums[i - blocks.start * N][c] = to[i / N - blocks.start].get(i % N, c);
        }
        let (mut left, mut right) = ([[0.0; MAX]; MAX], [[0.0; N]; MAX]);
        for member in start..end {
            let block = members.places.at(member) as usize;
            (0..product.rows).for_each(|m| left[m][..N].copy_from_slice(&prolongator.row::<N>(block, m)));
            for other in product.pattern.blocks(members.rows.at(member) as usize) {
                let Some(place) = places.get(product.pattern.columns.at(other)) else { continue };
                (0..product.rows).for_each(|m| right[m] = product.row(other, m));
                let sums = &mut sums[place * N..(place + 1) * N];
                match height {
                    3 => add_product::<3, N>(&left[..product.rows], &right, sums),
                    _ => add_product::<1, N>(&left[..product.rows], &right, sums),
                }
            }
        }
        for (i, c) in own.flat_map(|i| (0..N).map(move |c| (i, c))) {
            to[i / N - blocks.start].set(i % N, c, sums[i - blocks.start * N][c]);
        }
    });
}
