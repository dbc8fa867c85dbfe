//! Kernels over cells and over the cells around nodes, on distorted boxes and squares of every element, curved where
//! the element is.

use crate::common::blocks::{dense_of, zeros};
use crate::common::elements::Point;
use crate::common::{Random, assert_close, bits, largest, meshes, reference};
use crate::strategies::{Problem, assembled_by};
use kernels_rs::element::Element;
use kernels_rs::form::{Constitutive, General, Scalar};
use nalgebra::{DMatrix, DVector, SVector};
use warpfem::assembly::{DeviceBlock, DeviceMesh, Symbolic, geometric_stiffness, mass_matrix};
use warpfem::device::{Buffer, Plain};
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::model::{Analysis, Model, Physics, Temperature};
use warpfem::result::choices::{Format, Ordering, Strategy};
use warpfem::sparse::Matrix;
use warpfem::stress::{Asked, AtPoints, cell_energies, nodal_gradient, nodal_stress, sampled};

/// Numbers of rows or cells that a launch takes, as far as the mesh has them.
const COUNTS: [usize; 8] = [0, 1, 31, 32, 33, 255, 256, 257];

/// Divisions that make as many nodes as a launch takes.
fn divisions(kind: ElementKind) -> [usize; 3] {
    match (kind.info().dim, kind.info().is_quadratic()) {
        (2, false) => [15, 17, 1],
        (2, true) => [9, 9, 1],
        (_, false) => [4, 6, 7],
        (_, true) if kind.info().domain.is_layered() => [3, 3, 4],
        (_, true) => [2, 3, 4],
    }
}

/// The element's kind.
fn kind<E: Element>() -> ElementKind {
    ElementKind::from_name(E::NAME).unwrap()
}

/// Models of two materials in each of some analyses, numbered as in the mesh.
fn problems<E: Element>(analyses: &[Analysis], cells: impl Fn(ElementKind) -> [usize; 3]) -> Vec<(Model, Symbolic)> {
    let kind = kind::<E>();
    let problem = |analysis: &Analysis| {
        let model = meshes::two_materials_in(*analysis, meshes::distorted_box(kind, cells(kind), 0.2));
        let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Mesh, 1).unwrap();
        (model, symbolic)
    };
    analyses.iter().map(problem).collect()
}

/// Of more nodes than a launch of [`COUNTS`] takes.
fn large_problems<E: Element>(analyses: &[Analysis]) -> Vec<(Model, Symbolic)> {
    let problems = problems::<E>(analyses, divisions);
    assert!(problems.iter().all(|(_, symbolic)| symbolic.numbering.len() >= 257), "{}", E::NAME);
    problems
}

pub fn stiffness<E: Element>(space: &Space) -> Vec<u64> {
    let kind = kind::<E>();
    let small = |kind: ElementKind| if kind.info().is_quadratic() { [1, 2, 2] } else { [2, 3, 4] };
    let mut found = Vec::new();
    for (model, _) in all_forms::<E>(small) {
        let form = model.form();
        let problem = Problem::new(model);
        if !form.is_isotropic {
            found.extend(assembled_by::<f64>(space, &problem, Strategy::RowOwner, Format::Ebw, 10.0));
            continue;
        }
        let fits = |s: &Strategy| s.fits(kind) && s.runs_on(space) && s.solves(form);
        let in_all_formats = Format::ALL.into_iter().map(|format| (Strategy::RowOwner, format));
        let others = Strategy::ALL.iter().copied().filter(|strategy| *strategy != Strategy::RowOwner).filter(fits);
        for (strategy, format) in in_all_formats.chain(others.map(|strategy| (strategy, Format::Ebw))) {
            found.extend(assembled_by::<f64>(space, &problem, strategy, format, 1.0));
            found.extend(assembled_by::<f32>(space, &problem, strategy, format, 1.0));
        }
    }
    found
}

/// All forms that an element has, of isotropic materials and of others.
fn all_forms<E: Element>(cells: impl Fn(ElementKind) -> [usize; 3]) -> Vec<(Model, Symbolic)> {
    let analyses = meshes::all_analyses(kind::<E>());
    let isotropic = problems::<E>(&analyses, &cells).into_iter();
    let others = problems::<E>(&analyses, &cells).into_iter().map(|(model, of)| (meshes::anisotropic(model), of));
    isotropic.chain(others).collect()
}

pub fn node_moments<E: Element>(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (model, symbolic) in problems::<E>(&meshes::all_analyses(kind::<E>()), divisions) {
        let mesh = meshes::upload(space, &model, &symbolic);
        let moments = space.take(mesh.node_moments(space, &[2.0, 5.0]).unwrap()).unwrap();
        let expected = reference::moments(&model, &[2.0, 5.0]);
        let (moments, expected) = (moments.as_flattened(), expected.as_flattened());
        assert_close("moments", moments, expected, 1e-13, largest(expected));
        found.extend(bits(moments));
    }
    found
}

/// A matrix of elements beside the textbook's, the same in every format.
fn in_every_format<E: Element>(
    space: &Space,
    what: &str,
    expected: impl Fn(&Model) -> DMatrix<f64>,
    compute: impl Fn(&Model, &Symbolic, &DeviceMesh, &Matrix<f64>) -> Matrix<f64>,
) -> Vec<u64> {
    let analyses = meshes::all_analyses(kind::<E>());
    let mut found = Vec::new();
    let in_format = |model: &Model, symbolic: &Symbolic, expected: &DMatrix<f64>, format: Format| {
        let like = zeros(space, format, model.analysis.components(), &symbolic.sparsity);
        let matrix = compute(model, symbolic, &meshes::upload(space, model, symbolic), &like);
        let dense = dense_of(space, &matrix);
        let what = format!("{what} of {} in {format}", E::NAME);
        assert_close(&what, dense.as_slice(), expected.as_slice(), 1e-13, expected.amax());
        assert!(matrix.is_symmetric() && dense == dense.transpose(), "{what}: not symmetric");
        bits(dense.as_slice())
    };
    for (model, symbolic) in large_problems::<E>(&analyses) {
        found.extend(in_format(&model, &symbolic, &expected(&model), Format::Ebw));
    }
    for (model, symbolic) in problems::<E>(&analyses, |_| [1, 2, 2]) {
        let expected = expected(&model);
        let of_formats: Vec<_> =
            Format::ALL.iter().map(|format| in_format(&model, &symbolic, &expected, *format)).collect();
        assert!(of_formats.iter().all(|bits| *bits == of_formats[0]), "{what} of {}: formats differ", E::NAME);
        found.extend(of_formats.into_iter().flatten());
    }
    found
}

/// The mass matrix by the textbook from the same points.
pub fn mass<E: Element>(space: &Space) -> Vec<u64> {
    let expected = |model: &Model| reference::mass(model, reference::mass_points);
    in_every_format::<E>(space, "mass", expected, |model, symbolic, mesh, like| {
        mass_matrix(space, model, &symbolic.numbering, mesh, like).unwrap()
    })
}

/// The geometric stiffness under made-up stresses.
pub fn geometric<E: Element>(space: &Space) -> Vec<u64> {
    in_every_format::<E>(space, "geometric stiffness", reference::geometric, |_, _, mesh, like| {
        let stress = |block: &DeviceBlock, points: &[([f64; 3], f64)]| {
            let of_cell = |cell| (0..points.len()).map(move |q| reference::made_up_stress(block.cells.index, cell, q));
            space.upload_vec((0..block.cells.n_cells).flat_map(of_cell).collect())
        };
        geometric_stiffness(space, mesh, 1.0, like, &stress).unwrap()
    })
}

pub fn internal_force<E: Element>(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (model, symbolic) in all_forms::<E>(divisions) {
        let (n, size) = (symbolic.numbering.len(), model.analysis.components());
        let u: Vec<f64> = Random(2).vector(size * n);
        let expected = reference::stiffness(&model) * DVector::from_column_slice(&u);
        let mesh = meshes::upload(space, &model, &symbolic);
        let u = space.upload(&u).unwrap();
        for count in COUNTS.into_iter().filter(|count| *count <= n) {
            let nodes: Vec<u32> = (0..count as u32).rev().collect();
            let of = (count > 0).then_some(&nodes[..]);
            let f = space.take(mesh.internal_force(space, &u, of).unwrap()).unwrap();
            let mut sums = vec![0.0; size * n];
            let asked = if count == 0 { size * n } else { size * count };
            sums[..asked].copy_from_slice(&expected.as_slice()[..asked]);
            assert_close("rows", &f, &sums, 1e-13, 1.0 + largest(expected.as_slice()));
            found.extend(bits(&f));
        }
        if model.analysis.physics() == Physics::Elasticity {
            found.extend(thermal_force(space, warm(model), &symbolic));
        }
    }
    found
}

/// The same model with expansions of its own along its axes, temperatures at its nodes and of every third cell.
fn warm(mut model: Model) -> Model {
    for material in &mut model.materials {
        material.expansion = Some([1e-3, 2e-3, -3e-3]);
    }
    let of_cells = |materials: &Vec<u32>| {
        let own = |cell: usize| if cell % 3 == 1 { 7.0 } else { f64::NAN };
        (0..materials.len()).map(own).collect()
    };
    let of_cells = model.cell_material.iter().map(of_cells).collect();
    model.temperature = Some(Temperature::new(20.0, Random(5).vector(model.mesh.coords.len()), of_cells));
    model
}

/// The thermal strain at a point of a cell.
fn thermal_strain(
    model: &Model,
    (block, cell): (usize, usize),
    nodes: &[u32],
    shape: &[f64],
    material: usize,
) -> SVector<f64, 6> {
    let temperature = model.temperature.as_ref().unwrap();
    let at_node = |(node, shape): (&u32, &f64)| shape * temperature.in_cell(0, block, cell, *node);
    let degrees: f64 = nodes.iter().zip(shape).map(at_node).sum();
    degrees * SVector::from(model.materials[material].expansion_at(reference::middle(nodes, model)))
}

/// `u . f = int eps(u) : D eps_th dV`, for any u.
fn thermal_force(space: &Space, model: Model, symbolic: &Symbolic) -> Vec<u64> {
    let mut mesh = meshes::upload(space, &model, symbolic);
    mesh.set_temperature(space, &model, &symbolic.numbering).unwrap();
    let force = mesh.thermal_force(space).unwrap().unwrap();
    for seed in 6..9 {
        let u: Vec<f64> = Random(seed).vector(force.len());
        let (mut expected, mut size) = (0.0, 0.0);
        reference::for_each_cell(&model, |kind, nodes, x, material, place| {
            let d = reference::elasticity(model.analysis, &model.materials[material], reference::middle(nodes, &model));
            for (point, eps) in reference::strains(&model, (kind, nodes, x, material), &u, |_| SVector::zeros()) {
                let stress = d * thermal_strain(&model, place, nodes, &point.shape, material);
                let work = reference::volume(&model, &point, x) * eps.dot(&stress);
                (expected, size) = (expected + work, size + work.abs());
            }
        });
        let found: f64 = u.iter().zip(&force).map(|(u, f)| u * f).sum();
        assert_close("work", &[found], &[expected], 1e-12, size);
    }
    bits(&force)
}

/// Strain, stress and energy, or gradient and flux, at the points of the rule, against the textbook.
pub fn sample<E: Element>(space: &Space) -> Vec<u64> {
    let of_model = |(model, symbolic): (Model, Symbolic)| match model.analysis.physics() {
        Physics::Elasticity => {
            let cold = sample_in::<General>(space, &model, &symbolic, &stresses);
            [cold, sample_in::<General>(space, &warm(model), &symbolic, &stresses)].concat()
        }
        Physics::Potential | Physics::Heat => sample_in::<Scalar>(space, &model, &symbolic, &fluxes),
    };
    all_forms::<E>(divisions).into_iter().flat_map(of_model).collect()
}

/// What [`sample_in`] expects of a point: strain, stress, energy.
type Expected = (Vec<f64>, Vec<f64>, f64);

fn sample_in<P: Constitutive>(
    space: &Space,
    model: &Model,
    symbolic: &Symbolic,
    textbook: &dyn Fn(&Model, &[f64]) -> Vec<Expected>,
) -> Vec<u64>
where
    P::Strain: Plain,
{
    let u: Vec<f64> = Random(4).vector(model.analysis.components() * symbolic.numbering.len());
    let expected = textbook(model, &u);
    let mut mesh = meshes::upload(space, model, symbolic);
    mesh.set_temperature(space, model, &symbolic.numbering).unwrap();
    let block = &mesh.blocks[0];
    let (u, rule) = (space.upload(&u).unwrap(), block.cells.kind.info().shape.quadrature);
    let AtPoints { strain, stress } = sampled::<P>(space, &mesh, block, rule, &u, Asked::Both).unwrap();
    let flat = |values: Buffer<P::Strain>| -> Vec<f64> { bytemuck::cast_slice(&space.take(values).unwrap()).to_vec() };
    let found = [flat(strain), flat(stress)];
    let columns: [Vec<f64>; 2] =
        [expected.iter().flat_map(|e| e.0.clone()).collect(), expected.iter().flat_map(|e| e.1.clone()).collect()];
    for (name, found, expected) in [("strain", &found[0], &columns[0]), ("stress", &found[1], &columns[1])] {
        assert_close(name, found, expected, 1e-12, 1.0 + largest(expected));
    }
    if model.temperature.is_some() {
        // With thermal strain `u . K u` is not the energy.
        return bits(&found.concat());
    }
    let energies: Vec<f64> = cell_energies(space, &mesh, &u).unwrap().concat();
    let of_cells = expected.chunks(rule.len()).map(|cell| 2.0 * cell.iter().map(|point| point.2).sum::<f64>());
    let of_cells: Vec<f64> = of_cells.collect();
    assert_close("energy", &energies, &of_cells, 1e-12, largest(&of_cells));
    [bits(&found.concat()), bits(&energies)].concat()
}

/// Of every point of every cell, by the textbook.
fn stresses(model: &Model, u: &[f64]) -> Vec<Expected> {
    let mut points = Vec::new();
    reference::for_each_cell(model, |kind, nodes, x, material, place| {
        let d = reference::elasticity(model.analysis, &model.materials[material], reference::middle(nodes, model));
        let thermal = |point: &Point| match model.temperature {
            Some(_) => thermal_strain(model, place, nodes, &point.shape, material),
            None => SVector::zeros(),
        };
        for (point, eps) in reference::strains(model, (kind, nodes, x, material), u, thermal) {
            let stress = d * (eps - thermal(&point));
            let energy = 0.5 * reference::volume(model, &point, x) * eps.dot(&stress);
            points.push((eps.as_slice().to_vec(), stress.as_slice().to_vec(), energy));
        }
    });
    points
}

/// The same of a potential.
fn fluxes(model: &Model, u: &[f64]) -> Vec<Expected> {
    let mut points = Vec::new();
    reference::for_each_cell(model, |kind, nodes, x, material, _| {
        let c = reference::conductivity(&model.materials[material], reference::middle(nodes, model));
        for point in reference::at_points(kind, x, kind.info().shape.quadrature) {
            let terms = nodes.iter().zip(&point.gradients).map(|(node, g)| u[*node as usize] * SVector::from(*g));
            let gradient: SVector<f64, 3> = terms.sum();
            let flux = c * gradient;
            let energy = 0.5 * reference::volume(model, &point, x) * gradient.dot(&flux);
            points.push((gradient.as_slice().to_vec(), flux.as_slice().to_vec(), energy));
        }
    });
    points
}

/// Stresses and gradients at the nodes, of two materials, against those of the CPU; `tests/nodal.rs` has states that
/// are known.
pub fn nodal<E: Element>(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (model, symbolic) in large_problems::<E>(&meshes::all_analyses(kind::<E>())) {
        let u: Vec<f64> = Random(6).vector(model.analysis.components() * symbolic.numbering.len());
        let [[values, sizes], expected] = [space, &Space::cpu()].map(|space| at_nodes(space, &model, &symbolic, &u));
        assert_close("values at the nodes", &values, &expected[0], 1e-12, largest(&expected[0]));
        assert_close("sizes at the nodes", &sizes, &expected[1], 1e-12, largest(&expected[1]));
        found.extend([bits(&values), bits(&sizes)].concat());
    }
    found
}

/// Stresses, or a potential's gradients, and their sizes.
fn at_nodes(space: &Space, model: &Model, symbolic: &Symbolic, u: &[f64]) -> [Vec<f64>; 2] {
    let (mesh, u) = (meshes::upload(space, model, symbolic), space.upload(u).unwrap());
    if model.analysis.physics().is_scalar() {
        let found = nodal_gradient(space, model, &symbolic.numbering, &mesh, &u, Asked::Strain).unwrap();
        return [found.values.into_flattened(), found.sizes];
    }
    let found = nodal_stress(space, model, &symbolic.numbering, &mesh, &u).unwrap();
    [found.values.into_flattened(), found.sizes]
}
