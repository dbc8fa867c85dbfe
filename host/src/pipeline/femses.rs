//! `method = "femses"`: from a model to its potential without a matrix.

use super::system::{Strains, reciprocals};
use super::{Choices, Found, Loaded, Phase, Timings, ordering, stopping};
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{DeviceMesh, ElementOperator, Supports, Topology};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::model::options::PLAIN_PRECISIONS;
use crate::model::{Analysis, Model, SolverOptions};
use crate::plan::{AS_ASKED, Method, double_or};
use crate::solve::{Acceleration, CgOptions, FemsesOptions, Monitor, femses};
use kernels_rs::real::Real;

/// Its name.
pub(super) const METHOD: &str = "femses";

/// What `auto` stands for; what belongs to a matrix is refused.
pub(super) fn choose(model: &Model, device: String) -> Result<Choices> {
    let solver = &model.solver;
    let refuse = |what, name: &str, available| Err(Error::NotAvailable { what, name: name.into(), available });
    if model.analysis != Analysis::Laplace {
        return refuse("method of elasticity", METHOD, vec!["cg", "direct"]);
    }
    let precision = double_or(solver);
    if !PLAIN_PRECISIONS.contains(&precision.as_str()) {
        return refuse("precision with method `femses`", &solver.precision, PLAIN_PRECISIONS.to_vec());
    }
    if solver.format != "auto" {
        return refuse("format with method `femses`, which has no matrix,", &solver.format, vec!["auto"]);
    }
    if solver.assembly != "auto" {
        return refuse("assembly with method `femses`, which has none,", &solver.assembly, vec!["auto"]);
    }
    if solver.preconditioner != "auto" {
        return refuse("preconditioner with method `femses`", &solver.preconditioner, vec!["auto"]);
    }
    let acceleration = acceleration(solver)?;
    Ok(Choices {
        device,
        method: Method::Femses,
        reason: format!("{METHOD}: {AS_ASKED}"),
        fill: None,
        format: "element".into(),
        ordering: ordering(model)?.name().to_owned(),
        order: (acceleration == Acceleration::Cg).then_some(solver.order),
        preconditioner: acceleration.name().into(),
        precision,
        assembly: "none".into(),
        factor_nonzeros: None,
        hierarchy: None,
        fallback: None,
    })
}

fn acceleration(solver: &SolverOptions) -> Result<Acceleration> {
    let name = &solver.acceleration;
    Acceleration::from_name(name).ok_or_else(|| {
        let available = Acceleration::ALL.map(Acceleration::name).to_vec();
        Error::NotAvailable { what: "acceleration", name: name.clone(), available }
    })
}

/// Solves a model.
pub(super) fn find<B: Backend, T: Real>(
    backend: &B,
    model: &Model,
    monitor: &dyn Monitor,
    phase: &mut Phase,
    timings: &mut Timings,
) -> Result<Found<B>> {
    let Topology { numbering, pattern, blocks, coords } =
        Topology::new(backend, &model.mesh, ordering(model)?, DEGREE_WINDOW)?;
    drop(pattern);
    let mesh = DeviceMesh::new(backend, model, blocks, coords)?;
    let mut body = Loaded::new(backend, model, numbering, mesh)?;
    backend.finish()?;
    timings.setup = phase.next("assembly");
    body.take_off_motion(model, |mesh| diagonal::<B, T>(backend, mesh))?;
    timings.assembly = phase.next("boundary");
    let forces = body.prescribed_forces(backend)?;
    let f = lifted(&body, &forces);
    body.set_rhs::<T>(&f, &forces)?;
    let f = backend.upload_vec(f.into_iter().map(T::from_f64).collect::<Vec<_>>())?;
    let operator = ElementOperator::<B, T>::new(backend, &body.mesh, &body.supports)?;
    timings.boundary = phase.next("solve");
    let solver = &model.solver;
    let CgOptions { tolerance, measure, max_iterations, .. } = stopping(solver);
    let plain = FemsesOptions::new(tolerance, max_iterations, acceleration(solver)?);
    let options = FemsesOptions { measure, order: solver.order, ..plain };
    let mut v = backend.zeros(body.mesh.n_nodes)?;
    let strains = Strains::new(backend, &body);
    let inverse = || {
        let mut inverse = backend.zeros(body.mesh.n_nodes)?;
        backend.copy(operator.inverse_diagonal(), &mut inverse)?;
        Ok(inverse)
    };
    let energy = body.energy_norm(backend, &strains, inverse)?;
    let outcome = femses(backend, &operator, &f, Some(&energy), &mut v, options, monitor)?;
    let v = backend.take(v)?.into_iter().map(T::to_f64).collect();
    drop((energy, operator));
    Ok(Found { body, v, outcome, epsilon: T::EPSILON.to_f64() })
}

/// The diagonal of K before supports.
fn diagonal<B: Backend, T: Real>(backend: &B, mesh: &DeviceMesh<B>) -> Result<Vec<f64>> {
    let free = Supports { fixed: vec![0; mesh.n_nodes], prescribed: Vec::new(), motion: Vec::new(), components: 1 };
    Ok(reciprocals(&backend.download(ElementOperator::<B, T>::new(backend, mesh, &free)?.inverse_diagonal())?))
}

/// The right-hand side `f - K u` for the prescribed u, from its forces `K u`; 0 where it is prescribed: what elimination
/// makes of it.
fn lifted<B: Backend>(body: &Loaded<B>, forces: &[f64]) -> Vec<f64> {
    let Loaded { supports, applied, .. } = body;
    let force = |i: usize| forces.get(i).copied().unwrap_or(0.0);
    let free = |i: usize| if supports.is_fixed(i, 0) { 0.0 } else { applied[i] - force(i) };
    (0..applied.len()).map(free).collect()
}
