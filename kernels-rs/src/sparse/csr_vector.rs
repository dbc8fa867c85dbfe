//! CSR-vector (Bell and Garland 2009): the arrays of CSR, a warp per row. The lanes read a row's entries side by side
//! and add up what they found.

use super::{Csr, Layout, MAX_BLOCK, Part, Product, one_row};
use crate::real::{Arithmetic, Stored};
use cuda_std::prelude::*;

/// A CSR matrix multiplied by a warp per row.
///
/// Memory moved by a product: as [`Csr`]. Five shuffles per row, and lanes without an entry where rows are shorter than
/// a warp. Reached on an H200, f64, three million unknowns: 72 % of the copy bandwidth with hex8's 81 entries a row, 46
/// % with tet4's 45; 18 % with tri3's 14, at one million. (85 and 56 % before it had the launch bounds that all formats
/// share.)
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CsrVector {
    /// The matrix.
    pub csr: Csr,
}

impl Layout for CsrVector {
    const BLOCK: Option<usize> = None;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        self.csr.product(row, values, x)
    }

    #[inline(always)]
    unsafe fn shared_product<V: Stored>(self, part: Part, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let Part { item, n_items, lane } = part;
        // A warp has one item, so its lanes go the same way.
        if item >= n_items {
            return [V::Arithmetic::ZERO; MAX_BLOCK];
        }
        let mut sum = self.csr.sum(item, lane, Self::LANES, values, x);
        let mut delta = 16;
        while delta > 0 {
            sum += warp::warp_shuffle_down(u32::MAX, sum, delta, 32).0;
            delta /= 2;
        }
        one_row(sum)
    }
}
