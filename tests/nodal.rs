//! Stresses and gradients at the nodes: of displacements that are known, on distorted and regular meshes, between
//! materials, and of a clamped beam by its theory.

use crate::common::elements::solvable;
use crate::common::fields::{node_at, solve};
use crate::common::meshes::{
    self, CLAMP, POISSON, SOFT, YOUNG, analyses, analysis, clamp, distorted_box, model, regular_box,
};
use crate::common::{assert_close, largest, on_every_device, on_threads, reference};
use warpfem::assembly::Symbolic;
use warpfem::element::ElementKind::{self, *};
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::model::{Analysis, Model};
use warpfem::result::choices::Ordering;
use warpfem::stress::{self, Nodal};
use warpfem::verify::beam;
use warpfem::verify::meshes::mapped;
use warpfem::verify::patch::{self as verify};

/// A model that has materials and no loads.
fn bare(kind: Analysis, mesh: Mesh) -> Model {
    model(&format!("{}{SOFT}{}", analysis(kind, 1.0), clamp(kind)), mesh)
}

/// Of displacements in the mesh's numbering, computed in another.
fn nodal_stress_on(space: &Space, model: &Model, u: &[[f64; 3]]) -> Nodal<6> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Hilbert, 64).unwrap();
    let (mesh, numbering) = (meshes::upload(space, model, &symbolic), &symbolic.numbering);
    let u = space.upload(&numbering.gather_components(u, model.analysis.components())).unwrap();
    stress::nodal_stress(space, model, numbering, &mesh, &u).unwrap()
}

fn nodal_gradient_on(space: &Space, model: &Model, u: &[f64]) -> Nodal<3> {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Hilbert, 64).unwrap();
    let (mesh, numbering) = (meshes::upload(space, model, &symbolic), &symbolic.numbering);
    let u = space.upload(&numbering.gather(u)).unwrap();
    stress::nodal_gradient(space, model, numbering, &mesh, &u, stress::Asked::Strain).unwrap()
}

fn nodal_stress(model: &Model, u: &[[f64; 3]]) -> Nodal<6> {
    nodal_stress_on(&Space::cpu(), model, u)
}

#[test]
fn constant_states_are_exact_in_every_element() {
    for kind in solvable() {
        for of in analyses(kind) {
            let model = bare(of, distorted_box(kind, [3, 2, 2], 0.2));
            let dim = kind.info().dim;
            let u: Vec<[f64; 3]> = model.mesh.coords.iter().map(|x| verify::field(dim, *x)).collect();
            let expected = verify::stress(of);
            let size = reference::von_mises(&expected);
            for found in on_every_device!(nodal_stress_on, &model, &u) {
                for stress in &found.values {
                    assert_close(&format!("{kind:?}, {of:?}"), stress, &expected, 1e-11, largest(&expected));
                }
                assert!(found.sizes.iter().all(|found| (found / size - 1.0).abs() < 1e-10), "{kind:?}, {of:?}");
            }
        }
        let model = bare(Analysis::Laplace, distorted_box(kind, [3, 2, 2], 0.2));
        let slope = [3.0, -4.0, if kind.info().dim == 3 { 12.0 } else { 0.0 }];
        let u: Vec<f64> = model.mesh.coords.iter().map(|x| (0..3).map(|i| slope[i] * x[i]).sum()).collect();
        for found in on_every_device!(nodal_gradient_on, &model, &u) {
            for (gradient, size) in found.values.iter().zip(&found.sizes) {
                assert_close("gradient", gradient, &slope, 1e-11, 13.0);
                assert!((size - slope.iter().map(|s| s * s).sum::<f64>().sqrt()).abs() < 1e-10);
            }
        }
    }
}

/// Pure bending about y by the curvature 1 (Timoshenko and Goodier, art. 102): `sigma_xx = E z` and no other stress. In
/// the plane `sigma_xx = E y`, in plane stress.
fn bent([x, y, z]: [f64; 3], dim: usize) -> [f64; 3] {
    let nu = POISSON;
    match dim {
        2 => [x * y, -0.5 * (x * x + nu * y * y), 0.0],
        _ => [x * z, -nu * y * z, -0.5 * (x * x + nu * (z * z - y * y))],
    }
}

#[test]
fn stress_that_varies_linearly_is_exact_at_the_nodes_of_quadratic_elements() {
    for kind in [Tri6, Quad8, Tet10, Hex20] {
        let dim = kind.info().dim;
        let of = if dim == 2 { Analysis::PlaneStress } else { Analysis::Elasticity };
        let long = |[x, y, z]: [f64; 3]| [3.0 * x, y, 2.0 * z];
        let model = bare(of, mapped(kind, [4, 2, 2], long).unwrap());
        let u: Vec<[f64; 3]> = model.mesh.coords.iter().map(|x| bent(*x, dim)).collect();
        for (stress, x) in nodal_stress(&model, &u).values.iter().zip(&model.mesh.coords) {
            let expected = [YOUNG * x[dim - 1], 0.0, 0.0, 0.0, 0.0, 0.0];
            assert_close(&format!("{kind:?} at {x:?}"), stress, &expected, 1e-11, YOUNG);
        }
    }
}

/// Along an interface the stress jumps: no mean over both sides, but the larger of the two means.
#[test]
fn the_mean_is_over_one_material() {
    let mesh = generate_box(Hex8, [2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
    let mut model = bare(Analysis::Elasticity, mesh);
    let mut stiff = model.materials[0].clone();
    stiff.set_isotropic(10.0 * stiff.law.young(), stiff.law.poisson());
    model.materials.push(stiff);
    let u: Vec<[f64; 3]> = model.mesh.coords.iter().map(|x| [0.0, 1e-3 * x[2], 0.0]).collect();
    let shear = |young: f64| 1e-3 * young / (2.0 * (1.0 + POISSON));
    for (order, left_is_stiff) in [([0, 1], false), ([1, 0], true)] {
        model.cell_material[0] = order.to_vec();
        for found in on_every_device!(nodal_stress_on, &model, &u) {
            for (i, x) in model.mesh.coords.iter().enumerate() {
                let is_stiff = x[0] == 1.0 || (x[0] < 1.0) == left_is_stiff;
                let expected = shear(if is_stiff { 10.0 * YOUNG } else { YOUNG });
                assert!((found.values[i][4] - expected).abs() < 1e-12 * expected, "{x:?}: {:?}", found.values[i]);
                assert!((found.sizes[i] / (3.0f64.sqrt() * expected) - 1.0).abs() < 1e-12, "{x:?}");
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let model = bare(Analysis::Elasticity, regular_box(Tet10, [6, 5, 4]));
    let u: Vec<[f64; 3]> = model.mesh.coords.iter().map(|x| [x[1].sin(), x[0] * x[2], x[2].cos()]).collect();
    let [one, three] = [1, 3].map(|threads| on_threads(threads, || nodal_stress(&model, &u)));
    assert!(one.values == three.values && one.sizes == three.sizes);
}

/// The largest bending stress along the upper edge in the middle of a cantilever's width, over `F (L - x) c / I`, at
/// some `x`.
fn over_theory(kind: ElementKind, cells: [usize; 3], at: [f64; 3]) -> [f64; 3] {
    let mut problem = beam::cantilever(kind, cells, 1.0).unwrap();
    let solution = solve(&mut problem.model, 1e-10);
    at.map(|x| {
        let theory = 1e6 * (16.0 - x) * 1.0 / (16.0 / 12.0);
        solution.step.vectors::<6>("stress_nodal")[node_at(&problem.model, [x, 1.0, 2.0])][0] / theory
    })
}

/// Two diameters from the clamp, whose corner is singular, the stress is the beam's.
#[test]
fn a_clamped_beam_has_the_stress_of_its_theory_at_the_surface() {
    for (kind, cells, within) in [(Hex20, [16, 2, 2], 0.002), (Tet10, [16, 2, 2], 0.03), (Hex8, [32, 4, 4], 0.03)] {
        let found = over_theory(kind, cells, [4.0, 8.0, 12.0]);
        println!("{kind:?} {cells:?}: {found:.4?} of theory");
        assert!(found.iter().all(|ratio| (ratio - 1.0).abs() < within), "{kind:?} {cells:?}: {found:?}");
    }
}

/// At the clamp itself where a Poisson's ratio of 0 leaves no singularity.
#[test]
fn the_root_of_a_beam_without_poissons_effect_has_the_stress_of_theory() {
    let tables = SOFT.replace("poisson = 0.3", "poisson = 0.0");
    let force = "[[force]]\non = \"xmax\"\ntotal = [0.0, 0.0, -1.0]\n";
    let mesh = generate_box(Hex20, [10.0, 1.0, 1.0], [20, 2, 2]).unwrap();
    let mut beam = model(&format!("{tables}{CLAMP}{force}"), mesh);
    let solution = solve(&mut beam, 1e-10);
    let root = solution.step.vectors::<6>("stress_nodal")[node_at(&beam, [0.0, 0.5, 1.0])][0];
    assert!((root / 60.0 - 1.0).abs() < 0.03, "{root}");
    let centre = solution.step.lists("von_mises")[0].iter().copied().fold(0.0, f64::max);
    assert!(centre < 0.6 * root, "{centre}");
}
