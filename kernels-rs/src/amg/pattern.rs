//! Which blocks a product of sparse matrices has, and where the blocks of a matrix's columns are.
//!
//! The rows of `C = X Y` are found as those of a mesh's matrix are: lists with room for every candidate, sorted and
//! without repetitions, then put end to end.

use super::NONE;
use crate::setup::lists::{List, bisect, range};
use crate::sparse::PatternView;
use core::ops::Range;
use cuda_std::prelude::*;

/// The blocks of each column of a matrix of rows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Lists {
    /// Blocks before those of each column, `[n_columns + 1]`.
    pub starts: View<u64>,
    /// The block row of each, ascending within a column, `[n_blocks]`.
    pub rows: View<u32>,
    /// The place of each in the matrix, `[n_blocks]`.
    pub places: View<u32>,
}

impl Lists {
    /// The places of a column's blocks.
    #[inline(always)]
    pub unsafe fn range(self, column: usize) -> Range<usize> {
        range(self.starts, column)
    }
}

/// Shares that a long row of X is cut into, for a thread each: the few rows of `P^T` have hundreds of blocks.
pub const SHARES: usize = 8;

/// Computes: the rows of X cut into [`SHARES`] of about equal length, as rows; and rows that name the shares of a row.
///
/// Parameters: `x`; `starts [n_rows SHARES + 1]`, of the shares among X's blocks; `row_start [n_rows + 1]` and
/// `columns [n_rows SHARES]`, the shares of each row. Thread mapping: an item per share, and one more.
/// Memory moved: 20 B per share.
#[kernel(items)]
pub unsafe fn cut_rows(
    item: usize,
    x: PatternView,
    starts: ViewMut<u64>,
    row_start: ViewMut<u64>,
    columns: ViewMut<u32>,
) {
    let (row, share) = (item / SHARES, item % SHARES);
    if share == 0 {
        row_start.set(row, item as u64);
    }
    if item < columns.len() {
        let (first, width) = x.row(row);
        starts.set(item, (first + width * share / SHARES) as u64);
        columns.set(item, item as u32);
    } else {
        starts.set(item, x.row_start.at(row));
    }
}

/// Computes: how many blocks row `row` of `X Y` can have.
///
/// Parameters: `most`, block columns of Y; `candidates [n_rows]`. Thread mapping: an item per row of X.
/// Memory moved: an index per block of X and 16 B (gathered) of Y's rows.
#[kernel(items)]
pub unsafe fn count_products(row: usize, most: u32, x: PatternView, y: PatternView, candidates: ViewMut<u32>) {
    let mut count = 0;
    for block in x.blocks(row) {
        count += y.row(x.columns.at(block) as usize).1;
    }
    candidates.set(row, count.min(most as usize) as u32);
}

/// Computes: the block columns of row `row` of `X Y`, ascending.
///
/// Parameters: `starts [n_rows + 1]`, the running sums of the candidates; `found [starts[n_rows]]`; `lengths [n_rows]`.
/// Thread mapping: an item per row of X. Memory moved: the columns of Y's rows that X's name, through the cache, and
/// those found.
#[kernel(items)]
pub unsafe fn list_products(
    row: usize,
    x: PatternView,
    y: PatternView,
    starts: View<u64>,
    found: ViewMut<u32>,
    lengths: ViewMut<u32>,
) {
    let list = List::new(found, starts.at(row) as usize);
    let mut len = 0;
    for block in x.blocks(row) {
        let (start, others) = y.row(x.columns.at(block) as usize);
        for other in start..start + others {
            let column = y.columns.at(other);
            // A row that is full has every column of Y.
            if len < (starts.at(row + 1) - starts.at(row)) as usize {
                len = list.insert(len, column);
            }
        }
    }
    lengths.set(row, len as u32);
}

/// Computes: the lists put end to end; the diagonal is brought to the front of each row if `diagonal_first` is 1.
///
/// Parameters: `starts, found`, see [`list_products`]; `row_start [n_rows + 1]`; `columns, rows [row_start[n_rows]]`,
/// of each block. Thread mapping: an item per row. Memory moved: 24 B per row, 12 B per block.
#[kernel(items)]
pub unsafe fn join_lists(
    row: usize,
    diagonal_first: u32,
    starts: View<u64>,
    found: View<u32>,
    row_start: View<u64>,
    columns: ViewMut<u32>,
    rows: ViewMut<u32>,
) {
    let (from, to) = (starts.at(row) as usize, row_start.at(row) as usize);
    let mut place = to;
    if diagonal_first == 1 {
        columns.set(to, row as u32);
        rows.set(to, row as u32);
        place += 1;
    }
    for i in 0..row_start.at(row + 1) as usize - to {
        let column = found.at(from + i);
        if diagonal_first == 0 || column != row as u32 {
            columns.set(place, column);
            rows.set(place, row as u32);
            place += 1;
        }
    }
}

/// Computes: how many blocks of a row are on the diagonal or right of it.
///
/// Parameters: `square`, with the diagonal first in each row; `lengths [n_rows]`. Thread mapping: an item per row.
/// Memory moved: 24 B per row, and the two gathers of each step of a search by bisection.
#[kernel(items)]
pub unsafe fn count_upper(row: usize, square: PatternView, lengths: ViewMut<u32>) {
    let (first, width) = square.row(row);
    let right = square.off_diagonal(row, row as u32);
    lengths.set(row, (1 + first + width - right) as u32);
}

/// Computes: the blocks on the diagonal and right of it.
///
/// Parameters: `square`, see [`count_upper`]; `row_start [n_rows + 1]`; `columns, rows [row_start[n_rows]]`, of each
/// block. Thread mapping: an item per row. Memory moved: 24 B per row, 12 B per block.
#[kernel(items)]
pub unsafe fn list_upper(
    row: usize,
    square: PatternView,
    row_start: View<u64>,
    columns: ViewMut<u32>,
    rows: ViewMut<u32>,
) {
    let blocks = range(row_start, row);
    let right = square.off_diagonal(row, row as u32);
    let first = blocks.start;
    for block in blocks {
        let column = if block == first { row as u32 } else { square.columns.at(right + block - first - 1) };
        columns.set(block, column);
        rows.set(block, row as u32);
    }
}

/// Computes: 1 for each node that is in an aggregate. Parameters: `aggregates, counts [n]`. Thread mapping: an item per
/// node. Memory moved: 8 B per node.
#[kernel(items)]
pub unsafe fn count_members(node: usize, aggregates: View<u32>, counts: ViewMut<u32>) {
    counts.set(node, u32::from(aggregates.at(node) != NONE));
}

/// Computes: the rows of the tentative prolongator, of one block or none.
///
/// Parameters: `aggregates [n]`; `row_start [n + 1]`; `columns, rows [row_start[n]]`, of each block. Thread mapping: an
/// item per node. Memory moved: 20 B per node.
#[kernel(items)]
pub unsafe fn list_members(
    node: usize,
    aggregates: View<u32>,
    row_start: View<u64>,
    columns: ViewMut<u32>,
    rows: ViewMut<u32>,
) {
    let aggregate = aggregates.at(node);
    if aggregate != NONE {
        columns.set(row_start.at(node) as usize, aggregate);
        rows.set(row_start.at(node) as usize, node as u32);
    }
}

/// Computes: the keys by which blocks are sorted by column. Parameters: `columns, keys [n_blocks]`. Thread mapping: an
/// item per block. Memory moved: 12 B per block.
#[kernel(items)]
pub unsafe fn column_keys(block: usize, columns: View<u32>, keys: ViewMut<u64>) {
    keys.set(block, u64::from(columns.at(block)));
}

/// Computes: where the blocks of a column start in the order of columns.
///
/// Parameters: `columns [n_blocks]`; `places [n_blocks]`, that order; `starts [n_columns + 1]`. Thread mapping: an item
/// per column and one more. Memory moved: 8 B per column, and the two gathers of each step of a search by bisection.
#[kernel(items)]
pub unsafe fn column_starts(column: usize, columns: View<u32>, places: View<u32>, starts: ViewMut<u64>) {
    let before = |middle: usize| (columns.at(places.at(middle) as usize) as usize) < column;
    starts.set(column, bisect(0, places.len(), before) as u64);
}
