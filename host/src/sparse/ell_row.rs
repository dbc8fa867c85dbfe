//! ELL by rows. See `kernels_rs::sparse::ell_row`.

use super::format::{Places, bytes};
use super::{Built, Format, Plan, dense};
use crate::backend::{Backend, Buffer, Vector};
use crate::result::Result;
use kernels_rs::sparse::EllRow;
use kernels_rs::sparse::ell_row::EllRowColumns;

/// Columns of padded rows on a backend.
pub struct EllRowArrays<B: Backend> {
    columns: Vector<B, u32>,
    width: usize,
}

impl Format for EllRow {
    type Arrays<B: Backend> = EllRowArrays<B>;

    fn build<B: Backend>(plan: &Plan<B>) -> Result<Built<B, Self>> {
        let n = plan.n_scalar_rows();
        let width = plan.pattern.longest_row(plan.backend)? * plan.size;
        plan.check_room(n as u64 * width as u64, size_of::<u32>() + plan.value_bytes)?;
        let mut columns = plan.backend.zeros(n * width)?;
        let kernel =
            EllRowColumns { pattern: plan.pattern.view(), size: plan.size, width, columns: columns.view_mut() };
        // SAFETY: a place for every column of every row; both live.
        unsafe { plan.backend.run(n, kernel) }?;
        let start = dense::even_starts(plan, width)?;
        let places = Places { start, block: plan.size, column: 1, by_column: false };
        let (index_bytes, n_values) = (bytes(&columns), columns.len() as u64);
        Ok(Built { arrays: EllRowArrays { columns, width }, index_bytes, n_values, places })
    }

    fn view<B: Backend>(arrays: &EllRowArrays<B>) -> Self {
        EllRow { columns: arrays.columns.view(), width: arrays.width }
    }
}
