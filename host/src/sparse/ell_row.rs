//! ELL by rows. See `kernels_rs::sparse::ell_row`.

use super::format::Places;
use super::{Built, Format, Plan, dense};
use crate::device::Buffer;
use crate::result::Result;
use kernels_rs::sparse::EllRow;
use kernels_rs::sparse::ell_row::EllRowColumns;

/// Columns of padded rows on a device.
pub struct EllRowArrays {
    columns: Buffer<u32>,
    width: usize,
}

impl Format for EllRow {
    type Arrays = EllRowArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        let n = plan.n_scalar_rows();
        let width = plan.pattern.longest_row(plan.space)? * plan.size;
        plan.check_memory(n as u64 * width as u64, size_of::<u32>() + plan.value_bytes)?;
        let mut columns = plan.space.zeros(n * width)?;
        let kernel =
            EllRowColumns { pattern: plan.pattern.view(), size: plan.size, width, columns: columns.view_mut() };
        // SAFETY: a place for every column of every row; both live.
        unsafe { plan.space.run(n, kernel) }?;
        let start = dense::even_starts(plan, width)?;
        let places = Places { start, block: plan.size, column: 1, by_column: false };
        let (index_bytes, n_values) = (columns.bytes(), columns.len() as u64);
        Ok(Built { arrays: EllRowArrays { columns, width }, index_bytes, n_values, places })
    }

    fn view(arrays: &EllRowArrays) -> Self {
        EllRow { columns: arrays.columns.view(), width: arrays.width }
    }
}
