//! Dense, a thread per row (DSM sec. II.A): the threads of a block bring x into shared memory a tile at a time, and
//! each multiplies its row with it. The matrix is kept column by column, so that neighbouring threads read neighbouring
//! values.

use super::{Layout, Part, Product, one_row};
use crate::real::{Arithmetic, Stored, fma};
use crate::reduce::BLOCK;
use cuda_std::prelude::*;

/// A dense matrix, column by column.
///
/// Memory moved by a product: `n^2` values; x once per block of threads. Reached on an H200: 72 % of the copy bandwidth
/// at 27,783 rows, f64, and 53 % in f32: so few threads have too few loads under way.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dense {
    /// Number of rows, and of columns.
    pub n: usize,
}

impl Layout for Dense {
    const BLOCK: Option<usize> = None;

    #[inline(always)]
    unsafe fn product<V: Stored>(self, row: usize, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let mut sum = V::Arithmetic::ZERO;
        for column in 0..self.n {
            sum = fma(values.at(column * self.n + row).value(), x.at(column), sum);
        }
        one_row(sum)
    }

    #[inline(always)]
    unsafe fn shared_product<V: Stored>(self, part: Part, values: View<V>, x: View<Arithmetic<V>>) -> Product<V> {
        let Part { item, n_items, .. } = part;
        // f64 holds both precisions exactly.
        let tile = shared_array![f64; 256];
        let thread = thread::thread_idx_x() as usize;
        let mut sum = V::Arithmetic::ZERO;
        let mut first = 0;
        while first < self.n {
            thread::sync_threads();
            if first + thread < self.n {
                *tile.add(thread) = x.at(first + thread).to_f64();
            }
            thread::sync_threads();
            let width = if self.n - first < BLOCK { self.n - first } else { BLOCK };
            if item < n_items {
                for k in 0..width {
                    sum = fma(
                        values.stream((first + k) * self.n + item).value(),
                        V::Arithmetic::from_f64(*tile.add(k)),
                        sum,
                    );
                }
            }
            first += BLOCK;
        }
        one_row(sum)
    }
}
