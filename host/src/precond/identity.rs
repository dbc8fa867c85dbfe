//! No preconditioner: `M = I`.

use super::{Build, Context, Preconditioner};
use crate::backend::{Backend, Vector};
use crate::result::Result;
use crate::sparse::{Matrix, Operator};
use kernels_rs::real::{Real, Stored};
use std::marker::PhantomData;

/// `z = r`.
pub struct Identity<B, T>(PhantomData<fn() -> (B, T)>);

impl<B: Backend, T: Real> Preconditioner<B, T> for Identity<B, T> {
    fn apply(&self, backend: &B, _: &dyn Operator<B, T>, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()> {
        backend.copy(r, z)
    }
}

impl<B: Backend, T: Real> Build<B, T> for Identity<B, T> {
    fn build<V: Stored<Arithmetic = T>>(_: &B, _: &Matrix<B, V>, _: &Context<B>) -> Result<Self> {
        Ok(Identity(PhantomData))
    }
}
