//! A preconditioner in single precision under an iteration in double (SBELL sec. 4, alg. 6).
//!
//! | line of the algorithm | here |
//! | --- | --- |
//! | the matrix in low precision | [`ScaledCopy`], once |
//! | r into low precision, `z = M^-1 r` there, z into high precision | [`Rounded::apply`] |
//! | everything else in high precision | [`crate::solve::cg()`] |
//!
//! The copy takes half the memory of K's values, or a quarter in half precision ([`F16`](kernels_rs::half::F16)), and
//! index arrays of its own. Vectors and arithmetic are single in both.
//!
//! Rounding disturbs the iteration where K is badly conditioned: it takes as many iterations as in double on compact
//! bodies, and twice as many or more on a plate of one layer of elements. That is the rounding of vectors, not of the
//! matrix. Iterations to 1e-8 with least squares of order 6:
//!
//! | | double | copy in single | copy in half |
//! | --- | --- | --- | --- |
//! | tet4, 20^3 and 40^3 | 79, 156 | 79, 156 | 79, 156 |
//! | hex8, 20^3 | 33 | 33 | 33 |
//! | hex8, 30^3, stiffnesses 1:1000 | 113 | 113 | 113 |
//! | quad4, 200x10 | 184 | 297 | 294 |
//! | hex8, 40x40x1 | 197 | 565 | 473 |
//!
//! A copy in half may be indefinite where K nearly is, which does no harm: the residual `1 - t p(t)` is above 1 for t
//! below 0, and p(t) positive.

use super::coupled::{self, Slaves};
use super::{Build, Context, Hierarchy, Original, Preconditioner};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{Coupled, CoupledRows, Coupling, LinOp, Matrix};
use cuda_std::prelude::View;
use kernels_rs::precond::{ToDouble, ToSingle};
use kernels_rs::real::Stored;
use kernels_rs::vectors::WIDTH;
use std::cell::RefCell;
use std::slice;

/// An operator in single precision beside one in double.
pub trait InSingle {
    /// The operator.
    fn operator(&self) -> Coupled<'_, f32>;
    /// The square of what scales its rows and columns, `[n]`; empty where it is not scaled.
    fn scaling(&self) -> View<f64>;
}

/// An operator as it is: numbers of ordinary units are within the range of single precision.
pub struct Unscaled<O>(pub O);

impl<O: LinOp<f32>> InSingle for Unscaled<O> {
    fn operator(&self) -> Coupled<'_, f32> {
        Coupled::new(&self.0, None)
    }

    fn scaling(&self) -> View<f64> {
        View::from_slice(&[])
    }
}

/// A preconditioner in single precision.
pub struct Rounded {
    of: Box<dyn InSingle>,
    inner: Box<dyn Preconditioner<f32>>,
    /// r and z of some vectors in single precision.
    vectors: RefCell<[Vec<Buffer<f32>>; 2]>,
}

impl Rounded {
    /// By the preconditioner that was made of an operator in single precision.
    pub fn new(space: &Space, of: Box<dyn InSingle>, inner: Box<dyn Preconditioner<f32>>) -> Result<Self> {
        let n = of.operator().operator().n();
        let vectors = RefCell::new([vec![space.zeros(n)?], vec![space.zeros(n)?]]);
        Ok(Rounded { of, inner, vectors })
    }

    /// Copies a matrix and makes the preconditioner `P` of the copy.
    pub fn build<V: Stored<Arithmetic = f32>, P: Build<f32> + 'static>(
        space: &Space,
        matrix: &Matrix<f64>,
        context: &Context,
    ) -> Result<Self> {
        let copy = ScaledCopy::<V>::new(space, matrix, context.coupled)?;
        let original = Some(Original { matrix, inverse: &copy.inverse, coupled: context.coupled });
        let inner = P::build(space, &copy.matrix, &Context { original, coupled: copy.coupled(), ..*context })?;
        Rounded::new(space, Box::new(copy), Box::new(inner))
    }
}

impl Preconditioner<f64> for Rounded {
    fn apply(&self, space: &Space, operator: &dyn LinOp<f64>, r: &Buffer<f64>, z: &mut Buffer<f64>) -> Result<()> {
        self.apply_all(space, operator, slice::from_ref(r), slice::from_mut(z))
    }

    fn apply_all(&self, space: &Space, _: &dyn LinOp<f64>, r: &[Buffer<f64>], z: &mut [Buffer<f64>]) -> Result<()> {
        let vectors = &mut *self.vectors.borrow_mut();
        for (r, z) in r.chunks(WIDTH).zip(z.chunks_mut(WIDTH)) {
            let n = vectors[0][0].len();
            vectors.iter_mut().try_for_each(|vectors| space.widen(vectors, n, r.len()))?;
            let [rounded, solved] = vectors.each_mut().map(|vectors| &mut vectors[..r.len()]);
            r.iter().zip(&mut *rounded).try_for_each(|(r, rounded)| round(space, self.of.scaling(), r, rounded))?;
            self.inner.apply_all(space, self.of.operator().operator(), rounded, solved)?;
            solved.iter().zip(z).try_for_each(|(solved, z)| widen(space, self.of.scaling(), solved, z))?;
        }
        Ok(())
    }

    fn products(&self) -> usize {
        self.inner.products()
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        self.inner.hierarchy()
    }

    fn is_linear(&self) -> bool {
        self.inner.is_linear()
    }
}

/// `A = D^-1/2 K D^-1/2` with D the diagonal of K: its entries are of size 1 whatever the units of K, so that single
/// precision neither overflows nor underflows on them. `D^-1/2` scales vectors on their way.
pub struct ScaledCopy<V: Stored> {
    /// `D^-1`, `[n]`.
    pub inverse: Buffer<f64>,
    /// A.
    pub matrix: Matrix<V>,
    /// The couplings around A, `D^1/2 T D^-1/2`.
    coupled: Option<(CoupledRows, Coupling<f32>)>,
}

impl<V: Stored<Arithmetic = f32>> ScaledCopy<V> {
    /// Copies K, which may have couplings T around it; D is the diagonal of `T^T K T` then, but for slaves.
    pub fn new(space: &Space, matrix: &Matrix<f64>, rows: Option<&CoupledRows>) -> Result<Self> {
        let inverse = coupled::inverse_diagonal(space, matrix, rows, Slaves::OfMatrix)?;
        let matrix = matrix.scaled_to(space, &inverse)?;
        let scale = |rows: &CoupledRows| {
            let rows = rows.scaled(&space.download(&inverse)?);
            Coupling::new(space, &rows).map(|on_device| (rows, on_device))
        };
        let coupled = rows.map(scale).transpose()?;
        Ok(ScaledCopy { inverse, matrix, coupled })
    }

    /// The couplings around A.
    pub fn coupled(&self) -> Option<&CoupledRows> {
        self.coupled.as_ref().map(|(rows, _)| rows)
    }

    /// A, with the couplings around it.
    pub fn coupled_matrix(&self) -> Coupled<'_, f32> {
        Coupled::new(&self.matrix, self.coupled.as_ref().map(|(_, coupling)| coupling))
    }

    /// `rounded = D^-1/2 r`, both `[n]`.
    pub fn round(&self, space: &Space, r: &Buffer<f64>, rounded: &mut Buffer<f32>) -> Result<()> {
        round(space, self.scaling(), r, rounded)
    }

    /// `z = D^-1/2 rounded`, both `[n]`.
    pub fn widen(&self, space: &Space, rounded: &Buffer<f32>, z: &mut Buffer<f64>) -> Result<()> {
        widen(space, self.scaling(), rounded, z)
    }
}

impl<V: Stored<Arithmetic = f32>> InSingle for ScaledCopy<V> {
    fn operator(&self) -> Coupled<'_, f32> {
        self.coupled_matrix()
    }

    fn scaling(&self) -> View<f64> {
        self.inverse.view()
    }
}

/// A vector in single precision, scaled by the root of `scaling`, if that is not empty; all `[n]`.
fn round(space: &Space, scaling: View<f64>, r: &Buffer<f64>, rounded: &mut Buffer<f32>) -> Result<()> {
    let n = rounded.len();
    assert!(r.len() == n && [0, n].contains(&scaling.len()), "vectors of another length than the operator");
    let kernel = ToSingle { inverse: scaling, r: r.view(), rounded: rounded.view_mut() };
    // SAFETY: all live and have n entries; `rounded` is borrowed uniquely.
    unsafe { space.run(n, kernel) }
}

/// The same back to double.
fn widen(space: &Space, scaling: View<f64>, rounded: &Buffer<f32>, z: &mut Buffer<f64>) -> Result<()> {
    let n = rounded.len();
    assert!(z.len() == n && [0, n].contains(&scaling.len()), "vectors of another length than the operator");
    let kernel = ToDouble { inverse: scaling, rounded: rounded.view(), z: z.view_mut() };
    // SAFETY: all live and have n entries; z is borrowed uniquely.
    unsafe { space.run(n, kernel) }
}
