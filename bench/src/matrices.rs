//! Where the benchmarks meet orders of nodes, set-up and assembly.

use kernels_rs::real::Real;
use std::rc::Rc;
use warpfem::Result;
use warpfem::assembly::{Ordering, Topology};
use warpfem::backend::Backend;
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::pipeline::{Phase, System, Timings, natural_order};
use warpfem::solve::Silent;
use warpfem::sparse::Pattern;

/// What `--ordering` may be.
pub fn orderings() -> Vec<&'static str> {
    std::iter::once("auto").chain(Ordering::names()).collect()
}

/// The order of this name; `auto` stands for the mesh's own choice.
pub fn ordering(name: &str, mesh: &Mesh) -> Ordering {
    Ordering::from_name(name).unwrap_or_else(|| natural_order(mesh))
}

/// The set-up that all formats share: which blocks the matrix of a mesh has.
pub fn pattern<B: Backend>(backend: &B, mesh: &Mesh, order: Ordering, window: usize) -> Result<Rc<Pattern<B>>> {
    let pattern = Topology::new(backend, mesh, order, window)?.pattern;
    backend.finish()?;
    Ok(pattern)
}

/// Assembles a model in the format of this name, and says how long that took.
pub fn assemble<B: Backend, T: Real>(backend: &B, model: &Model, format: &str) -> Result<(System<B, T>, Timings)> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(&Silent, "setup");
    let system = System::assemble(backend, model, format, &mut phase, &mut timings)?;
    Ok((system, timings))
}
