//! ELL-WARP (Wong, Kuhl and Darve 2015; DSM sec. II.D): all rows sorted by length, padded in slices of one warp. That
//! is SELL-C-sigma with C = 32 and sigma = n.
//!
//! DSM sorts the nodes before it builds K, so that x is permuted too. Here only the rows are, and the numbering of the
//! nodes is chosen apart from the format.

use super::{Layout, Product, Sell, one_row};
use crate::real::{Arithmetic, Stored};
use cuda_std::prelude::*;

/// Rows per slice: one per lane of a warp.
pub const HEIGHT: usize = 32;

/// An ELL-WARP matrix of scalars.
///
/// Memory moved by a product: as [`Sell`]. Reached on an H200, f64, three million unknowns: 96 to 98 % of the copy
/// bandwidth on cubes, 93 % on an unstructured mesh, where it is 1.7 times as fast as ELL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EllWarp {
    /// The rows in slices of [`HEIGHT`].
    pub sell: Sell,
}

impl Layout for EllWarp {
    const BLOCK: Option<usize> = None;

    #[inline(always)]
    unsafe fn row(self, position: usize) -> usize {
        self.sell.rows.at(position) as usize
    }

    #[inline(always)]
    unsafe fn product<V: Stored>(self, position: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let fixed = Sell { log_height: HEIGHT.trailing_zeros(), ..self.sell };
        one_row(fixed.sum(position, values, x))
    }
}
