//! From a dense matrix to one of its nonzero entries: a count for each row, and after the sum of counts the columns.
//! FEMSES has cuSPARSE do this between a dense assembly and a sparse solver.

use super::Entries;
use crate::real::Real;
use cuda_std::prelude::*;

/// Computes: the number of entries of a row of a dense matrix that are not zero, the diagonal counted in any case.
///
/// Parameters: `values [n][n]`, column by column; `counts [n]`. Thread mapping: an item per row: neighbours read
/// neighbouring values. Memory moved: the matrix, once.
#[kernel(items, T = [f32, f64])]
pub unsafe fn count_nonzeros<T: Real>(row: usize, values: View<T>, counts: ViewMut<u32>) {
    let n = counts.len();
    let mut count = 1;
    for column in 0..n {
        count += u32::from(column != row && values.stream(column * n + row) != T::ZERO);
    }
    counts.set(row, count);
}

/// Computes: the columns of those entries, the diagonal first, the others ascending.
///
/// Parameters: `values [n][n]`, column by column; `row_start [n + 1]`; `columns [row_start[n]]`. Thread mapping: an
/// item per row. Memory moved: the matrix, once, and 4 B per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn nonzero_columns<T: Real>(row: usize, values: View<T>, row_start: View<u64>, columns: ViewMut<u32>) {
    let n = row_start.len() - 1;
    let mut place = row_start.at(row) as usize;
    columns.set(place, row as u32);
    for column in 0..n {
        if column != row && values.stream(column * n + row) != T::ZERO {
            place += 1;
            columns.set(place, column as u32);
        }
    }
}

/// Computes: the values of those entries, where another format keeps them.
///
/// Parameters: `dense [n][n]`, column by column; `entries`, of a matrix of scalars with that pattern; `values`, its
/// values. Thread mapping: an item per row. Memory moved: a gathered value, its column and a written value per entry.
#[kernel(items, T = [f32, f64])]
pub unsafe fn pick_nonzeros<T: Real>(row: usize, n: usize, dense: View<T>, entries: Entries, values: ViewMut<T>) {
    let (first, width) = entries.pattern.row(row);
    for k in 0..width {
        let column = entries.pattern.columns.at(first + k) as usize;
        values.set(entries.at(row, k, 0, 0), dense.at(column * n + row));
    }
}
