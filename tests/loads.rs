//! Moments on faces, pressures that vary, free bodies: resultants, and known solutions.

use crate::common::elements::solvable;
use crate::common::fields::converged;
use crate::common::meshes::{distorted_box, model};
use crate::common::{assert_close, largest};
use nalgebra::Vector3;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Quad4, Quad8, Tet4, Tet10, Tri6, Wedge15};
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::Model;
use warpfem::pipeline::Solution;
use warpfem::result::choices::Method;

const SOFT: &str = "[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\ndensity = 2.0\n";
const PLATE: &str = "[analysis]\nkind = \"plane_stress\"\nthickness = 0.4\n";
const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

fn solve(model: &mut Model, device: DeviceName) -> Solution {
    (model.solver.method, model.solver.residual_tolerance) = (Some(Method::Direct), Some(1e-11));
    converged(model, device)
}

/// The CPU; and the emulator, and the GPU if there is one, for some elements.
fn devices(kind: ElementKind) -> Vec<DeviceName> {
    if [Hex8, Tet10].contains(&kind) { crate::common::devices() } else { vec![DeviceName::Cpu] }
}

/// Force and moment of nodal forces about a point.
fn resultant(model: &Model, about: [f64; 3]) -> [f64; 6] {
    let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
    for (x, f) in model.mesh.coords.iter().zip(&model.nodal_forces) {
        let f = Vector3::from(*f);
        force += f;
        moment += (Vector3::from(*x) - Vector3::from(about)).cross(&f);
    }
    [force.x, force.y, force.z, moment.x, moment.y, moment.z]
}

/// Curved and distorted faces.
fn bent(kind: ElementKind) -> Mesh {
    let mut mesh = distorted_box(kind, [2, 2, 2], 0.2);
    mesh.coords.iter_mut().for_each(|x| x[0] += 0.2 * x[1] * x[1] - 0.1 * x[1] * x[2] * x[2]);
    mesh
}

#[test]
fn a_load_is_its_force_and_moment() {
    for kind in solvable().filter(|kind| kind.info().dim == 3) {
        let (force, moment, at) = ([3.0, -2.0, 5.0], [1.0, 4.0, -2.0], [2.0, 1.0, -1.0]);
        let on = "[[load]]\non = [\"xmax\", \"zmax\"]\n";
        let size = format!("force = {force:?}\nmoment = {moment:?}\n");
        let of = |rest: &str| model(&format!("{SOFT}{CLAMP}{on}{size}{rest}"), bent(kind));
        let expected = [force, moment].concat();
        assert_close("at a point", &resultant(&of(&format!("at = {at:?}\n")), at), &expected, 1e-12, 10.0);
        // At the centre of the faces, wherever that is, a moment about it is left alone.
        let body = of("");
        let found = resultant(&body, [0.0; 3]);
        assert_close("force", &found[..3], &force, 1e-12, 10.0);
        let alone = model(&format!("{SOFT}{CLAMP}{on}moment = {moment:?}\n"), bent(kind));
        let expected = [[0.0; 3], moment].concat();
        assert_close("moment", &resultant(&alone, [7.0, -3.0, 1.0]), &expected, 1e-12, 50.0);
    }
    for kind in solvable().filter(|kind| kind.info().dim == 2) {
        let load = "[[load]]\non = \"xmax\"\nforce = [3.0, -2.0]\nmoment = 4.0\nat = [2.0, 0.5]\n";
        let body = model(&format!("{PLATE}{SOFT}{}{load}", CLAMP.replace("xyz", "xy")), bent(kind));
        let expected = [3.0, -2.0, 0.0, 0.0, 0.0, 4.0];
        assert_close("in the plane", &resultant(&body, [2.0, 0.5, 0.0]), &expected, 1e-12, 10.0);
    }
}

/// Pure bending: `sigma = M y / I`, `u_y = -M x^2 / (2 E I)` on the axis, which elements of second order have.
#[test]
fn a_moment_bends_a_beam_as_theory_has_it() {
    let (length, height, width, moment) = (4.0, 0.5, 0.25, 3.0);
    let about = [0.0, 0.5 * height, 0.5 * width];
    for kind in [Hex20, Tet10, Wedge15] {
        let corner = format!("[[support]]\nbox = {{ min = {about:?}, max = {about:?} }}\nfix = \"xyz\"\n");
        let side = "[[support]]\nbox = { min = [0.0, 0.25, 0.0], max = [0.0, 0.25, 0.25] }\nfix = \"y\"\n";
        let end = "[[support]]\non = \"xmin\"\nfix = \"x\"\n";
        let load = format!("[[load]]\non = \"xmax\"\nmoment = [0.0, 0.0, {moment:?}]\n");
        for device in devices(kind) {
            let mesh = generate_box(kind, [length, height, width], [3, 2, 1]).unwrap();
            let mut beam = model(&format!("{SOFT}{corner}{side}{end}{load}"), mesh);
            // Free of Poisson's ratio the ends stay flat.
            beam.materials[0].set_isotropic(1000.0, 0.0);
            let solution = solve(&mut beam, device);
            let second = width * height.powi(3) / 12.0;
            for (x, stress) in beam.mesh.coords.iter().zip(solution.step.lists("stress_nodal")[0].chunks(6)) {
                let expected = -moment * (x[1] - 0.5 * height) / second;
                let most = moment * 0.5 * height / second;
                assert_close("stress", stress, &[expected, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-8, most);
            }
            let tip = moment * length * length / (2.0 * 1000.0 * second);
            for (x, u) in beam.mesh.coords.iter().zip(solution.displacement()).filter(|(x, _)| x[0] == length) {
                let expected = [-tip * 2.0 / length * (x[1] - 0.5 * height), tip];
                assert_close("displacement", &u[..2], &expected, 1e-8, tip);
            }
        }
    }
}

/// A wall of a tank: `gamma h^2 / 2` on it per width, a third of the depth above the bottom.
#[test]
fn water_presses_on_a_wall_by_its_depth() {
    let (depth, width, gamma) = (3.0, 2.0, 9.81);
    let force = 0.5 * gamma * depth * depth * width;
    let water = "[[pressure]]\non = \"xmax\"\ngradient = 9.81\nlevel = [0.0, 0.0, 3.0]\n";
    for (kind, down) in [(Hex8, "direction = [0.0, 0.0, -2.0]\n"), (Hex20, ""), (Tet4, ""), (Tet10, "")] {
        let gravity = if down.is_empty() { "[gravity]\nacceleration = [0.0, 0.0, -9.81]\n" } else { "" };
        // The wall stands a unit above the water.
        let mesh = generate_box(kind, [1.0, width, depth + 1.0], [1, 2, 4]).unwrap();
        let wall = model(&format!("{SOFT}{CLAMP}{gravity}{water}{down}"), mesh);
        let arm = depth / 3.0;
        let expected = [-force, 0.0, 0.0, 0.0, -force * arm, force * 0.5 * width];
        assert_close("wall", &resultant(&wall, [1.0, 0.0, 0.0]), &expected, 1e-12, force * depth);
    }
    for kind in [Quad4, Tri6, Quad8] {
        let mesh = generate_rectangle(kind, [1.0, depth], [1, 3]).unwrap();
        let water = "[[pressure]]\non = \"xmax\"\ngradient = 9.81\nlevel = [0.0, 3.0]\ndirection = [0.0, -1.0]\n";
        let wall = model(&format!("{PLATE}{SOFT}{}{water}", CLAMP.replace("xyz", "xy")), mesh);
        let force = force / width * 0.4;
        let expected = [-force, 0.0, 0.0, 0.0, 0.0, force * depth / 3.0];
        assert_close("plate", &resultant(&wall, [1.0, 0.0, 0.0]), &expected, 1e-12, force * depth);
    }
}

#[test]
fn a_file_of_pressures_is_a_pressure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.csv");
    let mut lines = String::from("x [m];y [m];z [m];p [Pa]\n");
    for i in 0..64 {
        let [x, y, z] = [1.0, f64::from(i % 8) / 7.0, f64::from(i / 8) / 7.0];
        lines += &format!("{x};{y};{z};{}\n", 2.0 + 3.0 * y - z);
    }
    std::fs::write(&path, lines).unwrap();
    for kind in [Hex8, Tet10] {
        let load = format!("[[pressure]]\non = \"xmax\"\nfile = '{}'\n", path.display());
        let body = model(&format!("{SOFT}{CLAMP}{load}"), generate_box(kind, [1.0; 3], [2, 3, 3]).unwrap());
        // `int p`, `int p z`, `int p y` over the unit square.
        let expected = [-3.0, 0.0, 0.0, 0.0, -(1.0 + 0.75 - 1.0 / 3.0), 1.0 + 1.0 - 0.25];
        assert_close("file", &resultant(&body, [1.0, 0.0, 0.0]), &expected, 1e-9, 3.0);
    }
}

fn freed(load: &str) -> String {
    format!("{SOFT}[inertia_relief]\n{load}")
}

/// The acceleration of the only row.
fn acceleration(solution: &Solution) -> &[f64] {
    solution.step.row("inertia_relief", 0)
}

/// A bar that is pulled at one end: `a = F / m`, and a stress linear along it.
#[test]
fn a_free_bar_takes_its_pull_along_it() {
    let (length, area, pull) = (4.0, 0.5, 6.0);
    let load = format!("[[traction]]\non = \"xmax\"\nvector = [{:?}, 0.0, 0.0]\n", pull / area);
    for kind in [Hex20, Tet10, Hex8, Tet4] {
        for device in devices(kind) {
            let mesh = generate_box(kind, [length, 1.0, area], [5, 1, 1]).unwrap();
            let mut bar = model(&freed(&load), mesh);
            bar.materials[0].set_isotropic(1000.0, 0.0);
            let solution = solve(&mut bar, device);
            let expected = [pull / (2.0 * length * area), 0.0, 0.0, 0.0, 0.0, 0.0];
            assert_close("acceleration", acceleration(&solution), &expected, 1e-12, 1.0);
            let is_linear = !kind.info().is_quadratic();
            let cells = bar.mesh.solids().next().unwrap().1;
            for (cell, stress) in solution.step.lists("stress")[0].chunks(6).enumerate() {
                // Nodally exact in one dimension: the mean of the element is the stress in its middle.
                let x = bar.mesh.middle(cells.cell(cell))[0];
                let within = if is_linear && kind == Tet4 { 0.05 } else { 1e-9 };
                let most = pull / area;
                assert_close("stress", &stress[..1], &[most * x / length], within, most);
            }
            assert!(largest(&solution.reaction_sum) < 1e-9 * pull && solution.equilibrium_error < 1e-10);
            assert!(largest(&solution.applied) < 1e-12 * pull);
        }
    }
}

/// The same in any frame: stress turns with the body, displacements have no mean motion.
#[test]
fn a_free_body_is_the_same_in_every_frame() {
    let turn = nalgebra::Rotation3::from_euler_angles(0.3, -0.8, 1.1);
    let load = |f: Vector3<f64>| {
        format!(
            "[[load]]\non = \"xmax\"\nforce = {:?}\nmoment = {:?}\n",
            <[f64; 3]>::from(f),
            <[f64; 3]>::from(2.0 * f)
        )
    };
    for kind in [Hex8, Tet10] {
        let force = Vector3::new(1.0, -2.0, 0.5);
        let mesh = || generate_box(kind, [2.0, 1.0, 0.7], [3, 2, 2]).unwrap();
        let mut first = model(&freed(&load(force)), mesh());
        let mut turned = mesh();
        turned.coords.iter_mut().for_each(|x| *x = (turn * Vector3::from(*x) + Vector3::new(5.0, -3.0, 8.0)).into());
        let mut second = model(&freed(&load(turn * force)), turned);
        let (first, second) = (solve(&mut first, DeviceName::Cpu), solve(&mut second, DeviceName::Cpu));
        let sizes = |of: &Solution| of.step.lists("von_mises")[0].clone();
        assert_close("von Mises", &sizes(&second), &sizes(&first), 1e-8, largest(&sizes(&first)));
        let expected: Vec<f64> =
            first.displacement().iter().flat_map(|u| <[f64; 3]>::from(turn * Vector3::from(*u))).collect();
        let found = second.displacement().as_flattened();
        assert_close("displacement", found, &expected, 1e-8, largest(&expected));
        let turned: Vec<f64> = (acceleration(&first).chunks(3))
            .flat_map(|of| <[f64; 3]>::from(turn * Vector3::from_row_slice(of)))
            .collect();
        assert_close("acceleration", acceleration(&second), &turned, 1e-10, largest(&turned));
    }
}

/// A free bar with a body at its end: all of it accelerates as one, and what is cut through carries the rest.
#[test]
fn a_free_body_with_a_mass_accelerates_as_one() {
    let mass = "[[mass]]\non = \"xmin\"\nmass = 3.0\ninertia = [0.2, 0.4, 0.5]\n";
    for kind in [Hex20, Tet10] {
        let load = "[[load]]\non = \"xmax\"\nforce = [0.0, 7.0, 0.0]\n";
        let mut bar = model(&(freed(load) + mass), generate_box(kind, [2.0, 1.0, 1.0], [3, 1, 1]).unwrap());
        let of = bar.mass_properties().unwrap();
        let solution = solve(&mut bar, DeviceName::Cpu);
        let arm = 2.0 - of.centre[0];
        let expected = [0.0, 7.0 / of.mass, 0.0, 0.0, 0.0, 7.0 * arm / of.inertia[2]];
        assert_close("acceleration", acceleration(&solution), &expected, 1e-9, 1.0);
        assert!(solution.equilibrium_error < 1e-9 && largest(&solution.reaction_sum) < 1e-9);
    }
}

/// Spinning up: a moment about the axis over the moment of inertia; in the plane, too.
#[test]
fn a_moment_spins_a_free_body() {
    for kind in [Hex8, Tet10] {
        let mut body = model(
            &freed("[[load]]\non = \"xmax\"\nmoment = [0.0, 0.0, 3.0]\n"),
            generate_box(kind, [2.0, 1.0, 1.0], [2, 2, 2]).unwrap(),
        );
        // `m (a^2 + b^2) / 12` with a mass of 4.
        let solution = solve(&mut body, DeviceName::Cpu);
        assert_close("solid", acceleration(&solution), &[0.0, 0.0, 0.0, 0.0, 0.0, 3.0 / (4.0 * 5.0 / 12.0)], 1e-9, 1.0);
    }
    for kind in [Quad4, Tri6] {
        let text = format!("{PLATE}{}", freed("[[load]]\non = \"xmax\"\nforce = [2.0, 0.0]\nmoment = 3.0\n"));
        let mut body = model(&text, generate_rectangle(kind, [2.0, 1.0], [2, 2]).unwrap());
        let solution = solve(&mut body, DeviceName::Cpu);
        let mass = 2.0 * 2.0 * 0.4;
        let expected = [2.0 / mass, 0.0, 0.0, 0.0, 0.0, 3.0 / (mass * 5.0 / 12.0)];
        assert_close("plate", acceleration(&solution), &expected, 1e-9, 1.0);
    }
    let text = "[analysis]\nkind = \"axisymmetric\"\n".to_string()
        + &freed("[[traction]]\non = \"ymax\"\nvector = [0.0, 3.0]\n");
    let mut disc = model(&text, generate_rectangle(Quad8, [2.0, 1.0], [3, 2]).unwrap());
    let solution = solve(&mut disc, DeviceName::Cpu);
    assert_close("disc", acceleration(&solution), &[0.0, 1.5, 0.0, 0.0, 0.0, 0.0], 1e-9, 1.0);
}
