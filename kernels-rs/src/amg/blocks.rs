//! Matrices of rectangular blocks, as products see them.

use crate::sparse::{Entries, PatternView};
use core::ops::Range;
use cuda_std::prelude::*;

/// A matrix of blocks in compressed rows, whose columns ascend; blocks column by column.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BlockRows<T: DeviceCopy> {
    /// Its blocks.
    pub pattern: PatternView,
    /// `[n_blocks][columns][rows]`.
    pub values: View<T>,
    /// Rows of a block.
    pub rows: usize,
    /// Columns of a block.
    pub columns: usize,
}

impl<T: DeviceCopy> BlockRows<T> {
    /// Entry (i, j) of a block.
    #[inline(always)]
    pub unsafe fn at(self, block: usize, i: usize, j: usize) -> T {
        self.values.at((block * self.columns + j) * self.rows + i)
    }

    /// Row i of a block of N columns.
    #[inline(always)]
    pub(super) unsafe fn row<const N: usize>(self, block: usize, i: usize) -> [T; N] {
        core::array::from_fn(|j| self.at(block, i, j))
    }
}

/// Which blocks a result has.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Blocks {
    /// Block row of each, `[n_blocks]`.
    pub rows: View<u32>,
    /// Block column of each, `[n_blocks]`.
    pub columns: View<u32>,
}

impl Blocks {
    /// Some of them.
    pub fn part(self, blocks: Range<usize>) -> Self {
        Blocks { rows: self.rows.part(blocks.clone()), columns: self.columns.part(blocks) }
    }
}

/// Rows of an n x n block of A_c that an item computes.
pub const fn height(n: usize) -> usize {
    if n.is_multiple_of(3) { 3 } else { 1 }
}

/// A block on the diagonal of a symmetric matrix or right of it, and its mirror image.
#[derive(Clone, Copy)]
pub(super) struct Mirrored {
    entries: Entries,
    values: ViewMut<f64>,
    /// Row and column of the block.
    at: [usize; 2],
    /// Its number among its row's, and that of its image.
    k: [usize; 2],
}

impl Mirrored {
    #[inline(always)]
    pub(super) unsafe fn new(entries: Entries, values: ViewMut<f64>, [row, column]: [usize; 2]) -> Self {
        let k = [entries.pattern.place(row, column as u32), entries.pattern.place(column, row as u32)];
        Mirrored { entries, values, at: [row, column], k }
    }

    /// Whether an entry is left of the matrix's diagonal, where it is that opposite which counts.
    #[inline(always)]
    fn is_image(self, i: usize, j: usize) -> bool {
        self.at[0] == self.at[1] && j < i
    }

    /// Entry (i, j) of the block; 0 left of the diagonal.
    #[inline(always)]
    pub(super) unsafe fn get(self, i: usize, j: usize) -> f64 {
        if self.is_image(i, j) { 0.0 } else { self.values.at(self.entries.at(self.at[0], self.k[0], i, j)) }
    }

    /// Sets entry (i, j) of the block and the one opposite; nothing left of the diagonal.
    #[inline(always)]
    pub(super) unsafe fn set(self, i: usize, j: usize, value: f64) {
        if self.is_image(i, j) {
            return;
        }
        self.values.set(self.entries.at(self.at[0], self.k[0], i, j), value);
        self.values.set(self.entries.at(self.at[1], self.k[1], j, i), value);
    }
}
