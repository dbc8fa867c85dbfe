//! The problem that is measured: a steel unit cube of n^3 cells, clamped at x = 0, under its own weight.

use kernels_rs::real::Real;
use std::path::Path;
use warpfem::backend::Backend;
use warpfem::element::ElementKind;
use warpfem::model::Model;
use warpfem::model::case::Case;
use warpfem::pipeline::{Phase, System, Timings};
use warpfem::solve::Silent;
use warpfem::{Error, Result};

/// The model.
pub fn model(element: ElementKind, cells: u32) -> Result<Model> {
    let text = format!(
        r#"
        [mesh]
        generate = {{ kind = "box", element = "{}", size = [1.0, 1.0, 1.0], cells = [{cells}, {cells}, {cells}] }}
        [analysis]
        kind = "elasticity"
        [[material]]
        name = "steel"
        young = 200e9
        poisson = 0.3
        density = 7850.0
        [[support]]
        on = "xmin"
        fix = "xyz"
        [gravity]
        acceleration = [0.0, 0.0, -9.81]
        "#,
        element.info().name
    );
    let case = Case::parse(Path::new("cube.toml"), &text).map_err(Error::from)?;
    Model::resolve(&case, case.mesh()?)
}

/// The model assembled on a backend, and the times that took.
pub fn assemble<B: Backend, T: Real>(backend: &B, model: &Model, format: &str) -> Result<(System<B, T>, Timings)> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(&Silent, "setup");
    let system = System::assemble(backend, model, format, &mut phase, &mut timings)?;
    Ok((system, timings))
}
