//! Meshes that are not regular, and models on them.

use super::elements::solvable;
use kernels_rs::real::Real;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpfem::assembly::{Assembly, DeviceMesh, Symbolic, Topology};
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::model::law::{self, Constants};
use warpfem::model::{Analysis, Axes, Model, Physics};
use warpfem::pipeline::{Phase, System, Timings};
use warpfem::result::Plan;
use warpfem::result::choices::Strategy;
use warpfem::solve::Silent;
use warpfem::sparse::Matrix;
use warpfem::verify;
pub use warpfem::verify::meshes::{on_skin, prescribe, straighten};

/// A file of `meshes/`.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(name)
}

/// A model of `meshes/`.
pub fn load(case: &str) -> Model {
    Model::load(&file(case)).unwrap()
}

/// As the library makes it.
pub fn distorted_box(kind: ElementKind, cells: [usize; 3], amount: f64) -> Mesh {
    verify::meshes::distorted_box(kind, cells, amount).unwrap()
}

/// As the library makes it.
pub fn regular_box(kind: ElementKind, cells: [usize; 3]) -> Mesh {
    verify::meshes::regular_box(kind, cells).unwrap()
}

/// A material and nothing else.
pub const SOFT: &str = "[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\ndensity = 2.0\n\
                        conductivity = 3.0\n";
/// Its constants; and its weight per volume under an acceleration of 10.
pub const YOUNG: f64 = 1000.0;
pub const POISSON: f64 = 0.3;
pub const WEIGHT: f64 = 2.0 * 10.0;
/// A support that holds a box.
pub const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

/// The same of an analysis: all components of a displacement, or a potential of 0.
pub fn clamp(kind: Analysis) -> String {
    match kind.physics() {
        Physics::Potential | Physics::Heat => CLAMP.replace("fix = \"xyz\"", "value = 0.0"),
        _ => CLAMP.replace("xyz", &"xyz"[..kind.components()]),
    }
}

/// Resolves the tables of a case on a mesh.
pub fn model(tables: &str, mesh: Mesh) -> Model {
    verify::model(tables, mesh).unwrap_or_else(|error| panic!("{error}\n{tables}"))
}

/// All analyses that an element is made for.
pub fn all_analyses(kind: ElementKind) -> Vec<Analysis> {
    Analysis::ALL.into_iter().filter(|of| of.fits(kind.info().dim)).collect()
}

/// Those of elasticity, but for bodies of revolution.
pub fn analyses(kind: ElementKind) -> Vec<Analysis> {
    let is_elastic = |of: &Analysis| of.physics() == Physics::Elasticity && !of.is_revolved();
    all_analyses(kind).into_iter().filter(is_elastic).collect()
}

/// Every element in every analysis of elasticity.
pub fn elastic() -> impl Iterator<Item = (ElementKind, Analysis)> {
    solvable().flat_map(|kind| analyses(kind).into_iter().map(move |analysis| (kind, analysis)))
}

/// The same model of two materials that are not isotropic, one with axes round a line.
pub fn anisotropic(mut model: Model) -> Model {
    let wood = Constants {
        young: &[1200.0, 900.0, 600.0],
        poisson: &[0.4, 0.35, 0.3],
        shear: &[300.0, 250.0, 50.0],
        ..Constants::NONE
    };
    let axes = [
        Axes::fixed([1.0, 2.0, 0.5], [0.0, 1.0, -1.0]).unwrap(),
        Axes::Cylinder { at: [0.3, -0.4, 0.1], along: [0.0, 0.6, 0.8] },
    ];
    for (material, axes) in model.materials.iter_mut().zip(axes) {
        (material.law, material.axes) = (law::read(&wood).unwrap(), axes);
        material.conductivity = [1.0, 4.0, 2.5];
    }
    model
}

/// The table that asks for an analysis, in the plane of a thickness.
pub fn analysis(kind: Analysis, thickness: f64) -> String {
    let table = format!("[analysis]\nkind = \"{}\"\n", kind.name());
    if kind.dim() == Some(2) && !kind.is_revolved() { format!("{table}thickness = {thickness:?}\n") } else { table }
}

/// A clamped model of two materials, alternating from cell to cell; plane meshes in plane stress.
pub fn two_materials(mesh: Mesh) -> Model {
    two_materials_in(if mesh.dim() == 2 { Analysis::PlaneStress } else { Analysis::Elasticity }, mesh)
}

/// The same of this analysis; a plane body is 0.4 thick.
pub fn two_materials_in(kind: Analysis, mesh: Mesh) -> Model {
    let mut model = model(&format!("{}{SOFT}{}", analysis(kind, 0.4), clamp(kind)), mesh);
    model.thickness = if model.mesh.dim() == 2 && !kind.is_revolved() { 0.4 } else { 1.0 };
    if kind.is_revolved() {
        Arc::make_mut(&mut model.mesh).coords.iter_mut().for_each(|x| x[0] += 0.5);
    }
    let mut hard = model.materials[0].clone();
    hard.set_isotropic(7000.0, 0.2);
    (hard.conductivity, hard.density) = ([90.0; 3], Some(5.0));
    model.materials.push(hard);
    for cells in &mut model.cell_material {
        cells.iter_mut().enumerate().for_each(|(cell, material)| *material = (cell % 3 == 0).into());
    }
    model
}

/// A model's mesh on a device; the symbolic phase's arrays are kept.
pub fn upload(space: &Space, model: &Model, symbolic: &Symbolic) -> DeviceMesh {
    let topology = Topology::upload(space, &model.mesh, symbolic.clone()).unwrap();
    DeviceMesh::new(space, model, topology.blocks, topology.coords).unwrap()
}

/// Assembles the stiffness of a mesh by the strategy that runs everywhere.
pub fn assemble<T: Real>(space: &Space, mesh: &DeviceMesh, matrix: &mut Matrix<T>) {
    let mut assembly = Assembly::new(space, mesh, matrix.pattern(), Strategy::RowOwner).unwrap();
    assembly.assemble(space, mesh, matrix).unwrap();
}

/// A model assembled in double, its supports applied.
pub fn system(space: &Space, model: &Model) -> System<f64> {
    system_in(space, model)
}

/// A model assembled, its supports applied.
pub fn system_in<T: Real>(space: &Space, model: &Model) -> System<T> {
    let (plan, mut phase) = (Plan::plain(model, space.on_host()), Phase::begin(&Silent, "setup"));
    System::assemble(space, model, &plan, &mut phase, &mut Timings::default()).unwrap()
}
