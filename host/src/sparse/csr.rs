//! CSR: rows of scalars, compressed, multiplied by a thread or a warp per row. See `kernels_rs::sparse::csr` and
//! `kernels_rs::sparse::csr_vector`.

use super::format::Places;
use super::{Built, Format, Plan};
use crate::device::Buffer;
use crate::result::Result;
use kernels_rs::sparse::csr::{CsrColumns, CsrLengths};
use kernels_rs::sparse::{Csr, CsrVector};
use std::rc::Rc;

/// Compressed rows on a device.
pub struct CsrArrays {
    row_start: Rc<Buffer<u64>>,
    columns: Buffer<u32>,
}

fn build<F: Format<Arrays = CsrArrays>>(plan: &Plan) -> Result<Built<F>> {
    let Plan { space, pattern, size, .. } = *plan;
    let n = plan.n_scalar_rows();
    let mut lengths = space.zeros(n)?;
    // SAFETY: a length for every row; both live.
    unsafe { space.run(n, CsrLengths { pattern: pattern.view(), size, lengths: lengths.view_mut() }) }?;
    let row_start = space.exclusive_sum(&lengths)?;
    plan.check_memory((pattern.n_blocks() * size * size) as u64, size_of::<u32>() + plan.value_bytes)?;
    let mut columns = space.zeros(pattern.n_blocks() * size * size)?;
    let kernel = CsrColumns { pattern: pattern.view(), size, row_start: row_start.view(), columns: columns.view_mut() };
    // SAFETY: a place for every entry of every row; all live.
    unsafe { space.run(n, kernel) }?;
    let (index_bytes, n_values) = (row_start.bytes() + columns.bytes(), columns.len() as u64);
    let row_start = Rc::new(row_start);
    let places = Places { start: row_start.clone(), block: size, column: 1, by_column: false };
    Ok(Built { arrays: CsrArrays { row_start, columns }, index_bytes, n_values, places })
}

impl Format for Csr {
    type Arrays = CsrArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        build(plan)
    }

    fn view(arrays: &CsrArrays) -> Self {
        Csr { row_start: arrays.row_start.view(), columns: arrays.columns.view() }
    }
}

impl Format for CsrVector {
    type Arrays = CsrArrays;

    fn build(plan: &Plan) -> Result<Built<Self>> {
        build(plan)
    }

    fn view(arrays: &CsrArrays) -> Self {
        CsrVector { csr: Csr::view(arrays) }
    }
}
