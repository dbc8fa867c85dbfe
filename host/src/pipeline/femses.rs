//! `method = "femses"`: from a model to its potential without a matrix.

use super::system::{Strains, reciprocals};
use super::{Loaded, Phase, Solved, Timings, stopping};
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{DeviceMesh, ElementOperator, Supports, Topology};
use crate::linalg::Space;
use crate::model::Model;
use crate::result::{Plan, Result};
use crate::solve::{CgOptions, FemsesOptions, Monitor, femses};
use kernels_rs::real::Real;

/// Solves a model.
pub(super) fn find<T: Real>(
    space: &Space,
    model: &Model,
    plan: &Plan,
    monitor: &dyn Monitor,
    phase: &mut Phase,
    timings: &mut Timings,
) -> Result<Solved> {
    let Topology { numbering, pattern, blocks, coords } =
        Topology::new(space, &model.mesh, plan.ordering, DEGREE_WINDOW)?;
    drop(pattern);
    let mesh = DeviceMesh::new(space, model, blocks, coords)?;
    let mut body = Loaded::new(space, model, numbering, mesh)?;
    space.finish()?;
    timings.setup = phase.next("assembly");
    body.take_off_motion(model, |mesh| diagonal::<T>(space, mesh))?;
    timings.assembly = phase.next("boundary");
    let forces = body.prescribed_forces(space)?;
    let f = body.lifted(&forces);
    body.set_rhs::<T>(&f, &forces)?;
    let f = space.upload_vec(f.into_iter().map(T::from_f64).collect::<Vec<_>>())?;
    let operator = ElementOperator::<T>::new(space, &body.mesh, &body.supports)?;
    timings.boundary = phase.next("solve");
    let solver = &model.solver;
    let CgOptions { tolerance, measure, max_iterations, .. } = stopping(solver);
    let plain = FemsesOptions::new(tolerance, max_iterations, plan.acceleration);
    let options = FemsesOptions { measure, order: solver.order, ..plain };
    let mut v = space.zeros(body.mesh.n_nodes)?;
    let strains = Strains::new(space, &body, None);
    let inverse = || {
        let mut inverse = space.zeros(body.mesh.n_nodes)?;
        space.copy(operator.inverse_diagonal(), &mut inverse)?;
        Ok(inverse)
    };
    let energy = body.energy_norm(space, &strains, None, inverse)?;
    let outcome = femses(space, &operator, &f, Some(&energy), &mut v, options, monitor)?;
    let v = space.take(v)?.into_iter().map(T::to_f64).collect();
    drop((energy, operator));
    Ok(Solved { body, v, outcome, epsilon: T::EPSILON.to_f64() })
}

/// The diagonal of K before supports.
fn diagonal<T: Real>(space: &Space, mesh: &DeviceMesh) -> Result<Vec<f64>> {
    let free = Supports::free(mesh.n_nodes);
    Ok(reciprocals(&space.download(ElementOperator::<T>::new(space, mesh, &free)?.inverse_diagonal())?))
}
