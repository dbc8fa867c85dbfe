//! Kernels over cells and over the cells around nodes, on distorted boxes and squares of every element, curved where
//! the element is.

use super::GUARD;
use crate::common::{Random, assert_close, bits, largest, meshes, reference};
use crate::strategies::{Problem, assembled_by};
use cuda_std::prelude::View;
use kernels_rs::assembly::row_owner::{BodyForce, InternalForce};
use kernels_rs::element::Element;
use kernels_rs::physics::{Conduction, Elasticity, Physics, size};
use kernels_rs::stress::{PotentialGradient, Recover, StressOut};
use nalgebra::DVector;
use warpfem::assembly::Symbolic;
use warpfem::device::Buffer;
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::model::{Analysis, Model};
use warpfem::result::Result;
use warpfem::result::choices::{Format, Ordering, Strategy};
use warpfem::stress::{nodal_gradient, nodal_stress};

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
        let symbolic = Symbolic::new(&model.mesh, Ordering::Mesh, 1).unwrap();
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
    for (model, _) in problems::<E>(&meshes::all_analyses(kind), small) {
        let analysis = model.analysis;
        let problem = Problem::new(model);
        let fits = |s: &Strategy| s.fits(kind) && s.runs_on(space) && s.solves(analysis);
        let in_all_formats = Format::ALL.into_iter().map(|format| (Strategy::RowOwner, format));
        let others = Strategy::ALL.iter().copied().filter(|strategy| *strategy != Strategy::RowOwner).filter(fits);
        for (strategy, format) in in_all_formats.chain(others.map(|strategy| (strategy, Format::Ebw))) {
            found.extend(assembled_by::<f64>(space, &problem, strategy, format, 1.0));
            found.extend(assembled_by::<f32>(space, &problem, strategy, format, 1.0));
        }
    }
    found
}

pub fn body_force<E: Element>(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (model, symbolic) in large_problems::<E>(&meshes::all_analyses(kind::<E>())) {
        let size = model.analysis.components();
        let force = [[1.0, -2.0, 3.0], [0.5, 4.0, -0.25]];
        let expected = reference::body_force(&model, &force);
        let mesh = meshes::upload(space, &model, &symbolic);
        let force = space.upload(&force).unwrap();
        // SAFETY: mesh and vectors live; n is at most the number of nodes.
        found.extend(added(space, size, &expected, |n, f| unsafe {
            space.run(n, BodyForce::<E>::new(mesh.view(&mesh.blocks[0]), size, force.view(), f.view_mut()))
        }));
    }
    found
}

/// Of so many nodes a kernel adds to the first entries of a vector, and leaves the others alone.
fn added(
    space: &Space,
    size: usize,
    expected: &[f64],
    run: impl Fn(usize, &mut Buffer<f64>) -> Result<()>,
) -> Vec<u64> {
    let mut found = Vec::new();
    for count in COUNTS {
        let (start, n): (Vec<f64>, usize) = (Random(1).vector(expected.len()), size * count);
        let mut f = space.upload(&start).unwrap();
        run(count, &mut f).unwrap();
        let f = space.download(&f).unwrap();
        let sums: Vec<f64> = start.iter().zip(expected).map(|(start, added)| start + added).collect();
        assert_close("rows", &f[..n], &sums[..n], 1e-13, 1.0 + largest(expected));
        assert_eq!(f[n..], start[n..], "entries from {n} on are not to be touched");
        found.extend(bits(&f));
    }
    found
}

pub fn internal_force<E: Element>(space: &Space) -> Vec<u64> {
    let elastic = internal_force_in::<E, Elasticity>(space, meshes::analyses(kind::<E>()));
    [elastic, internal_force_in::<E, Conduction>(space, &[Analysis::Laplace])].concat()
}

fn internal_force_in<E: Element, P: Physics>(space: &Space, analyses: &[Analysis]) -> Vec<u64> {
    let mut found = Vec::new();
    for (model, symbolic) in large_problems::<E>(analyses) {
        let u: Vec<f64> = Random(2).vector(size::<E, P>() * symbolic.numbering.len());
        let expected = reference::stiffness(&model) * DVector::from_column_slice(&u);
        let mesh = meshes::upload(space, &model, &symbolic);
        let u = space.upload(&u).unwrap();
        let (view, all) = (mesh.view(&mesh.blocks[0]), View::from_slice(&[]));
        // SAFETY: mesh and vectors live; n is at most the number of nodes.
        found.extend(added(space, size::<E, P>(), expected.as_slice(), |n, f| unsafe {
            space.run(n, InternalForce::<E, P>::new(view, all, u.view(), f.view_mut()))
        }));
    }
    found
}

/// Against the textbook's gradients at the centroid.
pub fn potential_gradient<E: Element>(space: &Space) -> Vec<u64> {
    let mut found = Vec::new();
    for (model, symbolic) in large_problems::<E>(&[Analysis::Laplace]) {
        let u: Vec<f64> = Random(5).vector(symbolic.numbering.len());
        let mut expected = Vec::new();
        reference::for_each_cell(&model, |kind, nodes, x, _, _| {
            let centroid = reference::centroid(kind, x);
            let terms =
                || nodes.iter().zip(&centroid.gradients).map(|(node, g)| g.map(|slope| u[*node as usize] * slope));
            expected.push([0, 1, 2].map(|i| terms().map(|term| term[i]).sum::<f64>()));
        });
        let mesh = meshes::upload(space, &model, &symbolic);
        let values = u;
        let u = space.upload(&values).unwrap();
        for n in COUNTS.map(|n| n.min(expected.len())).into_iter().chain([expected.len()]) {
            let mut gradient = space.upload(&vec![[f64::NAN; 3]; n + GUARD]).unwrap();
            let mut energy = space.upload(&vec![f64::NAN; n + GUARD]).unwrap();
            let out = (gradient.view_mut(), energy.view_mut());
            let kernel = PotentialGradient::<E>::new(mesh.view(&mesh.blocks[0]), u.view(), out.0, out.1);
            // SAFETY: mesh, u and the output live; n is at most the number of cells.
            unsafe { space.run(n, kernel) }.unwrap();
            let mut gradient = space.download(&gradient).unwrap().into_flattened();
            assert!(gradient.split_off(3 * n).iter().all(|v| v.is_nan()), "it writes past cell {n}");
            let expected = expected[..n].as_flattened();
            assert_close("gradient", &gradient, expected, 1e-13, 1.0 + largest(expected));
            found.extend(bits(&gradient));
            let mut energy = space.download(&energy).unwrap();
            assert!(energy.split_off(n).iter().all(|v| v.is_nan()), "it writes past cell {n}");
            if 3 * n == expected.len() && mesh.blocks[0].cells.n_cells == n {
                // All cells together hold half the work of the internal forces.
                let forces = space.take(mesh.internal_force(space, &u, None).unwrap()).unwrap();
                let work: f64 = forces.iter().zip(&values).map(|(f, u)| f * u).sum();
                assert_close("energy", &[energy.iter().sum::<f64>()], &[0.5 * work], 1e-12, work);
            }
            found.extend(bits(&energy));
        }
    }
    found
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
    if model.analysis == Analysis::Laplace {
        let found = nodal_gradient(space, model, &symbolic.numbering, &mesh, &u).unwrap();
        return [found.values.into_flattened(), found.sizes];
    }
    let (found, _) = nodal_stress(space, model, &symbolic.numbering, &mesh, &u).unwrap();
    [found.values.into_flattened(), found.sizes]
}

/// Stress, von Mises stress and energy of every cell, by the textbook.
fn stresses(model: &Model, u: &[f64]) -> Vec<([f64; 6], f64, f64)> {
    let mut cells = Vec::new();
    let dim = model.analysis.components();
    reference::for_each_cell(model, |kind, nodes, x, material, _| {
        let d = reference::elasticity(model.analysis, &model.materials[material]);
        let sigma: [f64; 6] = (d * reference::strain(dim, &reference::centroid(kind, x), nodes, u)).into();
        let energy = reference::points(kind, x).into_iter().map(|point| {
            let eps = reference::strain(dim, &point, nodes, u);
            0.5 * model.thickness * point.weight * eps.dot(&(d * eps))
        });
        cells.push((sigma, reference::von_mises(&sigma), energy.sum()));
    });
    cells
}

pub fn recover<E: Element>(space: &Space) -> Vec<u64> {
    let problems = large_problems::<E>(meshes::analyses(kind::<E>()));
    problems.iter().flat_map(|(model, symbolic)| recover_in::<E>(space, model, symbolic)).collect()
}

fn recover_in<E: Element>(space: &Space, model: &Model, symbolic: &Symbolic) -> Vec<u64> {
    let u: Vec<f64> = Random(4).vector(E::DIM * symbolic.numbering.len());
    let expected = stresses(model, &u);
    let scale = largest(expected.iter().map(|cell| cell.0).collect::<Vec<_>>().as_flattened());
    let energy_scale = expected.iter().fold(0.0, |most: f64, cell| most.max(cell.2));
    let mesh = meshes::upload(space, model, symbolic);
    let u = space.upload(&u).unwrap();
    let mut found = Vec::new();
    for n in COUNTS.map(|n| n.min(expected.len())) {
        let mut stress = space.upload(&vec![[f64::NAN; 6]; n + GUARD]).unwrap();
        let mut von_mises = space.upload(&vec![f64::NAN; n + GUARD]).unwrap();
        let mut energy = space.upload(&vec![f64::NAN; n + GUARD]).unwrap();
        let out = StressOut { stress: stress.view_mut(), von_mises: von_mises.view_mut(), energy: energy.view_mut() };
        // SAFETY: mesh, u and the outputs live; n is at most the number of cells.
        unsafe { space.run(n, Recover::<E>::new(mesh.view(&mesh.blocks[0]), mesh.across(), u.view(), out)) }.unwrap();
        let mut cells = [
            space.download(&stress).unwrap().into_flattened(),
            space.download(&von_mises).unwrap(),
            space.download(&energy).unwrap(),
        ];
        for (values, width) in cells.iter_mut().zip([6, 1, 1]) {
            assert!(values.split_off(width * n).iter().all(|v| v.is_nan()), "recover writes past cell {n}");
        }
        let columns = |f: fn(&([f64; 6], f64, f64)) -> f64| expected[..n].iter().map(f).collect::<Vec<_>>();
        let sigma: Vec<f64> = expected[..n].iter().flat_map(|cell| cell.0).collect();
        assert_close("stress", &cells[0], &sigma, 1e-13, scale);
        assert_close("von Mises", &cells[1], &columns(|cell| cell.1), 1e-13, scale);
        assert_close("energy", &cells[2], &columns(|cell| cell.2), 1e-13, energy_scale);
        found.extend(bits(&cells.concat()));
    }
    found
}
