//! ELL-WARP: all rows sorted by length, padded in slices of a warp. See `kernels_rs::sparse::ell_warp`.

use super::sliced::SlicedArrays;
use super::{Built, Format, Plan, sell};
use crate::result::Result;
use kernels_rs::sparse::EllWarp;
use kernels_rs::sparse::ell_warp::HEIGHT;

impl Format for EllWarp {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        sell::build(plan, HEIGHT, plan.n_scalar_rows())
    }

    fn view(arrays: &SlicedArrays) -> Self {
        EllWarp { sell: sell::view(arrays) }
    }
}
