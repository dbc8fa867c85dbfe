//! ELL, BELL, SELL-C-sigma and ELL-WARP: slices of rows as `sliced` builds them.

use super::sliced::{self, Rows, SlicedArrays};
use super::{Built, Format, Plan};
use crate::result::Result;
use kernels_rs::sparse::ell_warp::HEIGHT;
use kernels_rs::sparse::{Bell, Ell, EllWarp, Sell};

/// ELL by columns: every row padded to the longest. See `kernels_rs::sparse::ell`.
impl Format for Ell {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        sliced::build(plan, Rows::Scalars, one_slice(plan.n_scalar_rows()))
    }

    fn view(arrays: &SlicedArrays) -> Self {
        Ell { sliced: arrays.view(), height: arrays.height }
    }
}

/// BELL: every block row padded to the longest. See `kernels_rs::sparse::bell`.
impl<const D: usize> Format for Bell<D> {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        sliced::build(plan, Rows::Blocks, one_slice(plan.pattern.n_rows))
    }

    fn view(arrays: &SlicedArrays) -> Self {
        Bell { sliced: arrays.view(), height: arrays.height }
    }
}

/// The height of the slice that all rows are in.
fn one_slice(n_rows: usize) -> usize {
    n_rows.next_multiple_of(HEIGHT).max(HEIGHT)
}

/// SELL-C-sigma: rows sorted by length within windows, padded in slices. See `kernels_rs::sparse::sell`.
impl Format for Sell {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let height = plan.tuning.slice_height;
        assert!(height.is_power_of_two(), "slices of {height} rows");
        sliced::build(plan, sliced::sorted(plan, plan.tuning.sorting_window)?, height)
    }

    fn view(arrays: &SlicedArrays) -> Self {
        Sell { sliced: arrays.view(), rows: arrays.rows(), log_height: arrays.height.trailing_zeros() }
    }
}

/// ELL-WARP: all rows sorted by length, padded in slices of a warp. See `kernels_rs::sparse::ell_warp`.
impl Format for EllWarp {
    type Arrays = SlicedArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        sliced::build(plan, sliced::sorted(plan, plan.n_scalar_rows())?, HEIGHT)
    }

    fn view(arrays: &SlicedArrays) -> Self {
        EllWarp { sell: Sell::view(arrays) }
    }
}
