//! A matrix that is never there as a whole.

use super::{Matrix, Pattern};
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::real::Real;
use std::ops::Range;
use std::rc::Rc;

/// What is done with a slab: a matrix of as many rows, of which all but some have no blocks, and which these are.
pub type OfSlab<'a, T> = dyn FnMut(&Matrix<T>, Range<usize>) -> Result<()> + 'a;

/// What makes a matrix in slabs, whenever it is read.
pub trait Slabs<T: Real> {
    /// Which blocks all of it has.
    fn pattern(&self) -> &Rc<Pattern>;
    /// Rows of a block.
    fn block_size(&self) -> usize;
    /// Makes some rows after the others, and does something with each slab.
    fn each(&self, space: &Space, work: &mut OfSlab<T>) -> Result<()>;
}
