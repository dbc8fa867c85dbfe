//! SELL-C-sigma: rows sorted by length within windows, padded in slices. See `kernels_rs::sparse::sell`.

use super::sliced::{self, SlicedArrays};
use super::{Built, Format, Plan};
use crate::result::Result;
use cuda_std::prelude::View;
use kernels_rs::sparse::Sell;

/// Slices of `height` rows, sorted within windows of `window`.
pub(super) fn build<F: Format<Arrays = SlicedArrays>>(plan: &Plan, height: usize, window: usize) -> Result<Built<F>> {
    assert!(height.is_power_of_two(), "slices of {height} rows");
    let arrays = sliced::build(plan, sliced::sorted(plan, window)?, height)?;
    let (n_values, places) = arrays.places(plan, false)?;
    Ok(Built { index_bytes: arrays.bytes(), arrays, n_values, places })
}

/// How kernels see the slices.
pub(super) fn view(arrays: &SlicedArrays) -> Sell {
    let rows = arrays.rows.as_ref().map_or(View::from_slice(&[]), |rows| rows.view());
    Sell { sliced: arrays.view(), rows, log_height: arrays.height.trailing_zeros() }
}

impl Format for Sell {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        build(plan, plan.tuning.slice_height, plan.tuning.sorting_window)
    }

    fn view(arrays: &SlicedArrays) -> Self {
        view(arrays)
    }
}
