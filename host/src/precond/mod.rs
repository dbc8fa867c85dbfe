//! Preconditioners: one file each, applied through a backend's primitives.

mod identity;
mod jacobi;

pub use identity::Identity;
pub use jacobi::Jacobi;

use crate::backend::{Backend, Vector};
use crate::error::Result;
use crate::sparse::Matrix;
use kernels_rs::real::Real;

/// Calls `$callback! { $arguments Identity, Jacobi, .. }` with every preconditioner: the only list of them.
#[macro_export]
macro_rules! for_each_preconditioner {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Identity, Jacobi }
    };
}

/// An approximate inverse that is symmetric and positive definite.
pub trait Preconditioner<B: Backend, T: Real> {
    /// `z = M^-1 r`.
    fn apply(&self, backend: &B, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()>;

    /// The diagonal of `M^-1`, if that is all there is to it: then the iteration applies it in passing.
    fn diagonal(&self) -> Option<&Vector<B, T>> {
        None
    }
}

/// How a preconditioner is made from a matrix.
pub trait Build<B: Backend, T: Real>: Preconditioner<B, T> + Sized {
    /// Its name: `jacobi`.
    const NAME: &'static str;
    /// Makes it.
    fn build(backend: &B, matrix: &Matrix<B, T>) -> Result<Self>;
}

/// The names of all preconditioners.
pub fn names() -> Vec<&'static str> {
    macro_rules! list {
        ($($P:ident),+) => { vec![$(<$P<crate::backend::CpuBackend, f64> as Build<_, _>>::NAME),+] };
    }
    for_each_preconditioner!(list)
}

/// What `auto` stands for.
pub const AUTO: &str = "jacobi";

/// Makes the preconditioner of this name; `None` if there is none.
pub fn build<B: Backend, T: Real>(
    name: &str,
    backend: &B,
    matrix: &Matrix<B, T>,
) -> Option<Result<Box<dyn Preconditioner<B, T>>>> {
    macro_rules! find {
        ($($P:ident),+) => {
            $(if name == <$P<B, T> as Build<B, T>>::NAME {
                return Some($P::build(backend, matrix).map(|p| Box::new(p) as Box<dyn Preconditioner<B, T>>));
            })+
        };
    }
    for_each_preconditioner!(find);
    None
}
