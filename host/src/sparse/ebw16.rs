//! EBW with columns of 16 bits. See `kernels_rs::sparse::ebw16` for the layout.

use super::sliced::{self, Rows};
use super::{Built, Format, Plan};
use crate::device::Buffer;
use crate::result::{Error, Result};
use kernels_rs::sparse::ebw16::{ColumnBases, ColumnOffsets, SLICE};
use kernels_rs::sparse::{Ebw, Ebw16};

/// Its index arrays.
pub struct Ebw16Arrays {
    slice_start: Buffer<u64>,
    bases: Buffer<u32>,
    offsets: Buffer<u16>,
}

impl<const D: usize> Format for Ebw16<D> {
    type Arrays = Ebw16Arrays;

    /// # Errors
    ///
    /// [`Error::TooLarge`] if columns that share a base are more than 65,535 apart.
    fn build(plan: &Plan) -> Result<Built<Self>> {
        let space = plan.space;
        let Built { arrays: wide, n_values, places, .. } = sliced::build::<Ebw<D, SLICE>>(plan, Rows::Blocks, SLICE)?;
        let n_columns = wide.columns.len() / SLICE;
        let (mut bases, mut spread) = (space.zeros(n_columns)?, space.zeros(1)?);
        let (sliced, n_rows) = (wide.view(), wide.n_rows);
        let kernel = ColumnBases { n_rows, sliced, bases: bases.view_mut(), spread: spread.view_mut() };
        // SAFETY: the slices' own arrays, and a base for each of their columns; all live.
        unsafe { space.run(n_columns, kernel) }?;
        let spread = space.read_at(&spread, 0)?;
        if spread > 0 {
            return Err(Error::TooLarge(format!(
                "neighbours of {SLICE} rows lie {spread} columns apart, and format `ebw16` has 16 bits for that; use `ebw`"
            )));
        }
        let mut offsets = space.zeros(wide.columns.len())?;
        let kernel = ColumnOffsets { bases: bases.view(), columns: wide.columns.view(), offsets: offsets.view_mut() };
        // SAFETY: a place for every column; all live until `finish`.
        unsafe { space.run(wide.columns.len(), kernel) }?;
        space.finish()?;
        let arrays = Ebw16Arrays { slice_start: wide.slice_start, bases, offsets };
        let index_bytes = arrays.slice_start.bytes() + arrays.bases.bytes() + arrays.offsets.bytes();
        Ok(Built { arrays, index_bytes, n_values, places })
    }

    fn view(arrays: &Ebw16Arrays) -> Self {
        let Ebw16Arrays { slice_start, bases, offsets } = arrays;
        Ebw16 { slice_start: slice_start.view(), bases: bases.view(), offsets: offsets.view() }
    }
}
