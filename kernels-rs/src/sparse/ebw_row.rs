//! EBW for blocks larger than a thread can have in its registers: the arrays of [`super::ebw`], and a thread for each
//! row of a block row. Multigrid's coarse levels have such blocks, of six rigid-body modes.

use super::sliced::Sliced;
use super::{Layout, Product, gather, one_row};
use crate::real::{Arithmetic, Stored, fma};
use cuda_std::prelude::*;

/// An EBW matrix of `D x D` blocks in slices of `S` block rows, with an item per row. Those of a slice are ordered by
/// their number in the block, then by lane: so each of a warp's loads of values is one contiguous run, as with a thread
/// per block row.
///
/// Memory moved by a product: per block `D^2` values and one index, which D warps read through the cache, per row x and
/// y once: for D = 6 in f32 148 B a block, where formats of scalars read 288.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EbwRow<const D: usize, const S: usize> {
    /// Block columns, in slices of `S`.
    pub sliced: Sliced,
    /// Number of block rows.
    pub n_rows: usize,
}

impl<const D: usize, const S: usize> EbwRow<D, S> {
    /// The slice of an item, its lane, and which row of the block it is; the last slice may have fewer lanes.
    #[inline(always)]
    fn place(self, item: usize) -> (usize, usize, usize) {
        let (slice, item) = (item / (D * S), item % (D * S));
        let lanes = if self.n_rows - slice * S < S { self.n_rows - slice * S } else { S };
        (slice, item % lanes, item / lanes)
    }
}

impl<const D: usize, const S: usize> Layout for EbwRow<D, S> {
    const BLOCK: Option<usize> = Some(D);
    const ROWS: usize = 1;

    #[inline(always)]
    unsafe fn row(self, item: usize) -> usize {
        let (slice, lane, i) = self.place(item);
        D * (slice * S + lane) + i
    }

    #[inline(always)]
    unsafe fn product<V: Stored>(self, item: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let (slice, lane, i) = self.place(item);
        let columns = self.sliced.slice(slice);
        let mut value = (columns.start * D * D + i) * S + lane;
        let mut sum = V::Arithmetic::ZERO;
        for k in columns {
            let x = gather::<D, _>(x, self.sliced.columns.at(k * S + lane) as usize);
            for j in 0..D {
                sum = fma(values.stream(value + D * j * S).value(), x[j], sum);
            }
            value += D * D * S;
        }
        one_row(sum)
    }
}
