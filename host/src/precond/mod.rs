//! Preconditioners: one file each, applied through a backend's primitives.
//!
//! | preconditioner | `M^-1` | source |
//! | --- | --- | --- |
//! | `none` | `I` | |
//! | `jacobi` | `D^-1`, D the diagonal of K | |
//! | `block_jacobi` | the inverse of the diagonal blocks | |
//! | `neumann` | `p(D^-1 K) D^-1`, p the truncated Neumann series | SBELL sec. 2; Saad 2003, sec. 12.3.1 |
//! | `chebyshev` | the same, p by Chebyshev's iteration | Saad 2003, alg. 12.1 |
//! | `least_squares` | the same, p the least-squares polynomial with Jacobi weights | Saad 2003, sec. 12.3.3 |
//!
//! SBELL's row and column scaling, `D^-1/2 K D^-1/2` (sec. 5.3), is in the `D^-1` of the last three and costs no second
//! matrix: see [`polynomial`].

mod block_jacobi;
pub mod chebyshev;
mod identity;
mod jacobi;
mod least_squares;
mod neumann;
pub mod polynomial;
mod rounded;
mod scaled;
pub mod spectrum;

pub use block_jacobi::BlockJacobi;
pub use chebyshev::Chebyshev;
pub use identity::Identity;
pub use jacobi::{Jacobi, inverse_diagonal};
pub use least_squares::LeastSquares;
pub use neumann::Neumann;
pub use rounded::Rounded;
pub use scaled::ScaledCopy;

use crate::backend::{Backend, Blocks, Vector};
use crate::error::{Error, Result};
use crate::sparse::{Matrix, Operator};
use kernels_rs::real::{Real, Stored};

/// Calls `$callback! { $arguments Identity, Jacobi, .. }` with every preconditioner: the only list of them.
#[macro_export]
macro_rules! for_each_preconditioner {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Identity, Jacobi, BlockJacobi, Neumann, Chebyshev, LeastSquares }
    };
}

/// An approximate inverse that is symmetric and positive definite.
pub trait Preconditioner<B: Backend, T: Real> {
    /// `z = M^-1 r`; `operator` is the matrix that it was made of.
    fn apply(&self, backend: &B, operator: &dyn Operator<B, T>, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()>;

    /// Products with the matrix that an application takes.
    fn products(&self) -> usize {
        0
    }

    /// The diagonal of `M^-1`, if that is all there is to it: then the iteration applies it in passing.
    fn diagonal(&self) -> Option<&Vector<B, T>> {
        None
    }

    /// The diagonal blocks of `M^-1`, if that is all there is to it: then the iteration applies them in passing.
    fn blocks(&self) -> Option<&Blocks<Vector<B, T>>> {
        None
    }
}

/// How a preconditioner is made from a matrix.
pub trait Build<B: Backend, T: Real>: Preconditioner<B, T> + Sized {
    /// Its name: `jacobi`.
    const NAME: &'static str;
    /// Whether there is one of each order.
    const HAS_ORDER: bool = false;
    /// Makes it. `order` is that of polynomials, one of [`crate::model::options::ORDERS`]; the others have none.
    fn build<V: Stored<Arithmetic = T>>(backend: &B, matrix: &Matrix<B, V>, order: usize) -> Result<Self>;
}

/// The names of all preconditioners.
pub fn names() -> Vec<&'static str> {
    macro_rules! list {
        ($($P:ident),+) => { vec![$(<$P<crate::backend::CpuBackend, f64> as Build<_, _>>::NAME),+] };
    }
    for_each_preconditioner!(list)
}

/// The names of those that are polynomials, of some order.
pub fn polynomials() -> Vec<&'static str> {
    macro_rules! list {
        ($($P:ident),+) => { [$((
            <$P<crate::backend::CpuBackend, f64> as Build<_, _>>::NAME,
            <$P<crate::backend::CpuBackend, f64> as Build<_, _>>::HAS_ORDER,
        )),+] };
    }
    for_each_preconditioner!(list).into_iter().filter(|(_, has_order)| *has_order).map(|(name, _)| name).collect()
}

/// Whether the preconditioner of this name is a polynomial.
pub fn has_order(name: &str) -> bool {
    polynomials().contains(&name)
}

/// What `auto` stands for.
pub const AUTO: &str = "jacobi";

/// What `auto` stands for with `precision = "mixed"` or `"mixed_half"`, which are made for polynomials: on cubes of 3 million unknowns
/// on an H200 6 to 18 % faster than `least_squares`, SBELL's choice.
pub const AUTO_MIXED: &str = "chebyshev";

/// Makes the preconditioner of this name, and of this order if it is a polynomial.
///
/// # Errors
///
/// [`Error::NotAvailable`] for an unknown name, [`Error::OutOfMemory`].
pub fn build<B: Backend, T: Real>(
    name: &str,
    order: usize,
    backend: &B,
    matrix: &Matrix<B, T>,
) -> Result<Box<dyn Preconditioner<B, T>>> {
    macro_rules! find {
        ($($P:ident),+) => {
            $(if name == <$P<B, T> as Build<B, T>>::NAME {
                return Ok(Box::new(<$P<B, T> as Build<B, T>>::build(backend, matrix, order)?));
            })+
        };
    }
    for_each_preconditioner!(find);
    Err(Error::NotAvailable { what: "preconditioner", name: name.to_owned(), available: names() })
}

/// As [`build`], in single precision with a copy of the matrix in `V`: of polynomials, as the others read no matrix.
///
/// # Errors
///
/// [`Error::NotAvailable`] for what is no polynomial, [`Error::OutOfMemory`].
pub fn build_rounded<B: Backend, V: Stored<Arithmetic = f32>>(
    name: &str,
    order: usize,
    backend: &B,
    matrix: &Matrix<B, f64>,
) -> Result<Box<dyn Preconditioner<B, f64>>> {
    macro_rules! find {
        ($($P:ident),+) => {
            $(if name == <$P<B, f32> as Build<B, f32>>::NAME && <$P<B, f32> as Build<B, f32>>::HAS_ORDER {
                return Ok(Box::new(Rounded::<B, V, $P<B, f32>>::build(backend, matrix, order)?));
            })+
        };
    }
    for_each_preconditioner!(find);
    Err(Error::NotAvailable {
        what: "preconditioner of a rounded copy",
        name: name.to_owned(),
        available: polynomials(),
    })
}
