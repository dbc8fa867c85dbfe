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
use crate::linalg::Space;
use crate::precond::{self, Context};
use crate::result::Result;
use crate::result::choices;
use crate::sparse::Matrix;
use kernels_rs::half::F16;
use kernels_rs::real::Real;

/// How an iteration is made: of a preconditioner and what it may know, on a device, for a matrix.
pub type Builder<T> = fn(choices::Preconditioner, &Context, &Space, &Matrix<T>) -> Result<Box<dyn Iteration<T>>>;

/// Everything in one precision.
pub fn plain<T: Real>(
    preconditioner: choices::Preconditioner,
    context: &Context,
    space: &Space,
    matrix: &Matrix<T>,
) -> Result<Box<dyn Iteration<T>>> {
    Ok(Box::new(precond::build(preconditioner, context, space, matrix)?))
}

/// As much as can be in single, and the result in double.
pub fn mixed(
    preconditioner: choices::Preconditioner,
    context: &Context,
    space: &Space,
    matrix: &Matrix<f64>,
) -> Result<Box<dyn Iteration<f64>>> {
    if precond::reads_matrix(preconditioner) {
        return Ok(Box::new(precond::build_rounded::<f32>(preconditioner, context, space, matrix)?));
    }
    Ok(Box::new(Refinement::build(preconditioner, context, space, matrix)?))
}

/// As [`mixed`], with values of 16 bits.
pub fn mixed_half(
    preconditioner: choices::Preconditioner,
    context: &Context,
    space: &Space,
    matrix: &Matrix<f64>,
) -> Result<Box<dyn Iteration<f64>>> {
    Ok(Box::new(precond::build_rounded::<F16>(preconditioner, context, space, matrix)?))
}
