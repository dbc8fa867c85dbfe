//! ELL, ELLPACK by columns (DSM sec. II.C): every row is padded to the longest, and entry `k` of all rows lies side by
//! side, so that a warp reads contiguous runs.

use super::sliced::Sliced;
use super::{Layout, Product, one_row};
use crate::real::{Arithmetic, Stored, fma};
use cuda_std::prelude::*;

/// An ELL matrix of scalars.
///
/// Memory moved by a product: for every row as many values and indices (12 B in f64) as the longest row has entries, x
/// and y once. Reached on an H200, f64, three million unknowns: 98 to 99 % of the copy bandwidth; but on an
/// unstructured mesh, whose longest row has 1.8 times the mean, 39 % of it in bytes that any product must move.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ell {
    /// Columns, in one slice.
    pub sliced: Sliced,
    /// Its height: the number of rows, rounded up to whole warps.
    pub height: usize,
}

impl Layout for Ell {
    const BLOCK: Option<usize> = None;

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let width = self.sliced.slice(0).end;
        let mut sum = V::Arithmetic::ZERO;
        for k in 0..width {
            let place = k * self.height + row;
            sum = fma(values.stream(place).value(), x.at(self.sliced.columns.stream(place) as usize), sum);
        }
        one_row(sum)
    }
}
