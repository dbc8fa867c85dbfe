//! BELL, block ELLPACK (SBELL sec. 3): every block row is padded to the longest; block `k`, block column `j`, block row
//! `i`, then the block rows side by side. EBW with one slice.

use super::sliced::Sliced;
use super::{Layout, MAX_BLOCK, Product, gather};
use crate::real::{Arithmetic, Stored, fma};
use cuda_std::prelude::*;

/// A BELL matrix of `D x D` blocks.
///
/// Memory moved by a product: as EBW, but for every row as much as for the longest. Reached on an H200, f64, three
/// million unknowns: 98 to 99 % of the copy bandwidth; as fast as EBW on cubes, and 0.6 times as fast on an
/// unstructured mesh.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bell<const D: usize> {
    /// Block columns, in one slice.
    pub sliced: Sliced,
    /// Its height: the number of block rows, rounded up to whole warps.
    pub height: usize,
}

impl<const D: usize> Layout for Bell<D> {
    const BLOCK: Option<usize> = Some(D);

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let width = self.sliced.slice(0).end;
        let mut y = [V::Arithmetic::ZERO; MAX_BLOCK];
        for k in 0..width {
            let x = gather::<D, _>(x, self.sliced.columns.stream(k * self.height + row) as usize);
            for j in 0..D {
                for i in 0..D {
                    let value = values.stream(((k * D + j) * D + i) * self.height + row).value();
                    y[i] = fma(value, x[j], y[i]);
                }
            }
        }
        y
    }
}
