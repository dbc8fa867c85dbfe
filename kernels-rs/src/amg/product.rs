//! Products of matrices of rectangular blocks: `A P`, the smoothed prolongator and `P^T (A P)`, once it is known which
//! blocks they have.
//!
//! A thread of a GPU has some rows of a block of the result in registers, and looks for the blocks that contribute to
//! it in the sorted rows of the right factor. Nothing is added up in memory. A CPU's takes whole rows.

#[cfg(not(target_arch = "nvptx64"))]
use super::cpu::{galerkin_rows, multiply_rows};
use super::pattern::Lists;
use crate::real::{Real, fma};
use crate::setup::lists::bisect;
use crate::sparse::{Entries, PatternView};
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
    ///
    /// # Safety
    /// `block` is one, and i and j are below its size.
    #[inline(always)]
    pub unsafe fn at(self, block: usize, i: usize, j: usize) -> T {
        self.values.at((block * self.columns + j) * self.rows + i)
    }

    /// Row i of a block of N columns.
    #[inline(always)]
    pub(super) unsafe fn row<const N: usize>(self, block: usize, i: usize) -> [T; N] {
        // SAFETY: the block is one of this matrix, whose blocks have N columns, by contract.
        core::array::from_fn(|j| unsafe { self.at(block, i, j) })
    }
}

/// The place of a column among a row's, which ascend; past the row's end if it has none.
#[inline(always)]
unsafe fn find(pattern: PatternView, row: usize, column: u32) -> Option<usize> {
    let (first, width) = pattern.row(row);
    // SAFETY: places of the row's blocks.
    let place = bisect(first, first + width, |middle| unsafe { pattern.columns.at(middle) < column });
    if place < first + width && pattern.columns.at(place) == column { Some(place) } else { None }
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

/// Computes: M rows of each block of `C = A B`.
///
/// Parameters: `entries, values`, A, of square blocks of a multiple of M rows; `b`, with N columns of a block; `of`,
/// the blocks of C; `product [n_blocks][N][size]`. Thread mapping: an item per M rows of a block. Memory moved: C once;
/// the rows of A and of B that meet, through the cache.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, cpu = multiply_rows, T = [f32, f64], M = [1, 3], N = [1, 2, 3, 6])]
pub unsafe fn multiply_blocks<T: Real, const M: usize, const N: usize>(
    item: usize,
    entries: Entries,
    values: View<T>,
    b: BlockRows<f64>,
    of: Blocks,
    product: ViewMut<f64>,
) {
    let size = entries.size;
    let (block, top) = (item / (size / M), item % (size / M) * M);
    let (row, column) = (of.rows.at(block) as usize, of.columns.at(block));
    let (first, width) = entries.pattern.row(row);
    let mut sums = [[0.0; N]; M];
    for k in 0..width {
        let other = entries.pattern.columns.at(first + k) as usize;
        if let Some(place) = find(b.pattern, other, column) {
            for j in 0..size {
                let right: [f64; N] = b.row(place, j);
                for i in 0..M {
                    let value = values.at(entries.at(row, k, top + i, j)).to_f64();
                    for c in 0..N {
                        sums[i][c] = fma(value, right[c], sums[i][c]);
                    }
                }
            }
        }
    }
    for i in 0..M {
        for c in 0..N {
            product.set((block * N + c) * size + top + i, sums[i][c]);
        }
    }
}

/// Computes: `P = P_0 - omega D^-1 A P_0` in the place of `A P_0` (Vanek, Mandel, Brezina 1996, sec. 3).
///
/// Parameters: `inverse [n]`, that of D, or nothing where `values` are of `D^-1 A P_0` already; `tentative`, P_0; `of`, the blocks of P; `values [n_blocks][columns][rows]`.
/// Thread mapping: an item per row of a block. Memory moved: the values read and written, P_0 and `inverse` through the
/// cache.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn smooth_prolongator<T: Real>(
    item: usize,
    omega: f64,
    inverse: View<T>,
    tentative: BlockRows<f64>,
    of: Blocks,
    values: ViewMut<f64>,
) {
    let size = tentative.rows;
    let (block, i) = (item / size, item % size);
    let row = of.rows.at(block) as usize;
    let own = find(tentative.pattern, row, of.columns.at(block));
    let scale = if inverse.is_empty() { 1.0 } else { inverse.at(row * size + i).to_f64() };
    let factor = -omega * scale;
    for c in 0..tentative.columns {
        let place = (block * tentative.columns + c) * size + i;
        let before = match own {
            Some(own) => tentative.at(own, i, c),
            None => 0.0,
        };
        values.set(place, fma(factor, values.at(place), before));
    }
}

/// Computes: M rows of each block of `A_c += P^T (A P)`, where M divides N; A_c is symmetric, so those on the diagonal and
/// right of it are computed, and their entries written twice.
///
/// Parameters: `prolongator`, P; `members`, the blocks of its columns; `product`, A P or some rows of it, the others
/// without blocks, with N columns of a block; `of`, the blocks to compute, row by row; `entries, values`, A_c. Thread
/// mapping: an item per M rows of a block.
/// Memory moved: A_c read by half and written; the blocks of P and A P that meet, through the cache.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, cpu = galerkin_rows, M = [1, 3], N = [1, 2, 3, 6])]
pub unsafe fn galerkin_product<const M: usize, const N: usize>(
    item: usize,
    prolongator: BlockRows<f64>,
    members: Lists,
    product: BlockRows<f64>,
    of: Blocks,
    entries: Entries,
    values: ViewMut<f64>,
) {
    let (block, top) = (item * M / N, item * M % N);
    let (row, column) = (of.rows.at(block) as usize, of.columns.at(block));
    let (start, end) = members.range(row);
    let to = Mirrored::new(entries, values, [row, column as usize]);
    let mut sums = [[0.0; N]; M];
    for i in 0..M {
        for c in 0..N {
            sums[i][c] = to.get(top + i, c);
        }
    }
    for member in start..end {
        if let Some(place) = find(product.pattern, members.rows.at(member) as usize, column) {
            for m in 0..product.rows {
                let right: [f64; N] = product.row(place, m);
                for i in 0..M {
                    let value = prolongator.at(members.places.at(member) as usize, m, top + i);
                    for c in 0..N {
                        sums[i][c] = fma(value, right[c], sums[i][c]);
                    }
                }
            }
        }
    }
    for i in 0..M {
        for c in 0..N {
            to.set(top + i, c, sums[i][c]);
        }
    }
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
    /// # Safety
    /// The matrix has a block in that row and column, and its image.
    #[inline(always)]
    pub(super) unsafe fn new(entries: Entries, values: ViewMut<f64>, [row, column]: [usize; 2]) -> Self {
        // SAFETY: the blocks are there by contract.
        let k = unsafe { [entries.pattern.place(row, column as u32), entries.pattern.place(column, row as u32)] };
        Mirrored { entries, values, at: [row, column], k }
    }

    /// Whether an entry is left of the matrix's diagonal, where it is that opposite which counts.
    #[inline(always)]
    fn is_image(self, i: usize, j: usize) -> bool {
        self.at[0] == self.at[1] && j < i
    }

    /// Entry (i, j) of the block; 0 left of the diagonal.
    ///
    /// # Safety
    /// i and j are below the size of a block.
    #[inline(always)]
    pub(super) unsafe fn get(self, i: usize, j: usize) -> f64 {
        // SAFETY: an entry of the matrix by contract.
        if self.is_image(i, j) { 0.0 } else { unsafe { self.values.at(self.entries.at(self.at[0], self.k[0], i, j)) } }
    }

    /// Sets entry (i, j) of the block and the one opposite; nothing left of the diagonal.
    ///
    /// # Safety
    /// i and j are below the size of a block.
    #[inline(always)]
    pub(super) unsafe fn set(self, i: usize, j: usize, value: f64) {
        if self.is_image(i, j) {
            return;
        }
        // SAFETY: entries of the matrix by contract.
        unsafe {
            self.values.set(self.entries.at(self.at[0], self.k[0], i, j), value);
            self.values.set(self.entries.at(self.at[1], self.k[1], j, i), value);
        }
    }
}

/// Computes: a diagonal entry for each row of A_c that is empty, as a mode that was left out makes it: the largest of
/// its block.
///
/// Parameters: `entries, values`, A_c. Thread mapping: an item per block row. Memory moved: the diagonals.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items)]
pub unsafe fn fill_empty_rows(row: usize, entries: Entries, values: ViewMut<f64>) {
    let mut largest = 0.0;
    for i in 0..entries.size {
        largest = f64::max(largest, values.at(entries.at(row, 0, i, i)));
    }
    for i in 0..entries.size {
        let place = entries.at(row, 0, i, i);
        if values.at(place) == 0.0 {
            values.set(place, if largest > 0.0 { largest } else { 1.0 });
        }
    }
}
