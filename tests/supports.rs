//! Supports in any direction, springs and point masses: the same model another way, exact solutions, all methods.

use crate::common::fields::converged;
use crate::common::meshes::{POISSON, SOFT, YOUNG, model, regular_box};
use crate::common::{assert_close, devices, largest};
use nalgebra::{Rotation3, Vector3};
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Quad4, Quad8, Tet4, Tet10};
use warpfem::mesh::Mesh;
use warpfem::mesh::annulus::generate_annulus;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::Model;
use warpfem::pipeline::Solution;
use warpfem::result::choices::{Format, Method, Precision, Preconditioner};

/// Solves to twelve digits and checks the balance of forces.
fn solve_on(model: &mut Model, device: DeviceName) -> Solution {
    model.solver.residual_tolerance = Some(1e-12);
    let found = converged(model, device);
    assert!(found.equilibrium_error < 1e-9, "out of balance by {:.1e}", found.equilibrium_error);
    found
}

fn solve(model: &mut Model) -> Solution {
    solve_on(model, DeviceName::Cpu)
}

fn turn() -> Rotation3<f64> {
    Rotation3::from_euler_angles(0.4, -0.7, 1.1)
}

fn turned(by: Rotation3<f64>, mut mesh: Mesh) -> Mesh {
    mesh.coords.iter_mut().for_each(|x| *x = (by * Vector3::from(*x)).into());
    mesh
}

fn vector(v: Vector3<f64>) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// Vectors after a turn back, flat.
fn back(by: Rotation3<f64>, vectors: &[[f64; 3]]) -> Vec<f64> {
    vectors.iter().flat_map(|v| <[f64; 3]>::from(by.inverse() * Vector3::from(*v))).collect()
}

fn cells(kind: ElementKind) -> [usize; 3] {
    if kind.info().is_quadratic() { [2, 1, 2] } else { [3, 2, 3] }
}

/// A block between rollers, one of which is displaced, as it is.
fn block(kind: ElementKind) -> Model {
    let held = "[[support]]\non = \"xmin\"\nfix = \"x\"\n[[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"zmin\"\n\
                displacement = { z = 1e-3 }\n[[traction]]\non = \"zmax\"\nvector = [1.0, 0.5, -2.0]\n";
    model(&format!("{SOFT}{held}"), regular_box(kind, cells(kind)))
}

/// The same turned, with supports by axes or by normals.
fn turned_block(kind: ElementKind, by_normal: bool) -> Model {
    let r = turn();
    let axes = format!("axes = {{ x = {}, y = {} }}\n", vector(r * Vector3::x()), vector(r * Vector3::y()));
    let [x, y, z] = match by_normal {
        true => ["fix = \"normal\"\n", "fix = \"normal\"\n", "displacement = { normal = -1e-3 }\n"].map(String::from),
        false => {
            ["fix = \"x\"\n", "fix = \"y\"\n", "displacement = { z = 1e-3 }\n"].map(|held| format!("{held}{axes}"))
        }
    };
    let load = format!("[[traction]]\non = \"zmax\"\nvector = {}\n", vector(r * Vector3::new(1.0, 0.5, -2.0)));
    let held = format!("[[support]]\non = \"xmin\"\n{x}[[support]]\non = \"ymin\"\n{y}[[support]]\non = \"zmin\"\n{z}");
    model(&format!("{SOFT}{held}{load}"), turned(r, regular_box(kind, cells(kind))))
}

#[track_caller]
fn assert_turned(what: &str, found: &Solution, expected: &Solution, tolerance: f64) {
    let u = expected.displacement().as_flattened();
    assert_close(what, &back(turn(), found.displacement()), u, tolerance, largest(u));
    for support in 0..3 {
        let [found, expected] = [found, expected].map(|solution| solution.reaction(support).to_vec());
        let found = back(turn(), &[[found[0], found[1], found[2]]]);
        assert_close(&format!("{what}: reaction {support}"), &found, &expected, tolerance, 2.0);
    }
}

#[test]
fn slanted_rollers_are_a_turned_model() {
    for kind in [Tet4, Hex8, Tet10, Hex20] {
        let expected = solve(&mut block(kind));
        for by_normal in [false, true] {
            for device in devices() {
                let found = solve_on(&mut turned_block(kind, by_normal), device);
                assert_turned(&format!("{kind:?} on {device:?}"), &found, &expected, 1e-9);
                let sum: Vec<f64> = (0..3).map(|c| found.applied[c] + found.reaction_sum[c]).collect();
                assert_close("loads and reactions", &sum, &[0.0; 3], 1e-9, 2.0);
            }
        }
    }
}

#[test]
fn every_method_solves_slanted_rollers() {
    for kind in [Hex8, Tet10] {
        let expected = solve(&mut block(kind));
        let solve_by = |method: Method, set: &dyn Fn(&mut Model)| {
            let mut model = turned_block(kind, true);
            model.solver.method = Some(method);
            set(&mut model);
            let what = format!("{kind:?} {:?}", model.solver);
            let single = model.solver.precision == Some(Precision::Single);
            model.solver.residual_tolerance = Some(if single { 1e-5 } else { 1e-12 });
            let found = converged(&model, DeviceName::Cpu);
            assert_turned(&what, &found, &expected, if single { 1e-3 } else { 1e-9 });
        };
        for preconditioner in Preconditioner::ALL {
            solve_by(Method::Cg, &|model| model.solver.preconditioner = Some(preconditioner));
        }
        for precision in [Precision::Double, Precision::Mixed, Precision::MixedHalf, Precision::Single] {
            for method in [Method::Cg, Method::Direct] {
                if (method, precision) != (Method::Direct, Precision::MixedHalf) {
                    solve_by(method, &|model| model.solver.precision = Some(precision));
                }
            }
        }
        for format in Format::ALL {
            solve_by(Method::Cg, &|model| model.solver.format = Some(format));
        }
    }
}

/// A block that stands on `zmin`, squeezed from both ends along x.
fn squeezed(kind: ElementKind, size: [f64; 3], cells: [usize; 3], held: &str, ends: &str) -> Model {
    let r = turn();
    let axes = format!("axes = {{ x = {}, y = {} }}", vector(r * Vector3::x()), vector(r * Vector3::y()));
    let tables = format!(
        "{SOFT}[[support]]\non = \"zmin\"\nfix = \"normal\"\n{}[[pressure]]\non = {ends}\nvalue = 3.0\n\
         [[pressure]]\non = \"zmax\"\nvalue = 1.0\n",
        held.replace("AXES", &axes)
    );
    model(&tables, turned(r, generate_box(kind, size, cells).unwrap()))
}

#[test]
fn half_and_quarter_are_the_whole() {
    let r = turn();
    let tag = |mesh: &Mesh, x: [f64; 3]| {
        let at = mesh.coords.iter().position(|y| (Vector3::from(*y) - Vector3::from(x)).norm() < 1e-12).unwrap();
        mesh.node_tags[at]
    };
    for kind in [Hex8, Hex20] {
        let (size, cells) = ([2.0, 2.0, 1.0], [4, 4, 2]);
        let mesh = generate_box(kind, size, cells).unwrap();
        let (middle, side) = (tag(&mesh, [1.0, 1.0, 0.0]), tag(&mesh, [2.0, 1.0, 0.0]));
        let held = format!(
            "[[support]]\nnodes = [{middle}]\nfix = \"xy\"\nAXES\n[[support]]\nnodes = [{side}]\nfix = \"y\"\nAXES\n"
        );
        let whole = squeezed(kind, size, cells, &held, "[\"xmin\", \"xmax\"]");
        let expected = solve(&mut { whole });
        let scale = largest(expected.displacement().as_flattened());
        let at = |x: [f64; 3]| {
            let node = mesh.coords.iter().position(|y| (Vector3::from(*y) - Vector3::from(x)).norm() < 1e-9).unwrap();
            expected.displacement()[node]
        };
        let quarter_held = "[[support]]\non = [\"xmin\", \"ymin\"]\nfix = \"normal\"\n";
        let half_held = format!("[[support]]\non = \"xmin\"\nfix = \"normal\"\n{held}");
        let half_mesh = generate_box(kind, [1.0, 2.0, 1.0], [2, 4, 2]).unwrap();
        let half_held = half_held.replace(&format!("[{middle}]"), &format!("[{}]", tag(&half_mesh, [0.0, 1.0, 0.0])));
        let half_held = half_held.replace(&format!("[{side}]"), &format!("[{}]", tag(&half_mesh, [1.0, 1.0, 0.0])));
        for (held, size, cells, from) in [
            (half_held.as_str(), [1.0, 2.0, 1.0], [2, 4, 2], [1.0, 0.0, 0.0]),
            (quarter_held, [1.0, 1.0, 1.0], [2, 2, 2], [1.0, 1.0, 0.0]),
        ] {
            let mut part = squeezed(kind, size, cells, held, "\"xmax\"");
            let found = solve(&mut part);
            for (x, u) in part.mesh.coords.iter().zip(found.displacement()) {
                let x = r.inverse() * Vector3::from(*x) + Vector3::from(from);
                assert_close(&format!("{kind:?} at {x:?}"), u, &at(x.into()), 1e-9, scale);
            }
        }
    }
}

const PLATE: &str = "[analysis]\nkind = \"plane_stress\"\nthickness = 0.5\n";
const ROUND: &str = "axes = { axis = [0.0, 0.0, 1.0] }\n";

/// An eighth of a ring from a rectangle: xmin is inside, ymin and ymax are the straight sides.
fn sector(kind: ElementKind) -> Mesh {
    let mut mesh = generate_rectangle(kind, [1.0, 1.0], [4, 3]).unwrap();
    for x in &mut mesh.coords {
        let (r, angle) = (1.0 + x[0], (0.125 * x[1] + 0.2 / 3.0) * std::f64::consts::TAU);
        (x[0], x[1]) = (r * angle.cos(), r * angle.sin());
    }
    mesh
}

/// Radius, angle from the first node of a cell in turns of a twenty-fourth, radial displacement.
fn radial(mesh: &Mesh, found: &Solution, first: f64) -> Vec<[f64; 3]> {
    let of = |(x, u): (&[f64; 3], &[f64; 3])| {
        let r = x[0].hypot(x[1]);
        let cells = 24.0 * (x[1].atan2(x[0]) / std::f64::consts::TAU - first);
        [r, cells - (cells + 1e-9).floor(), (x[0] * u[0] + x[1] * u[1]) / r]
    };
    mesh.coords.iter().zip(found.displacement()).map(of).collect()
}

#[test]
fn a_sector_between_symmetric_sides_is_the_ring() {
    let load = "value = 5.0\n";
    for kind in [Quad4, Quad8] {
        let ring = format!(
            "{PLATE}{SOFT}[[support]]\non = \"inner\"\n{ROUND}fix = \"t\"\n[[pressure]]\non = \"inner\"\n{load}"
        );
        let mut whole = model(&ring, generate_annulus(kind, [1.0, 2.0], [4, 24]).unwrap());
        let found = solve(&mut whole);
        let expected = radial(&whole.mesh, &found, 0.0);
        let scale = expected.iter().fold(0.0, |most: f64, at| most.max(at[2]));
        for sides in ["fix = \"normal\"\n".into(), format!("{ROUND}fix = \"t\"\n")] {
            let tables = format!(
                "{PLATE}{SOFT}[[support]]\non = [\"ymin\", \"ymax\"]\n{sides}[[pressure]]\non = \"xmin\"\n{load}"
            );
            for device in devices() {
                let mut part = model(&tables, sector(kind));
                let found = solve_on(&mut part, device);
                for [r, angle, u] in radial(&part.mesh, &found, 0.2 / 3.0) {
                    let is_here = |at: &&[f64; 3]| (at[0] - r).abs() < 1e-9 && (at[1] - angle).abs() < 1e-6;
                    let same = expected.iter().find(is_here).unwrap();
                    assert_close(&format!("{kind:?} {sides} r = {r}"), &[u], &[same[2]], 1e-9, scale);
                }
            }
        }
    }
}

/// A pin pushed into a hole widens it: `u = a r + b / r` without stress on the outside (Lame).
#[test]
fn a_pin_widens_its_hole() {
    for (kind, tolerance) in [(Quad4, 1e-2), (Quad8, 2e-4)] {
        let tables =
            format!("{PLATE}{SOFT}[[support]]\non = \"inner\"\n{ROUND}displacement = {{ r = 1e-3, t = 0.0 }}\n");
        let mut plate = model(&tables, generate_annulus(kind, [1.0, 2.0], [8, 48]).unwrap());
        // sigma_r(2) = 0: (1 + nu) a = (1 - nu) b / 4.
        let b = 1e-3 / ((1.0 - POISSON) / (1.0 + POISSON) / 4.0 + 1.0);
        let a = 1e-3 - b;
        let found = solve(&mut plate);
        for [r, _, u] in radial(&plate.mesh, &found, 0.0) {
            assert_close(&format!("{kind:?}"), &[u], &[a * r + b / r], tolerance, 1e-3);
        }
        let sum = found.reaction_sum;
        assert!(largest(&sum) < 1e-9 && largest(found.reaction(0)) < 1e-9, "{sum:?}");
    }
}

const STIFF: &str = "[[material]]\nname = \"bar\"\nyoung = 1000.0\npoisson = 0.0\ndensity = 2.0\n";

#[test]
fn a_bar_and_its_springs_are_in_series() {
    for kind in [Tet4, Hex8, Tet10, Hex20, Quad4, Quad8] {
        let (plane, rates, force, n) = match kind.info().dim {
            2 => (PLATE, "[50.0, 30.0]", "[7.0, 0.0]", 2),
            _ => ("", "[50.0, 30.0, 40.0]", "[7.0, 0.0, 0.0]", 3),
        };
        let tables = format!(
            "{plane}{STIFF}[[spring]]\non = \"xmin\"\nstiffness = {rates}\n[[force]]\non = \"xmax\"\ntotal = {force}\n"
        );
        for device in devices() {
            let mut bar = model(&tables, regular_box(kind, cells(kind)));
            let found = solve_on(&mut bar, device);
            let area = if n == 2 { 0.5 } else { 1.0 };
            let expected: Vec<f64> =
                (bar.mesh.coords.iter()).flat_map(|x| [7.0 / 50.0 + 7.0 / (YOUNG * area) * x[0], 0.0, 0.0]).collect();
            assert_close(&format!("{kind:?}"), found.displacement().as_flattened(), &expected, 1e-9, 0.14);
            assert_close("spring", found.reaction(0), &[-7.0, 0.0, 0.0], 1e-9, 7.0);
        }
    }
}

#[test]
fn a_block_on_its_bed_sinks_evenly_however_it_is_turned() {
    let r = turn();
    for kind in [Tet4, Hex8, Tet10, Hex20] {
        let tables = format!(
            "{STIFF}[[spring]]\nname = \"bed\"\non = \"zmin\"\nfoundation = 20.0\n[[support]]\non = [\"xmin\", \"ymin\"]\nfix = \"normal\"\n\
             [[pressure]]\non = \"zmax\"\nvalue = 3.0\n"
        );
        for precision in [Precision::Double, Precision::Mixed] {
            for method in [Method::Cg, Method::Direct] {
                let mut block = model(&tables, turned(r, regular_box(kind, cells(kind))));
                (block.solver.precision, block.solver.method) = (Some(precision), Some(method));
                let found = solve(&mut block);
                let z = |x: &[f64; 3]| (r.inverse() * Vector3::from(*x)).z;
                let expected: Vec<f64> =
                    (block.mesh.coords.iter()).flat_map(|x| [0.0, 0.0, -3.0 / 20.0 - 3.0 / YOUNG * z(x)]).collect();
                let u = back(r, found.displacement());
                assert_close(&format!("{kind:?} {precision:?} {method:?}"), &u, &expected, 1e-9, 0.15);
                let force = found.reaction(1).to_vec();
                let force = back(r, &[[force[0], force[1], force[2]]]);
                assert_close("bed", &force, &[0.0, 0.0, 3.0], 1e-9, 3.0);
            }
        }
    }
}

/// Multigrid takes about as many iterations on slanted rollers as on those along the axes.
#[test]
fn multigrid_knows_slanted_rollers() {
    for (kind, n) in [(Hex8, 14), (Tet10, 6)] {
        let held = |[x, y, z]: [&str; 3]| {
            format!(
                "[[support]]\non = \"xmin\"\n{x}[[support]]\non = \"ymin\"\n{y}[[support]]\non = \"zmin\"\n{z}[[force]]\non = \"xmax\"\ntotal = [1.0, 2.0, 3.0]\n"
            )
        };
        let iterations = |tables: String, mesh: Mesh| {
            let mut block = model(&format!("{SOFT}{tables}"), mesh);
            block.solver.method = Some(Method::Cg);
            block.solver.preconditioner = Some(Preconditioner::Amg);
            solve(&mut block).outcome.iterations
        };
        let mesh = || generate_box(kind, [1.0; 3], [n; 3]).unwrap();
        let along = iterations(held(["fix = \"x\"\n", "fix = \"y\"\n", "fix = \"z\"\n"]), mesh());
        let slanted = iterations(held(["fix = \"normal\"\n"; 3]), turned(turn(), mesh()));
        println!("{kind:?}: {along} iterations along the axes, {slanted} slanted");
        assert!(2 * slanted <= 3 * along, "{kind:?}: {along} iterations along the axes, {slanted} slanted");
    }
}

/// Hetenyi, Beams on Elastic Foundation, sec. 13: a beam of length L with a force at its end.
#[test]
fn a_beam_on_a_foundation_sinks_as_winkler_says() {
    let (lambda, length, force): (f64, f64, f64) = (0.05, 100.0, 1.0);
    let rate = 4.0 * YOUNG / 12.0 * lambda.powi(4);
    let s = lambda * length;
    let ratio = (s.sinh() * s.cosh() - s.sin() * s.cos()) / (s.sinh().powi(2) - s.sin().powi(2));
    let expected = -2.0 * force * lambda / rate * ratio;
    let tables = format!(
        "[analysis]\nkind = \"plane_stress\"\nthickness = 1.0\n{STIFF}[[spring]]\non = \"ymin\"\nfoundation = {rate:?}\n\
         [[support]]\nbox = {{ min = [99.9, 0.4], max = [100.1, 0.6] }}\nfix = \"x\"\n[[force]]\non = \"xmin\"\ntotal = [0.0, -1.0]\n"
    );
    let mut beam = model(&tables, generate_rectangle(Quad8, [length, 1.0], [50, 1]).unwrap());
    beam.solver.method = Some(Method::Direct);
    let found = converged(&beam, DeviceName::Cpu);
    assert!(found.equilibrium_error < 1e-9, "{:.1e}", found.equilibrium_error);
    let corner = beam.mesh.coords.iter().position(|x| *x == [0.0; 3]).unwrap();
    assert_close("end", &[found.displacement()[corner][1]], &[expected], 1e-2, expected.abs());
}

/// Supports that move a body as a whole strain nothing, but its springs.
#[test]
fn a_support_moves_a_spring() {
    let tables = format!(
        "{STIFF}[[support]]\non = \"xmax\"\ndisplacement = {{ x = 0.1, y = 0.0, z = 0.0 }}\n[[spring]]\non = \"xmin\"\n\
         stiffness = [50.0, 0.0, 0.0]\n"
    );
    for kind in [Hex8, Tet10] {
        let found = solve(&mut model(&tables, regular_box(kind, cells(kind))));
        // In series: 1 / (1 / 50 + 1 / 1000).
        let expected = 0.1 / (1.0 / 50.0 + 1.0 / YOUNG);
        assert_close("spring", &found.reaction(1)[..1], &[-expected], 1e-9, 5.0);
        assert_close("support", &found.reaction(0)[..1], &[expected], 1e-9, 5.0);
    }
}

#[test]
fn a_point_mass_weighs_and_is_thrown_outwards() {
    let clamp = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
    let mass = "[[mass]]\non = \"xmax\"\nmass = 3.0\n";
    for kind in [Tet4, Hex20] {
        let on = |tables: &str| model(&format!("{STIFF}{clamp}{tables}"), regular_box(kind, cells(kind)));
        let gravity = "[gravity]\nacceleration = [0.0, 2.0, -10.0]\n";
        let found = solve(&mut on(&format!("{mass}{gravity}")));
        let force = "[[force]]\non = \"xmax\"\ntotal = [0.0, 6.0, -30.0]\n";
        let expected = solve(&mut on(&format!("{force}{gravity}")));
        let u = expected.displacement().as_flattened();
        assert_close("weight", found.displacement().as_flattened(), u, 1e-9, largest(u));
        assert_close("reaction", found.reaction(0), &[0.0, -10.0, 50.0], 1e-9, 50.0);
        // Of the body `rho V l / 2`, of the mass `m l`, each times the square of the speed.
        let found =
            solve(&mut on(&format!("{mass}[rotation]\naxis = [0.0, 1.0, 0.0]\nat = [0.0, 0.0, 0.5]\nspeed = 2.0\n")));
        assert_close("spin", found.reaction(0), &[-4.0 * (1.0 + 3.0), 0.0, 0.0], 1e-9, 16.0);
        let of = on(mass).mass_properties().unwrap();
        assert_close("mass", &[of.mass, of.centre[0]], &[5.0, (2.0 * 0.5 + 3.0) / 5.0], 1e-12, 5.0);
    }
}

/// A body at a remote point, beside the box: what it weighs, how it is thrown outwards and how it tumbles are forces and
/// moments on the box's end.
#[test]
fn a_mass_at_a_remote_point_is_a_body() {
    let clamp = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
    let motor = |load: &str| format!("[[remote]]\nname = \"motor\"\non = \"xmax\"\nat = [2.0, 0.5, 1.5]\n{load}");
    let mass = "[[mass]]\non = \"motor\"\nmass = 3.0\ninertia = [0.1, 0.5, 0.3]\n";
    let [gravity, spin] = [
        "[gravity]\nacceleration = [0.0, 2.0, -10.0]\n",
        "[rotation]\naxis = [0.0, 0.6, 0.8]\nat = [0.0, 0.5, 0.5]\nspeed = 2.0\n",
    ];
    // From the axis the body is at (2, 0, 1) less (0, 0.48, 0.64): `m w^2 r`; and `(I w) x w`.
    let thrown = [3.0 * 4.0 * 2.0, 3.0 * 4.0 * -0.48, 3.0 * 4.0 * 0.36];
    let tumble = [(0.5 - 0.3) * 4.0 * 0.48, 0.0, 0.0];
    for kind in [Tet4, Hex20] {
        let on = |tables: &str| model(&format!("{STIFF}{clamp}{tables}"), regular_box(kind, cells(kind)));
        for (field, force, moment) in [(gravity, [0.0, 6.0, -30.0], [0.0; 3]), (spin, thrown, tumble)] {
            let found = solve(&mut on(&format!("{}{mass}{field}", motor(""))));
            let load = format!("force = {force:?}\nmoment = {moment:?}\n");
            let expected = solve(&mut on(&format!("{}{field}", motor(&load))));
            let u = expected.displacement().as_flattened();
            assert_close("body", found.displacement().as_flattened(), u, 1e-9, largest(u));
        }
        let of = on(&format!("{}{mass}", motor(""))).mass_properties().unwrap();
        // The box has 2 in (0.5, 0.5, 0.5).
        assert_close("centre", &of.centre, &[(1.0 + 6.0) / 5.0, 0.5, (1.0 + 4.5) / 5.0], 1e-12, 1.0);
        let (steiner, own) = (2.0 * 3.0 / 5.0, 2.0 / 6.0);
        let expected = [own + 0.1 + steiner, own + 0.5 + steiner * (1.5 * 1.5 + 1.0), own + 0.3 + steiner * 1.5 * 1.5];
        assert_close("inertia", &of.inertia[..3], &expected, 1e-12, 1.0);
    }
}
