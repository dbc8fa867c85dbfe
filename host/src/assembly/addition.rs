//! What a model's springs add to K: the host's side of [`kernels_rs::assembly::addition`].

use std::collections::BTreeMap;

use super::Numbering;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::assembly::addition::{self, AddBlocks, AddProduct};
use kernels_rs::real::Real;

/// Blocks of some rows on a device.
pub struct Addition {
    rows: Buffer<u32>,
    starts: Buffer<u64>,
    columns: Buffer<u32>,
    blocks: Buffer<[[f64; 3]; 3]>,
}

/// Blocks by row and column.
pub(super) type Sums = BTreeMap<[u32; 2], [[f64; 3]; 3]>;

/// A column and its block.
pub(super) type RowBlock = (u32, [[f64; 3]; 3]);

impl Addition {
    /// Of a model's springs; none without springs.
    pub fn new(space: &Space, model: &Model, numbering: &Numbering) -> Result<Option<Self>> {
        let mut sums = Sums::new();
        for (a, b, block) in model.springs.iter().flat_map(|spring| &spring.blocks) {
            let [row, column] = [a, b].map(|node| numbering.to_solver[*node as usize]);
            Addition::add(&mut sums, row, (column, *block));
        }
        Addition::of_sums(space, sums)
    }

    /// Adds a block to the sums of a row.
    pub(super) fn add(sums: &mut Sums, row: u32, (column, block): RowBlock) {
        let sum = sums.entry([row, column]).or_default();
        (0..9).for_each(|k| sum[k / 3][k % 3] += block[k / 3][k % 3]);
    }

    /// Of blocks by row and column; none without blocks.
    pub(super) fn of_sums(space: &Space, sums: Sums) -> Result<Option<Self>> {
        let (mut rows, mut starts, mut columns, mut blocks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ([row, column], block) in sums {
            if rows.last() != Some(&row) {
                rows.push(row);
                starts.push(columns.len() as u64);
            }
            columns.push(column);
            blocks.push(block);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        starts.push(columns.len() as u64);
        Ok(Some(Addition {
            rows: space.upload(&rows)?,
            starts: space.upload(&starts)?,
            columns: space.upload(&columns)?,
            blocks: space.upload(&blocks)?,
        }))
    }

    fn view(&self) -> addition::Addition {
        self.with_columns(&self.columns)
    }

    /// As kernels see it, with other numbers for the columns.
    pub(super) fn with_columns(&self, columns: &Buffer<u32>) -> addition::Addition {
        let (rows, starts) = (self.rows.view(), self.starts.view());
        addition::Addition { rows, starts, columns: columns.view(), blocks: self.blocks.view() }
    }

    /// The rows.
    pub(super) fn rows(&self, space: &Space) -> Result<Vec<u32>> {
        space.download(&self.rows)
    }

    /// The columns of all blocks.
    pub(super) fn columns(&self, space: &Space) -> Result<Vec<u32>> {
        space.download(&self.columns)
    }

    /// The columns and blocks of each row.
    pub(super) fn of_rows(&self, space: &Space) -> Result<Vec<Vec<RowBlock>>> {
        let (starts, columns, blocks) =
            (space.download(&self.starts)?, self.columns(space)?, space.download(&self.blocks)?);
        let blocks: Vec<RowBlock> = columns.into_iter().zip(blocks).collect();
        Ok(starts.windows(2).map(|bounds| blocks[bounds[0] as usize..bounds[1] as usize].to_vec()).collect())
    }

    /// Adds them to a matrix whose pattern has them.
    pub fn add_to<T: Real>(&self, space: &Space, matrix: &mut Matrix<T>) -> Result<()> {
        let kernel = AddBlocks { addition: self.view(), entries: matrix.entries(), values: matrix.values_mut() };
        // SAFETY: all live until `finish`; each row is there once and is one of the matrix.
        unsafe { space.run(self.rows.len(), kernel) }?;
        space.finish()
    }

    /// Adds their product with x to y, both of `size` components a row.
    pub fn add_product(&self, space: &Space, size: usize, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        let kernel = AddProduct { size, addition: self.view(), x: x.view(), y: y.view_mut() };
        // SAFETY: as above, with vectors of as many rows.
        unsafe { space.run(self.rows.len(), kernel) }?;
        space.finish()
    }
}
