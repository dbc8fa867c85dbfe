//! Builds the ELLPACK family: see `kernels_rs::sparse::sliced`.

use super::format::{Built, Format, Places, Plan};
use crate::device::Buffer;
use crate::result::Result;
use cuda_std::prelude::View;
use kernels_rs::sparse::sliced::{LENGTHS, LengthKeys, SliceColumns, SliceStarts, SliceWidths, Sliced, Slices};
use std::rc::Rc;

/// How the rows of a format are cut into slices.
pub enum Rows {
    /// Block rows, in their order.
    Blocks,
    /// Rows of scalars, in their order.
    Scalars,
    /// Rows of scalars, in this order.
    Sorted(Buffer<u32>),
}

/// Padded slices on a device.
pub struct SlicedArrays {
    /// Number of columns before each slice, `[n_slices + 1]`.
    pub slice_start: Buffer<u64>,
    /// Column indices, `[slice_start[n_slices]][height]`.
    pub columns: Buffer<u32>,
    /// Rows per slice.
    pub height: usize,
    /// Rows of all slices, without padding.
    pub n_rows: usize,
    /// The row at each position, where rows are sorted.
    rows: Option<Buffer<u32>>,
}

impl SlicedArrays {
    /// How kernels see the columns.
    pub fn view(&self) -> Sliced {
        Sliced { slice_start: self.slice_start.view(), columns: self.columns.view() }
    }

    /// How kernels see the order of rows; empty where they are not sorted.
    pub fn rows(&self) -> View<u32> {
        self.rows.as_ref().map_or(View::from_slice(&[]), Buffer::view)
    }
}

/// Cuts rows into slices of `height` and pads them.
pub fn build<F: Format<Arrays = SlicedArrays>>(plan: &Plan, rows: Rows, height: usize) -> Result<Built<F>> {
    let Plan { space, pattern, .. } = plan;
    let (expand, size) = if matches!(rows, Rows::Blocks) { (1, plan.size) } else { (plan.size, 1) };
    let rows = match rows {
        Rows::Sorted(rows) => Some(rows),
        _ => None,
    };
    let view = rows.as_ref().map_or(View::from_slice(&[]), Buffer::view);
    let slices = Slices { n_rows: pattern.n_rows * expand, height, expand, rows: view };
    let n_slices = slices.n_rows.div_ceil(height);
    let mut widths = space.zeros(n_slices)?;
    let kernel = SliceWidths { pattern: pattern.view(), slices, widths: widths.view_mut() };
    // SAFETY: a width for every slice; all live until `read_at`, which waits.
    unsafe { space.run(slices.n_rows, kernel) }?;
    let slice_start = space.exclusive_sum(&widths)?;
    let n_columns = space.read_at(&slice_start, n_slices)? as usize;
    let n = (n_columns as u64).saturating_mul(height as u64);
    plan.check_memory(n, size_of::<u32>() + size * size * plan.value_bytes)?;
    let mut columns = space.zeros(n_columns * height)?;
    let kernel =
        SliceColumns { pattern: pattern.view(), slices, slice_start: slice_start.view(), columns: columns.view_mut() };
    // SAFETY: a place for every column of every position; all live.
    unsafe { space.run(n_slices * height, kernel) }?;
    let arrays = SlicedArrays { slice_start, columns, height, n_rows: slices.n_rows, rows };
    let places = places(plan, &arrays, slices, size)?;
    let index_bytes =
        arrays.slice_start.bytes() + arrays.columns.bytes() + arrays.rows.as_ref().map_or(0, Buffer::bytes);
    let n_values = (arrays.columns.len() * size * size) as u64;
    Ok(Built { arrays, index_bytes, n_values, places })
}

/// Where the values are, of blocks of `size` rows.
fn places(plan: &Plan, arrays: &SlicedArrays, slices: Slices, size: usize) -> Result<Places> {
    let mut start = plan.space.zeros(plan.n_scalar_rows())?;
    let (slice_start, view) = (arrays.slice_start.view(), start.view_mut());
    // SAFETY: the slices' own arrays, and a place for each row; all live until `finish`.
    unsafe { plan.space.run(slices.n_rows, SliceStarts { slices, size, slice_start, start: view }) }?;
    plan.space.finish()?;
    let (start, column) = (Rc::new(start), size * arrays.height);
    // A block, or as many columns of scalars as it has.
    Ok(Places { start, block: plan.size * column, column, by_column: false })
}

/// The rows of scalars in the order of falling length within windows.
pub fn sorted(plan: &Plan, window: usize) -> Result<Rows> {
    let n = plan.n_scalar_rows();
    let mut keys = plan.space.zeros(n)?;
    let kernel =
        LengthKeys { pattern: plan.pattern.view(), expand: plan.size, window: window.max(1), keys: keys.view_mut() };
    // SAFETY: a key for every row; both live.
    unsafe { plan.space.run(n, kernel) }?;
    let windows = n.div_ceil(window.max(1)) as u64;
    let bits = u64::BITS - (windows * LENGTHS).leading_zeros();
    Ok(Rows::Sorted(plan.space.sort_order(&keys, bits)?))
}
