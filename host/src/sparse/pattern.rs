//! The sparsity of a block matrix, before any storage format, on the host and on a device.

use crate::device::{Buffer, running_sums};
use crate::linalg::Space;
use crate::result::Result;
use cuda_std::prelude::View;
use kernels_rs::setup::order::Gather;
use kernels_rs::sparse::PatternView;
use kernels_rs::sparse::pattern::TakeRows;
use kernels_rs::sparse::sliced::{SliceWidths, Slices};
use std::ops::Range;

/// Which block columns each block row has: row `r` has `columns[row_start[r]..row_start[r + 1]]`, the diagonal first
/// (DSM sec. II.C), the others ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparsity {
    /// `[n_rows + 1]`.
    pub row_start: Vec<u64>,
    /// `[row_start[n_rows]]`.
    pub columns: Vec<u32>,
}

impl Sparsity {
    /// Number of block rows.
    pub fn n_rows(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.columns.len()
    }

    /// The places of the blocks of row `row`.
    pub fn range(&self, row: usize) -> Range<usize> {
        self.row_start[row] as usize..self.row_start[row + 1] as usize
    }

    /// The block columns of row `row`.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.range(row)]
    }
}

/// Which blocks a matrix has, on a device: [`Sparsity`] where the kernels see it.
pub struct Pattern {
    /// Number of block rows.
    pub n_rows: usize,
    /// `[n_rows + 1]`.
    pub row_start: Buffer<u64>,
    /// `[row_start[n_rows]]`; the diagonal first, the others ascending.
    pub columns: Buffer<u32>,
}

impl Pattern {
    /// Moves a sparsity to a device.
    pub fn upload(space: &Space, sparsity: Sparsity) -> Result<Self> {
        let n_rows = sparsity.n_rows();
        let (row_start, columns) = (space.upload_vec(sparsity.row_start)?, space.upload_vec(sparsity.columns)?);
        Ok(Pattern { n_rows, row_start, columns })
    }

    /// Copies it back.
    pub fn download(&self, space: &Space) -> Result<Sparsity> {
        Ok(Sparsity { row_start: space.download(&self.row_start)?, columns: space.download(&self.columns)? })
    }

    /// Which blocks some rows have, in the order of the rows, and the place of the first block of each among all.
    pub fn of_rows(&self, space: &Space, rows: &[u32]) -> Result<(Sparsity, Vec<u64>)> {
        let starts = space.download(&self.row_start)?;
        let of = |row: &u32| starts[*row as usize]..starts[*row as usize + 1];
        let row_start = running_sums(rows.iter().map(|row| of(row).end - of(row).start));
        let places = space.upload_vec(rows.iter().flat_map(of).map(|place| place as u32).collect())?;
        let mut columns = space.zeros(places.len())?;
        let kernel = Gather { index: places.view(), from: self.columns.view(), out: columns.view_mut() };
        // SAFETY: all live until `take`, which waits; places are those of blocks.
        unsafe { space.run(places.len(), kernel) }?;
        let columns = space.take(columns)?;
        Ok((Sparsity { row_start, columns }, rows.iter().map(|row| of(row).start).collect()))
    }

    /// The places of the blocks of some rows.
    pub fn range(&self, space: &Space, rows: &Range<usize>) -> Result<Range<usize>> {
        if *rows == (0..self.n_rows) {
            return Ok(0..self.n_blocks());
        }
        let start = |row| space.read_at(&self.row_start, row).map(|start| start as usize);
        Ok(start(rows.start)?..start(rows.end)?)
    }

    /// Some of its rows, the others having no blocks, and the row of each block.
    pub fn rows(&self, space: &Space, rows: &Range<usize>) -> Result<(Pattern, Buffer<u32>)> {
        let (n, n_blocks) = (self.n_rows, self.range(space, rows)?.len());
        let mut slab = Pattern { n_rows: n, row_start: space.zeros(n + 1)?, columns: space.zeros(n_blocks)? };
        let mut of_blocks = space.zeros(n_blocks)?;
        let kernel = TakeRows {
            from: self.view(),
            first: rows.start,
            end: rows.end,
            row_start: slab.row_start.view_mut(),
            columns: slab.columns.view_mut(),
            rows: of_blocks.view_mut(),
        };
        // SAFETY: all live until `finish`, and there is a place for each block.
        unsafe { space.run(n + 1, kernel) }?;
        space.finish()?;
        Ok((slab, of_blocks))
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.columns.len()
    }

    /// Blocks of the longest block row; 0 if there are no rows.
    pub fn longest_row(&self, space: &Space) -> Result<usize> {
        if self.n_rows == 0 {
            return Ok(0);
        }
        let mut widths = space.zeros(1)?;
        let slices = Slices { n_rows: self.n_rows, height: self.n_rows, expand: 1, rows: View::from_slice(&[]) };
        let kernel = SliceWidths { pattern: self.view(), slices, widths: widths.view_mut() };
        // SAFETY: one slice of all rows, whose width has a place; both live until `read_at`, which waits.
        unsafe { space.run(self.n_rows, kernel) }?;
        Ok(space.read_at(&widths, 0)? as usize)
    }

    /// How kernels see it.
    pub fn view(&self) -> PatternView {
        PatternView { row_start: self.row_start.view(), columns: self.columns.view() }
    }
}
