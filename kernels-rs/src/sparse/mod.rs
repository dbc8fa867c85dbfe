//! Sparse matrices of 3x3 blocks: one file per storage format, each with its layout, its row product and its kernels.
//!
//! A format's layout says where block `k` of a block row is; assembly and supports are written once over that.

pub mod ebw;
pub mod pattern;

pub use ebw::Ebw;
pub use pattern::PatternView;

use cuda_std::prelude::*;

/// Calls `$callback! { $arguments Ebw, .. }` with every storage format: the only list of them.
#[macro_export]
macro_rules! for_each_format {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Ebw }
    };
}

/// Where a storage format keeps the blocks of a row. Block 0 of every row is the diagonal one (DSM sec. II.C).
pub trait Layout: Copy + Send + Sync + 'static {
    /// Number of blocks stored in block row `row`, padding included.
    ///
    /// # Safety
    /// `row` is a block row of the matrix.
    unsafe fn width(self, row: usize) -> usize;

    /// Block column of block `k`; padding repeats the row itself.
    ///
    /// # Safety
    /// As [`Layout::width`], and `k` is below it.
    unsafe fn column(self, row: usize, k: usize) -> usize;

    /// Position in the values of entry (i, j) of block `k`.
    ///
    /// # Safety
    /// As [`Layout::column`].
    unsafe fn entry(self, row: usize, k: usize, i: usize, j: usize) -> usize;
}

/// Reads entry by entry the 3-vector of block column `column`.
#[inline(always)]
unsafe fn gather<T: DeviceCopy>(x: View<T>, column: usize) -> [T; 3] {
    [x.at(3 * column), x.at(3 * column + 1), x.at(3 * column + 2)]
}
