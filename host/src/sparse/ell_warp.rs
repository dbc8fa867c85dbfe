//! ELL-WARP: all rows sorted by length, padded in slices of a warp. See `kernels_rs::sparse::ell_warp`.

use super::sliced::SlicedArrays;
use super::{Built, Format, Plan, sell};
use crate::backend::Backend;
use crate::result::Result;
use kernels_rs::sparse::EllWarp;
use kernels_rs::sparse::ell_warp::HEIGHT;

impl Format for EllWarp {
    type Arrays<B: Backend> = SlicedArrays<B>;

    fn build<B: Backend>(plan: &Plan<B>) -> Result<Built<B, Self>> {
        sell::build(plan, HEIGHT, plan.n_scalar_rows())
    }

    fn view<B: Backend>(arrays: &SlicedArrays<B>) -> Self {
        EllWarp { sell: sell::view(arrays) }
    }
}
