//! One vector operation at a time.

use super::{Quotient, Scalar, Space};
use crate::device::Buffer;
use crate::result::Result;
use kernels_rs::blas::{Axpby, Axpy, Dot, Fill, Mul, Xpby};
use kernels_rs::precond::BlockMul;
use kernels_rs::real::Real;

/// A symmetric block for each block row, of which the lower triangles are kept.
pub struct Blocks<T> {
    /// Rows of a block: 1, 2 or 3.
    pub size: usize,
    /// How many there are.
    pub n_rows: usize,
    /// `[size (size + 1) / 2][n_rows]`.
    pub values: Buffer<T>,
}

/// `x . y`, in f64.
pub(crate) fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x.to_f64() * y.to_f64()).sum()
}

impl Space {
    /// `x_i = value`.
    pub fn fill<T: Real>(&self, value: T, x: &mut Buffer<T>) -> Result<()> {
        // SAFETY: x lives and holds x.len() entries.
        unsafe { self.run(x.len(), Fill { value, x: x.view_mut() }) }
    }

    /// `y_i = a_i x_i`, a in single precision: what a diagonal preconditioner does.
    pub fn mul<T: Real>(&self, a: &Buffer<f32>, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        assert!(a.len() == x.len() && x.len() == y.len(), "vectors of different lengths");
        // SAFETY: all three live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), Mul { a: a.view(), x: x.view(), y: y.view_mut() }) }
    }

    /// `y += a x`.
    pub fn axpy<T: Real>(&self, a: Quotient, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors of different lengths");
        // SAFETY: both live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), Axpy { ratio: self.ratio(a), x: x.view(), y: y.view_mut() }) }
    }

    /// `y = x + b y`.
    pub fn xpby<T: Real>(&self, x: &Buffer<T>, b: Quotient, y: &mut Buffer<T>) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors of different lengths");
        // SAFETY: both live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), Xpby { ratio: self.ratio(b), x: x.view(), y: y.view_mut() }) }
    }

    /// `y = a x + b y`.
    pub fn axpby<T: Real>(&self, [a, b]: [Quotient; 2], x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        assert_eq!(x.len(), y.len(), "vectors of different lengths");
        let kernel = Axpby { a: self.ratio(a), b: self.ratio(b), x: x.view(), y: y.view_mut() };
        // SAFETY: both live and have the same length; y is borrowed uniquely.
        unsafe { self.run(x.len(), kernel) }
    }

    /// `out = x . y`, summed in f64, the same bits every time.
    pub fn dot<T: Real>(&self, x: &Buffer<T>, y: &Buffer<T>, out: Scalar) -> Result<()> {
        assert_eq!(x.len(), y.len(), "product of vectors of different lengths");
        let (n, x, y) = (x.len(), x.view(), y.view());
        // SAFETY: x and y live and have n entries.
        unsafe { self.sum(n, [out], |to| Dot { n, x, y, to }, |rows| [inner(x.slice(rows.clone()), y.slice(rows))]) }
    }

    /// `z = blocks r`.
    pub fn block_mul<T: Real>(&self, blocks: &Blocks<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()> {
        let Blocks { size, n_rows, ref values } = *blocks;
        assert!([r.len(), z.len()] == [size * n_rows; 2], "vectors of different lengths");
        let (blocks, r, z) = (values.view(), r.view(), z.view_mut());
        // SAFETY: all live and have the rows of the blocks; z is borrowed uniquely.
        unsafe {
            match size {
                1 => self.run(n_rows, BlockMul::<T, 1> { n_rows, blocks, r, z }),
                2 => self.run(n_rows, BlockMul::<T, 2> { n_rows, blocks, r, z }),
                _ => self.run(n_rows, BlockMul::<T, 3> { n_rows, blocks, r, z }),
            }
        }
    }
}
