//! Makes what solves a system, and what takes its place where there is too little memory.

use super::{Choices, System};
use crate::backend::{Backend, check_room};
use crate::error::{Error, Result};
use crate::estimate;
use crate::model::Model;
use crate::plan::{self, Decision, DeviceFacts};
use crate::precond::{self, Context};
use crate::solve;
use crate::solve::direct::DirectError;
use crate::solve::iteration::{Builder, Iteration};
use kernels_rs::real::Real;

/// Makes a direct solver. Where its factor has no room, or is of no use, what is made `instead` takes its place.
pub(super) fn direct<B: Backend, T: Real>(
    backend: &B,
    model: &Model,
    system: &System<B, T>,
    choices: &mut Choices,
    build: solve::direct::Builder<B, T>,
    instead: Option<Builder<B, T>>,
) -> Result<Box<dyn Iteration<B, T>>> {
    if instead.is_none() {
        let without = backend.lacks_factors().filter(|_| !B::ON_HOST).map(DirectError::NoLibrary);
        choices.fallback = without.map(|error| format!("the factor is of a dense matrix: {error}"));
    }
    match (build(backend, &system.matrix, &system.body.coords), instead) {
        (Err(error @ (Error::OutOfMemory { .. } | Error::Direct(_))), Some(build)) => {
            let why = format!("a direct solution was not possible: {error}");
            let Decision { method, preconditioner, reason, .. } =
                plan::without_factor(model, &DeviceFacts::of(backend), "a factor was not possible".into());
            (choices.method, choices.preconditioner, choices.reason) = (method, preconditioner, reason);
            let made = iteration(backend, model, system, choices, build)?;
            choices.fallback = Some(choices.fallback.take().map_or(why.clone(), |more| format!("{why}; {more}")));
            Ok(made)
        }
        (made, _) => made,
    }
}

/// Makes an iteration by the name of its preconditioner.
pub(super) fn iteration<B: Backend, T: Real>(
    backend: &B,
    model: &Model,
    system: &System<B, T>,
    choices: &mut Choices,
    build: Builder<B, T>,
) -> Result<Box<dyn Iteration<B, T>>> {
    let context = Context::of_nodes(model.solver.order, system.body.mesh.coords(), system.body.mesh.ends());
    let build = |name: &str| build(name, &context, backend, &system.matrix);
    in_room(backend, model, choices, build)
}

/// Makes what the iteration is preconditioned with; where a multigrid hierarchy has no room, something else.
fn in_room<B: Backend, I>(
    backend: &B,
    model: &Model,
    choices: &mut Choices,
    build: impl Fn(&str) -> Result<I>,
) -> Result<I> {
    if choices.preconditioner != precond::MULTIGRID {
        return build(&choices.preconditioner);
    }
    let room = check_room(backend, estimate::hierarchy_bytes(model), " for a multigrid hierarchy");
    match room.and_then(|()| build(&choices.preconditioner)) {
        Err(error @ Error::OutOfMemory { .. }) => {
            let name = precond::without_multigrid(&choices.precision);
            choices.fallback = Some(format!("preconditioned by {name} instead of multigrid: {error}"));
            choices.order = precond::has_order(name).then_some(model.solver.order);
            choices.preconditioner = name.into();
            choices.reason = format!("{name}: multigrid has too little memory");
            build(name)
        }
        made => made,
    }
}
