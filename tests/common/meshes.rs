//! Meshes that are not regular, and models on them.

use super::Random;
use kernels_rs::real::Real;
use std::path::{Path, PathBuf};
use warpfem::assembly::{Assembly, DeviceMesh, Strategy, Symbolic, Topology};
use warpfem::backend::Backend;
use warpfem::element::ElementKind;
use warpfem::mesh::{Mesh, generate::generate_box};
use warpfem::model::{Case, Model, Support};
use warpfem::sparse::Matrix;

/// A file of `meshes/`.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(name)
}

/// A model of `meshes/`.
pub fn load(case: &str) -> Model {
    Model::load(&file(case)).unwrap()
}

/// A unit box whose inner nodes are moved by up to `amount` of a cell in every direction.
pub fn distorted_box(kind: ElementKind, cells: [usize; 3], amount: f64) -> Mesh {
    let mut mesh = generate_box(kind, [1.0; 3], cells).unwrap();
    let mut random = Random(7);
    for x in &mut mesh.coords {
        if !on_skin(*x) {
            *x = core::array::from_fn(|i| x[i] + amount * random.next() / cells[i] as f64);
        }
    }
    mesh
}

/// Whether a point is on the surface of the unit box.
pub fn on_skin(x: [f64; 3]) -> bool {
    x.iter().any(|c| *c == 0.0 || *c == 1.0)
}

/// A material and nothing else.
pub const SOFT: &str = "[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\ndensity = 2.0\n";
/// A support that holds a box.
pub const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

/// Resolves the tables of a case on a mesh.
pub fn model(tables: &str, mesh: Mesh) -> Model {
    let text = format!("[mesh]\nfile = \"given.msh\"\n{tables}");
    let case = Case::parse(Path::new("given.toml"), &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Model::resolve(&case, mesh).unwrap_or_else(|error| panic!("{error}"))
}

/// A clamped model of two materials, alternating from cell to cell.
pub fn two_materials(mesh: Mesh) -> Model {
    let mut model = model(&format!("{SOFT}{CLAMP}"), mesh);
    let hard = warpfem::model::Material { name: "hard".into(), young: 7000.0, poisson: 0.2, density: Some(5.0) };
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

/// Adds the stiffness of a mesh to a matrix by the strategy that runs everywhere.
pub fn add_stiffness<B: Backend, T: Real>(backend: &B, mesh: &DeviceMesh<B>, matrix: &mut Matrix<B, T>) {
    let mut assembly = Assembly::new(backend, mesh, matrix.pattern(), Strategy::RowOwner).unwrap();
    assembly.assemble(backend, mesh, matrix).unwrap();
}
