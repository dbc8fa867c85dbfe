//! Tables of case files, and models made of them.

use std::path::Path;
use warpfem::mesh::Mesh;
use warpfem::model::{Case, Model, Result, Support};

/// The model of a mesh and the tables of a case but for `[mesh]`.
pub fn model(name: &str, mesh: Mesh, tables: &[String]) -> Result<Model> {
    let text = format!("[mesh]\nfile = \"{name}.msh\"\n{}", tables.concat());
    let case = Case::parse(Path::new(&format!("{name}.toml")), &text)?;
    Model::resolve(&case, mesh)
}

pub fn material(name: &str, young: f64, poisson: f64) -> String {
    format!("[[material]]\nname = \"{name}\"\non = \"{name}\"\nyoung = {young:e}\npoisson = {poisson:e}\n")
}

pub fn conductor(name: &str, conductivity: f64) -> String {
    format!("[[material]]\nname = \"{name}\"\non = \"{name}\"\nconductivity = {conductivity:e}\n")
}

pub fn clamp(on: &str) -> String {
    fix(on, "xyz")
}

pub fn fix(on: &str, components: &str) -> String {
    format!("[[support]]\non = \"{on}\"\nfix = \"{components}\"\n")
}

pub fn moved(on: &str, by: [f64; 3]) -> String {
    let [x, y, z] = by;
    format!("[[support]]\non = \"{on}\"\ndisplacement = {{ x = {x:e}, y = {y:e}, z = {z:e} }}\n")
}

pub fn held_at(on: &str, value: f64) -> String {
    format!("[[support]]\non = \"{on}\"\nvalue = {value:e}\n")
}

pub fn flux(on: &str, value: f64) -> String {
    format!("[[flux]]\non = \"{on}\"\nvalue = {value:e}\n")
}

pub fn force(on: &str, total: [f64; 3]) -> String {
    let [x, y, z] = total;
    format!("[[force]]\non = \"{on}\"\ntotal = [{x:e}, {y:e}, {z:e}]\n")
}

pub fn traction(on: &str, vector: [f64; 3]) -> String {
    let [x, y, z] = vector;
    format!("[[traction]]\non = \"{on}\"\nvector = [{x:e}, {y:e}, {z:e}]\n")
}

/// Turns a clamp about an axis through the origin by an angle: `(R - I) x`, or its linear part if `is_small`.
pub fn turn(model: &mut Model, on: &str, axis: usize, angle: f64, is_small: bool) {
    let (from, to) = ((axis + 1) % 3, (axis + 2) % 3);
    let (sine, cosine) = if is_small { (angle, 1.0) } else { angle.sin_cos() };
    let nodes = model.mesh.nodes_on(on).unwrap_or_default();
    let support = |node: u32| {
        let x = model.mesh.coords[node as usize];
        let mut by = [0.0; 3];
        by[from] = (cosine - 1.0) * x[from] - sine * x[to];
        by[to] = sine * x[from] + (cosine - 1.0) * x[to];
        Support { name: format!("{on}[{node}]"), nodes: vec![node], displacement: by.map(Some), ..Support::default() }
    };
    model.supports = nodes.into_iter().map(support).collect();
}
