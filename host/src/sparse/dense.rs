//! Dense, column by column. See `kernels_rs::sparse::dense`.

use super::format::Places;
use super::{Built, Format, Plan};
use crate::device::Buffer;
use crate::result::Result;
use cuda_std::GpuFloat;
use kernels_rs::real::{Stored, fma};
use kernels_rs::sparse::Dense;
use kernels_rs::sparse::entries::EvenStarts;
use rayon::prelude::*;
use std::rc::Rc;

/// Rows whose sums a task of the CPU keeps in its nearest cache.
const ROWS: usize = 512;

/// Places of rows that lie `stride` apart.
pub(super) fn even_starts(plan: &Plan, stride: usize) -> Result<Rc<Buffer<u64>>> {
    let mut start = plan.space.zeros(plan.n_scalar_rows())?;
    // SAFETY: a place for every row.
    unsafe { plan.space.run(start.len(), EvenStarts { stride, start: start.view_mut() }) }?;
    Ok(Rc::new(start))
}

impl Format for Dense {
    type Arrays = usize;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let n = plan.n_scalar_rows();
        let start = even_starts(plan, 1)?;
        let places = Places { start, block: plan.size * n, column: n, by_column: true };
        Ok(Built { arrays: n, index_bytes: 0, n_values: (n as u64).pow(2), places })
    }

    fn view(n: &usize) -> Self {
        Dense { n: *n }
    }

    unsafe fn multiply<V: Stored>(self, _: usize, values: &[V], x: &[V::Arithmetic], y: &mut [V::Arithmetic]) {
        let n = self.n;
        y.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, y)| {
            y.fill(V::Arithmetic::ZERO);
            for (column, x) in values.chunks_exact(n).zip(x) {
                let column = &column[chunk * ROWS..chunk * ROWS + y.len()];
                y.iter_mut().zip(column).for_each(|(y, a)| *y = fma(a.value(), *x, *y));
            }
        });
    }
}
