//! Buckling: load factors against Euler's columns, a plate's, and a dense eigensolver of the whole space.

use crate::common::elements::solvable;
use crate::common::meshes::{all_analyses, analysis, clamp, distorted_box, model};
use crate::common::{assert_close, emulator, on_threads};
use cuda_std::emulator::Order;
use std::f64::consts::PI;
use warpfem::element::ElementKind::{self, *};
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::model::Model;
use warpfem::pipeline::{self, Solution};
use warpfem::result::{Physics, choices::Preconditioner};
use warpfem::solve::Silent;

const STEEL: &str = "[[material]]\nname = \"steel\"\nyoung = 200e9\npoisson = 0.0\n";

fn case(modes: usize, rest: &str, mesh: Mesh) -> Model {
    model(&format!("[analysis]\nstudy = \"buckling\"\nmodes = {modes}\n{STEEL}{rest}"), mesh)
}

fn modes(space: &Space, model: &Model) -> Vec<Solution> {
    pipeline::solve_cases(space, model, &Silent).unwrap()
}

fn factors(modes: &[Solution]) -> Vec<f64> {
    assert!(modes.iter().all(|mode| mode.outcome.converged), "{:?}", modes[0].outcome);
    assert!(modes.windows(2).all(|pair| pair[0].step.value <= pair[1].step.value));
    modes.iter().map(|mode| mode.step.value).collect()
}

/// A table of a support or of a load.
fn on(table: &str, group: &str, rest: &str) -> String {
    format!("[[{table}]]\non = \"{group}\"\n{rest}\n")
}

/// Euler's four columns, of length 1 and a square section of 0.02: ends that are clamped, guided, pinned, or free.
#[test]
fn eulers_columns() {
    let (h, young) = (0.02_f64, 200e9);
    let euler = PI * PI * young * h.powi(4) / 12.0;
    let clamped = || on("support", "xmin", "fix = \"xyz\"");
    // A rigid end, held as the fix says.
    let end = |fix: &str| {
        let held = if fix.is_empty() { String::new() } else { format!("fix = \"{fix}\"\n") };
        format!("[[remote]]\non = \"xmax\"\nkind = \"rigid\"\n{held}force = [-1.0, 0.0, 0.0]\n")
    };
    for (name, rest, times) in [
        ("free", clamped() + &end(""), 0.25),
        ("guided", clamped() + &end("yz rx ry rz"), 4.0),
        ("pinned", clamped() + &end("yz rx"), 2.045_752),
        ("pinned at both ends", on("remote", "xmin", "kind = \"rigid\"\nfix = \"xyz rx\"") + &end("yz rx"), 1.0),
    ] {
        let mesh = generate_box(Hex20, [1.0, h, h], [20, 1, 1]).unwrap();
        let found = factors(&modes(&Space::cpu(), &case(2, &rest, mesh)));
        println!("{name}: {:.4} {:.4} of Euler's", found[0] / (times * euler), found[1] / (times * euler));
        // The section is square, and shear takes a little.
        found.iter().for_each(|factor| assert!((factor / (times * euler) - 1.0).abs() < 0.006, "{name}: {found:?}"));
    }
}

/// A simply supported square plate under compression along x buckles at `4 pi^2 D / b^2` per length. A quarter of it.
#[test]
fn a_plate_buckles_as_published() {
    let (t, young) = (0.01_f64, 200e9);
    for (kind, cells) in [(Hex20, [6, 6, 1]), (Hex8I, [12, 12, 1]), (Tet10, [16, 16, 1])] {
        let mesh = generate_box(kind, [0.5, 0.5, t], cells).unwrap();
        let held = [("xmin", "x"), ("ymin", "y"), ("xmax", "z"), ("ymax", "z")];
        let held = held.map(|(side, fix)| on("support", side, &format!("fix = \"{fix}\""))).concat();
        let rest = held + &on("traction", "xmax", &format!("vector = [{}, 0.0, 0.0]", -1.0 / t));
        let found = factors(&modes(&Space::cpu(), &case(1, &rest, mesh)));
        let published = 4.0 * PI * PI * young * t.powi(3) / 12.0;
        println!("{kind:?}: {:.4} of the published", found[0] / published);
        assert!((found[0] / published - 1.0).abs() < 0.01, "{kind:?}: {found:?} for {published}");
    }
}

/// A small body of an element, held at one side and pushed at the other.
fn small(kind: ElementKind, of: warpfem::model::Analysis) -> Model {
    let tables = analysis(of, 0.7).replacen("[analysis]\n", "[analysis]\nstudy = \"buckling\"\nmodes = 3\n", 1);
    // Few cells of reduced integration have motions without strain.
    let cells = if kind.info().is_quadratic() && !kind.is_reduced() { [2, 1, 1] } else { [3, 2, 2] };
    let load = on("pressure", "xmax", "value = 1e6");
    let steel = STEEL.replace("poisson = 0.0", "poisson = 0.3");
    model(&format!("{tables}{steel}{}{load}", clamp(of)), distorted_box(kind, cells, 0.1))
}

#[test]
fn every_element_buckles_alike_on_every_device_and_with_every_preconditioner() {
    for kind in solvable() {
        for of in all_analyses(kind).into_iter().filter(|of| of.physics() == Physics::Elasticity) {
            let mut model = small(kind, of);
            let expected = factors(&modes(&Space::cpu(), &model));
            assert!(expected[0] > 0.0, "{kind:?}: {expected:?}");
            let again = on_threads(2, || factors(&modes(&Space::cpu(), &model)));
            assert_eq!(expected, again, "{kind:?}: on two threads");
            if [Tet4, Hex8, Tet10, Quad8].contains(&kind) {
                let space = emulator((Order::Shuffled(1), Order::Reverse));
                assert_close(&format!("{kind:?}"), &factors(&modes(&space, &model)), &expected, 1e-6, expected[2]);
            }
            model.solver.preconditioner = Some(Preconditioner::Jacobi);
            let found = factors(&modes(&Space::cpu(), &model));
            assert_close(&format!("{kind:?} Jacobi"), &found, &expected, 1e-6, expected[2]);
        }
    }
}

/// Loads the other way round buckle what these pull: the factor that is told of them.
#[test]
fn reversed_loads_have_a_factor_of_their_own() {
    // Bending presses one side or the other.
    let [pushed, pulled] = [1.0, -1.0].map(|times| {
        let mesh = generate_box(Hex20, [1.0, 0.05, 0.02], [10, 1, 1]).unwrap();
        let load = format!("vector = [{}, {}, 0.0]", -1e5 * times, 1e6 * times);
        let rest = on("support", "xmin", "fix = \"xyz\"") + &on("traction", "xmax", &load);
        modes(&Space::cpu(), &case(1, &rest, mesh))
    });
    let reversed = |modes: &[Solution]| modes[0].step.row("reversed_load_factor", 0)[0];
    println!("{} {:?}", pushed[0].step.value, reversed(&pushed));
    assert!((reversed(&pulled) / -pushed[0].step.value - 1.0).abs() < 1e-5);
    assert!((reversed(&pushed) / -pulled[0].step.value - 1.0).abs() < 1e-5);
    let largest = pushed[0].displacement().iter().flatten().fold(0.0, |largest: f64, u| largest.max(u.abs()));
    assert!((largest - 1.0).abs() < 1e-12);
}

#[test]
fn a_bar_that_is_pulled_never_buckles() {
    let mesh = generate_box(Hex20, [1.0, 0.05, 0.02], [10, 1, 1]).unwrap();
    let rest = on("support", "xmin", "fix = \"xyz\"") + &on("traction", "xmax", "vector = [1e6, 0.0, 0.0]");
    let error = pipeline::solve_cases(&Space::cpu(), &case(1, &rest, mesh), &Silent).unwrap_err();
    assert!(error.to_string().contains("these loads buckle nothing"), "{error}");
}
