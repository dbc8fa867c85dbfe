//! The smallest eigenvalues of `A x = lambda M x`, A symmetric and positive definite, M symmetric and semidefinite.
//!
//! The method is LOBPCG (Knyazev 2001): each iteration takes the best approximations in the span of the last ones x,
//! their preconditioned residuals w, and the directions p of the last step,
//!
//! ```text
//! S = [x, w, p],   S^T A S = I,   (S^T M S) c = mu c,   x = S c,   lambda = 1 / mu
//! ```
//!
//! It is that of `M x = mu A x` for the largest mu: where some unknowns have no mass, M gives no norm, and A does. The basis
//! is orthonormal by construction, as Duersch, Shao, Yang and Gu (2018) have it: what depends on the rest is left out,
//! and the coefficients of p are made orthogonal to those of x. Few unknowns are solved densely.
//!
//! # When it stops
//!
//! Residuals are measured in the norm of the preconditioner T, as it does not depend on units, the mesh, or how unknowns
//! are numbered:
//!
//! ```text
//! eta = ||A x - lambda M x||_T / (lambda ||M x||_T),   ||r||_T^2 = r . T r
//! ```
//!
//! With `T = A^-1` some eigenvalue is within `eta` of lambda, relative to it (Weinstein's bound), and lambda is
//! too large by about `eta^2 / gap`, gap being the distance to the next eigenvalue beyond the block. The smaller of the
//! two is the estimated error of lambda. The tolerance is on that error relative to `lambda - shift`, what A has of M not being
//! of interest. The error of the shape is about its square root. Of a
//! cluster that is larger than the block and narrower than `eta`, any members may be found.
//!
//! | part | file |
//! | --- | --- |
//! | products, preconditioner, deflation | `problem` |
//! | `S^T A S = I` | `basis` |
//! | small dense problems: mu and c | `ritz` |
//! | blocks x, w, p; their residuals; a step | `state` |
//! | the iteration | `lobpcg` |
//! | estimated errors, stagnation | `stopping` |
//! | few unknowns | `dense` |

mod basis;
mod dense;
mod lobpcg;
mod problem;
mod ritz;
mod state;
mod stopping;
#[cfg(test)]
mod tests;

use crate::device::Buffer;
use crate::linalg::Space;
use crate::precond::Preconditioner;
use crate::result::{Ending, Result};
use crate::sparse::LinOp;
use problem::Problem;

/// Up to so many unknowns are solved densely.
const DENSE: usize = 300;

/// What is solved: `A x = lambda M x`, A symmetric positive definite on the space of the unknowns, M semidefinite.
pub struct Pencil<'a> {
    /// A.
    pub a: &'a dyn LinOp<f64>,
    /// M.
    pub m: &'a dyn LinOp<f64>,
    /// An approximate inverse of A. What it makes of products with M is in the space of the unknowns: 0 where they are held.
    pub preconditioner: &'a dyn Preconditioner<f64>,
    /// Eigenvectors that are known, such as rigid motions, and M-orthonormal: the rest is M-orthogonal to them.
    pub deflated: &'a [Buffer<f64>],
}

/// How many eigenvalues, and how well.
#[derive(Debug, Clone, Copy)]
pub struct EigenOptions {
    /// Eigenvalues wanted.
    pub n: usize,
    /// What A has of M: errors of lambda are relative to `lambda - shift`.
    pub shift: f64,
    /// The relative error of an eigenvalue that is good enough.
    pub tolerance: f64,
    /// Iterations at most.
    pub max_iterations: usize,
}

/// Where an iteration stands.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Iterations done.
    pub iteration: usize,
    /// Eigenvalues wanted that are within the tolerance.
    pub converged: usize,
    /// Eigenvalues wanted.
    pub n: usize,
    /// The largest estimated relative error of those.
    pub error: f64,
    /// What it has to come down to.
    pub tolerance: f64,
}

impl Progress {
    /// Whether all have converged.
    fn is_done(&self) -> bool {
        self.converged == self.n
    }
}

/// Eigenvalues and their vectors.
pub struct Eigenpairs {
    /// The eigenvalues, ascending: Rayleigh quotients of the vectors. Fewer than wanted if fewer have mass.
    pub values: Vec<f64>,
    /// M-orthonormal.
    pub vectors: Vec<Buffer<f64>>,
    /// The true `eta` of each: see the [module](self).
    pub residuals: Vec<f64>,
    /// The estimated error of each, which the tolerance is on.
    pub errors: Vec<f64>,
    /// Iterations done; 0 if it was solved densely.
    pub iterations: usize,
    /// Products with A and with M.
    pub products: usize,
    /// How many are within the tolerance.
    pub converged: usize,
    /// Why it ended. [`Ending::Converged`] if all that there are have converged, be they as many as wanted or fewer.
    pub ending: Ending,
}

/// Vectors of a block for `n` eigenvalues: some more, so that the last ones converge as the others do.
const fn block_size(n: usize) -> usize {
    let more = n / 4;
    n + if more < 2 { 2 } else { more }
}

/// Vectors of full length that the search for `n` eigenvalues keeps on the device, besides the deflated.
pub const fn n_vectors(n: usize) -> usize {
    state::VECTORS * block_size(n)
}

/// The smallest eigenvalues of a pencil; `monitor` is asked in every iteration whether to go on.
///
/// The same bits every time, on any number of threads.
///
/// # Errors
///
/// [`Error::Breakdown`](crate::result::Error::Breakdown) for NaN and infinity, and those of the device. Not converging is
/// none: see [`Eigenpairs::ending`].
pub fn lobpcg(
    space: &Space,
    pencil: &Pencil,
    options: &EigenOptions,
    monitor: &mut dyn FnMut(Progress) -> bool,
) -> Result<Eigenpairs> {
    let (length, size) = (pencil.a.n(), block_size(options.n));
    assert!(
        pencil.m.n() == length && pencil.deflated.iter().all(|x| x.len() == length),
        "vectors of different lengths"
    );
    let problem = Problem::new(space, pencil)?;
    // A basis of three blocks would be the whole space.
    if length <= DENSE.max(3 * size) {
        return dense::solve(problem, options, monitor);
    }
    lobpcg::solve(problem, size, options, monitor)
}

/// Pairs in the order of their values, each with its residual and its error; with the iterations and products that they took.
fn pairs(
    mut pairs: Vec<(f64, Buffer<f64>, [f64; 2])>,
    (iterations, products): (usize, usize),
    converged: usize,
    ending: Ending,
) -> Eigenpairs {
    pairs.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let mut found = Eigenpairs {
        values: vec![],
        vectors: vec![],
        residuals: vec![],
        errors: vec![],
        iterations,
        products,
        converged,
        ending,
    };
    for (value, vector, [residual, error]) in pairs {
        found.errors.push(error);
        found.values.push(value);
        found.vectors.push(vector);
        found.residuals.push(residual);
    }
    found
}
