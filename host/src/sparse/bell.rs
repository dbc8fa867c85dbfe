//! BELL: every block row padded to the longest. See `kernels_rs::sparse::bell`.

use super::sliced::{self, Rows, SlicedArrays};
use super::{Built, Format, Plan};
use crate::result::Result;
use kernels_rs::sparse::Bell;
use kernels_rs::sparse::ell_warp::HEIGHT;

impl<const D: usize> Format for Bell<D> {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let height = plan.pattern.n_rows.next_multiple_of(HEIGHT).max(HEIGHT);
        let arrays = sliced::build(plan, Rows::Blocks, height)?;
        let (n_values, places) = arrays.places(plan, true)?;
        Ok(Built { index_bytes: arrays.bytes(), arrays, n_values, places })
    }

    fn view(arrays: &SlicedArrays) -> Self {
        Bell { sliced: arrays.view(), height: arrays.height }
    }
}
