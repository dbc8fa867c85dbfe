//! Meshes that are not regular, and models on them.

use super::Random;
use kernels_rs::real::Real;
use std::path::{Path, PathBuf};
use warpfem::assembly::{Assembly, DeviceMesh, Strategy, Symbolic, Topology};
use warpfem::backend::Backend;
use warpfem::element::ElementKind;
use warpfem::mesh::{Mesh, generate::generate_box, rectangle::generate_rectangle};
use warpfem::model::{Analysis, Case, Model, Support};
use warpfem::sparse::Matrix;

/// A file of `meshes/`.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(name)
}

/// A model of `meshes/`.
pub fn load(case: &str) -> Model {
    Model::load(&file(case)).unwrap()
}

/// A unit box, of plane elements a unit square of the first two numbers of cells, whose inner corners are moved by up to
/// `amount` of a cell in every direction. Edges inside are curved: the nodes in their middles are moved by a quarter of that.
pub fn distorted_box(kind: ElementKind, cells: [usize; 3], amount: f64) -> Mesh {
    let mut mesh = regular_box(kind, cells);
    let dim = kind.info().dim;
    let mut random = Random(7);
    let mut moved = |x: [f64; 3], amount: f64| {
        let mut offset = |i: usize| if i < dim { amount * random.next() / cells[i] as f64 } else { 0.0 };
        if on_skin(dim, x) { x } else { core::array::from_fn(|i| x[i] + offset(i)) }
    };
    let corners = n_corners(&mesh);
    mesh.coords[..corners].iter_mut().for_each(|x| *x = moved(*x, amount));
    straighten(&mut mesh);
    mesh.coords[corners..].iter_mut().for_each(|x| *x = moved(*x, 0.25 * amount));
    mesh
}

/// A unit box, or for plane elements a unit square of the first two numbers of cells.
pub fn regular_box(kind: ElementKind, cells: [usize; 3]) -> Mesh {
    match kind.info().dim {
        2 => generate_rectangle(kind, [1.0; 2], [cells[0], cells[1]]).unwrap(),
        _ => generate_box(kind, [1.0; 3], cells).unwrap(),
    }
}

/// Generated meshes number the corners of all cells first: how many there are.
fn n_corners(mesh: &Mesh) -> usize {
    let cells = &mesh.cells[0];
    let corners = |cell: usize| cells.cell(cell)[..cells.kind.info().n_corners].iter().max();
    (0..cells.len()).filter_map(corners).max().map_or(0, |node| *node as usize + 1)
}

/// Puts the nodes of edges in their middles.
pub fn straighten(mesh: &mut Mesh) {
    let cells = &mesh.cells[0];
    let edges = cells.kind.info().edges();
    for cell in 0..cells.len() {
        let nodes = cells.cell(cell);
        for edge in edges.iter().filter(|edge| edge.len() == 3) {
            let [a, b, middle] = [0, 1, 2].map(|k| nodes[edge[k]] as usize);
            mesh.coords[middle] = [0, 1, 2].map(|i| 0.5 * (mesh.coords[a][i] + mesh.coords[b][i]));
        }
    }
}

/// Whether a point is on the surface of the unit box, or on the outline of the unit square.
pub fn on_skin(dim: usize, x: [f64; 3]) -> bool {
    x[..dim].iter().any(|c| *c == 0.0 || *c == 1.0)
}

/// A material and nothing else.
pub const SOFT: &str = "[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\ndensity = 2.0\n\
                        conductivity = 3.0\n";
/// A support that holds a box.
pub const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

/// The same of an analysis: all components of a displacement, or a potential of 0.
pub fn clamp(kind: Analysis) -> String {
    match kind {
        Analysis::Laplace => CLAMP.replace("fix = \"xyz\"", "value = 0.0"),
        _ => CLAMP.replace("xyz", &"xyz"[..kind.components()]),
    }
}

/// Resolves the tables of a case on a mesh.
pub fn model(tables: &str, mesh: Mesh) -> Model {
    let text = format!("[mesh]\nfile = \"given.msh\"\n{tables}");
    let case = Case::parse(Path::new("given.toml"), &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Model::resolve(&case, mesh).unwrap_or_else(|error| panic!("{error}"))
}

/// The analyses of elasticity that an element is made for.
pub fn analyses(kind: ElementKind) -> &'static [Analysis] {
    if kind.info().dim == 2 { &[Analysis::PlaneStress, Analysis::PlaneStrain] } else { &[Analysis::Elasticity] }
}

/// All analyses that an element is made for.
pub fn all_analyses(kind: ElementKind) -> Vec<Analysis> {
    [&[Analysis::Laplace], analyses(kind)].concat()
}

/// The table that asks for an analysis, in the plane of a thickness.
pub fn analysis(kind: Analysis, thickness: f64) -> String {
    let table = format!("[analysis]\nkind = \"{}\"\n", kind.name());
    if kind.dim() == Some(2) { format!("{table}thickness = {thickness:?}\n") } else { table }
}

/// A clamped model of two materials, alternating from cell to cell; plane meshes in plane stress.
pub fn two_materials(mesh: Mesh) -> Model {
    two_materials_in(if mesh.dim() == 2 { Analysis::PlaneStress } else { Analysis::Elasticity }, mesh)
}

/// The same of this analysis; a plane body is 0.4 thick.
pub fn two_materials_in(kind: Analysis, mesh: Mesh) -> Model {
    let mut model = model(&format!("{}{SOFT}{}", analysis(kind, 0.4), clamp(kind)), mesh);
    model.thickness = if model.mesh.dim() == 2 { 0.4 } else { 1.0 };
    let (name, density) = ("hard".into(), Some(5.0));
    let hard = warpfem::model::Material { name, young: 7000.0, poisson: 0.2, conductivity: 90.0, density };
    model.materials.push(hard);
    for cells in &mut model.cell_material {
        cells.iter_mut().enumerate().for_each(|(cell, material)| *material = (cell % 3 == 0).into());
    }
    model
}

/// Replaces the supports by these displacements of all nodes for which there is one.
pub fn prescribe(model: &mut Model, displacement: impl Fn([f64; 3]) -> Option<[f64; 3]>) {
    let support = |(node, x): (usize, &[f64; 3])| {
        let displacement = displacement(*x)?.map(Some);
        Some(Support { name: format!("node {node}"), nodes: vec![node as u32], displacement })
    };
    model.supports = model.mesh.coords.iter().enumerate().filter_map(support).collect();
}

/// A model's mesh on a backend; the symbolic phase's arrays are kept.
pub fn upload<B: Backend>(backend: &B, model: &Model, symbolic: &Symbolic) -> DeviceMesh<B> {
    let topology = Topology::upload(backend, &model.mesh, symbolic.clone()).unwrap();
    DeviceMesh::new(backend, model, topology.blocks, topology.coords).unwrap()
}

/// Assembles the stiffness of a mesh by the strategy that runs everywhere.
pub fn assemble<B: Backend, T: Real>(backend: &B, mesh: &DeviceMesh<B>, matrix: &mut Matrix<B, T>) {
    let mut assembly = Assembly::new(backend, mesh, matrix.pattern(), Strategy::RowOwner).unwrap();
    assembly.assemble(backend, mesh, matrix).unwrap();
}
