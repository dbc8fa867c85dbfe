//! Where the benchmarks meet orders of nodes, set-up and assembly.

use kernels_rs::real::Real;
use std::rc::Rc;
use warpfem::Result;
use warpfem::assembly::{Ordering, Symbolic};
use warpfem::backend::Backend;
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::pipeline::{Phase, System, Timings, natural_order};
use warpfem::solve::Silent;
use warpfem::sparse::Pattern;

/// The orders of nodes by name; `auto` chooses among them.
const ORDERINGS: &[(&str, Ordering)] = &[("mesh", Ordering::Mesh), ("hilbert", Ordering::Hilbert)];

/// What `--ordering` may be.
pub fn orderings() -> Vec<&'static str> {
    std::iter::once("auto").chain(ORDERINGS.iter().map(|(name, _)| *name)).collect()
}

/// The order of this name and its name; `auto` stands for the mesh's own choice.
pub fn ordering(name: &str, mesh: &Mesh) -> (&'static str, Ordering) {
    let natural = natural_order(mesh);
    let found = ORDERINGS.iter().find(|(known, order)| if name == "auto" { *order == natural } else { *known == name });
    *found.unwrap_or(&ORDERINGS[0])
}

/// The set-up that all formats share: which blocks the matrix of a mesh has.
pub fn pattern<B: Backend>(backend: &B, mesh: &Mesh, order: Ordering, window: usize) -> Result<Rc<Pattern<B>>> {
    let Symbolic { sparsity, .. } = Symbolic::new(mesh, order, window)?;
    Ok(Rc::new(Pattern::upload(backend, sparsity)?))
}

/// Assembles a model in the format of this name, and says how long that took.
pub fn assemble<B: Backend, T: Real>(backend: &B, model: &Model, format: &str) -> Result<(System<B, T>, Timings)> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(&Silent, "setup");
    let system = System::assemble(backend, model, format, &mut phase, &mut timings)?;
    Ok((system, timings))
}
