//! SELL-C-sigma, sliced ELLPACK (Kreutzer, Hager, Wellein, Fehske and Bishop 2014): rows are sorted by length within
//! windows of sigma rows, then padded in slices of C rows. The sort permutes rows alone: x and y keep their order.

use super::sliced::Sliced;
use super::{Layout, Product, one_row};
use crate::real::{Arithmetic, Stored, fma};
use core::ops::Range;
use cuda_std::prelude::*;

/// A SELL matrix of scalars.
///
/// Memory moved by a product: a value and an index for every entry and its padding (12 B in f64), per row its number (4
/// B), x and y once. Reached on an H200, f64, three million unknowns, C = 32: 90 to 92 % of the copy bandwidth on
/// cubes, 85 % on an unstructured mesh. ELL-WARP, where C is known to the compiler, is 7 to 9 % faster.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sell {
    /// Columns, in slices.
    pub sliced: Sliced,
    /// The row at each position, `[n_rows]`.
    pub rows: View<u32>,
    /// C, a power of two, by its logarithm.
    pub log_height: u32,
}

impl Sell {
    /// The product of the row at a position.
    #[inline(always)]
    pub(super) unsafe fn sum<V: Stored>(
        self,
        position: usize,
        values: View<V>,
        x: View<Arithmetic<V>>,
    ) -> V::Arithmetic {
        let Range { start, end } = self.sliced.slice(position >> self.log_height);
        let lane = position & ((1 << self.log_height) - 1);
        let (mut place, end) = ((start << self.log_height) + lane, end << self.log_height);
        let mut sum = V::Arithmetic::ZERO;
        while place < end {
            let column = self.sliced.columns.stream(place) as usize;
            sum = fma(values.stream(place).value(), x.at(column), sum);
            place += 1 << self.log_height;
        }
        sum
    }
}

impl Layout for Sell {
    const BLOCK: Option<usize> = None;

    #[inline(always)]
    unsafe fn row(self, position: usize) -> usize {
        self.rows.at(position) as usize
    }

    #[inline(always)]
    unsafe fn product<V: Stored>(self, position: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        one_row(self.sum(position, values, x))
    }
}
