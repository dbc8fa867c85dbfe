//! Where the benchmarks meet set-up and assembly.

use kernels_rs::real::Real;
use std::rc::Rc;
use warpfem::assembly::Topology;
use warpfem::backend::Backend;
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::pipeline::{Phase, System, Timings};
use warpfem::result::choices::{Format, Ordering};
use warpfem::result::{Plan, Result};
use warpfem::solve::Silent;
use warpfem::sparse::Pattern;

/// The set-up that all formats share: which blocks the matrix of a mesh has.
pub fn pattern<B: Backend>(backend: &B, mesh: &Mesh, order: Ordering, window: usize) -> Result<Rc<Pattern<B>>> {
    let pattern = Topology::new(backend, mesh, order, window)?.pattern;
    backend.finish()?;
    Ok(pattern)
}

/// Assembles a model in a format, and says how long that took.
pub fn assemble<B: Backend, T: Real>(backend: &B, model: &Model, format: Format) -> Result<(System<B, T>, Timings)> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(&Silent, "setup");
    let plan = Plan { format: Some(format), ..Plan::plain(model, B::ON_HOST) };
    let system = System::assemble(backend, model, &plan, &mut phase, &mut timings)?;
    Ok((system, timings))
}
