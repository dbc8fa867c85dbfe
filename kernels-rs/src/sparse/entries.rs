//! Where a storage format keeps the entries of a matrix: how assembly and supports write into every format alike.

use super::PatternView;
use crate::half::F16;
use crate::real::{Real, Stored};
use cuda_std::prelude::*;

/// The places of a matrix's entries. Entry (i, j) of block k of a block row is at
/// `start[row][i] + k * block + j * column`; in a dense matrix the block's column takes the place of k.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entries {
    /// Which blocks there are.
    pub pattern: PatternView,
    /// Place of each row's first entry, `[n_rows][size]`.
    pub start: View<u64>,
    /// Block size.
    pub size: usize,
    /// Distance between the blocks of a row.
    pub block: usize,
    /// Distance between the columns of a block.
    pub column: usize,
    /// 1 if blocks are placed by their column, 0 if by their number in the row.
    pub by_column: u32,
}

impl Entries {
    /// The place of entry (i, j) of block `k` of block row `row`.
    #[inline(always)]
    pub unsafe fn at(self, row: usize, k: usize, i: usize, j: usize) -> usize {
        let step = if self.by_column == 0 { k } else { self.pattern.columns.at(self.pattern.row(row).0 + k) as usize };
        self.start.at(row * self.size + i) as usize + step * self.block + j * self.column
    }

    /// The places of entries (0..size, 0) of block 0, from which those of a row's other blocks are counted.
    ///
    /// `size` is the block size: a parameter, so that it can be known when this compiles.
    #[inline(always)]
    pub unsafe fn row(self, row: usize, size: usize) -> RowEntries {
        let mut start = [0; 3];
        for i in 0..size {
            start[i] = self.start.at(row * size + i) as usize;
        }
        RowEntries { first: self.pattern.row(row).0, start, entries: self }
    }
}

/// The places of the entries of one block row.
#[derive(Clone, Copy)]
pub struct RowEntries {
    first: usize,
    start: [usize; 3],
    entries: Entries,
}

impl RowEntries {
    /// The places of entries (0..size, 0) of block `k`; column j is `j * column` further.
    #[inline(always)]
    pub unsafe fn block(self, k: usize) -> [usize; 3] {
        let entries = self.entries;
        let step = if entries.by_column == 0 { k } else { entries.pattern.columns.at(self.first + k) as usize };
        self.start.map(|start| start + step * entries.block)
    }
}

/// Computes: `start[row] = row * stride`, the places of rows that lie `stride` apart.
///
/// Parameters: `start [n_rows]`. Thread mapping: an item per row. Memory moved: 8 bytes per row.
#[kernel(items)]
pub unsafe fn even_starts(row: usize, stride: usize, start: ViewMut<u64>) {
    start.set(row, (row * stride) as u64);
}

/// Computes: the blocks of a block row, each row by row, from where the format keeps them.
///
/// Parameters: `rows`, those that are read, all of them if it is empty; `starts`, the blocks before each; `blocks
/// [n_blocks][size][size]`. Thread mapping: an item per block row. Memory moved: every value of a block is read and written
/// once.
#[kernel(items, V = [f32, f64, F16])]
pub unsafe fn read_blocks<V: Stored>(
    item: usize,
    rows: View<u32>,
    starts: View<u64>,
    entries: Entries,
    values: View<V>,
    blocks: ViewMut<V>,
) {
    let row = if rows.is_empty() { item } else { rows.at(item) as usize };
    let (to, (_, width)) = (starts.at(item) as usize, entries.pattern.row(row));
    for k in 0..width {
        for i in 0..entries.size {
            for j in 0..entries.size {
                let value = values.at(entries.at(row, k, i, j));
                blocks.set(((to + k) * entries.size + i) * entries.size + j, value);
            }
        }
    }
}

/// Computes: the largest sum of magnitudes in a row of each block row: their maximum is the largest row sum norm.
///
/// Parameters: `sums [n_rows]`. Thread mapping: an item per block row. Memory moved: every value once.
#[kernel(items, V = [f32, f64, F16])]
pub unsafe fn row_sums<V: Stored>(row: usize, entries: Entries, values: View<V>, sums: ViewMut<f64>) {
    let (_, width) = entries.pattern.row(row);
    let mut most = 0.0;
    for i in 0..entries.size {
        let mut sum = 0.0;
        for k in 0..width {
            for j in 0..entries.size {
                sum += values.at(entries.at(row, k, i, j)).value().to_f64().abs();
            }
        }
        most = f64::max(most, sum);
    }
    sums.set(row, most);
}

/// Computes: the inverse of [`read_blocks`], of all rows.
#[kernel(items, V = [f32, f64, F16])]
pub unsafe fn write_blocks<V: Stored>(row: usize, entries: Entries, blocks: View<V>, values: ViewMut<V>) {
    let (first, width) = entries.pattern.row(row);
    for k in 0..width {
        for i in 0..entries.size {
            for j in 0..entries.size {
                let value = blocks.at(((first + k) * entries.size + i) * entries.size + j);
                values.set(entries.at(row, k, i, j), value);
            }
        }
    }
}

/// Computes: a symmetric, diagonally dominant matrix of made-up values, the same in every format: to measure
/// products, whose time does not depend on values.
///
/// Parameters: `values` as `entries` says. Thread mapping: an item per block row. Memory moved: every value of a block
/// of the pattern is written once.
#[kernel(items, T = [f32, f64])]
pub unsafe fn made_up_values<T: Real>(row: usize, entries: Entries, values: ViewMut<T>) {
    let (first, width) = entries.pattern.row(row);
    for k in 0..width {
        let column = entries.pattern.columns.at(first + k) as usize;
        for i in 0..entries.size {
            for j in 0..entries.size {
                let (a, b) = (row * entries.size + i, column * entries.size + j);
                let value = if a == b { (width * entries.size) as f64 } else { made_up(a, b) };
                values.set(entries.at(row, k, i, j), T::from_f64(value));
            }
        }
    }
}

/// A number in [-1, 1) of at most 16 bits, from an unordered pair.
#[inline(always)]
fn made_up(a: usize, b: usize) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let mixed = (low as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (high as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 48) as f64 / 32768.0 - 1.0
}
