//! EBW with short indices: in slices of 32 block rows, the columns that lanes have at one `k` are kept as distances of
//! 16 bits from the smallest of them. Values lie as in [`Ebw`](super::Ebw) with slices of 32.

use super::sliced::Sliced;
use super::{Layout, MAX_BLOCK, Product, gather};
use crate::real::{Arithmetic, Stored, fma};
use crate::setup::lists::range;
use cuda_std::prelude::*;

/// Block rows of a slice.
pub const SLICE: usize = 32;

/// An EBW matrix of `D x D` blocks with columns of 16 bits.
///
/// Memory moved by a product: per block `D^2` values, 2 B of distance and 4/32 B of base (74.1 B for D = 3 in f64,
/// where EBW has 76 B; 38.1 B against 40 B in f32), per block row x and y once (48 B): 387 B per unknown for a
/// structured tet4 mesh of 15 blocks a row, 683 B for hex8's 27; in f32, 199 B and 351 B. Reached on an H200, three
/// million unknowns on cubes: 98 to 99 % of the copy bandwidth in f64, 96 % in f32.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ebw16<const D: usize> {
    /// Number of columns before each slice, `[n_slices + 1]`.
    pub slice_start: View<u64>,
    /// Smallest block column of each column of a slice, `[slice_start[n_slices]]`.
    pub bases: View<u32>,
    /// What block columns are above that, `[slice_start[n_slices]][SLICE]`.
    pub offsets: View<u16>,
}

impl<const D: usize> Layout for Ebw16<D> {
    const BLOCK: Option<usize> = Some(D);

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let (slice, lane) = (row / SLICE, row % SLICE);
        let columns = range(self.slice_start, slice);
        let mut value = columns.start * D * D * SLICE + lane;
        let mut y = [V::Arithmetic::ZERO; MAX_BLOCK];
        for k in columns {
            let column = self.bases.at(k) as usize + self.offsets.stream(k * SLICE + lane) as usize;
            let x = gather::<D, _>(x, column);
            for j in 0..D {
                for i in 0..D {
                    y[i] = fma(values.stream(value + (D * j + i) * SLICE).value(), x[j], y[i]);
                }
            }
            value += D * D * SLICE;
        }
        y
    }
}

/// Computes: the smallest block column of a column of a slice, and in `spread[0]` the largest distance from it that 16
/// bits do not hold.
///
/// Parameters: `n_rows`: block rows; `sliced` in slices of [`SLICE`]; `bases [slice_start[n_slices]]`; `spread [1]`,
/// zero before. Thread mapping: an item per column of a slice. Memory moved: 128 bytes read and 4 written; atomics
/// where a distance is too long.
#[kernel(items)]
pub unsafe fn column_bases(k: usize, n_rows: usize, sliced: Sliced, bases: ViewMut<u32>, spread: ViewMut<u32>) {
    // Lanes past the last row are padded with column 0, which may be far from the others.
    let last = sliced.slice_start.len() - 2;
    let lanes = if k < sliced.slice_start.at(last) as usize { SLICE } else { n_rows - last * SLICE };
    let (mut low, mut high) = (u32::MAX, 0);
    for lane in 0..lanes {
        let column = sliced.columns.at(k * SLICE + lane);
        low = low.min(column);
        high = high.max(column);
    }
    bases.set(k, low);
    if high - low > u16::MAX as u32 {
        atomic::max(spread, 0, high - low);
    }
}

/// Computes: what a block column is above the smallest of its column of a slice; 0 past the last row.
///
/// Parameters: `bases [n_columns]`, `columns, offsets [n_columns][SLICE]`. Thread mapping: an item per block column.
/// Memory moved: 4 bytes read and 2 written.
#[kernel(items)]
pub unsafe fn column_offsets(place: usize, bases: View<u32>, columns: View<u32>, offsets: ViewMut<u16>) {
    offsets.set(place, columns.at(place).saturating_sub(bases.at(place / SLICE)) as u16);
}
