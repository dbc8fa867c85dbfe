//! Makes what solves a system, and what takes its place where there is too little memory.

use super::{System, Used};
use crate::device::check_memory;
use crate::estimate;
use crate::linalg::Space;
use crate::model::Model;
use crate::plan::{self, DeviceFacts};
use crate::precond::{self, Context};
use crate::result::choices::Preconditioner;
use crate::result::{DirectError, Error, Plan, Reason, Result};
use crate::solve;
use crate::solve::Iteration;
use crate::solve::iteration::Builder;
use kernels_rs::real::Real;

/// Makes a direct solver. Where its factor has no room, or is of no use, what is made `instead` takes its place.
pub(super) fn direct<T: Real>(
    space: &Space,
    model: &Model,
    system: &System<T>,
    used: &mut Used,
    build: solve::direct::Builder<T>,
    instead: Option<Builder<T>>,
) -> Result<Box<dyn Iteration<T>>> {
    if instead.is_none() {
        let without = space.lacks_factors().filter(|_| !space.on_host()).map(DirectError::NoLibrary);
        used.fallback = without.map(|error| format!("the factor is of a dense matrix: {error}"));
    }
    match (build(space, &system.matrix, &system.body.coords), instead) {
        (Err(error @ (Error::OutOfMemory { .. } | Error::Direct(_))), Some(build)) => {
            let why = format!("a direct solution was not possible: {error}");
            let other = plan::without_factor(model, &DeviceFacts::of(space));
            used.plan = Plan { precision: used.plan.precision, fill: used.plan.fill, ..other };
            let made = iteration(space, model, system, used, build)?;
            used.fallback = Some(used.fallback.take().map_or(why.clone(), |more| format!("{why}; {more}")));
            Ok(made)
        }
        (made, _) => made,
    }
}

/// Makes an iteration by its preconditioner; where a multigrid hierarchy has no room, with another.
pub(super) fn iteration<T: Real>(
    space: &Space,
    model: &Model,
    system: &System<T>,
    used: &mut Used,
    build: Builder<T>,
) -> Result<Box<dyn Iteration<T>>> {
    let context = Context::of_nodes(model.solver.order, system.body.mesh.coords(), system.body.mesh.ends());
    let build = |preconditioner| build(preconditioner, &context, space, &system.matrix);
    let preconditioner = used.plan.preconditioner.unwrap_or(precond::AUTO);
    if preconditioner != Preconditioner::Amg {
        return build(preconditioner);
    }
    let room = check_memory(space, estimate::hierarchy_bytes(model), " for a multigrid hierarchy");
    match room.and_then(|()| build(preconditioner)) {
        Err(error @ Error::OutOfMemory { .. }) => {
            let other = precond::without_multigrid(used.plan.precision);
            let name = other.name();
            used.fallback = Some(format!("preconditioned by {name} instead of multigrid: {error}"));
            used.plan.precondition(other, model.solver.order);
            used.plan.reasons = vec![Reason::MultigridTooLarge];
            build(other)
        }
        made => made,
    }
}
