//! Dense, row by row. See `kernels_rs::sparse::dense_block`.

use super::format::Places;
use super::{Built, Format, Plan, dense};
use crate::result::Result;
use cuda_std::GpuFloat;
use kernels_rs::real::{Stored, fma};
use kernels_rs::sparse::DenseBlock;
use rayon::prelude::*;

/// Partial sums of a row, as many as vector units hold.
const LANES: usize = 16;

impl Format for DenseBlock {
    type Arrays = usize;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let n = plan.n_scalar_rows();
        let places = Places { start: dense::even_starts(plan, n)?, block: plan.size, column: 1, by_column: true };
        Ok(Built { arrays: n, index_bytes: 0, n_values: (n as u64).pow(2), places })
    }

    fn view(n: &usize) -> Self {
        DenseBlock { n: *n }
    }

    unsafe fn multiply<V: Stored>(self, _: usize, values: &[V], x: &[V::Arithmetic], y: &mut [V::Arithmetic]) {
        let rows = values.par_chunks_exact(self.n.max(1));
        y.par_iter_mut().zip(rows).with_min_len(16).for_each(|(y, row)| *y = dot(row, x));
    }
}

/// A product of vectors in [`LANES`] partial sums.
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
