//! A preconditioner of an operator in single precision under an iteration in double: as [`Rounded`](super::Rounded), where
//! there is no matrix to copy.

use super::{Hierarchy, Preconditioner};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::LinOp;
use cuda_std::prelude::View;
use kernels_rs::precond::{ToDouble, ToSingle};
use std::cell::RefCell;

/// A preconditioner in single precision of an operator that is so too.
pub struct InSingle {
    operator: Box<dyn LinOp<f32>>,
    inner: Box<dyn Preconditioner<f32>>,
    /// r and z in single precision.
    vectors: RefCell<[Buffer<f32>; 2]>,
}

impl InSingle {
    /// By the preconditioner that was made of the operator.
    pub fn new(space: &Space, operator: Box<dyn LinOp<f32>>, inner: Box<dyn Preconditioner<f32>>) -> Result<Self> {
        let vectors = RefCell::new([space.zeros(operator.n())?, space.zeros(operator.n())?]);
        Ok(InSingle { operator, inner, vectors })
    }
}

impl Preconditioner<f64> for InSingle {
    fn apply(&self, space: &Space, _: &dyn LinOp<f64>, r: &Buffer<f64>, z: &mut Buffer<f64>) -> Result<()> {
        let [rounded, solved] = &mut *self.vectors.borrow_mut();
        let (n, inverse) = (rounded.len(), View::from_slice(&[]));
        assert!([r.len(), z.len()] == [n; 2], "vectors of another length than the operator");
        // SAFETY: all live and have n entries; what is written is borrowed uniquely.
        unsafe { space.run(n, ToSingle { inverse, r: r.view(), rounded: rounded.view_mut() }) }?;
        self.inner.apply(space, &*self.operator, rounded, solved)?;
        // SAFETY: as above.
        unsafe { space.run(n, ToDouble { inverse, rounded: solved.view(), z: z.view_mut() }) }
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
