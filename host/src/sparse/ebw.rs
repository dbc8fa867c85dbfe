//! EBW (DSM sec. II.E): slices of 32 block rows padded to their longest. See `kernels_rs::sparse::ebw` for the layout.

use super::{Footprint, Format, Sparsity};
use crate::backend::{Backend, Buffer, Vector};
use crate::chunks::split_at_bounds;
use crate::error::Result;
use cuda_std::launch::{ItemKernel, Kernel};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::real::Real;
use kernels_rs::reduce::Reduction;
use kernels_rs::sparse::ebw::{self as device, EbwSpmv, EbwSpmvDot, SLICE};
use rayon::prelude::*;

/// The index arrays of an EBW matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ebw {
    /// Number of block columns before each slice, `[n_slices + 1]`.
    pub slice_start: Vec<u64>,
    /// Block columns, `[slice_start[n_slices]][SLICE]`; padding repeats the row itself, or row 0 past the last.
    pub columns: Vec<u32>,
}

/// [`Ebw`] on a backend.
pub struct EbwArrays<B: Backend> {
    slice_start: Vector<B, u64>,
    columns: Vector<B, u32>,
}

impl Format for Ebw {
    const NAME: &'static str = "ebw";
    type Layout = device::Ebw;
    type Arrays<B: Backend> = EbwArrays<B>;

    fn build(sparsity: &Sparsity) -> Self {
        let n_rows = sparsity.n_rows();
        let n_slices = n_rows.div_ceil(SLICE);
        let mut slice_start = vec![0; n_slices + 1];
        for slice in 0..n_slices {
            let rows = slice * SLICE..n_rows.min((slice + 1) * SLICE);
            let width = rows.map(|row| sparsity.row(row).len()).max().unwrap_or(0);
            slice_start[slice + 1] = slice_start[slice] + width as u64;
        }
        let mut columns = vec![0; slice_start[n_slices] as usize * SLICE];
        let slices = split_at_bounds(&mut columns, slice_start.iter().map(|start| *start as usize * SLICE));
        slices.into_par_iter().enumerate().for_each(|(slice, columns)| {
            for lane in 0..SLICE.min(n_rows - slice * SLICE) {
                let row = slice * SLICE + lane;
                let padding = std::iter::repeat(row as u32);
                let padded = sparsity.row(row).iter().copied().chain(padding);
                columns[lane..].iter_mut().step_by(SLICE).zip(padded).for_each(|(to, column)| *to = column);
            }
        });
        Ebw { slice_start, columns }
    }

    fn footprint(&self) -> Footprint {
        let index_bytes = 8 * self.slice_start.len() + 4 * self.columns.len();
        Footprint { values: 9 * self.columns.len() as u64, index_bytes: index_bytes as u64 }
    }

    fn upload<B: Backend>(&self, backend: &B) -> Result<EbwArrays<B>> {
        Ok(EbwArrays { slice_start: backend.upload(&self.slice_start)?, columns: backend.upload(&self.columns)? })
    }

    fn layout<B: Backend>(arrays: &EbwArrays<B>) -> device::Ebw {
        device::Ebw { slice_start: arrays.slice_start.view(), columns: arrays.columns.view() }
    }

    fn spmv<T: Real>(a: device::Ebw, values: View<T>, x: View<T>, y: ViewMut<T>) -> impl ItemKernel {
        EbwSpmv { a, values, x, y }
    }

    fn spmv_dot<T: Real>(
        n_rows: usize,
        a: device::Ebw,
        values: View<T>,
        x: View<T>,
        y: ViewMut<T>,
        to: Reduction,
    ) -> impl Kernel {
        EbwSpmvDot { n_rows, a, values, x, y, to }
    }

    unsafe fn product<T: Real>(a: device::Ebw, values: &[T], x: &[T], y: &mut [T]) {
        y.par_chunks_mut(3 * SLICE).with_min_len(16).enumerate().for_each(|(slice, y)| {
            let sums = slice_product(a, slice, values, x);
            for (lane, y) in y.chunks_exact_mut(3).enumerate() {
                y.iter_mut().zip(&sums).for_each(|(y, sums)| *y = sums[lane]);
            }
        });
    }
}

/// The products of a slice's rows, `[3][SLICE]`. Lanes innermost: the layout that coalesces on a GPU vectorises here.
fn slice_product<T: Real>(a: device::Ebw, slice: usize, values: &[T], x: &[T]) -> [[T; SLICE]; 3] {
    // SAFETY: `slice` is a slice of the matrix, and host views check their bounds.
    let (start, end) = unsafe { (a.slice_start.at(slice) as usize, a.slice_start.at(slice + 1) as usize) };
    let mut sums = [[T::ZERO; SLICE]; 3];
    for k in start..end {
        let mut gathered = [[T::ZERO; SLICE]; 3];
        for (lane, column) in (k * SLICE..(k + 1) * SLICE).enumerate() {
            // SAFETY: as above; k is below the end of the slice.
            let column = unsafe { a.columns.at(column) } as usize;
            for (gathered, x) in gathered.iter_mut().zip(&x[3 * column..3 * column + 3]) {
                gathered[lane] = *x;
            }
        }
        let block = &values[k * 9 * SLICE..(k + 1) * 9 * SLICE];
        for (entry, values) in block.chunks_exact(SLICE).enumerate() {
            let (sum, x) = (&mut sums[entry % 3], &gathered[entry / 3]);
            for lane in 0..SLICE {
                sum[lane] += values[lane] * x[lane];
            }
        }
    }
    sums
}
