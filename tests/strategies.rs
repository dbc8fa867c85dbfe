//! Assembly strategies: all give the matrix of the serial assembly, and are used again when materials change.

use crate::common::blocks::{dense_of, zeros};
use crate::common::recorder::{Counts, Recorder};
use crate::common::{assert_close, bits, meshes, on_every_device, reference, rounding};
use kernels_rs::real::Real;
use nalgebra::DMatrix;
use warpfem::assembly::{Assembly, DeviceMesh, Symbolic};
use warpfem::device::Emulated;
use warpfem::element::ElementKind::{self, Hex8, Quad4, Tet4, Tri3};
use warpfem::linalg::Space;
use warpfem::mesh::Cells;
use warpfem::model::Model;
use warpfem::result::Error;
use warpfem::result::choices::{Format, Ordering, Strategy};
use warpfem::sparse::{Matrix, Pattern};

/// Hexahedra, or squares, some of which are stiffened by a simplex at these corners: rows that two element types add
/// to.
pub fn mixed(kind: ElementKind, simplex: ElementKind, corners: &[usize]) -> Model {
    let mut mesh = meshes::distorted_box(kind, [3, 2, 2], 0.2);
    let cells = mesh.cells[0].nodes.chunks_exact(kind.info().n_nodes).step_by(2);
    let nodes: Vec<u32> = cells.flat_map(|cell| corners.iter().map(|corner| cell[*corner])).collect();
    let tags = (1000..1000 + (nodes.len() / corners.len()) as u64).collect();
    mesh.cells.push(Cells { kind: simplex, nodes, tags });
    meshes::two_materials(mesh)
}

/// Bodies of a single cell, of many, of two element types, and an unstructured mesh; of two materials each. `kernels`
/// has boxes of every element.
fn models() -> [Model; 5] {
    let brick = |cells| meshes::two_materials(meshes::distorted_box(Hex8, cells, 0.2));
    let unstructured = meshes::two_materials((*meshes::load("cube_463.toml").mesh).clone());
    let [solids, plane] = [mixed(Hex8, Tet4, &[0, 1, 3, 4]), mixed(Quad4, Tri3, &[0, 1, 3])];
    [brick([1, 1, 1]), brick([3, 4, 3]), solids, plane, unstructured]
}

/// Strategies that can assemble a model on a device.
fn suited<'a>(space: &'a Space, model: &'a Model) -> impl Iterator<Item = Strategy> + 'a {
    let fits = move |strategy: Strategy| model.mesh.solids().all(|(_, cells)| strategy.fits(cells.kind));
    Strategy::ALL.iter().copied().filter(move |strategy| strategy.runs_on(space) && fits(*strategy))
}

/// A model, its symbolic phase with nodes in the mesh's order, and its matrix by the textbook.
pub struct Problem {
    model: Model,
    symbolic: Symbolic,
    expected: DMatrix<f64>,
}

impl Problem {
    fn of_bricks(cells: [usize; 3]) -> Self {
        Problem::new(meshes::two_materials(meshes::distorted_box(Hex8, cells, 0.2)))
    }

    /// A matrix for it, and its mesh on a device.
    fn upload<T: Real>(&self, space: &Space, format: Format) -> (Matrix<T>, DeviceMesh) {
        let mesh = meshes::upload(space, &self.model, &self.symbolic);
        (zeros(space, format, self.model.analysis.components(), &self.symbolic.sparsity), mesh)
    }

    pub fn new(model: Model) -> Self {
        let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
        Problem { expected: reference::stiffness(&model), symbolic, model }
    }
}

/// Every cell of every element type has a colour, if the strategy takes any.
fn check_colors<T: Real>(assembly: &Assembly<T>, problem: &Problem) {
    let (balance, strategy) = (assembly.balance(), assembly.strategy());
    let n_cells: usize = problem.model.mesh.solids().map(|(_, cells)| cells.len()).sum();
    let n_colored = (balance.mean * balance.n_colors as f64).round() as usize;
    assert_eq!(n_colored, if strategy.is_colored() { n_cells } else { 0 }, "{}", strategy.name());
}

/// The bits of the matrix by a strategy if it gives the same every time; to so many roundings.
pub fn assembled_by<T: Real>(
    space: &Space,
    problem: &Problem,
    strategy: Strategy,
    format: Format,
    roundings: f64,
) -> Vec<u64> {
    let (mut matrix, mesh) = problem.upload::<T>(space, format);
    let mut assembly = Assembly::new(space, &mesh, matrix.pattern(), strategy).unwrap();
    check_colors(&assembly, problem);
    let mut run = || {
        // What was there before must not matter.
        matrix.make_up(space).unwrap();
        assembly.assemble(space, &mesh, &mut matrix).unwrap();
        dense_of(space, &matrix)
    };
    let (k, again, expected) = (run(), run(), &problem.expected);
    let element = problem.model.mesh.cells[0].kind.info().name;
    let what = format!("{element} by {} into {format}, {}", strategy.name(), T::NAME);
    assert_close(&what, k.as_slice(), expected.as_slice(), roundings * rounding::<T>(), expected.amax());
    if !strategy.is_deterministic() {
        return Vec::new();
    }
    assert!(bits(k.as_slice()) == bits(again.as_slice()), "{what}: two assemblies differ");
    bits(k.as_slice())
}

/// That by every strategy.
fn assembled<T: Real>(space: &Space, problem: &Problem, format: Format) -> Vec<u64> {
    suited(space, &problem.model).flat_map(|by| assembled_by::<T>(space, problem, by, format, 10.0)).collect()
}

#[test]
fn every_strategy_is_the_serial_assembly() {
    for model in models() {
        let problem = Problem::new(model);
        on_every_device!(assembled::<f64>, &problem, Format::Ebw);
        on_every_device!(assembled::<f32>, &problem, Format::Ebw);
    }
}

#[test]
fn every_strategy_writes_into_every_format() {
    let problem = Problem::of_bricks([2, 2, 3]);
    for format in Format::ALL {
        on_every_device!(assembled::<f64>, &problem, format);
    }
}

/// New materials on the same mesh: the matrix of the new model, and nothing symbolic is done again.
fn again(space: &Space, problem: &Problem) {
    let mut other = meshes::two_materials((*problem.model.mesh).clone());
    other.materials[0].set_isotropic(3.0 * meshes::YOUNG, meshes::POISSON);
    other.materials[1].set_isotropic(7000.0, 0.35);
    other.cell_material.iter_mut().flatten().for_each(|material| *material = 1 - *material);
    let expected = reference::stiffness(&other);
    let (mut matrix, mut mesh) = problem.upload::<f64>(space, Format::Ebw);
    for strategy in suited(space, &problem.model) {
        let mut assembly = Assembly::new(space, &mesh, matrix.pattern(), strategy).unwrap();
        for (model, expected) in [(&problem.model, &problem.expected), (&other, &expected)] {
            mesh.set_materials(space, model, 0).unwrap();
            assembly.assemble(space, &mesh, &mut matrix).unwrap();
            let k = dense_of(space, &matrix);
            assert_close(strategy.name(), k.as_slice(), expected.as_slice(), 1e-13, expected.amax());
        }
    }
}

#[test]
fn materials_change_on_a_fixed_topology() {
    let problem = Problem::of_bricks([3, 2, 2]);
    on_every_device!(again, &problem);
}

#[test]
fn assembling_again_repeats_nothing_symbolic() {
    let problem = Problem::of_bricks([3, 2, 2]);
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    let (mut matrix, mesh) = problem.upload::<f64>(&space, Format::Ebw);
    for strategy in suited(&space, &problem.model) {
        let mut assembly = Assembly::new(&space, &mesh, matrix.pattern(), strategy).unwrap();
        let before = recorder.counts();
        assembly.assemble(&space, &mesh, &mut matrix).unwrap();
        let after = recorder.counts();
        let but_for_launches = Counts { launches: before.launches.clone(), ..after };
        assert_eq!(but_for_launches, before, "{} does more than launch kernels", strategy.name());
    }
}

/// Why a strategy cannot assemble a mesh, and what can.
fn refused(space: &Space, model: &Model, strategy: Strategy) -> (String, Vec<&'static str>) {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
    let mesh = meshes::upload(space, model, &symbolic);
    let pattern = Pattern::upload(space, symbolic.sparsity).unwrap();
    match Assembly::<f64>::new(space, &mesh, &pattern, strategy).err() {
        Some(error @ Error::Unsuited { .. }) => {
            assert_eq!(error.exit_code(), 2);
            let text = error.to_string();
            let Error::Unsuited { available, .. } = error else { unreachable!("matched above") };
            (text, available)
        }
        other => panic!("{} is refused with {other:?}", strategy.name()),
    }
}

#[test]
fn strategies_that_do_not_fit_say_why_and_what_does() {
    let [tets, bricks] = [Tet4, Hex8].map(|kind| meshes::two_materials(meshes::distorted_box(kind, [1, 1, 1], 0.0)));
    let everywhere = ["row_owner", "by_element", "atomic"];
    let emulator = Space::gpu(Emulated::default()).unwrap();
    for strategy in Strategy::ALL.iter().copied().filter(|strategy| !everywhere.contains(&strategy.name())) {
        let (text, available) = refused(&Space::cpu(), &bricks, strategy);
        assert!(text.contains("needs warps") && text.contains("--device"), "{text}");
        assert_eq!(available, everywhere);
        let (text, available) = refused(&emulator, &tets, strategy);
        assert!(text.contains(strategy.name()) && text.contains("tet4") && text.contains("by_element"), "{text}");
        assert_eq!(available, everywhere);
    }
}
