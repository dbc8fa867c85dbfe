//! The consistent mass matrix: against a loop over elements with more points than it needs, and by what a body weighs and
//! how it turns. `kernels` has it on every device and in every format.

use crate::common::blocks::{dense_of, zeros};
use crate::common::elements::solvable;
use crate::common::meshes::{self, SOFT};
use crate::common::reference::{self, flat};
use crate::common::{assert_close, bits, on_every_device};
use crate::strategies::mixed;
use nalgebra::{DMatrix, DVector, Vector3};
use warpfem::assembly::{Numbering, Symbolic, body_masses, mass_matrix};
use warpfem::element::ElementKind::{self, Hex8, Quad4, Quad8, Tet4, Tet10, Tri3};
use warpfem::linalg::Space;
use warpfem::model::{MassProperties, Model, Physics};
use warpfem::result::choices::{Format, Ordering};
use warpfem::verify::meshes::mapped;

/// M, and the numbering of its rows.
fn assembled(space: &Space, model: &Model) -> (DMatrix<f64>, Numbering) {
    let symbolic = Symbolic::new(&model.mesh, &[], Ordering::Hilbert, 64).unwrap();
    let mesh = meshes::upload(space, model, &symbolic);
    let like = zeros(space, Format::Ebw, model.analysis.components(), &symbolic.sparsity);
    let matrix = mass_matrix(space, model, &symbolic.numbering, &mesh, &like).unwrap();
    (dense_of(space, &matrix), symbolic.numbering)
}

/// M in the mesh's numbering.
fn in_mesh_order(space: &Space, model: &Model) -> DMatrix<f64> {
    let (m, numbering) = assembled(space, model);
    let dim = model.analysis.components();
    let row = |i: usize| dim * numbering.to_solver[i / dim] as usize + i % dim;
    DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| m[(row(i), row(j))])
}

fn few(kind: ElementKind) -> [usize; 3] {
    if kind.info().is_quadratic() { [2; 3] } else { [2, 3, 2] }
}

/// Every element in every analysis, of two materials, on meshes of distorted cells, curved where the element is.
fn distorted() -> impl Iterator<Item = (ElementKind, Model)> {
    let of_kind = |kind| meshes::all_analyses(kind).into_iter().map(move |analysis| (kind, analysis));
    let all = solvable().flat_map(of_kind);
    all.map(|(kind, of)| (kind, meshes::two_materials_in(of, meshes::distorted_box(kind, few(kind), 0.2))))
}

#[test]
fn products_of_shape_functions_are_exact_on_undistorted_elements() {
    let skew = |[x, y, z]: [f64; 3]| [1.1 * x + 0.3 * y + 0.2 * z, 0.1 * x + 0.9 * y - 0.2 * z, 1.2 * z];
    for kind in solvable() {
        for analysis in meshes::all_analyses(kind) {
            let model = meshes::two_materials_in(analysis, mapped(kind, few(kind), skew).unwrap());
            let expected = reference::mass(&model, reference::fine_points);
            let found = in_mesh_order(&Space::cpu(), &model);
            let what = format!("{kind:?}, {}", analysis.name());
            assert_close(&what, found.as_slice(), expected.as_slice(), 1e-14, expected.amax());
        }
    }
}

/// Rational and high-degree integrands are not exact, but near.
#[test]
fn distorted_elements_have_a_positive_mass_near_the_exact_one() {
    for (kind, model) in distorted() {
        let expected = reference::mass(&model, reference::fine_points);
        let found = in_mesh_order(&Space::cpu(), &model);
        let is_exact = !kind.info().is_quadratic() && (kind.info().dim == 2 || kind.info().domain.is_simplex());
        let tolerance = if is_exact { 1e-14 } else { 1e-2 };
        let what = format!("{kind:?}, {}", model.analysis.name());
        assert_close(&what, found.as_slice(), expected.as_slice(), tolerance, expected.amax());
        assert_eq!(found, found.transpose(), "{what}");
        let eigenvalues = found.symmetric_eigenvalues();
        assert!(eigenvalues.min() > 1e-4 * eigenvalues.max(), "{what}: {eigenvalues}");
    }
}

/// Displacements as the solver numbers them, by the place.
fn field(model: &Model, numbering: &Numbering, of: impl Fn([f64; 3]) -> [f64; 3]) -> DVector<f64> {
    let u: Vec<[f64; 3]> = numbering.gather(&model.mesh.coords).into_iter().map(of).collect();
    DVector::from_vec(flat(model.analysis.components(), &u))
}

/// Twice the kinetic energy of unit velocities along the components and of unit spins about the centre of mass is the
/// mass and the moments of inertia, the radius of a body of revolution apart.
fn check_energies(space: &Space, model: &Model) -> Vec<u64> {
    let (m, numbering) = assembled(space, model);
    let bodies = body_masses(model, &numbering);
    let twice_energy = |u: DVector<f64>| {
        let moved = |row: &[(u32, f64)]| row.iter().map(|(of, factor)| factor * u[*of as usize]).sum::<f64>();
        u.dot(&(&m * &u)) + bodies.iter().map(|part| part.mass * moved(&part.row).powi(2)).sum::<f64>()
    };
    let MassProperties { mass, centre, inertia } = model.mass_properties().unwrap();
    let unit = |k: usize| [0, 1, 2].map(|c| f64::from(u8::from(c == k)));
    for k in 0..model.analysis.components() {
        // A body moves along free directions alone.
        if bodies.is_empty() || model.analysis.free_motions()[k] == 1.0 {
            let found = twice_energy(field(model, &numbering, |_| unit(k)));
            assert_close(&format!("mass, component {k}"), &[found], &[mass], 1e-12, mass);
        }
    }
    for k in (0..3).filter(|k| model.analysis.free_motions()[3 + k] == 1.0) {
        let found = twice_energy(field(model, &numbering, |x| {
            let arm = Vector3::from(x) - Vector3::from(centre);
            Vector3::from(unit(k)).cross(&arm).into()
        }));
        assert_close(&format!("inertia about {k}"), &[found], &[inertia[k]], 1e-12, inertia[k]);
    }
    if model.analysis.is_revolved() {
        let found = twice_energy(field(model, &numbering, |[r, _, _]| [r, 0.0, 0.0]));
        assert_close("inertia about the axis", &[found], &[inertia[1]], 1e-12, inertia[1]);
    }
    bits(m.as_slice())
}

#[test]
fn rigid_motions_have_the_energy_of_the_body() {
    for (_, model) in distorted().filter(|(_, model)| model.analysis.physics() == Physics::Elasticity) {
        check_energies(&Space::cpu(), &model);
    }
}

/// Masses spread over a side and at points, and bodies that turn.
#[test]
fn point_masses_and_bodies_move_along() {
    let spread = "[[mass]]\non = \"xmax\"\nmass = 3.0\n";
    let body = "[[mass]]\non = \"ymax\"\nmass = 4.0\ninertia = [0.2, 0.3, 0.5]\n";
    let remote = "[[remote]]\nname = \"motor\"\non = \"ymin\"\nat = [0.4, -1.0, 0.2]\n\
                  [[mass]]\non = \"motor\"\nmass = 5.0\n";
    for kind in [Hex8, Tet10, Quad8] {
        for analysis in meshes::all_analyses(kind).into_iter().filter(|of| of.physics() == Physics::Elasticity) {
            let is_plane = kind.info().dim == 2;
            let more = match (is_plane, analysis.is_revolved()) {
                (true, true) => String::new(),
                (true, false) => format!("{body}{remote}").replace("[0.2, 0.3, 0.5]", "0.5").replace(", 0.2]", "]"),
                _ => format!("{body}{remote}"),
            };
            let tables = format!("{}{SOFT}{}{spread}{more}", meshes::analysis(analysis, 0.4), meshes::clamp(analysis));
            let model = meshes::model(&tables, meshes::distorted_box(kind, few(kind), 0.2));
            assert_eq!(model.bodies().count(), if analysis.is_revolved() { 0 } else { 2 });
            on_every_device!(check_energies, &model);
        }
    }
}

/// Also where no material has a density.
#[test]
fn element_types_add_up() {
    for (kind, simplex, corners) in [(Hex8, Tet4, &[0, 1, 3, 4][..]), (Quad4, Tri3, &[0, 1, 3])] {
        let mut model = mixed(kind, simplex, corners);
        let expected = reference::mass(&model, reference::mass_points);
        let found = in_mesh_order(&Space::cpu(), &model);
        assert_close("M", found.as_slice(), expected.as_slice(), 1e-14, expected.amax());
        on_every_device!(check_energies, &model);
        model.materials.iter_mut().for_each(|material| material.density = None);
        assert_eq!(in_mesh_order(&Space::cpu(), &model).amax(), 0.0);
    }
}
