//! BELL: every block row padded to the longest. See `kernels_rs::sparse::bell`.

use super::sliced::{self, Rows, SlicedArrays};
use super::{Built, Format, Plan};
use crate::backend::Backend;
use crate::result::Result;
use kernels_rs::sparse::Bell;
use kernels_rs::sparse::ell_warp::HEIGHT;

impl<const D: usize> Format for Bell<D> {
    type Arrays<B: Backend> = SlicedArrays<B>;

    fn build<B: Backend>(plan: &Plan<B>) -> Result<Built<B, Self>> {
        let height = plan.pattern.n_rows.next_multiple_of(HEIGHT).max(HEIGHT);
        let arrays = sliced::build(plan, Rows::Blocks, height)?;
        let (n_values, places) = arrays.places(plan, true)?;
        Ok(Built { index_bytes: arrays.bytes(), arrays, n_values, places })
    }

    fn view<B: Backend>(arrays: &SlicedArrays<B>) -> Self {
        Bell { sliced: arrays.view(), height: arrays.height }
    }
}
