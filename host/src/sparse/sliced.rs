//! Builds the ELLPACK family: see `kernels_rs::sparse::sliced`.

use super::format::{Places, Plan, bytes};
use crate::device::Buffer;
use crate::result::Result;
use cuda_std::prelude::View;
use kernels_rs::sparse::sliced::{self as device, LengthKeys, SliceColumns, SliceStarts, SliceWidths, Slices};
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
    /// The row at each position, where rows are sorted.
    pub rows: Option<Buffer<u32>>,
}

impl SlicedArrays {
    /// How kernels see the columns.
    pub fn view(&self) -> device::Sliced {
        device::Sliced { slice_start: self.slice_start.view(), columns: self.columns.view() }
    }

    /// Bytes that a product reads.
    pub fn bytes(&self) -> u64 {
        bytes(&self.slice_start) + bytes(&self.columns) + self.rows.as_ref().map_or(0, bytes)
    }

    /// The number of values, and where they are, of blocks of `size` rows.
    pub fn places(&self, plan: &Plan, rows_are_blocks: bool) -> Result<(u64, Places)> {
        let size = if rows_are_blocks { plan.size } else { 1 };
        let mut start = plan.space.zeros(plan.n_scalar_rows())?;
        let slices = self.slices(plan, rows_are_blocks);
        let (slice_start, view) = (self.slice_start.view(), start.view_mut());
        // SAFETY: the slices' own arrays, and a place for each row; all live until `finish`.
        unsafe { plan.space.run(slices.n_rows, SliceStarts { slices, size, slice_start, start: view }) }?;
        plan.space.finish()?;
        let step = size * size * self.height;
        let places = Places {
            start: Rc::new(start),
            block: if rows_are_blocks { step } else { plan.size * self.height },
            column: size * self.height,
            by_column: false,
        };
        Ok(((self.columns.len() * size * size) as u64, places))
    }

    fn slices(&self, plan: &Plan, rows_are_blocks: bool) -> Slices {
        let rows = self.rows.as_ref().map_or(View::from_slice(&[]), |rows| rows.view());
        slices(plan, rows_are_blocks, self.height, rows)
    }
}

fn slices(plan: &Plan, rows_are_blocks: bool, height: usize, rows: View<u32>) -> Slices {
    let expand = if rows_are_blocks { 1 } else { plan.size };
    Slices { n_rows: plan.pattern.n_rows * expand, height, expand, rows }
}

/// Cuts rows into slices of `height` and pads them.
pub fn build(plan: &Plan, rows: Rows, height: usize) -> Result<SlicedArrays> {
    let Plan { space, pattern, .. } = plan;
    let rows_are_blocks = matches!(rows, Rows::Blocks);
    let rows = match rows {
        Rows::Sorted(rows) => Some(rows),
        _ => None,
    };
    let view = rows.as_ref().map_or(View::from_slice(&[]), |rows| rows.view());
    let slices = slices(plan, rows_are_blocks, height, view);
    let n_slices = slices.n_rows.div_ceil(height);
    let mut widths = space.zeros(n_slices)?;
    let kernel = SliceWidths { pattern: pattern.view(), slices, widths: widths.view_mut() };
    // SAFETY: a width for every slice; all live until `read_at`, which waits.
    unsafe { space.run(slices.n_rows, kernel) }?;
    let slice_start = space.exclusive_sum(&widths)?;
    let n_columns = space.read_at(&slice_start, n_slices)? as usize;
    let values = if rows_are_blocks { plan.size * plan.size } else { 1 };
    plan.check_memory((n_columns as u64).saturating_mul(height as u64), size_of::<u32>() + values * plan.value_bytes)?;
    let mut columns = space.zeros(n_columns * height)?;
    let kernel =
        SliceColumns { pattern: pattern.view(), slices, slice_start: slice_start.view(), columns: columns.view_mut() };
    // SAFETY: a place for every column of every position; all live.
    unsafe { space.run(n_slices * height, kernel) }?;
    Ok(SlicedArrays { slice_start, columns, height, rows })
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
    let bits = u64::BITS - (windows * device::LENGTHS).leading_zeros();
    Ok(Rows::Sorted(plan.space.sort_order(&keys, bits)?))
}
