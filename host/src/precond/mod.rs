//! Preconditioners: one file each, applied through a backend's primitives.
//!
//! | preconditioner | `M^-1` | source |
//! | --- | --- | --- |
//! | `none` | `I` | |
//! | `jacobi` | `D^-1`, D the diagonal of K, in single precision | |
//! | `block_jacobi` | the inverse of the diagonal blocks | |
//! | `neumann` | `p(D^-1 K) D^-1`, p the truncated Neumann series | SBELL sec. 2; Saad 2003, sec. 12.3.1 |
//! | `chebyshev` | the same, p by Chebyshev's iteration | Saad 2003, alg. 12.1 |
//! | `least_squares` | the same, p the least-squares polynomial with Jacobi weights | Saad 2003, sec. 12.3.3 |
//! | `amg` | a cycle of smoothed aggregation multigrid | Vanek, Mandel, Brezina 1996; see [`amg`] |
//!
//! SBELL's row and column scaling, `D^-1/2 K D^-1/2` (sec. 5.3), is in the `D^-1` of the polynomials and costs no
//! second matrix: see [`polynomial`].

pub mod amg;
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

pub use amg::{Amg, Hierarchy, Kept};
pub use block_jacobi::BlockJacobi;
pub use chebyshev::Chebyshev;
pub use identity::Identity;
pub(crate) use jacobi::to_single;
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
        $callback! { $($argument)* Identity, Jacobi, BlockJacobi, Neumann, Chebyshev, LeastSquares, Amg }
    };
}

/// An approximate inverse that is symmetric and positive definite; or nearly, see [`Preconditioner::is_linear`].
pub trait Preconditioner<B: Backend, T: Real> {
    /// `z = M^-1 r`; `operator` is the matrix that it was made of.
    fn apply(&self, backend: &B, operator: &dyn Operator<B, T>, r: &Vector<B, T>, z: &mut Vector<B, T>) -> Result<()>;

    /// Products with the matrix that an application takes.
    fn products(&self) -> usize {
        0
    }

    /// The levels, if there are several.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }

    /// Whether M is the same matrix in every application; if not, the iteration has to be flexible.
    fn is_linear(&self) -> bool {
        true
    }

    /// The diagonal of `M^-1`, if that is all there is to it: then the iteration applies it in passing.
    fn diagonal(&self) -> Option<&Vector<B, f32>> {
        None
    }

    /// The diagonal blocks of `M^-1`, if that is all there is to it: then the iteration applies them in passing.
    fn blocks(&self) -> Option<&Blocks<Vector<B, T>>> {
        None
    }
}

/// What a preconditioner may know besides the matrix.
pub struct Context<'a, B: Backend> {
    /// The order, of a polynomial: one of [`crate::model::options::ORDERS`].
    pub order: usize,
    /// Coordinates of the nodes that block rows stand for, `[n_rows]`, where there are nodes.
    pub coords: Option<&'a Vector<B, [f64; 3]>>,
    /// Of nodes in the middle of an edge its ends, of others themselves twice, `[n_rows]`, if there are such nodes.
    pub ends: Option<&'a Vector<B, [u32; 2]>>,
    /// What the matrix is a rounded copy of, if it is one.
    pub original: Option<Original<'a, B>>,
    /// What a preconditioner of another matrix with the same blocks left, or where this one may leave it.
    pub kept: Option<&'a Kept<B>>,
}

/// A matrix K of which there is a copy `D^-1/2 K D^-1/2` in lower precision.
pub struct Original<'a, B: Backend> {
    /// K.
    pub matrix: &'a Matrix<B, f64>,
    /// `D^-1`, `[n]`.
    pub inverse: &'a Vector<B, f64>,
}

impl<B: Backend> Clone for Original<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for Original<'_, B> {}

impl<'a, B: Backend> Context<'a, B> {
    /// An order, and nothing else.
    pub fn of_order(order: usize) -> Self {
        Context { order, coords: None, ends: None, original: None, kept: None }
    }

    /// An order, the nodes' coordinates, and the ends of the edges that some of them are in the middle of.
    pub fn of_nodes(order: usize, coords: &'a Vector<B, [f64; 3]>, ends: Option<&'a Vector<B, [u32; 2]>>) -> Self {
        Context { coords: Some(coords), ends, ..Context::of_order(order) }
    }

    /// The same, with what is kept from one preconditioner to the next, which is of use to matrices with the same
    /// blocks and supports.
    pub fn keeping(self, kept: &'a Kept<B>) -> Self {
        Context { kept: Some(kept), ..self }
    }
}

/// How a preconditioner is made from a matrix.
pub trait Build<B: Backend, T: Real>: Preconditioner<B, T> + Sized {
    /// Its name: `jacobi`.
    const NAME: &'static str;
    /// Whether there is one of each order.
    const HAS_ORDER: bool = false;
    /// Whether it takes products with the matrix, so that it gains from a copy of it in lower precision.
    const READS_MATRIX: bool = false;
    /// Makes it.
    fn build<V: Stored<Arithmetic = T>>(backend: &B, matrix: &Matrix<B, V>, context: &Context<B>) -> Result<Self>;
}

/// The names of all preconditioners.
pub fn names() -> Vec<&'static str> {
    macro_rules! list {
        ($($P:ident),+) => { vec![$(<$P<crate::backend::CpuBackend, f64> as Build<_, _>>::NAME),+] };
    }
    for_each_preconditioner!(list)
}

/// The names of those of which an associated constant is true.
macro_rules! names_where {
    ($constant:ident $($P:ident),+) => {
        [$((
            <$P<crate::backend::CpuBackend, f64> as Build<_, _>>::NAME,
            <$P<crate::backend::CpuBackend, f64> as Build<_, _>>::$constant,
        )),+].into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect()
    };
}

/// The names of those that are polynomials, of some order.
pub fn polynomials() -> Vec<&'static str> {
    for_each_preconditioner!(names_where, HAS_ORDER)
}

/// The names of those that there are of a rounded copy of the matrix: they take products with it.
pub fn reading_matrix() -> Vec<&'static str> {
    for_each_preconditioner!(names_where, READS_MATRIX)
}

/// Whether the preconditioner of this name is a polynomial.
pub fn has_order(name: &str) -> bool {
    polynomials().contains(&name)
}

/// Whether there is the preconditioner of this name of a rounded copy of the matrix.
pub fn reads_matrix(name: &str) -> bool {
    reading_matrix().contains(&name)
}

/// What `auto` stands for where multigrid does not pay.
pub const AUTO: &str = "jacobi";

/// The name of [`Amg`].
pub const MULTIGRID: &str = "amg";

/// The same with `precision = "mixed"` or `"mixed_half"`, which are made for polynomials: on cubes of 3 million
/// unknowns on an H200 6 to 18 % faster than `least_squares`, SBELL's choice.
pub const AUTO_MIXED: &str = "chebyshev";

/// What `auto` stands for with a precision where multigrid does not pay, or has no room; which
/// `plan` decides.
pub fn without_multigrid(precision: &str) -> &'static str {
    if precision.starts_with("mixed") { AUTO_MIXED } else { AUTO }
}

/// Makes the preconditioner of this name.
///
/// # Errors
///
/// [`Error::NotAvailable`] for an unknown name, [`Error::OutOfMemory`].
pub fn build<B: Backend, T: Real>(
    name: &str,
    context: &Context<B>,
    backend: &B,
    matrix: &Matrix<B, T>,
) -> Result<Box<dyn Preconditioner<B, T>>> {
    macro_rules! find {
        ($($P:ident),+) => {
            $(if name == <$P<B, T> as Build<B, T>>::NAME {
                return Ok(Box::new(<$P<B, T> as Build<B, T>>::build(backend, matrix, context)?));
            })+
        };
    }
    for_each_preconditioner!(find);
    Err(Error::NotAvailable { what: "preconditioner", name: name.to_owned(), available: names() })
}

/// As [`build`], in single precision with a copy of the matrix in `V`: of those that take products with it.
///
/// # Errors
///
/// [`Error::NotAvailable`] for the others, [`Error::OutOfMemory`].
pub fn build_rounded<B: Backend, V: Stored<Arithmetic = f32>>(
    name: &str,
    context: &Context<B>,
    backend: &B,
    matrix: &Matrix<B, f64>,
) -> Result<Box<dyn Preconditioner<B, f64>>> {
    macro_rules! find {
        ($($P:ident),+) => {
            $(if name == <$P<B, f32> as Build<B, f32>>::NAME && <$P<B, f32> as Build<B, f32>>::READS_MATRIX {
                return Ok(Box::new(Rounded::<B, V, $P<B, f32>>::build(backend, matrix, context)?));
            })+
        };
    }
    for_each_preconditioner!(find);
    Err(Error::NotAvailable {
        what: "preconditioner of a rounded copy",
        name: name.to_owned(),
        available: reading_matrix(),
    })
}
