//! Couplings in the prolongator: the rows of slaves are sums of rows of their masters, `P_s = sum T_sm P_m`.

use super::blocks::{BlockRows, Blocks};
use crate::coupling::{NONE, SparseRows};
use cuda_std::prelude::*;

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
