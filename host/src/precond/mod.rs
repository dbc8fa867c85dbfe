//! Preconditioners, applied through a device's operations.
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

mod coupled;
mod rounded;
pub mod spectrum;

pub use amg::tentative::Modes;
pub use amg::{Amg, Hierarchy, SetupCache};
pub use chebyshev::Chebyshev;
pub(crate) use jacobi::to_single;
pub use jacobi::{BlockJacobi, Identity, Jacobi, inverse_diagonal};
pub use least_squares::LeastSquares;
pub use polynomial::Neumann;
pub use rounded::{InSingle, Rounded, ScaledCopy, Unscaled};

use crate::device::Buffer;
use crate::linalg::{Blocks, Space};
use crate::result::choices::{self, Precision, for_each_preconditioner};
use crate::result::{Error, Result};
use crate::sparse::{Coupled, CoupledRows, Coupling, Halo, Interfaces, LinOp, Matrix, Shared, Slabs};
use kernels_rs::real::{Real, Stored};
use std::rc::Rc;

macro_rules! files {
    ($($file:ident { $($preconditioners:tt)+ })+) => { $(pub mod $file;)+ };
}
for_each_preconditioner!(files);

/// An approximate inverse that is symmetric and positive definite; or nearly, see [`Preconditioner::is_linear`].
pub trait Preconditioner<T: Real> {
    /// `z = M^-1 r`; `operator` is the matrix that it was made of.
    fn apply(&self, space: &Space, operator: &dyn LinOp<T>, r: &Buffer<T>, z: &mut Buffer<T>) -> Result<()>;

    /// The same of several vectors, each with the bits that it has alone, in as few passes over matrices as there can be.
    fn apply_all(&self, space: &Space, operator: &dyn LinOp<T>, r: &[Buffer<T>], z: &mut [Buffer<T>]) -> Result<()> {
        r.iter().zip(z).try_for_each(|(r, z)| self.apply(space, operator, r, z))
    }

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
    fn diagonal(&self) -> Option<&Buffer<f32>> {
        None
    }

    /// The diagonal blocks of `M^-1`, if that is all there is to it: then the iteration applies them in passing.
    fn blocks(&self) -> Option<&Blocks<T>> {
        None
    }
}

/// What a preconditioner may know besides the matrix.
pub struct Context<'a> {
    /// The order, of a polynomial: one of [`crate::result::choices::ORDERS`].
    pub order: usize,
    /// Coordinates of the nodes that block rows stand for, `[n_rows]`, where there are nodes.
    pub coords: Option<&'a Buffer<[f64; 3]>>,
    /// Of nodes in the middle of an edge its ends, of others themselves twice, `[n_rows]`, if there are such nodes.
    pub ends: Option<&'a Buffer<[u32; 2]>>,
    /// What the matrix is a rounded copy of, if it is one.
    pub original: Option<Original<'a>>,
    /// What a preconditioner of another matrix with the same blocks left, or where this one may leave it.
    pub kept: Option<&'a SetupCache>,
    /// The level of the vertices, of an operator without entries that has nodes in the middle of edges.
    pub vertices: Option<VertexLevel<'a>>,
    /// K in slabs, of an operator without entries whose elements are all linear.
    pub slabs: Option<&'a dyn Slabs<f64>>,
    /// The couplings around the matrix, which is K: then the preconditioner is one of `T^T K T`.
    pub coupled: Option<&'a CoupledRows>,
    /// What costs no energy, if that is not the rigid motions of the nodes.
    pub modes: Option<&'a Modes>,
    /// Where ranks share the matrix: what each has of the others.
    pub ranks: Option<&'a Interfaces>,
}

/// What a hierarchy begins with where the finest level has no entries.
#[derive(Clone, Copy)]
pub struct VertexLevel<'a> {
    /// `P^T K P`, with P the mean of an edge's ends in its middle; vertices as nodes are numbered.
    pub matrix: &'a Rc<Matrix<f64>>,
    /// A bit for each component of a node that no support holds, `[n_nodes]`.
    pub free: &'a Buffer<u8>,
}

/// A matrix K of which there is a copy `D^-1/2 K D^-1/2` in lower precision.
#[derive(Clone, Copy)]
pub struct Original<'a> {
    /// K.
    pub matrix: &'a Matrix<f64>,
    /// `D^-1`, `[n]`.
    pub inverse: &'a Buffer<f64>,
    /// The couplings around K; those of the context are around the copy.
    pub coupled: Option<&'a CoupledRows>,
}

impl<'a> Context<'a> {
    /// An order, and nothing else.
    pub fn of_order(order: usize) -> Self {
        Context {
            order,
            coords: None,
            ends: None,
            original: None,
            kept: None,
            vertices: None,
            slabs: None,
            coupled: None,
            modes: None,
            ranks: None,
        }
    }

    /// An order, the nodes' coordinates, and the ends of the edges that some of them are in the middle of.
    pub fn of_nodes(order: usize, coords: &'a Buffer<[f64; 3]>, ends: Option<&'a Buffer<[u32; 2]>>) -> Self {
        Context { coords: Some(coords), ends, ..Context::of_order(order) }
    }

    /// The same, with what is kept from one preconditioner to the next, which is of use to matrices with the same
    /// blocks and supports.
    pub fn keeping(self, kept: &'a SetupCache) -> Self {
        Context { kept: Some(kept), ..self }
    }

    /// The same, with couplings around the matrix.
    pub fn with_coupled(self, coupled: Option<&'a CoupledRows>) -> Self {
        Context { coupled, ..self }
    }

    /// T on a device, if anything is coupled.
    fn coupling<T: Real>(&self, space: &Space) -> Result<Option<Coupling<T>>> {
        self.coupled.map(|rows| Coupling::new(space, rows)).transpose()
    }

    /// What the rows of a rank have of other ranks' nodes, if ranks share the matrix.
    pub(crate) fn halo<T: Real>(&self, space: &Space) -> Result<Option<Halo<T>>> {
        self.ranks.map(|interfaces| Halo::of(space, &interfaces.finest)).transpose()
    }

    /// The inverse of the diagonal of `T^T K T`; 0 for slaves.
    fn inverse_diagonal<V: Stored>(&self, space: &Space, matrix: &Matrix<V>) -> Result<Buffer<V::Arithmetic>> {
        coupled::inverse_diagonal(space, matrix, self.coupled, coupled::Slaves::Zero)
    }
}

/// How a preconditioner is made from a matrix.
pub trait Build<T: Real>: Preconditioner<T> + Sized {
    /// Whether there is one of each order.
    const HAS_ORDER: bool = false;
    /// Whether it takes products with the matrix, so that it gains from a copy of it in lower precision.
    const READS_MATRIX: bool = false;
    /// Whether it needs entries of the matrix, besides its diagonal.
    const NEEDS_ENTRIES: bool = false;
    /// Makes it, of the matrix inside its couplings.
    fn build<V: Stored<Arithmetic = T>>(space: &Space, matrix: &Matrix<V>, context: &Context) -> Result<Self> {
        let (coupling, inverse) = (context.coupling(space)?, context.inverse_diagonal(space, matrix)?);
        let halo = context.halo(space)?;
        let shared = Shared::new(matrix, halo.as_ref());
        Self::of_operator(space, Coupled::new(shared.operator(), coupling.as_ref()).operator(), inverse, context)
    }
    /// Makes it of an operator without entries, whose diagonal has this inverse.
    ///
    /// # Errors
    ///
    /// [`Error::NotAvailable`] where it needs entries.
    fn of_operator(space: &Space, operator: &dyn LinOp<T>, inverse: Buffer<T>, context: &Context) -> Result<Self>;
}

/// What an associated constant of a preconditioner's type is.
macro_rules! constant {
    ($constant:ident $of:ident $($file:ident { $($P:ident = $word:literal),+ })+) => {
        match $of { $($(choices::Preconditioner::$P => <$file::$P<f64> as Build<_>>::$constant),+),+ }
    };
}

/// Whether it is a polynomial, of some order.
pub fn has_order(preconditioner: choices::Preconditioner) -> bool {
    for_each_preconditioner!(constant, HAS_ORDER, preconditioner)
}

/// Whether there is one of a rounded copy of the matrix: it takes products with it.
pub fn reads_matrix(preconditioner: choices::Preconditioner) -> bool {
    for_each_preconditioner!(constant, READS_MATRIX, preconditioner)
}

/// Whether there is none of an operator without entries.
pub fn needs_entries(preconditioner: choices::Preconditioner) -> bool {
    for_each_preconditioner!(constant, NEEDS_ENTRIES, preconditioner)
}

/// The names of those that there are of a rounded copy of the matrix.
pub fn reading_matrix() -> Vec<&'static str> {
    choices::Preconditioner::ALL.into_iter().filter(|one| reads_matrix(*one)).map(|one| one.name()).collect()
}

/// What `auto` stands for where multigrid does not pay.
pub const AUTO: choices::Preconditioner = choices::Preconditioner::Jacobi;

/// The same with `precision = "mixed"` or `"mixed_half"`, which are made for polynomials: on cubes of 3 million
/// unknowns on an H200 6 to 18 % faster than `least_squares`, SBELL's choice.
pub const AUTO_MIXED: choices::Preconditioner = choices::Preconditioner::Chebyshev;

/// What `auto` stands for with a precision where multigrid does not pay, or has no room; which
/// `plan` decides.
pub fn without_multigrid(precision: Precision) -> choices::Preconditioner {
    if matches!(precision, Precision::Mixed | Precision::MixedHalf) { AUTO_MIXED } else { AUTO }
}

/// Makes a preconditioner.
pub fn build<T: Real>(
    preconditioner: choices::Preconditioner,
    context: &Context,
    space: &Space,
    matrix: &Matrix<T>,
) -> Result<Box<dyn Preconditioner<T>>> {
    macro_rules! build {
        ($($file:ident { $($P:ident = $word:literal),+ })+) => {
            match preconditioner { $($(
                choices::Preconditioner::$P => Box::new(<$file::$P<T> as Build<T>>::build(space, matrix, context)?)
            ),+),+ }
        };
    }
    Ok(for_each_preconditioner!(build))
}

/// As [`build`], of an operator without entries, whose diagonal has this inverse.
///
/// # Errors
///
/// [`Error::NotAvailable`] for a preconditioner that needs entries.
pub fn build_of_operator<T: Real>(
    preconditioner: choices::Preconditioner,
    context: &Context,
    space: &Space,
    operator: &dyn LinOp<T>,
    inverse: Buffer<T>,
) -> Result<Box<dyn Preconditioner<T>>> {
    macro_rules! build {
        ($($file:ident { $($P:ident = $word:literal),+ })+) => {
            match preconditioner { $($(choices::Preconditioner::$P => {
                Box::new(<$file::$P<T> as Build<T>>::of_operator(space, operator, inverse, context)?)
            })+)+ }
        };
    }
    Ok(for_each_preconditioner!(build))
}

/// As [`build`], in single precision with a copy of the matrix in `V`: of those that take products with it.
///
/// # Errors
///
/// [`Error::NotAvailable`] for the others.
pub fn build_rounded<V: Stored<Arithmetic = f32>>(
    preconditioner: choices::Preconditioner,
    context: &Context,
    space: &Space,
    matrix: &Matrix<f64>,
) -> Result<Box<dyn Preconditioner<f64>>> {
    if !reads_matrix(preconditioner) {
        let (what, name) = ("preconditioner of a rounded copy", preconditioner.name().to_owned());
        return Err(Error::NotAvailable { what, name, available: reading_matrix() });
    }
    macro_rules! build {
        ($($file:ident { $($P:ident = $word:literal),+ })+) => {
            match preconditioner { $($(
                choices::Preconditioner::$P => Box::new(Rounded::build::<V, $file::$P<f32>>(space, matrix, context)?)
            ),+),+ }
        };
    }
    Ok(for_each_preconditioner!(build))
}
