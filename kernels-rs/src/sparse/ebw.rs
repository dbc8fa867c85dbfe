//! EBW, ELL-Block-Warp (DSM sec. II.E; SBELL with slices of 32): 32 block rows, one per lane, share a width; a value
//! is found, from slowest to fastest, by slice, block `k`, block column `j`, block row `i`, lane. So each of a warp's
//! loads is one contiguous run, and a block of nine values needs one column index.

use super::{Layout, gather};
use crate::real::{Real, fma};
use crate::reduce::{Reduction, sum_over_grid};
use cuda_std::prelude::*;

/// Block rows per slice: one per lane of a warp.
pub const SLICE: usize = 32;

/// The pattern of an EBW matrix.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ebw {
    /// Number of block columns before each slice, `[n_slices + 1]`.
    pub slice_start: View<u64>,
    /// Block column indices, `[slice_start[n_slices]][SLICE]`.
    pub columns: View<u32>,
}

impl Ebw {
    /// Position of the slice of `row`, its width, and the lane of `row`.
    #[inline(always)]
    unsafe fn slice(self, row: usize) -> (usize, usize, usize) {
        let slice = row / SLICE;
        let start = self.slice_start.at(slice) as usize;
        (start, self.slice_start.at(slice + 1) as usize - start, row % SLICE)
    }
}

impl Layout for Ebw {
    #[inline(always)]
    unsafe fn width(self, row: usize) -> usize {
        self.slice(row).1
    }

    #[inline(always)]
    unsafe fn column(self, row: usize, k: usize) -> usize {
        let (start, _, lane) = self.slice(row);
        self.columns.at((start + k) * SLICE + lane) as usize
    }

    #[inline(always)]
    unsafe fn entry(self, row: usize, k: usize, i: usize, j: usize) -> usize {
        let (start, _, lane) = self.slice(row);
        ((start + k) * 9 + 3 * j + i) * SLICE + lane
    }
}

/// Computes: `sum_k A_k x_col(k)` of one block row.
#[inline(always)]
unsafe fn row_product<T: Real>(row: usize, a: Ebw, values: View<T>, x: View<T>) -> [T; 3] {
    let (start, width, lane) = a.slice(row);
    let mut column = start * SLICE + lane;
    let mut value = start * 9 * SLICE + lane;
    let end = column + width * SLICE;
    let mut y = [T::ZERO; 3];
    while column < end {
        let x = gather(x, a.columns.stream(column) as usize);
        for j in 0..3 {
            for i in 0..3 {
                y[i] = fma(values.stream(value + (3 * j + i) * SLICE), x[j], y[i]);
            }
        }
        column += SLICE;
        value += 9 * SLICE;
    }
    y
}

/// Computes: `y = A x`.
///
/// Parameters: `values [slice_start[n_slices]][3][3][SLICE]`, `x, y [n_rows][3]`.
/// Thread mapping: an item per block row, a warp per slice.
/// Memory moved: per block 9 values and one index (76 B in f64), per block row x and y once (48 B): 397 B per unknown
/// for a structured tet4 mesh of 15 blocks a row, 701 B for hex8's 27. Reached on an H200: 99 % of the copy bandwidth on
/// cubes of 3.1 million unknowns, both elements, f64; 72 % at 207 thousand.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn ebw_spmv<T: Real>(row: usize, a: Ebw, values: View<T>, x: View<T>, y: ViewMut<T>) {
    let product = row_product(row, a, values, x);
    for i in 0..3 {
        y.set(3 * row + i, product[i]);
    }
}

/// Computes: `y = A x` and `scalars[out[0]] = x . y`, in one pass.
///
/// Parameters, thread mapping and memory as [`ebw_spmv`]; x's own entries are in cache when the sum needs them.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(T = [f32, f64])]
pub unsafe fn ebw_spmv_dot<T: Real>(n_rows: usize, a: Ebw, values: View<T>, x: View<T>, y: ViewMut<T>, to: Reduction) {
    let row = thread::index_1d() as usize;
    let mut sum = 0.0;
    if row < n_rows {
        let product = row_product(row, a, values, x);
        let own = gather(x, row);
        for i in 0..3 {
            y.set(3 * row + i, product[i]);
            sum = fma(own[i].to_f64(), product[i].to_f64(), sum);
        }
    }
    sum_over_grid([sum], to);
}
