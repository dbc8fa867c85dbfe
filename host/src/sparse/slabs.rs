//! A matrix that is never there as a whole.

use super::{Matrix, Pattern};
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::real::Real;
use std::ops::Range;
use std::rc::Rc;

/// How many slabs a large matrix is made or multiplied in.
pub const SLABS: usize = 16;

/// What is called with a slab, a matrix in which only some rows have blocks, and with the range of these rows.
pub type SlabWork<'a, T> = dyn FnMut(&Matrix<T>, Range<usize>) -> Result<()> + 'a;

/// What makes a matrix in slabs, whenever it is read.
pub trait Slabs<T: Real> {
    /// Which blocks all of it has.
    fn pattern(&self) -> &Rc<Pattern>;
    /// Rows of a block.
    fn block_size(&self) -> usize;
    /// Makes some rows after the others. A slab is dropped when the work with it returns.
    fn for_each(&self, space: &Space, work: &mut SlabWork<T>) -> Result<()>;
}
