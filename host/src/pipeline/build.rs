//! Makes what solves a system, and what takes its place where there is too little memory or the factor fails.

use super::System;
use super::loaded::Loaded;
use super::operator::Operator;
use crate::assembly::{MatrixFree, SlabStiffness, VertexLevel};
use crate::device::check_memory;
use crate::linalg::Space;
use crate::model::Model;
use crate::plan::{self, DeviceFacts};
use crate::precond::{self, Context, Preconditioner as Precondition, Rounded, Unscaled};
use crate::result::choices::{Method, Preconditioner};
use crate::result::{Change, Changed, DirectError, Error, Plan, Reason, Result};
use crate::solve;
use crate::solve::Iteration;
use crate::solve::iteration::{self, Builder};
use crate::sparse::{Shared, Slabs};
use kernels_rs::real::Real;

/// How an iteration is made in a precision, of a matrix and of an operator without one.
#[derive(Clone, Copy)]
pub(super) struct Iterations<T: Real> {
    assembled: Builder<T>,
    matrix_free: WithoutMatrix<T>,
}

/// As [`Builder`], of an operator without a matrix.
type WithoutMatrix<T> = fn(Preconditioner, &Context, &Space, &MatrixFree<T>) -> Result<Box<dyn Iteration<T>>>;

impl<T: Real> Iterations<T> {
    /// Everything in one precision.
    pub(super) const PLAIN: Self = Iterations { assembled: iteration::plain, matrix_free: plain };

    /// The iteration of an operator.
    pub(super) fn of(
        self,
        by: Preconditioner,
        context: &Context,
        space: &Space,
        operator: &Operator<T>,
    ) -> Result<Box<dyn Iteration<T>>> {
        match operator {
            Operator::Assembled(matrix) => (self.assembled)(by, context, space, matrix),
            Operator::MatrixFree(product) => (self.matrix_free)(by, context, space, product),
        }
    }
}

impl Iterations<f64> {
    /// As much as can be in single, and the result in double.
    pub(super) const MIXED: Self = Iterations { assembled: iteration::mixed, matrix_free: mixed };
    /// The same with the matrix in 16 bits; a plan has it with a matrix alone.
    pub(super) const MIXED_HALF: Self = Iterations { assembled: iteration::mixed_half, matrix_free: mixed };
}

fn plain<T: Real>(
    by: Preconditioner,
    context: &Context,
    space: &Space,
    product: &MatrixFree<T>,
) -> Result<Box<dyn Iteration<T>>> {
    let (inverse, halo) = (product.inverse_diagonal(space)?, context.halo(space)?);
    let shared = Shared::new(product, halo.as_ref());
    Ok(Box::new(precond::build_of_operator(by, context, space, shared.operator(), inverse)?))
}

fn mixed(
    by: Preconditioner,
    context: &Context,
    space: &Space,
    product: &MatrixFree<f64>,
) -> Result<Box<dyn Iteration<f64>>> {
    let single = product.rounded(space)?;
    let inverse = single.inverse_diagonal(space)?;
    let inner = precond::build_of_operator(by, context, space, &single, inverse)?;
    let rounded: Box<dyn Precondition<f64>> = Box::new(Rounded::new(space, Box::new(Unscaled(single)), inner)?);
    Ok(Box::new(rounded))
}

/// Makes the solver that the plan names; where there is too little memory for it, another, and notes the change.
pub(super) struct Maker<'a, T: Real> {
    pub space: &'a Space,
    pub model: &'a Model,
    pub system: &'a System<T>,
    pub plan: &'a mut Plan,
    pub changes: Vec<Change>,
}

impl<T: Real> Maker<'_, T> {
    /// Makes a direct solver. Where its factor has no room, or is of no use, what is made `instead` takes its place.
    pub(super) fn direct(
        &mut self,
        build: solve::direct::Builder<T>,
        instead: Option<Iterations<T>>,
    ) -> Result<Box<dyn Iteration<T>>> {
        let (space, system) = (self.space, self.system);
        let made = system.on_reduced(space, |matrix| Ok(build(space, matrix, &system.body.coords)))?;
        match (made, instead) {
            (Err(error @ (Error::OutOfMemory { .. } | Error::Direct(_))), Some(build)) => {
                let other = plan::without_factor(self.model, &DeviceFacts::of(self.space), Reason::FactorFailed);
                *self.plan = Plan { precision: self.plan.precision, fill: self.plan.fill, ..other };
                self.note(Changed::Method, Method::Direct.name(), self.plan.method.name(), error.to_string());
                self.iteration(build)
            }
            (made, None) => {
                if let Some(lack) = self.space.lacks_factors().filter(|_| !self.space.on_host()) {
                    self.note(Changed::Factor, "sparse", "dense", DirectError::NoLibrary(lack).to_string());
                }
                made
            }
            (made, Some(_)) => made,
        }
    }

    /// Makes an iteration by its preconditioner; where a multigrid hierarchy has no room, with another.
    pub(super) fn iteration(&mut self, build: Iterations<T>) -> Result<Box<dyn Iteration<T>>> {
        let (space, model, system) = (self.space, self.model, self.system);
        let context = system.body.context(model.solver.order);
        let build = |preconditioner| {
            let Loaded { numbering, mesh, supports, .. } = &system.body;
            let (mut level, mut slabs) = (None, None);
            if preconditioner == Preconditioner::Amg && matches!(system.operator, Operator::MatrixFree(_)) {
                level = VertexLevel::new(space, model, numbering, mesh, supports)?;
                if level.is_none() {
                    slabs = Some(SlabStiffness::new(space, model, numbering, mesh, supports)?);
                }
            }
            let vertices = level.as_ref().map(precond::VertexLevel::from);
            let slabs = slabs.as_ref().map(|slabs| slabs as &dyn Slabs<f64>);
            build.of(preconditioner, &Context { vertices, slabs, ..context }, space, &system.operator)
        };
        let preconditioner = self.plan.preconditioner.unwrap_or(precond::AUTO);
        if preconditioner != Preconditioner::Amg {
            return build(preconditioner);
        }
        let room =
            check_memory(space, plan::hierarchy_bytes(self.model, self.plan.operator), " for a multigrid hierarchy");
        match room.and_then(|()| build(preconditioner)) {
            Err(error @ Error::OutOfMemory { .. }) => {
                self.plan.without_multigrid(self.model.solver.order);
                let other = self.plan.preconditioner.unwrap_or(precond::AUTO);
                self.note(Changed::Preconditioner, preconditioner.name(), other.name(), error.to_string());
                build(other)
            }
            made => made,
        }
    }

    fn note(&mut self, choice: Changed, from: &'static str, to: &'static str, reason: String) {
        self.changes.push(Change { choice, from, to, reason });
    }
}

impl<'a> From<&'a VertexLevel> for precond::VertexLevel<'a> {
    fn from(level: &'a VertexLevel) -> Self {
        precond::VertexLevel { matrix: &level.matrix, free: &level.free }
    }
}
