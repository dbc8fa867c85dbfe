//! Where the benchmarks meet set-up and assembly.

use kernels_rs::real::Real;
use std::rc::Rc;
use warpfem::assembly::Topology;
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::pipeline::{Phase, System, Timings};
use warpfem::result::choices::{Format, Ordering};
use warpfem::result::{Plan, Result};
use warpfem::solve::Silent;
use warpfem::sparse::Pattern;

/// The set-up that all formats share: which blocks the matrix of a mesh has.
pub fn pattern(space: &Space, mesh: &Mesh, order: Ordering, window: usize) -> Result<Rc<Pattern>> {
    let pattern = Topology::new(space, mesh, &[], order, window)?.pattern;
    space.finish()?;
    Ok(pattern)
}

/// Assembles a model in a format, and says how long that took.
pub fn assemble<T: Real>(space: &Space, model: &Model, format: Format) -> Result<(System<T>, Timings)> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(&Silent, "setup");
    let plan = Plan { format: Some(format), ..Plan::plain(model, space.on_host()) };
    let system = System::assemble(space, model, &plan, &mut phase, &mut timings)?;
    Ok((system, timings))
}
