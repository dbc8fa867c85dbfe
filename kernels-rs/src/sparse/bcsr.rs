//! BCSR, compressed rows of blocks, a thread per block row: the values of a block lie side by side, row by row.

use super::{Layout, MAX_BLOCK, PatternView, Product, gather};
use crate::real::{Arithmetic, Stored, fma};
use cuda_std::prelude::*;

/// A BCSR matrix of `D x D` blocks: the pattern itself.
///
/// Memory moved by a product: `D^2` values and an index per block (76 B for D = 3 in f64), 8 B per block row, x and y
/// once; the lanes of a warp read as many runs as they have rows. Reached on an H200, f64, three million unknowns: 67 %
/// of the copy bandwidth on cubes of tet4, 62 % on hex8, 61 % on an unstructured mesh.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bcsr<const D: usize> {
    /// Its blocks.
    pub pattern: PatternView,
}

impl<const D: usize> Layout for Bcsr<D> {
    const BLOCK: Option<usize> = Some(D);

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let mut y = [V::Arithmetic::ZERO; MAX_BLOCK];
        for place in self.pattern.blocks(row) {
            let x = gather::<D, _>(x, self.pattern.columns.at(place) as usize);
            for i in 0..D {
                for j in 0..D {
                    y[i] = fma(values.at((place * D + i) * D + j).value(), x[j], y[i]);
                }
            }
        }
        y
    }
}

/// Computes: where the rows of a block row start.
///
/// Parameters: `size`: block size; `start [n_rows][size]`. Thread mapping: an item per block row.
/// Memory moved: 8 bytes read and 8 written per row.
#[kernel(items)]
pub unsafe fn bcsr_starts(row: usize, pattern: PatternView, size: usize, start: ViewMut<u64>) {
    for i in 0..size {
        start.set(row * size + i, ((pattern.row(row).0 * size + i) * size) as u64);
    }
}
