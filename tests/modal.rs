//! Vibration: frequencies against exact and published values, against a dense eigensolver, and on all devices.

use crate::common::elements::solvable;
use crate::common::meshes::{all_analyses, analysis, clamp, distorted_box, model};
use crate::common::{assert_close, emulator, on_threads};
use cuda_std::emulator::Order;
use std::f64::consts::TAU;
use warpfem::element::ElementKind::{self, *};
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::Model;
use warpfem::pipeline::{self, Solution};
use warpfem::result::{Physics, choices::Preconditioner};
use warpfem::solve::Silent;

const STEEL: &str = "[[material]]\nname = \"steel\"\nyoung = 200e9\npoisson = 0.3\ndensity = 8000.0\n";

fn case(study: &str, rest: &str, mesh: Mesh) -> Model {
    model(&format!("[analysis]\nstudy = \"modal\"\n{study}{STEEL}{rest}"), mesh)
}

fn modes(model: &Model) -> Vec<Solution> {
    pipeline::solve_cases(&Space::cpu(), model, &Silent).unwrap()
}

fn frequencies(modes: &[Solution]) -> Vec<f64> {
    assert!(modes.iter().all(|mode| mode.outcome.converged), "{:?}", modes[0].outcome);
    assert!(modes.windows(2).all(|pair| pair[0].step.value <= pair[1].step.value));
    modes.iter().map(|mode| mode.step.value).collect()
}

/// Frequencies of Euler's beam of length 1 and square section h, whose `beta` are given.
fn beam(h: f64, beta: f64) -> f64 {
    beta * beta / TAU * (200e9_f64 / 8000.0 * h * h / 12.0).sqrt()
}

#[test]
fn a_slender_cantilever_rings_as_eulers_beam() {
    let h = 0.02;
    let mesh = generate_box(Hex20, [1.0, h, h], [20, 1, 1]).unwrap();
    let found = frequencies(&modes(&case("modes = 4\n", "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", mesh)));
    // Twice each, as the section is square.
    for (pair, beta) in found.chunks(2).zip([1.875104, 4.694091]) {
        assert!((pair[1] / pair[0] - 1.0).abs() < 1e-6, "{found:?}");
        assert!((pair[0] / beam(h, beta) - 1.0).abs() < 0.01, "{found:?} {}", beam(h, beta));
    }
}

#[test]
fn a_free_beam_has_six_zeros_and_then_rings() {
    let h = 0.02;
    for (kind, cells) in [(Hex20, [20, 1, 1]), (Tet10, [40, 1, 1])] {
        let mesh = generate_box(kind, [1.0, h, h], cells).unwrap();
        let found = frequencies(&modes(&case("modes = 8\n", "", mesh)));
        assert_eq!(found[..6], [0.0; 6], "{kind:?}");
        for mode in &found[6..] {
            assert!((mode / beam(h, 4.730041) - 1.0).abs() < 0.02, "{kind:?} {found:?}");
        }
    }
}

/// NAFEMS FV32: a tapered membrane that is clamped at its root, in its plane.
#[test]
fn fv32_tapered_membrane() {
    for (kind, cells, within) in [(Quad8, [16, 8], 0.003), (Tri6, [16, 8], 0.005), (Quad4, [32, 16], 0.012)] {
        let mut mesh = generate_rectangle(kind, [10.0, 5.0], cells).unwrap();
        for x in &mut mesh.coords {
            x[1] = (x[1] - 2.5) * (1.0 - 0.8 * x[0] / 10.0);
        }
        let head = "kind = \"plane_stress\"\nthickness = 0.05\nmodes = 6\n";
        let found = frequencies(&modes(&case(head, "[[support]]\non = \"xmin\"\nfix = \"xy\"\n", mesh)));
        println!("FV32 {kind:?}: {found:.2?}");
        for (found, published) in found.iter().zip([44.623, 130.03, 162.70, 246.05, 379.90, 391.44]) {
            assert!((found / published - 1.0).abs() < within, "{kind:?}: {found} for {published}");
        }
    }
}

/// NAFEMS FV52: a thick square plate, simply supported at its lower edges; its first three modes are rigid.
#[test]
fn fv52_simply_supported_plate() {
    let mesh = generate_box(Hex20, [10.0, 10.0, 1.0], [8, 8, 2]).unwrap();
    let edges: String =
        ["xmin", "xmax", "ymin", "ymax"].map(|side| format!("[[support]]\non = \"{side}\"\nfix = \"z\"\n")).concat();
    let found = frequencies(&modes(&case("modes = 7\n", &edges, mesh)));
    println!("FV52: {found:.3?}");
    assert_eq!(found[..3], [0.0; 3]);
    for (found, published) in found[3..].iter().zip([45.897, 109.44, 109.44, 167.89]) {
        assert!((found / published - 1.0).abs() < 0.05, "{found} for {published}");
    }
}

/// NAFEMS FV22: a thick rhombic plate, clamped at its sides. What is published is of plates that shear; solids are a little stiffer
/// at the clamps.
#[test]
fn fv22_clamped_rhombic_plate() {
    let sides: String =
        ["xmin", "xmax", "ymin", "ymax"].map(|side| format!("[[support]]\non = \"{side}\"\nfix = \"xyz\"\n")).concat();
    for (kind, cells, within) in [(Hex20, [16, 16, 2], 0.04), (Tet10, [12, 12, 2], 0.08)] {
        let mut mesh = generate_box(kind, [10.0, 10.0, 1.0], cells).unwrap();
        let slope = 0.5_f64.sqrt();
        for x in &mut mesh.coords {
            (x[0], x[1]) = (x[0] + slope * x[1], slope * x[1]);
        }
        let found = frequencies(&modes(&case("modes = 5\n", &sides, mesh)));
        println!("FV22 {kind:?}: {found:.2?}");
        for (found, published) in found.iter().zip([133.95, 201.41, 265.81, 283.68, 334.45]) {
            assert!((found / published - 1.0).abs() < within, "{kind:?}: {found} for {published}");
        }
    }
}

/// NAFEMS FV42: a thick hollow sphere that swells, as a sector of its section, with what the equations of radial motion give.
#[test]
fn fv42_thick_hollow_sphere() {
    for (kind, cells, within) in [(Quad8, [10, 1], 1e-3), (Tri6, [10, 1], 2e-3), (Quad4, [40, 4], 4e-3)] {
        let mut mesh = generate_rectangle(kind, [1.0, 1.0], cells).unwrap();
        for x in &mut mesh.coords {
            let (radius, (sin, cos)) = (1.8 + 4.2 * x[0], (x[1] * 10.0_f64.to_radians()).sin_cos());
            *x = [radius * cos, radius * sin, 0.0];
        }
        let held = ["ymin", "ymax"].map(|on| format!("[[support]]\non = \"{on}\"\nfix = \"normal\"\n")).concat();
        let found = frequencies(&modes(&case("kind = \"axisymmetric\"\nmodes = 3\n", &held, mesh)));
        println!("FV42 {kind:?}: {found:.2?}");
        for (found, exact) in found.iter().zip([369.943, 838.033, 1451.192]) {
            assert!((found / exact - 1.0).abs() < within, "{kind:?}: {found} for {exact}");
        }
    }
}

/// A free ball twists first, five ways at once, then becomes longer and shorter, five ways again (Lamb 1882): roots of
/// `j_2(x) = x j_3(x)` and of the spheroidal equation for nu = 0.3, x the frequency by the radius over the speed of shear waves.
#[test]
fn a_free_ball_rings_five_ways_at_once() {
    for (kind, n, within) in [(Hex20, 4, 0.01), (Tet10, 4, 0.02)] {
        let mut mesh = generate_box(kind, [2.0; 3], [n; 3]).unwrap();
        for x in &mut mesh.coords {
            let [a, b, c] = x.map(|c| c - 1.0);
            let onto = |a: f64, b: f64, c: f64| a * (1.0 - 0.5 * (b * b + c * c) + b * b * c * c / 3.0).sqrt();
            // Edges of the cube become flat, where no integration point is.
            *x = [onto(a, b, c), onto(b, c, a), onto(c, a, b)];
        }
        let found = frequencies(&modes(&case("modes = 16\n", "", mesh)));
        assert_eq!(found[..6], [0.0; 6], "{kind:?}");
        let shear = (200e9_f64 / 2.6 / 8000.0).sqrt();
        println!("ball {kind:?}: {:.4?}", found[6..].iter().map(|f| TAU * f / shear).collect::<Vec<_>>());
        for (five, x) in found[6..].chunks(5).zip([2.501_133, 2.646_217]) {
            for frequency in five {
                assert!((TAU * frequency / shear / x - 1.0).abs() < within, "{kind:?}: {found:?}");
            }
        }
    }
}

/// The modes of bodies that nothing joins are those of each.
#[test]
fn bodies_apart_ring_each_for_itself() {
    let boxes = [([1.0, 0.2, 0.2], [5, 1, 1]), ([0.7, 0.3, 0.1], [4, 2, 1])];
    let alone = boxes.map(|(size, cells)| generate_box(Hex20, size, cells).unwrap());
    let mut mesh = alone[0].clone();
    let (n_nodes, n_cells) = (mesh.coords.len() as u32, mesh.cells[0].tags.len() as u64);
    mesh.coords.extend(alone[1].coords.iter().map(|x| [x[0], x[1] + 1.0, x[2]]));
    mesh.node_tags.extend(alone[1].node_tags.iter().map(|tag| tag + u64::from(n_nodes)));
    mesh.cells.truncate(1);
    mesh.cells[0].nodes.extend(alone[1].cells[0].nodes.iter().map(|node| node + n_nodes));
    mesh.cells[0].tags.extend(alone[1].cells[0].tags.iter().map(|tag| tag + n_cells));
    mesh.groups.clear();
    let held = "[[support]]\nbox = { min = [-0.01, -1.0, -1.0], max = [0.01, 0.5, 1.0] }\nfix = \"xyz\"\n";
    let together = frequencies(&modes(&case("modes = 14\n", held, mesh)));
    let of_first = frequencies(&modes(&case("modes = 10\n", held, alone[0].clone())));
    let of_second = frequencies(&modes(&case("modes = 10\n", "", alone[1].clone())));
    let mut expected = [of_first, of_second].concat();
    expected.sort_by(f64::total_cmp);
    assert_eq!(expected[..6], [0.0; 6]);
    assert_close("frequencies", &together, &expected[..14], 1e-6, expected[13]);
}

/// Six modes of a small body of an element, held at one side, in a kind of analysis.
fn small(kind: ElementKind, of: warpfem::model::Analysis) -> Model {
    let tables = analysis(of, 0.7).replacen("[analysis]\n", "[analysis]\nstudy = \"modal\"\nmodes = 6\n", 1);
    let cells = if kind.info().is_quadratic() { [2, 1, 1] } else { [3, 2, 2] };
    model(&format!("{tables}{STEEL}{}", clamp(of)), distorted_box(kind, cells, 0.1))
}

#[test]
fn every_element_rings_alike_on_every_device_and_with_every_preconditioner() {
    for kind in solvable() {
        for of in all_analyses(kind).into_iter().filter(|of| of.physics() == Physics::Elasticity) {
            let mut model = small(kind, of);
            let expected = frequencies(&modes(&model));
            // A few cells of reduced integration have motions without strain.
            assert!(expected[0] > 0.0 || kind.info().name.ends_with('r'), "{kind:?}");
            let again = on_threads(2, || frequencies(&modes(&model)));
            assert_eq!(expected, again, "{kind:?}: on two threads");
            if [Tet4, Hex8, Tet10, Quad8].contains(&kind) {
                let space = emulator((Order::Shuffled(1), Order::Reverse));
                let found = frequencies(&pipeline::solve_cases(&space, &model, &Silent).unwrap());
                assert_close(&format!("{kind:?}"), &found, &expected, 1e-8, expected[5]);
            }
            for by in [Preconditioner::Jacobi, Preconditioner::Chebyshev, Preconditioner::Amg] {
                model.solver.preconditioner = Some(by);
                assert_close(&format!("{kind:?} {by}"), &frequencies(&modes(&model)), &expected, 1e-7, expected[5]);
            }
        }
    }
}

#[test]
fn shapes_have_unit_modal_mass_and_effective_masses_add_up() {
    let mesh = generate_box(Hex8, [1.0, 1.0, 1.0], [2, 2, 2]).unwrap();
    // All modes there are.
    let model = case("modes = 54\n", "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", mesh);
    let found = modes(&model);
    assert_eq!(found.len(), 54);
    for axis in 0..3 {
        let sum: f64 = found.iter().map(|mode| mode.step.row("effective_mass", 0)[axis]).sum();
        // The rest is the mass of the nodes that are held.
        assert!(sum > 0.6 * 8000.0 && sum <= 8000.0 * (1.0 + 1e-9), "{axis}: {sum}");
    }
}

/// A string under tension rings as `f = k / (2 L) sqrt(N / (rho A))`, stiffened by its bending; a column at its buckling load
/// not at all.
/// A beam along x that bends along z turns about y, and one that bends along y about z: `phi . M r` of the rotations r.
#[test]
fn participation_is_about_the_axes_that_it_says() {
    let mesh = generate_box(Hex20, [1.0, 0.02, 0.01], [20, 1, 1]).unwrap();
    let found = modes(&case("modes = 2\n", "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", mesh));
    for (mode, [along, about, other]) in found.iter().zip([[2, 4, 5], [1, 5, 4]]) {
        let row = mode.step.row("participation", 0);
        assert!(row[along].abs() > 0.9 && row[about].abs() > 0.7 && row[other].abs() < 0.02, "{row:?}");
        // About z forces along y turn as x does; about y those along z turn the other way.
        assert!((row[along] * row[about] > 0.0) == (about == 5), "{row:?}");
    }
}

#[test]
fn stress_under_loads_stiffens_and_softens() {
    let h = 0.01;
    let found = |force: f64| {
        let mesh = generate_box(Hex20, [1.0, h, h], [20, 1, 1]).unwrap();
        let rest = format!(
            "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[support]]\non = \"xmax\"\nfix = \"yz\"\n\
             [[force]]\non = \"xmax\"\ntotal = [{force:?}, 0.0, 0.0]\n"
        );
        frequencies(&modes(&case("modes = 2\nprestress = true\n", &rest, mesh)))[0]
    };
    let inertia = h.powi(4) / 12.0;
    // Clamped and held, so that the end turns: `tan(beta) = tanh(beta)`; it buckles at 2.0457 times Euler's.
    let (free, critical) = (found(0.0), 2.045_752 * std::f64::consts::PI.powi(2) * 200e9 * inertia);
    assert!((free / beam(h, 3.926602) - 1.0).abs() < 0.01, "{free}");
    for share in [-0.98_f64, -0.5, 1.0] {
        // Nearly, as the shape changes little.
        let expected = free * (1.0 + share).sqrt();
        let found = found(share * critical);
        println!("{share}: {found} for {expected}");
        assert!((found / expected - 1.0).abs() < 0.05, "{share}: {found} for {expected}");
    }
}

/// A bar that spins about its own axis has no tension, and masses are drawn outwards as it bends: `f^2 = f_0^2 - (omega / 2 pi)^2`.
#[test]
fn a_bar_that_spins_about_itself_is_softened() {
    let h = 0.02;
    let found = |speed: f64| {
        let mut mesh = generate_box(Hex20, [1.0, h, h], [20, 1, 1]).unwrap();
        mesh.coords.iter_mut().for_each(|x| *x = [x[0], x[1] - 0.5 * h, x[2] - 0.5 * h]);
        let rest = format!(
            "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n\
             [rotation]\naxis = [1.0, 0.0, 0.0]\nat = [0.0, 0.0, 0.0]\nspeed = {speed:?}\n"
        );
        frequencies(&modes(&case("modes = 2\nprestress = true\n", &rest, mesh)))
    };
    let (still, speed) = (found(0.0), 60.0);
    for (found, still) in found(speed).iter().zip(&still) {
        let expected = (still * still - (speed / TAU).powi(2)).sqrt();
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} for {expected}");
    }
}

#[test]
fn a_factor_counts_the_modes() {
    let (held, both) = ("[[support]]\non = \"xmin\"\nfix = \"xyz\"\n", "[solver]\ncheck_count = true\n");
    // Equal pairs are not counted apart: of a square section nine modes end in the middle of one.
    for (n, supports, counted) in [(8, held, 7), (9, held, 8), (10, "", 9)] {
        let mesh = generate_box(Hex8, [3.0, 1.0, 1.0], [9, 4, 4]).unwrap();
        let found = modes(&case(&format!("modes = {n}\n"), &format!("{supports}{both}"), mesh));
        let count = found[0].used.count.unwrap();
        println!("{n}: {count:?} {:?}", frequencies(&found));
        assert_eq!(count.counted, count.found, "{n}");
        assert!(count.found >= counted - 2 && count.found < n);
        assert!(found[count.found - 1].step.value < count.below && count.below < found[count.found].step.value);
    }
}

/// All modes of a few elements: held unknowns, along the axes or not, are none of them.
#[test]
fn what_is_held_is_not_counted() {
    let turned = "axes = { x = [1.0, 1.0, 0.0], y = [-1.0, 1.0, 0.0] }\n";
    for (axes, fix, n) in [("", "xyz", 24), (turned, "xyz", 24), (turned, "xz", 28), (turned, "y", 32)] {
        let mesh = generate_box(Hex8, [2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
        let support = format!("[[support]]\non = \"xmin\"\nfix = \"{fix}\"\n{axes}");
        let rest = format!("{support}[solver]\ncheck_count = true\n");
        let found = modes(&case(&format!("modes = {n}\n"), &rest, mesh));
        let count = found[0].used.count.unwrap();
        assert!(count.counted == count.found && count.found > n - 4, "{fix} {axes}: {count:?}");
    }
}
