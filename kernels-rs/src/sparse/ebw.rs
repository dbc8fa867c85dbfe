//! EBW, ELL-Block-Warp (DSM sec. II.E; SBELL, which studies slices of 32, 64 and 128): the block rows of a slice share
//! a width; a value is found, from slowest to fastest, by slice, block `k`, block column `j`, block row `i`, lane. So
//! each of a warp's loads is one contiguous run, and a block of nine values needs one column index.

use super::sliced::Sliced;
use super::{Layout, MAX_BLOCK, Product, gather};
use crate::half::F16;
use crate::real::{Arithmetic, Stored, fma};
use crate::reduce::{Reduction, sum_over_grid};
use core::ops::Range;
use cuda_std::prelude::*;

/// An EBW matrix of `D x D` blocks in slices of `S` block rows.
///
/// Memory moved by a product: per block `D^2` values and one index (76 B for D = 3 in f64), per block row x and y once
/// (48 B): 397 B per unknown for a structured tet4 mesh of 15 blocks a row, 701 B for hex8's 27. Reached on an H200
/// with S = 32, f64, three million unknowns: 98 to 99 % of the copy bandwidth on cubes, 97 % on an unstructured mesh;
/// S = 64 and 128 as much, of more padding.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ebw<const D: usize, const S: usize> {
    /// Block columns, in slices of `S`.
    pub sliced: Sliced,
}

impl<const D: usize, const S: usize> Layout for Ebw<D, S> {
    const BLOCK: Option<usize> = Some(D);

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let Range { start, end } = self.sliced.slice(row / S);
        let mut column = start * S + row % S;
        let mut value = start * D * D * S + row % S;
        let end = end * S;
        let mut y = [V::Arithmetic::ZERO; MAX_BLOCK];
        while column < end {
            let x = gather::<D, _>(x, self.sliced.columns.stream(column) as usize);
            for j in 0..D {
                for i in 0..D {
                    y[i] = fma(values.stream(value + (D * j + i) * S).value(), x[j], y[i]);
                }
            }
            column += S;
            value += D * D * S;
        }
        y
    }
}

/// Computes: `y = A x` and `scalars[out[0]] = x . y`, in one pass.
///
/// Parameters and memory as [`super::spmv`]; x's own entries are in cache when the sum needs them. Thread mapping: a
/// thread per block row. On an H200 the sum costs 2 to 3 % at 3.1 million unknowns; the formats whose lanes read far
/// apart lose up to half their speed to it, and take a second launch instead.
#[kernel(launch_bounds(256, 2), D = [1, 2, 3], S = [32, 64, 128], V = [f32, f64, F16])]
pub unsafe fn ebw_spmv_dot<const D: usize, const S: usize, V: Stored>(
    n_rows: usize,
    a: Ebw<D, S>,
    values: View<V>,
    x: View<Arithmetic<V>>,
    y: ViewMut<Arithmetic<V>>,
    to: Reduction,
) {
    let row = thread::index_1d() as usize;
    let mut sum = 0.0;
    if row < n_rows {
        let product = a.product(row, values, x);
        let own = gather::<D, _>(x, row);
        for i in 0..D {
            y.set(D * row + i, product[i]);
            sum = fma(own[i].to_f64(), product[i].to_f64(), sum);
        }
    }
    sum_over_grid([sum], to);
}
