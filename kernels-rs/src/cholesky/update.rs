//! The products of tiles: nearly all of the factorisation's work.

use super::{Square, THREADS, TILE};
use crate::real::{Real, fma};
use cuda_std::prelude::*;

/// Columns of both factors that shared memory holds at a time.
const DEPTH: usize = 16;
/// Threads along a side of a tile, and entries along each side of a thread's part.
const SIDE: usize = 16;
const PART: usize = TILE / SIDE;
/// Entries of each factor that a thread brings.
const BRINGS: usize = TILE * DEPTH / THREADS;

/// Computes: this thread's part of `a b^T`, of tiles given entry by entry: rows `thread % SIDE + SIDE i` and columns
/// `thread / SIDE + SIDE j`, so that neighbouring threads have neighbouring rows.
///
/// Thread mapping: every thread of a block of [`THREADS`] takes part. Shared memory: 2,048 values; 8 barriers, and
/// after the last of them no thread reads a or b. Operations: 16 multiplications and additions for 8 words from shared
/// memory.
#[inline(always)]
unsafe fn tile_product<T: Real>(a: impl Fn(usize, usize) -> T, b: impl Fn(usize, usize) -> T) -> [[T; PART]; PART] {
    let left = shared_array![T; 1024];
    let right = shared_array![T; 1024];
    let thread = thread::thread_idx_x() as usize;
    let (row, column) = (thread % SIDE, thread / SIDE);
    let mut sums = [[T::ZERO; PART]; PART];
    for chunk in 0..TILE / DEPTH {
        thread::sync_threads();
        for m in 0..BRINGS {
            let (entry, k) = (thread % TILE, thread / TILE + m * (THREADS / TILE));
            *left.add(k * TILE + entry) = a(entry, chunk * DEPTH + k);
            *right.add(k * TILE + entry) = b(entry, chunk * DEPTH + k);
        }
        thread::sync_threads();
        for k in 0..DEPTH {
            let mut x = [T::ZERO; PART];
            let mut y = [T::ZERO; PART];
            for i in 0..PART {
                x[i] = *left.add(k * TILE + row + SIDE * i);
                y[i] = *right.add(k * TILE + column + SIDE * i);
            }
            for j in 0..PART {
                for i in 0..PART {
                    sums[j][i] = fma(x[i], y[j], sums[j][i]);
                }
            }
        }
    }
    sums
}

/// Calls `set(row, column, sum)` for this thread's part of a product.
#[inline(always)]
fn for_each_entry<T: Real>(sums: [[T; PART]; PART], mut set: impl FnMut(usize, usize, T)) {
    let thread = thread::thread_idx_x() as usize;
    for j in 0..PART {
        for i in 0..PART {
            set(thread % SIDE + SIDE * i, thread / SIDE + SIDE * j, sums[j][i]);
        }
    }
}

/// Computes: `A_ik L_kk^-T` in place of `A_ik`, of every tile i below the diagonal in tile column `step`.
///
/// Parameters: `inverses`, see [`super::cholesky_tile`]. Thread mapping: a block of [`THREADS`] per tile.
/// Memory moved: each tile read and written. Operations: `TILE^3` multiplications and additions per tile.
#[kernel(launch_bounds(256, 2), T = [f32, f64])]
pub unsafe fn cholesky_panel<T: Real>(step: usize, a: Square<T>, inverses: View<T>) {
    let (first, k) = ((step + 1 + thread::block_idx_x() as usize) * TILE, step * TILE);
    let sums =
        tile_product(|row, column| a.at(first + row, k + column), |row, column| inverses.at((k + column) * TILE + row));
    for_each_entry(sums, |row, column, sum| {
        // An entry of this block's tile, which nobody reads any more.
        a.values.set(a.place(first + row, k + column), sum)
    });
}

/// The tile (i, j), i >= j, of a triangle of `m` rows of tiles that a block has, if it has one: the rows are folded in
/// half, so that every line of `m + 1` blocks has a long row and a short one.
#[inline(always)]
fn folded(block: usize, m: usize) -> Option<(usize, usize)> {
    let (line, place) = (block / (m + 1), block % (m + 1));
    let (long, short) = (m - 1 - line, line);
    if place <= long {
        Some((long, place))
    } else {
        // The middle row of an odd number has been had.
        (short < long).then_some((short, place - long - 1))
    }
}

/// Blocks of [`cholesky_update`] for a triangle of `m` rows of tiles.
pub const fn update_blocks(m: usize) -> usize {
    m.div_ceil(2) * (m + 1)
}

/// Computes: `A_ij -= L_ik L_jk^T` of all tiles i >= j behind tile column `step`.
///
/// Thread mapping: a block of [`THREADS`] per tile, [`update_blocks`] in all.
/// Memory moved: per tile, 4,096 values of A read and written, and twice as many of L, mostly from the cache.
/// Operations: `TILE^3` multiplications and additions per tile: 64 for each value of A.
#[kernel(launch_bounds(256, 2), T = [f32, f64])]
pub unsafe fn cholesky_update<T: Real>(step: usize, a: Square<T>) {
    let behind = step + 1;
    let Some((i, j)) = folded(thread::block_idx_x() as usize, a.n / TILE - behind) else { return };
    let (k, i, j) = (step * TILE, (behind + i) * TILE, (behind + j) * TILE);
    let sums = tile_product(
        // An entry of a tile behind the diagonal's, which this launch only reads.
        |row, column| a.at(i + row, k + column),
        |row, column| a.at(j + row, k + column),
    );
    for_each_entry(sums, |row, column, sum| {
        a.values.set(a.place(i + row, j + column), a.at(i + row, j + column) - sum)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_tile_of_a_triangle_has_one_block() {
        for m in 1..10 {
            let tiles: Vec<_> = (0..update_blocks(m)).filter_map(|block| folded(block, m)).collect();
            let distinct: BTreeSet<_> = tiles.iter().collect();
            assert_eq!((tiles.len(), distinct.len()), (m * (m + 1) / 2, tiles.len()), "{m}");
            assert!(tiles.iter().all(|(i, j)| j <= i && *i < m));
        }
    }
}
