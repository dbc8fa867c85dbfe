//! Couplings in the prolongator: the rows of slaves are sums of rows of their masters, `P_s = sum T_sm P_m`.

use super::blocks::{BlockRows, Blocks};
use crate::coupling::{NONE, SparseRows};
use crate::setup::lists::range;
use crate::sparse::PatternView;
use cuda_std::prelude::*;

/// A pattern some of whose rows are those of another.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Replaced {
    /// The pattern.
    pub pattern: PatternView,
    /// The rows that stand for some of its rows.
    pub with: PatternView,
    /// Which of them stands for each row, or [`NONE`], `[n_rows]`.
    pub which: View<u32>,
}

impl Replaced {
    /// The columns of a row: whose they are, their first place, and how many.
    #[inline(always)]
    unsafe fn row(self, row: usize) -> (View<u32>, usize, usize) {
        let (pattern, row) = match self.which.at(row) {
            NONE => (self.pattern, row),
            other => (self.with, other as usize),
        };
        let (first, width) = pattern.row(row);
        (pattern.columns, first, width)
    }
}

/// Computes: how many blocks each row has once some are replaced. Parameters: `rows`; `lengths [n_rows]`. Thread mapping:
/// an item per row. Memory moved: 24 B per row.
#[kernel(items)]
pub unsafe fn count_replaced(row: usize, rows: Replaced, lengths: ViewMut<u32>) {
    lengths.set(row, rows.row(row).2 as u32);
}

/// Computes: the columns of a pattern some of whose rows are replaced.
///
/// Parameters: `rows`; `row_start [n_rows + 1]`; `columns, rows_of [row_start[n_rows]]`, of each block. Thread mapping:
/// an item per row. Memory moved: 32 B per row, 12 B per block.
#[kernel(items)]
pub unsafe fn list_replaced(
    row: usize,
    rows: Replaced,
    row_start: View<u64>,
    columns: ViewMut<u32>,
    rows_of: ViewMut<u32>,
) {
    let (from, first, _) = rows.row(row);
    let to = range(row_start, row);
    for k in 0..to.len() {
        columns.set(to.start + k, from.at(first + k));
        rows_of.set(to.start + k, row as u32);
    }
}

/// Computes: a prolongator some of whose scalar rows are replaced by sums of rows of another, the others copied.
///
/// Parameters: `from`, whose rows the sums are of; `of`, the blocks of the result; `rows`, the sums, by scalar rows of
/// `from`; `row_of [n]`, the sum that replaces each scalar row, or [`NONE`]; `values`, of the result. Thread mapping: an
/// item per scalar row of a block. Memory moved: a row of a block is read and written; for a sum, one per term.
#[kernel(items)]
pub unsafe fn combine_rows(
    item: usize,
    from: BlockRows<f64>,
    of: Blocks,
    rows: SparseRows<f64>,
    row_of: View<u32>,
    values: ViewMut<f64>,
) {
    let (size, n) = (from.rows, from.columns);
    let (block, i) = (item / size, item % size);
    let (row, column) = (of.rows.at(block) as usize, of.columns.at(block));
    for j in 0..n {
        values.set((block * n + j) * size + i, 0.0);
    }
    let sum = row_of.at(row * size + i);
    let (first, last) = match sum {
        NONE => (0, 1),
        sum => (rows.starts.at(sum as usize) as usize, rows.starts.at(sum as usize + 1) as usize),
    };
    for k in first..last {
        let (source, factor) =
            if sum == NONE { (row * size + i, 1.0) } else { (rows.columns.at(k) as usize, rows.factors.at(k)) };
        let (start, width) = from.pattern.row(source / size);
        for at in start..start + width {
            if from.pattern.columns.at(at) == column {
                for j in 0..n {
                    let place = (block * n + j) * size + i;
                    values.set(place, values.at(place) + factor * from.at(at, source % size, j));
                }
            }
        }
    }
}
