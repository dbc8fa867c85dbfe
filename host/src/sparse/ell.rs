//! ELL by columns: every row padded to the longest. See `kernels_rs::sparse::ell`.

use super::sliced::{self, Rows, SlicedArrays};
use super::{Built, Format, Plan};
use crate::result::Result;
use kernels_rs::sparse::Ell;
use kernels_rs::sparse::ell_warp::HEIGHT;

impl Format for Ell {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let height = plan.n_scalar_rows().next_multiple_of(HEIGHT).max(HEIGHT);
        let arrays = sliced::build(plan, Rows::Scalars, height)?;
        let (n_values, places) = arrays.places(plan, false)?;
        Ok(Built { index_bytes: arrays.bytes(), arrays, n_values, places })
    }

    fn view(arrays: &SlicedArrays) -> Self {
        Ell { sliced: arrays.view(), height: arrays.height }
    }
}
