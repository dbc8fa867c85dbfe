//! EBW with columns of 16 bits. See `kernels_rs::sparse::ebw16` for the layout.

use super::format::bytes;
use super::sliced::{self, Rows};
use super::{Built, Format, Plan};
use crate::backend::{Backend, Buffer, Vector};
use crate::result::{Error, Result};
use kernels_rs::sparse::Ebw16;
use kernels_rs::sparse::ebw16::{ColumnBases, ColumnOffsets, SLICE};

/// Its index arrays.
pub struct Ebw16Arrays<B: Backend> {
    slice_start: Vector<B, u64>,
    bases: Vector<B, u32>,
    offsets: Vector<B, u16>,
}

impl<const D: usize> Format for Ebw16<D> {
    type Arrays<B: Backend> = Ebw16Arrays<B>;

    /// # Errors
    ///
    /// [`Error::TooLarge`] if columns that share a base are more than 65,535 apart.
    fn build<B: Backend>(plan: &Plan<B>) -> Result<Built<B, Self>> {
        let Plan { backend, pattern, .. } = plan;
        let wide = sliced::build(plan, Rows::Blocks, SLICE)?;
        let (n_values, places) = wide.places(plan, true)?;
        let n_columns = wide.columns.len() / SLICE;
        let (mut bases, mut spread) = (backend.zeros(n_columns)?, backend.zeros(1)?);
        let (sliced, n_rows) = (wide.view(), pattern.n_rows);
        let kernel = ColumnBases { n_rows, sliced, bases: bases.view_mut(), spread: spread.view_mut() };
        // SAFETY: the slices' own arrays, and a base for each of their columns; all live.
        unsafe { backend.run(n_columns, kernel) }?;
        let spread = backend.read_at(&spread, 0)?;
        if spread > 0 {
            return Err(Error::TooLarge(format!(
                "neighbours of {SLICE} rows lie {spread} columns apart, and format `ebw16` has 16 bits for that; use `ebw`"
            )));
        }
        let mut offsets = backend.zeros(wide.columns.len())?;
        let kernel = ColumnOffsets { bases: bases.view(), columns: wide.columns.view(), offsets: offsets.view_mut() };
        // SAFETY: a place for every column; all live until `finish`.
        unsafe { backend.run(wide.columns.len(), kernel) }?;
        backend.finish()?;
        let arrays = Ebw16Arrays { slice_start: wide.slice_start, bases, offsets };
        let index_bytes = bytes(&arrays.slice_start) + bytes(&arrays.bases) + bytes(&arrays.offsets);
        Ok(Built { arrays, index_bytes, n_values, places })
    }

    fn view<B: Backend>(arrays: &Ebw16Arrays<B>) -> Self {
        let Ebw16Arrays { slice_start, bases, offsets } = arrays;
        Ebw16 { slice_start: slice_start.view(), bases: bases.view(), offsets: offsets.view() }
    }
}
