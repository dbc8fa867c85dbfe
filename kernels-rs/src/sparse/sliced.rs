//! What the ELLPACK family shares: rows are grouped into slices of equal height and padded to the longest of their
//! slice (Monakov, Lokhmotov and Avetisyan 2010). One slice of all rows is ELLPACK.
//!
//! A row here is an item of the format: a row of the matrix, or a block row. Rows that hold scalars have
//! `expand = block size` columns for every block of the pattern, rows that hold blocks have one.

use super::PatternView;
use crate::setup::lists::range;
use core::ops::Range;
use cuda_std::prelude::*;

/// Padded rows, column by column within a slice, so that neighbouring lanes read neighbouring places.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sliced {
    /// Number of columns before each slice, `[n_slices + 1]`.
    pub slice_start: View<u64>,
    /// Column indices, `[slice_start[n_slices]][height]`; padding repeats the row itself, or 0 past the last row.
    pub columns: View<u32>,
}

impl Sliced {
    /// The columns of a slice, each of as many entries as the slice has rows.
    #[inline(always)]
    pub unsafe fn slice(self, slice: usize) -> Range<usize> {
        range(self.slice_start, slice)
    }
}

/// Which row is where.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slices {
    /// Number of rows.
    pub n_rows: usize,
    /// Rows per slice.
    pub height: usize,
    /// Columns of a row for each block of the pattern: the block size where scalars are stored, else 1.
    pub expand: usize,
    /// The row at each position, `[n_rows]`; empty if every row is at its own.
    pub rows: View<u32>,
}

impl Slices {
    /// The row at a position.
    #[inline(always)]
    unsafe fn row(self, position: usize) -> usize {
        if self.rows.is_empty() { position } else { self.rows.at(position) as usize }
    }
}

/// Computes: `widths[slice] = max(widths[slice], length of the row at this position)`.
///
/// Parameters: `widths [n_slices]`, zero before. Thread mapping: an item per position.
/// Memory moved: 16 bytes of the pattern read per row, an atomic maximum per row.
#[kernel(items)]
pub unsafe fn slice_widths(position: usize, pattern: PatternView, slices: Slices, widths: ViewMut<u32>) {
    let (_, length) = pattern.row(slices.row(position) / slices.expand);
    atomic::max(widths, position / slices.height, (length * slices.expand) as u32);
}

/// Computes: the column indices of the row at this position, with its padding.
///
/// Parameters: `slice_start [n_slices + 1]`, `columns [slice_start[n_slices]][height]`.
/// Thread mapping: an item per position, those past the last row included.
/// Memory moved: 4 bytes written per column with padding, the pattern read once.
#[kernel(items)]
pub unsafe fn slice_columns(
    position: usize,
    pattern: PatternView,
    slices: Slices,
    slice_start: View<u64>,
    columns: ViewMut<u32>,
) {
    let Slices { n_rows, height, expand, .. } = slices;
    let (row, first, length) = if position < n_rows {
        let row = slices.row(position);
        let (first, length) = pattern.row(row / expand);
        (row, first, length * expand)
    } else {
        (0, 0, 0)
    };
    let Range { start, end } = range(slice_start, position / height);
    for k in 0..end - start {
        let column = if k < length { pattern.scalar_column(first, expand, k) } else { row };
        columns.set((start + k) * height + position % height, column as u32);
    }
}

/// Computes: where the entries of the row at this position start, `start[row][i]`.
///
/// Parameters: `size`: rows of the matrix in a row of the format; `start [n_rows][size]`.
/// Thread mapping: an item per position. Memory moved: 8 bytes written per row of the matrix.
#[kernel(items)]
pub unsafe fn slice_starts(position: usize, slices: Slices, size: usize, slice_start: View<u64>, start: ViewMut<u64>) {
    let (row, lane) = (slices.row(position), position % slices.height);
    let columns = slice_start.at(position / slices.height) as usize;
    for i in 0..size {
        start.set(row * size + i, ((columns * size * size + i) * slices.height + lane) as u64);
    }
}

/// Computes: the key by which a sort brings the rows of each window into the order of falling length.
///
/// Parameters: `keys [n_rows]`. Thread mapping: an item per row. Memory moved: 16 bytes of the pattern read, 8 written.
#[kernel(items)]
pub unsafe fn length_keys(row: usize, pattern: PatternView, expand: usize, window: usize, keys: ViewMut<u64>) {
    let (_, length) = pattern.row(row / expand);
    let shortness = LENGTHS - 1 - (length as u64).min(LENGTHS - 1);
    keys.set(row, (row / window) as u64 * LENGTHS + shortness);
}

/// Lengths that keys tell apart; longer rows count as equally long.
pub const LENGTHS: u64 = 1 << 16;
