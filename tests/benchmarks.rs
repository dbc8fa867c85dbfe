//! Published problems: those of `warpfem verify` on finer and finer meshes, and plates with a hole. Stresses at nodes
//! are means over the cells around them.

use crate::common::elements::solvable;
use crate::common::fields::{Displacement, errors, node_at, rates, solve};
use crate::common::meshes::model;
use std::f64::consts::FRAC_PI_2;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, *};
use warpfem::mesh::Group;
use warpfem::model::Model;
use warpfem::result::choices::Method;
use warpfem::solve::Silent;
use warpfem::verify::cylinder::{HOOP, INNER, OUTER, POISSON, PRESSURE, YOUNG, cylinder, stretch};
use warpfem::verify::meshes::mapped;
use warpfem::verify::nafems::{self, between, growing};
use warpfem::verify::{Check, GROUPS, Problem};

/// The values of a problem, in the order of its measures.
fn values(problem: &Problem) -> Vec<f64> {
    let checks = problem.check(DeviceName::Cpu, &Silent).unwrap_or_else(|error| panic!("{}: {error}", problem.name));
    checks.iter().map(|check| check.computed).collect()
}

/// Errors on finer and finer meshes fall from mesh to mesh and are at last below `within`.
fn check_approach(what: &str, found: &[f64], expected: f64, within: f64) {
    let missed: Vec<f64> = found.iter().map(|value| (value / expected - 1.0).abs()).collect();
    println!("{what}: {found:.3?}, {missed:.4?} from {expected}");
    assert!(missed.windows(2).all(|pair| pair[1] < pair[0]), "{what}: {found:?} do not approach {expected}");
    assert!(missed.last().is_some_and(|last| *last < within), "{what}: {found:?}, not {expected}");
}

#[test]
fn le1_elliptic_membrane() {
    for (kind, coarse, within) in
        [(Tri3, [8, 12], 0.045), (Quad4, [8, 12], 0.045), (Tri6, [6, 10], 0.005), (Quad8, [4, 6], 0.005)]
    {
        let found = [1, 2, 4].map(|by| values(&nafems::le1(kind, coarse.map(|n| by * n), within).unwrap())[0]);
        if kind == Quad4 {
            // The coarsest mesh meets it by luck: no finer one can but stay near.
            assert!(found.iter().all(|stress| (stress / nafems::LE1 - 1.0).abs() < 0.01), "{found:?}");
            continue;
        }
        check_approach(&format!("LE1, {kind:?}, from {coarse:?} cells"), &found, nafems::LE1, within);
        let reasonable = !kind.info().is_quadratic() || (found[1] / nafems::LE1 - 1.0).abs() < 0.02;
        assert!(reasonable, "{kind:?}, twice {coarse:?} cells: {found:?}");
    }
}

#[test]
fn le10_thick_plate() {
    for (kind, coarse, within) in [(Hex8, [2, 4, 2], 0.3), (Hex20, [2, 4, 1], 0.02), (Tet10, [2, 4, 1], 0.02)] {
        let found = [1, 2, 4].map(|by| values(&nafems::le10(kind, coarse.map(|n| by * n), within).unwrap())[0]);
        check_approach(&format!("LE10, {kind:?}, from {coarse:?} cells"), &found, nafems::LE10, within);
    }
}

/// Lame's solution in plane strain, `u = c ((1 - 2 nu) + b^2 / r^2) x`.
fn lame([x, y, _]: [f64; 3]) -> Displacement {
    let c = (1.0 + POISSON) / YOUNG * PRESSURE * INNER * INNER / (OUTER * OUTER - INNER * INNER);
    let (r2, b2) = (x * x + y * y, OUTER * OUTER);
    let even = stretch(r2.sqrt());
    let slope = -2.0 * c * b2 / (r2 * r2);
    let h = [[even + slope * x * x, slope * x * y, 0.0], [slope * x * y, even + slope * y * y, 0.0], [0.0; 3]];
    Displacement { u: [even * x, even * y, 0.0], h }
}

#[test]
fn lame_thick_cylinder() {
    for kind in solvable() {
        // The order, meshes, and most that displacement, energy and the stress round the bore may be off on the finest.
        let (p, cells, most) = match kind.info().is_quadratic() {
            true => (2.0, [2, 4, 8], [4e-5, 2.5e-3, 5e-3]),
            false => (1.0, [4, 8, 16], [3e-3, 5.5e-2, 5.5e-2]),
        };
        let solved = cells.map(|n| {
            let mut model = cylinder(kind, n, [most[0], most[2]]).unwrap().model;
            let solution = solve(&mut model, 1e-12);
            let bore = node_at(&model, [INNER, 0.0, 0.0]);
            (errors(&model, solution.displacement(), lame), solution.step.vectors::<6>("stress_nodal")[bore][1])
        });
        let [u, energy] = [0, 1].map(|i| rates(&solved.map(|(errors, _)| errors[i]), &cells)[1]);
        println!("Lame, {kind:?}: errors {:?}, rates {u:.3}, {energy:.3}", solved[2].0);
        assert!(u > p + 0.9 && energy > p - 0.1, "{kind:?}: rates {u}, {energy}");
        assert!(solved[2].0[0] < most[0] && solved[2].0[1] < most[1], "{kind:?}: {:?}", solved[2].0);
        check_approach(&format!("Lame, {kind:?}, stress"), &solved.map(|(_, stress)| stress), HOOP, most[2]);
    }
}

/// Volume of the slice, by the load of a unit force per volume.
#[test]
fn volumes_of_curved_shapes() {
    for kind in solvable() {
        let order = if kind.info().is_quadratic() { 4.0 } else { 2.0 };
        let cells = [2, 4, 8];
        let missed = cells.map(|n| {
            let mut model = cylinder(kind, n, [1.0; 2]).unwrap().model;
            model.materials[0].density = Some(1.0);
            model.gravity = Some([-1.0, 0.0, 0.0]);
            model.nodal_forces.fill([0.0; 3]);
            let height = if kind.info().dim == 2 { 1.0 } else { 1.0 / n as f64 };
            let exact = FRAC_PI_2 / 2.0 * (OUTER * OUTER - INNER * INNER) * height;
            (solve(&mut model, 1e-3).applied[0] / -exact - 1.0).abs()
        });
        let rates = rates(&missed, &cells);
        println!("{kind:?}: volume off by {missed:?}, rates {rates:.3?}");
        assert!((rates[1] - order).abs() < 0.1, "{kind:?}: {rates:?}");
    }
}

/// A quarter of a strip of half-width `width` with a hole of radius 1, pulled by 1 at its far end.
fn strip_with_a_hole(kind: ElementKind, width: f64, cells: [usize; 2]) -> Model {
    let length = 3.0 * width;
    // Cells grow away from the hole in proportion to their distance from its centre, about.
    let growth = length.ln();
    let mut mesh = mapped(kind, [cells[0], cells[1], 1], |[s, t, _]| {
        let (sin, cos) = (FRAC_PI_2 * t).sin_cos();
        let outline = if t <= 0.5 { [length, 2.0 * t * width] } else { [2.0 * (1.0 - t) * length, width] };
        let [x, y] = between([cos, sin], outline, growing(growth, s));
        [x, y, 0.0]
    })
    .unwrap();
    let at_end = |node: &u32| mesh.coords[*node as usize][0] == length;
    let edges = (0..mesh.cells[1].len()).filter(|edge| mesh.cells[1].cell(*edge).iter().all(at_end));
    let members = vec![(1, edges.map(|edge| edge as u32).collect())];
    mesh.groups.push(Group { name: "end".into(), dim: 1, members });
    let tables = "[analysis]\nkind = \"plane_stress\"\n[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\n\
                  [[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n\
                  [[traction]]\non = \"end\"\nvector = [1.0, 0.0]\n";
    model(tables, mesh)
}

/// The stress at the side of the hole over that far away: 3 in an infinite plate (Kirsch 1898); where the hole takes
/// 0.1, 0.3 and 0.5 of the width, 3.03, 3.36 and 4.32 (Howland 1930; Timoshenko and Goodier, art. 35).
#[test]
fn plates_with_a_hole() {
    for (width, expected) in [(40.0, 3.0), (10.0, 3.03), (10.0 / 3.0, 3.36), (2.0, 4.32)] {
        for kind in [Quad8, Tri6] {
            let mut plate = strip_with_a_hole(kind, width, [12, 16]);
            let solution = solve(&mut plate, 1e-10);
            let side = node_at(&plate, [0.0, 1.0, 0.0]);
            let found = solution.step.vectors::<6>("stress_nodal")[side][0];
            println!("hole in a strip {width:.2} times as wide, {kind:?}: {found:.4}, expected {expected}");
            assert!((found / expected - 1.0).abs() < 0.02, "{kind:?}, {width}: {found}, not {expected}");
        }
    }
}

/// A softer material moves further: what `warpfem verify` measures comes from the solution.
#[test]
fn verify_finds_another_material_out() {
    let (_, patch_tests) = GROUPS[0];
    let mut patches = patch_tests().unwrap();
    let stretched = &mut patches[0];
    assert!(stretched.check(DeviceName::Cpu, &Silent).unwrap().iter().all(Check::passed));
    let steel = &mut stretched.model.materials[0];
    steel.set_isotropic(1.001 * steel.law.young(), steel.law.poisson());
    assert!(!stretched.check(DeviceName::Cpu, &Silent).unwrap().iter().any(Check::passed));
    (stretched.model.solver.method, stretched.model.solver.max_iterations) = (Some(Method::Cg), 1);
    assert!(stretched.check(DeviceName::Cpu, &Silent).unwrap().iter().all(|check| check.computed.is_nan()));
}

/// Every problem of `warpfem verify` as it is there, in every group.
#[test]
fn what_verify_checks_is_within_its_tolerances() {
    for (group, problems) in GROUPS {
        let problems = problems().unwrap();
        assert!(problems.len() > 2, "{group}");
        for check in problems.iter().flat_map(|problem| problem.check(DeviceName::Cpu, &Silent).unwrap()) {
            println!("{}: {} {:.6e}, error {:.1e}", check.problem, check.quantity, check.computed, check.error());
            assert!(check.passed(), "{check:?}");
            assert!(check.tolerance < 0.06, "a tolerance that says little: {check:?}");
        }
    }
}
