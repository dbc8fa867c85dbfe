//! Plane stress and plane strain with known solutions: gravity, a slab in space, thickness. `tests/patch.rs` has those
//! that solids have too.

use crate::common::fields::solve;
use crate::common::meshes::{self, SOFT, WEIGHT, distorted_box, model};
use crate::common::{assert_close, largest, reference};
use crate::patch::check_displacements;
use warpfem::element::ElementKind::{self, Hex8, Quad4, Tri3};
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::Analysis;

const THICKNESS: f64 = 0.05;

fn analysis(kind: Analysis, thickness: f64) -> String {
    format!("{}{SOFT}", meshes::analysis(kind, thickness))
}

/// A unit square of distorted cells, of fewer if they have more nodes; curved where the element is.
fn distorted_square(kind: ElementKind, cells: [usize; 2]) -> Mesh {
    let cells = if kind.info().is_quadratic() { cells.map(|n| n - 1) } else { cells };
    distorted_box(kind, [cells[0], cells[1], 1], 0.2)
}

/// A plate that hangs from its upper edge, its sides held against moving sideways: `sigma_yy = rho g y` at any
/// Poisson's ratio, and at the nodes of equal linear elements the displacement of the exact solution (one-dimensional,
/// so nodally exact).
#[test]
fn a_hanging_plate_carries_its_weight() {
    for plane in [Analysis::PlaneStress, Analysis::PlaneStrain] {
        for (kind, thickness) in [(Tri3, THICKNESS), (Quad4, THICKNESS), (Quad4, 1.0)] {
            let sides =
                "[[support]]\non = [\"xmin\", \"xmax\"]\nfix = \"x\"\n[[support]]\non = \"ymax\"\nfix = \"xy\"\n";
            let gravity = "[gravity]\nacceleration = [0.0, -10.0]\n";
            let tables = format!("{}{sides}{gravity}", analysis(plane, thickness));
            let mut plate = model(&tables, generate_rectangle(kind, [0.5, 1.0], [1, 8]).unwrap());
            let solution = solve(&mut plate, 1e-13);
            // Stiffness of a strip that cannot change its width.
            let stiffness = reference::elasticity(plane, &plate.materials[0], [0.0; 3])[(1, 1)];
            if kind == Quad4 {
                let exact = |[_, y, _]: [f64; 3]| [0.0, 0.5 * WEIGHT / stiffness * (y * y - 1.0), 0.0];
                check_displacements(&solution, &plate.mesh.coords, exact);
            }
            let weight = 0.5 * thickness * WEIGHT;
            assert_close("applied", &solution.applied, &[0.0, -weight, 0.0], 1e-12, weight);
            assert_close("reaction", &solution.reaction(1)[1..2], &[weight], 1e-10, weight);
        }
    }
}

#[test]
fn forces_move_a_thick_plate_less_and_tractions_move_it_as_much() {
    let clamp = "[[support]]\non = \"xmin\"\nfix = \"xy\"\n";
    let solved = |load: &str, thickness: f64| {
        let tables = format!("{}{clamp}{load}", analysis(Analysis::PlaneStress, thickness));
        solve(&mut model(&tables, distorted_square(Quad4, [4, 4])), 1e-13)
    };
    let force = "[[force]]\non = \"xmax\"\ntotal = [1.0, -2.0]\n[[point_force]]\nat = [1.0, 1.0]\nvector = [0.0, 0.5]\n\
                 [[push]]\ndirection = [0.0, 1.0]\ntotal = 0.7\n";
    let (thin, thick) = (solved(force, 0.1), solved(force, 0.4));
    let quarter: Vec<f64> = thin.displacement().as_flattened().iter().map(|u| u / 4.0).collect();
    assert_close("force", thick.displacement().as_flattened(), &quarter, 1e-10, largest(&quarter));
    assert_close("applied", &thick.applied, &[1.0, -2.0 + 0.5 - 0.7, 0.0], 1e-12, 1.0);
    let traction = "[[traction]]\non = \"xmax\"\nvector = [1.0, -2.0]\n[[pressure]]\non = \"ymax\"\nvalue = 0.3\n";
    let (thin, thick) = (solved(traction, 0.1), solved(traction, 0.4));
    let same = thin.displacement().as_flattened();
    assert_close("traction", thick.displacement().as_flattened(), same, 1e-10, largest(same));
    assert_close("applied", &thick.applied, &[0.4, 0.4 * (-2.0 - 0.3), 0.0], 1e-12, 1.0);
}

/// A slab of one layer of hex8 that nothing moves along z is the same problem.
#[test]
fn plane_strain_is_a_slab_held_along_z() {
    let cells = [5, 3];
    let loads = "[[pressure]]\non = \"ymax\"\nvalue = 3.0\n[[traction]]\non = \"xmax\"\nvector = [1.0, -2.0, 0.0]\n";
    let gravity = "[gravity]\nacceleration = [1.0, -10.0, 0.0]\n";
    let square = distorted_square(Quad4, cells);
    let n = square.coords.len();
    let mut slab = generate_box(Hex8, [1.0, 1.0, THICKNESS], [cells[0], cells[1], 1]).unwrap();
    for (i, x) in slab.coords.iter_mut().enumerate() {
        (x[0], x[1]) = (square.coords[i % n][0], square.coords[i % n][1]);
    }
    let clamp = |fix: &str| format!("[[support]]\non = \"xmin\"\nfix = \"{fix}\"\n");
    let plane = analysis(Analysis::PlaneStrain, THICKNESS);
    let plane = solve(&mut model(&format!("{plane}{}{loads}{gravity}", clamp("xy")), square), 1e-12);
    let across = "[[support]]\non = [\"zmin\", \"zmax\"]\nfix = \"z\"\n";
    let space = solve(&mut model(&format!("{SOFT}{}{across}{loads}{gravity}", clamp("xyz")), slab), 1e-12);
    let flat = plane.displacement().as_flattened();
    for layer in space.displacement().chunks(n) {
        assert_close("displacement", layer.as_flattened(), flat, 1e-10, largest(flat));
    }
    let stress = &plane.step.lists("stress")[0];
    assert_close("stress", &space.step.lists("stress")[0], stress, 1e-9, largest(stress));
    let energy = plane.strain_energy();
    assert_close("energy", &[space.strain_energy()], &[energy], 1e-10, energy);
    assert_close("applied", &space.applied, &plane.applied, 1e-10, largest(&plane.applied));
    assert_close("reaction", space.reaction(0), plane.reaction(0), 1e-9, largest(plane.reaction(0)));
}

/// A block bonded to the ground is pressed from above: what four elements a side miss of the strain energy of
/// 32, near 1 % where nothing locks.
#[test]
fn linear_elements_lock_in_plane_strain_where_the_warning_says_so() {
    let give = |kind: ElementKind, poisson: f64, n: usize| {
        let tables = format!("[analysis]\nkind = \"plane_strain\"\n{SOFT}");
        let tables = tables.replace("poisson = 0.3", &format!("poisson = {poisson}"));
        let load = "[[support]]\non = \"ymin\"\nfix = \"xy\"\n[[force]]\non = \"ymax\"\ntotal = [0.0, -1.0]\n";
        let mut block = model(&format!("{tables}{load}"), generate_rectangle(kind, [1.0; 2], [n, n]).unwrap());
        let warned = block.warnings.iter().any(|warning| warning.contains("lock"));
        (solve(&mut block, 1e-9).strain_energy(), warned)
    };
    for kind in [Tri3, Quad4] {
        let [sound, near, locked] = [0.3, 0.46, 0.499].map(|poisson| {
            let ((coarse, warned), (fine, _)) = (give(kind, poisson, 4), give(kind, poisson, 32));
            (1.0 - coarse / fine, warned)
        });
        println!("{kind:?}: {sound:?} {near:?} {locked:?}");
        assert!(!sound.1 && near.1 && locked.1);
        assert!(sound.0 < 0.02 && near.0 > 4.0 * sound.0 && locked.0 > 0.3, "{kind:?}: {sound:?} {near:?} {locked:?}");
    }
}
