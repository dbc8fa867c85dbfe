//! Sums of entries of vectors: rows of sparse matrices whose results go to places of their own.

use crate::device::{Buffer, Grid};
use crate::linalg::Space;
use crate::result::Result;
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::coupling::{GatherLongRows, GatherRows, SparseRows};
use kernels_rs::real::Real;
use kernels_rs::reduce::BLOCK;
use std::ops::Range;

/// Rows of a sparse matrix and where their sums go, on the host.
pub(super) struct Lists {
    /// Entries before each row, and of all.
    pub starts: Vec<u64>,
    /// Which entries of a vector.
    pub columns: Vec<u32>,
    /// Their factors.
    pub factors: Vec<f64>,
    /// Where the sum of each row goes, all different.
    pub targets: Vec<u32>,
}

impl Lists {
    /// No rows.
    pub fn empty() -> Self {
        Lists { starts: vec![0], columns: vec![], factors: vec![], targets: vec![] }
    }

    /// Adds a row.
    pub fn push(&mut self, target: u32, terms: impl Iterator<Item = (u32, f64)>) {
        for (column, factor) in terms {
            self.columns.push(column);
            self.factors.push(factor);
        }
        self.starts.push(self.columns.len() as u64);
        self.targets.push(target);
    }

    /// The entries at some places.
    pub fn terms(&self, places: Range<usize>) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.columns[places.clone()].iter().copied().zip(self.factors[places].iter().copied())
    }
}

/// The same on a device.
pub(super) struct SparseSums<T: Real> {
    starts: Buffer<u64>,
    columns: Buffer<u32>,
    factors: Buffer<T>,
    targets: Buffer<u32>,
}

impl<T: Real> SparseSums<T> {
    /// Copies rows to a device.
    pub fn new(space: &Space, rows: Lists) -> Result<Self> {
        let (starts, columns) = (space.upload_vec(rows.starts)?, space.upload_vec(rows.columns)?);
        let factors = rows.factors.into_iter().map(T::from_f64).collect();
        let (factors, targets) = (space.upload_vec(factors)?, space.upload_vec(rows.targets)?);
        Ok(SparseSums { starts, columns, factors, targets })
    }

    /// `y_t = sum factor x`, or `y_t += ..` if it `adds`; `is_long` says that rows are worth a block of threads each.
    ///
    /// # Safety
    /// Columns are entries of x and targets of y; these live, and no target is a column where they are one vector.
    pub unsafe fn launch(&self, space: &Space, is_long: bool, adds: bool, x: View<T>, y: ViewMut<T>) -> Result<()> {
        let rows =
            SparseRows { starts: self.starts.view(), columns: self.columns.view(), factors: self.factors.view() };
        let (n, targets, adds) = (self.targets.len(), self.targets.view(), u32::from(adds));
        // SAFETY: the caller's promise; the lists live, and targets are all different.
        unsafe {
            if is_long && !space.on_host() {
                space.launch(Grid::new(n, BLOCK), GatherLongRows { rows, targets, adds, x, y })
            } else {
                space.run(n, GatherRows { rows, targets, adds, x, y })
            }
        }
    }
}
