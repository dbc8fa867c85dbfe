//! Sparse matrices of 3x3 blocks: one file per storage format, built from the sparsity of a mesh.

pub mod ebw;
mod pattern;
mod sparsity;

pub use ebw::Ebw;
pub use pattern::Pattern;
pub use sparsity::Sparsity;

use crate::backend::{Backend, Scalar, Vector};
use crate::error::Result;
use cuda_std::launch::{ItemKernel, Kernel};
use cuda_std::prelude::{View, ViewMut};
use kernels_rs::real::Real;
use kernels_rs::reduce::Reduction;
use kernels_rs::sparse::Layout;

/// Bytes a format stores and moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Stored values, padding included.
    pub values: u64,
    /// Bytes of the index arrays.
    pub index_bytes: u64,
}

/// A storage format: the index arrays of one matrix, how to upload them, and the kernels that multiply by it.
pub trait Format: Sized + Send + Sync {
    /// Its name: `ebw`.
    const NAME: &'static str;
    /// How kernels see the index arrays.
    type Layout: Layout;
    /// The index arrays on a backend.
    type Arrays<B: Backend>;

    /// Lays out a matrix with this sparsity. The sparsity's block k of a row is the format's block k.
    fn build(sparsity: &Sparsity) -> Self;
    /// What it takes.
    fn footprint(&self) -> Footprint;
    /// Copies the index arrays to a backend.
    fn upload<B: Backend>(&self, backend: &B) -> Result<Self::Arrays<B>>;
    /// The kernels' view of uploaded arrays.
    fn layout<B: Backend>(arrays: &Self::Arrays<B>) -> Self::Layout;

    /// The launch of `y = A x`, an item per block row.
    fn spmv<T: Real>(layout: Self::Layout, values: View<T>, x: View<T>, y: ViewMut<T>) -> impl ItemKernel;
    /// The launch of `y = A x` with `x . y`, a thread per block row.
    fn spmv_dot<T: Real>(
        n_rows: usize,
        layout: Self::Layout,
        values: View<T>,
        x: View<T>,
        y: ViewMut<T>,
        to: Reduction,
    ) -> impl Kernel;
    /// `y = A x` on the CPU.
    ///
    /// # Safety
    /// The layout's arrays are alive and those of a matrix with these values and as many rows as x and y.
    unsafe fn product<T: Real>(layout: Self::Layout, values: &[T], x: &[T], y: &mut [T]);
}

/// A matrix on a backend.
pub struct Matrix<B: Backend, F: Format, T: Real> {
    /// Number of block rows.
    pub n_rows: usize,
    /// The index arrays.
    pub arrays: F::Arrays<B>,
    /// The values, where the layout says.
    pub values: Vector<B, T>,
}

impl<B: Backend, F: Format, T: Real> Matrix<B, F, T> {
    /// A matrix of zeros.
    pub fn zeros(backend: &B, format: &F, n_rows: usize) -> Result<Self> {
        let values = backend.zeros(format.footprint().values as usize)?;
        Ok(Matrix { n_rows, arrays: format.upload(backend)?, values })
    }

    /// Panics unless `y = A x` is defined for vectors of these lengths.
    pub(crate) fn check_shapes(&self, x: usize, y: usize) {
        assert!([x, y] == [3 * self.n_rows; 2], "a matrix of {} block rows, x of {x}, y of {y}", self.n_rows);
    }

    /// The kernels' view of the index arrays.
    pub fn layout(&self) -> F::Layout {
        F::layout(&self.arrays)
    }
}

/// A square matrix that can be applied to vectors of a backend, whatever its storage.
pub trait Operator<B: Backend, T: Real> {
    /// Number of rows.
    fn n(&self) -> usize;
    /// `y = A x`.
    fn apply(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>) -> Result<()>;
    /// `y = A x` and `out = x . y`.
    fn apply_dot(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>, out: Scalar) -> Result<()>;
}

impl<B: Backend, F: Format, T: Real> Operator<B, T> for Matrix<B, F, T> {
    fn n(&self) -> usize {
        3 * self.n_rows
    }

    fn apply(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>) -> Result<()> {
        backend.spmv(self, x, y)
    }

    fn apply_dot(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>, out: Scalar) -> Result<()> {
        backend.spmv_dot(self, x, y, out)
    }
}
