//! Dense, column by column and row by row. See `kernels_rs::sparse::dense` and `kernels_rs::sparse::dense_block`.

use super::format::Places;
use super::{Built, Format, Plan};
use crate::device::Buffer;
use crate::parallel;
use crate::result::Result;
use cuda_std::Number;
use kernels_rs::real::{Stored, fma};
use kernels_rs::sparse::entries::EvenStarts;
use kernels_rs::sparse::{Dense, DenseBlock};
use std::rc::Rc;

/// Rows whose sums a task of the CPU keeps in its nearest cache.
const ROWS: usize = 512;
/// Partial sums of a row, as many as vector units hold.
const LANES: usize = 16;

/// Places of rows that lie `stride` apart.
pub(super) fn even_starts(plan: &Plan, stride: usize) -> Result<Rc<Buffer<u64>>> {
    let mut start = plan.space.zeros(plan.n_scalar_rows())?;
    // SAFETY: a place for every row.
    unsafe { plan.space.run(start.len(), EvenStarts { stride, start: start.view_mut() }) }?;
    Ok(Rc::new(start))
}

/// A matrix whose rows lie `row` apart, and whose columns `column`.
fn build<F: Format<Arrays = usize>>(plan: &Plan, row: usize, column: usize) -> Result<Built<F>> {
    let n = plan.n_scalar_rows();
    let places = Places { start: even_starts(plan, row)?, block: plan.size * column, column, by_column: true };
    Ok(Built { arrays: n, index_bytes: 0, n_values: (n as u64).pow(2), places })
}

impl Format for Dense {
    type Arrays = usize;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        build(plan, 1, plan.n_scalar_rows())
    }

    fn view(n: &usize) -> Self {
        Dense { n: *n }
    }

    unsafe fn multiply<V: Stored>(self, _: usize, values: &[V], x: &[V::Arithmetic], y: &mut [V::Arithmetic]) {
        let n = self.n;
        parallel::map_chunks(y, ROWS, &|first, y| {
            y.fill(V::Arithmetic::ZERO);
            for (column, x) in values.chunks_exact(n).zip(x) {
                let column = &column[first..first + y.len()];
                y.iter_mut().zip(column).for_each(|(y, a)| *y = fma(a.value(), *x, *y));
            }
        });
    }
}

impl Format for DenseBlock {
    type Arrays = usize;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        build(plan, plan.n_scalar_rows(), 1)
    }

    fn view(n: &usize) -> Self {
        DenseBlock { n: *n }
    }

    unsafe fn multiply<V: Stored>(self, _: usize, values: &[V], x: &[V::Arithmetic], y: &mut [V::Arithmetic]) {
        parallel::map_chunks(y, 16, &|first, y| {
            let rows = values[first * self.n..].chunks_exact(self.n);
            y.iter_mut().zip(rows).for_each(|(y, row)| *y = dot(row, x));
        });
    }
}

fn dot<V: Stored>(a: &[V], b: &[V::Arithmetic]) -> V::Arithmetic {
    let mut sums = [V::Arithmetic::ZERO; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let mut rest = V::Arithmetic::ZERO;
    a.remainder().iter().zip(b.remainder()).for_each(|(a, b)| rest = fma(a.value(), *b, rest));
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] = fma(a[lane].value(), b[lane], sums[lane]);
        }
    }
    sums.into_iter().fold(rest, |total, sum| total + sum)
}
