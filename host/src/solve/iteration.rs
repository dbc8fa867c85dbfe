//! The ways to solve `K u = f`: what a preconditioner and a precision are together.
//!
//! | precision | polynomials, multigrid | other preconditioners |
//! | --- | --- | --- |
//! | double, single | [`cg()`](super::cg()) | [`cg()`](super::cg()) |
//! | mixed | the preconditioner in single, with a copy in single | [`Refinement`] |
//! | mixed_half | the preconditioner in single, with a copy in half precision | none |
//!
//! [`direct`](super::direct) solves by factors instead, and iterates to refine.

use super::{Iteration, Refinement};
use crate::backend::Backend;
use crate::precond::{self, Context};
use crate::result::Result;
use crate::result::choices;
use crate::sparse::Matrix;
use kernels_rs::half::F16;
use kernels_rs::real::Real;

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
