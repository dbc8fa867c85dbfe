//! Makes what solves a system, and what takes its place where there is too little memory or the factor fails.

use super::System;
use crate::device::check_memory;
use crate::linalg::Space;
use crate::model::Model;
use crate::plan::{self, DeviceFacts};
use crate::precond::{self, Context};
use crate::result::choices::{Method, Preconditioner};
use crate::result::{Change, Changed, DirectError, Error, Plan, Result};
use crate::solve;
use crate::solve::Iteration;
use crate::solve::iteration::Builder;
use crate::sparse::reduced;
use kernels_rs::real::Real;

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
        instead: Option<Builder<T>>,
    ) -> Result<Box<dyn Iteration<T>>> {
        let (space, system) = (self.space, self.system);
        let made = match &system.body.couplings {
            None => build(space, &system.matrix, &system.body.coords),
            Some(couplings) => {
                let matrix = reduced(space, &system.matrix, &couplings.rows)?;
                build(space, &matrix, &system.body.coords)
            }
        };
        match (made, instead) {
            (Err(error @ (Error::OutOfMemory { .. } | Error::Direct(_))), Some(build)) => {
                let other = plan::without_factor(self.model, &DeviceFacts::of(self.space));
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
    pub(super) fn iteration(&mut self, build: Builder<T>) -> Result<Box<dyn Iteration<T>>> {
        let (space, system) = (self.space, self.system);
        let context = Context::of_nodes(self.model.solver.order, system.body.mesh.coords(), system.body.mesh.ends())
            .with_coupled(system.body.couplings.as_ref().map(|couplings| &couplings.rows));
        let build = |preconditioner| build(preconditioner, &context, space, &system.matrix);
        let preconditioner = self.plan.preconditioner.unwrap_or(precond::AUTO);
        if preconditioner != Preconditioner::Amg {
            return build(preconditioner);
        }
        let room = check_memory(space, plan::hierarchy_bytes(self.model), " for a multigrid hierarchy");
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
