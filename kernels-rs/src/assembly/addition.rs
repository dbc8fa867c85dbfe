//! A sparse addition to K: what facets and springs have, in double, as blocks of the rows that have any.

use crate::real::{Real, fma};
use crate::setup::lists::range;
use crate::sparse::Entries;
use core::ops::Range;
use cuda_std::prelude::*;

/// Blocks of some rows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Addition {
    /// The rows, each once, `[n]`.
    pub rows: View<u32>,
    /// Where the blocks of each start, `[n + 1]`.
    pub starts: View<u64>,
    /// The column of each block.
    pub columns: View<u32>,
    /// Their entries, row by row; those past the components of a node are not read.
    pub blocks: View<[[f64; 3]; 3]>,
}

/// Computes: adds the blocks of a row to K, whose pattern has them.
///
/// Thread mapping: an item per row of the addition. Memory moved: 76 B and an entry's block, read and written, per block,
/// and the row's columns once for each.
#[kernel(items, T = [f32, f64])]
pub unsafe fn add_blocks<T: Real>(item: usize, addition: Addition, entries: Entries, values: ViewMut<T>) {
    let row = addition.rows.at(item) as usize;
    let (first, width) = entries.pattern.row(row);
    let Range { start, end } = range(addition.starts, item);
    for block in start..end {
        let (column, added) = (addition.columns.at(block), addition.blocks.at(block));
        for k in 0..width {
            if entries.pattern.columns.at(first + k) != column {
                continue;
            }
            for i in 0..entries.size {
                for j in 0..entries.size {
                    let entry = entries.at(row, k, i, j);
                    values.set(entry, T::from_f64(values.at(entry).to_f64() + added[i][j]));
                }
            }
        }
    }
}

/// Computes: `y += A x` in the addition's rows.
///
/// Parameters: `x, y [n_rows][size]`. Thread mapping: an item per row of the addition. Memory moved: 76 B and a gathered
/// point per block, two words per component.
#[kernel(items)]
pub unsafe fn add_product(item: usize, size: usize, addition: Addition, x: View<f64>, y: ViewMut<f64>) {
    let row = addition.rows.at(item) as usize;
    let mut sum = [0.0; 3];
    let Range { start, end } = range(addition.starts, item);
    for block in start..end {
        let (column, added) = (addition.columns.at(block) as usize, addition.blocks.at(block));
        for i in 0..size {
            for j in 0..size {
                sum[i] = fma(added[i][j], x.at(size * column + j), sum[i]);
            }
        }
    }
    for i in 0..size {
        y.set(size * row + i, y.at(size * row + i) + sum[i]);
    }
}
