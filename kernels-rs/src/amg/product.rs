//! Products of matrices of rectangular blocks: `A P`, the smoothed prolongator and `P^T (A P)`, once it is known which
//! blocks they have.
//!
//! A thread of a GPU has some rows of a block of the result in registers, and looks for the blocks that contribute to
//! it in the sorted rows of the right factor. Nothing is added up in memory. A CPU's takes whole rows.

use super::blocks::{BlockRows, Blocks, Mirrored, height};
#[cfg(not(target_arch = "nvptx64"))]
use super::cpu::{galerkin_rows, multiply_rows};
use super::pattern::Lists;
use crate::real::{Real, fma};
use crate::setup::lists::bisect;
use crate::sparse::{Entries, PatternView};
use cuda_std::prelude::*;

/// The place of a column among a row's, which ascend; past the row's end if it has none.
#[inline(always)]
unsafe fn find(pattern: PatternView, row: usize, column: u32) -> Option<usize> {
    let (first, width) = pattern.row(row);
    let place = bisect(first, first + width, |middle| pattern.columns.at(middle) < column);
    if place < first + width && pattern.columns.at(place) == column { Some(place) } else { None }
}

/// Computes: M rows of each block of `C = A B`.
///
/// Parameters: `entries, values`, A, of square blocks of a multiple of M rows; `b`, with N columns of a block; `of`,
/// the blocks of C; `product [n_blocks][N][size]`. Thread mapping: an item per M rows of a block. Memory moved: C once;
/// the rows of A and of B that meet, through the cache.
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

/// Computes: [`height`] rows of each block of `A_c += P^T (A P)`; A_c is symmetric, so those on the diagonal and right of it
/// are computed, and their entries written twice.
///
/// Parameters: `prolongator`, P; `members`, the blocks of its columns; `product`, A P or some rows of it, the others
/// without blocks, with N columns of a block; `of`, the blocks to compute, row by row; `entries, values`, A_c. Thread
/// mapping: an item per so many rows of a block.
/// Memory moved: A_c read by half and written; the blocks of P and A P that meet, through the cache.
#[kernel(items, cpu = galerkin_rows, N = [1, 2, 3, 6])]
pub unsafe fn galerkin_product<const N: usize>(
    item: usize,
    prolongator: BlockRows<f64>,
    members: Lists,
    product: BlockRows<f64>,
    of: Blocks,
    entries: Entries,
    values: ViewMut<f64>,
) {
    let height = const { height(N) };
    let (block, top) = (item * height / N, item * height % N);
    let (row, column) = (of.rows.at(block) as usize, of.columns.at(block));
    let members_of_row = members.range(row);
    let to = Mirrored::new(entries, values, [row, column as usize]);
    let mut sums = [[0.0; N]; 3];
    for i in 0..height {
        for c in 0..N {
            sums[i][c] = to.get(top + i, c);
        }
    }
    for member in members_of_row {
        if let Some(place) = find(product.pattern, members.rows.at(member) as usize, column) {
            for m in 0..product.rows {
                let right: [f64; N] = product.row(place, m);
                for i in 0..height {
                    let value = prolongator.at(members.places.at(member) as usize, m, top + i);
                    for c in 0..N {
                        sums[i][c] = fma(value, right[c], sums[i][c]);
                    }
                }
            }
        }
    }
    for i in 0..height {
        for c in 0..N {
            to.set(top + i, c, sums[i][c]);
        }
    }
}

/// Computes: a diagonal entry for each row of A_c that is empty, as a mode that was left out makes it: the largest of
/// its block.
///
/// Parameters: `entries, values`, A_c. Thread mapping: an item per block row. Memory moved: the diagonals.
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
