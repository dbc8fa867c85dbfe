//! `method = "femses"`: from a model to its potential without a matrix.

use super::loaded::{in_precision, reciprocals};
use super::strains::Strains;
use super::{Found, Loaded, Run, stopping};
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{DeviceMesh, ElementOperator, Supports, Topology};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::result::choices::Method;
use crate::result::{Outcome, Plan, Result};
use crate::solve::{CgOptions, FemsesOptions, Monitor, femses};
use kernels_rs::real::Real;

/// Solves the cases of a run.
pub(super) fn solve<T: Real>(run: &mut Run) -> Result<()> {
    let Run { space, model, monitor, .. } = *run;
    let plan = run.used.plan.clone();
    let Topology { numbering, pattern, blocks, coords } =
        Topology::new(space, &model.mesh, &[], plan.ordering, DEGREE_WINDOW)?;
    drop(pattern);
    let mesh = DeviceMesh::new(space, model, blocks, coords)?;
    let mut body = Loaded::new(space, model, Method::Femses, numbering, mesh)?;
    space.finish()?;
    run.timings.setup += run.phase.next("assembly");
    body.take_off_motion(model, |mesh| diagonal::<T>(space, mesh))?;
    run.timings.assembly += run.phase.next("boundary");
    for case in 0..run.cases.own {
        run.begin(case);
        let (loading, f) = body.loading::<T>(space, model, case)?;
        body.loading = loading;
        let f = in_precision(space, f)?;
        let operator = ElementOperator::<T>::new(space, &body.mesh, &body.supports)?;
        run.timings.boundary += run.phase.next("solve");
        let (v, outcome) = iterate(space, model, &body, (&operator, &f), &plan, monitor)?;
        if run.take(&body, Found { v, outcome, epsilon: T::EPSILON.to_f64() })? {
            break;
        }
    }
    Ok(())
}

fn iterate<T: Real>(
    space: &Space,
    model: &Model,
    body: &Loaded,
    (operator, f): (&ElementOperator<T>, &Buffer<T>),
    plan: &Plan,
    monitor: &dyn Monitor,
) -> Result<(Vec<f64>, Outcome)> {
    let solver = &model.solver;
    let CgOptions { tolerance, measure, max_iterations, .. } = stopping(solver);
    let plain = FemsesOptions::new(tolerance, max_iterations, plan.acceleration);
    let options = FemsesOptions { measure, order: solver.order, ..plain };
    let mut v = space.zeros(body.mesh.n_nodes)?;
    let strains = Strains::new(space, body, &body.loading, None);
    let inverse = || {
        let mut inverse = space.zeros(body.mesh.n_nodes)?;
        space.copy(operator.inverse_diagonal(), &mut inverse)?;
        Ok(inverse)
    };
    let energy = body.energy_norm(space, &body.loading, &strains, None, inverse)?;
    let outcome = femses(space, operator, f, Some(&energy), &mut v, options, monitor)?;
    Ok((space.take(v)?.into_iter().map(T::to_f64).collect(), outcome))
}

/// The diagonal of K before supports.
fn diagonal<T: Real>(space: &Space, mesh: &DeviceMesh) -> Result<Vec<f64>> {
    let free = Supports::free(mesh.n_nodes);
    Ok(reciprocals(&space.download(ElementOperator::<T>::new(space, mesh, &free)?.inverse_diagonal())?))
}
