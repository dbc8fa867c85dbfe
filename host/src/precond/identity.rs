//! No preconditioner: `M = I`.

use super::{Build, Context, Preconditioner};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{LinOp, Matrix};
use kernels_rs::real::{Real, Stored};
use std::marker::PhantomData;

/// `z = r`.
pub struct Identity<T>(PhantomData<fn() -> T>);

impl<T: Real> Preconditioner<T> for Identity<T> {
    fn apply(&self, space: &Space, _: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        space.copy(r, z)
    }
}

impl<T: Real> Build<T> for Identity<T> {
    fn build<V: Stored<Arithmetic = T>>(_: &Space, _: &Matrix<V>, _: &Context) -> Result<Self> {
        Ok(Identity(PhantomData))
    }
}
