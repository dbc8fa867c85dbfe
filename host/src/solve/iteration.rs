//! The ways to solve `K u = f`: what a preconditioner and a precision are together.
//!
//! | precision | polynomials, multigrid | other preconditioners |
//! | --- | --- | --- |
//! | double, single | [`cg()`] | [`cg()`] |
//! | mixed | the preconditioner in single, with a copy in single | [`Refinement`] |
//! | mixed_half | the preconditioner in single, with a copy in half precision | none |
//!
//! [`direct`](super::direct) solves by factors instead, and iterates to refine.

use super::{CgOptions, CgOutcome, Equations, Monitor, Refinement, cg};
use crate::backend::{Backend, Vector};
use crate::choices;
use crate::error::Result;
use crate::precond::{self, Context, Hierarchy, Preconditioner};
use crate::sparse::Matrix;
use kernels_rs::half::F16;
use kernels_rs::real::Real;

/// A way to solve `K u = f`, made for one matrix.
pub trait Iteration<B: Backend, T: Real> {
    /// Solves from the `u` given; the operator is the matrix that it was made of.
    fn solve(
        &self,
        backend: &B,
        equations: &Equations<B, T>,
        u: &mut Vector<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<CgOutcome>;

    /// Values that its factors store, if it has some.
    fn factor_nonzeros(&self) -> Option<u64> {
        None
    }

    /// The levels of its preconditioner, if it has some.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }
}

impl<B: Backend, T: Real> Iteration<B, T> for Box<dyn Preconditioner<B, T>> {
    fn solve(
        &self,
        backend: &B,
        equations: &Equations<B, T>,
        u: &mut Vector<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<CgOutcome> {
        cg(backend, equations, &**self, u, options, monitor)
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        (**self).hierarchy()
    }
}

/// How an iteration is made: of a preconditioner and what it may know, on a backend, for a matrix.
pub type Builder<B, T> =
    fn(choices::Preconditioner, &Context<B>, &B, &Matrix<B, T>) -> Result<Box<dyn Iteration<B, T>>>;

/// Everything in one precision.
///
/// # Errors
///
/// As [`precond::build`].
pub fn plain<B: Backend, T: Real>(
    preconditioner: choices::Preconditioner,
    context: &Context<B>,
    backend: &B,
    matrix: &Matrix<B, T>,
) -> Result<Box<dyn Iteration<B, T>>> {
    Ok(Box::new(precond::build(preconditioner, context, backend, matrix)?))
}

/// As much as can be in single, and the result in double.
///
/// # Errors
///
/// As [`precond::build`].
pub fn mixed<B: Backend>(
    preconditioner: choices::Preconditioner,
    context: &Context<B>,
    backend: &B,
    matrix: &Matrix<B, f64>,
) -> Result<Box<dyn Iteration<B, f64>>> {
    if precond::reads_matrix(preconditioner) {
        return Ok(Box::new(precond::build_rounded::<B, f32>(preconditioner, context, backend, matrix)?));
    }
    Ok(Box::new(Refinement::build(preconditioner, context, backend, matrix)?))
}

/// As [`mixed`], with values of 16 bits.
///
/// # Errors
///
/// As [`precond::build_rounded`].
pub fn mixed_half<B: Backend>(
    preconditioner: choices::Preconditioner,
    context: &Context<B>,
    backend: &B,
    matrix: &Matrix<B, f64>,
) -> Result<Box<dyn Iteration<B, f64>>> {
    Ok(Box::new(precond::build_rounded::<B, F16>(preconditioner, context, backend, matrix)?))
}
