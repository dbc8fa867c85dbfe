//! Heat at rest: walls, joints, fins, NAFEMS T4; and stress that follows from heat, NAFEMS T1 and LE11, Lame's cylinder.

use crate::common::elements::solvable;
use crate::common::meshes::{model, regular_box};
use crate::common::{assert_close, fields};
use crate::couplings::joined;
use std::f64::consts::PI;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Quad4, Quad8, Tet10, Tri3, Tri6};
use warpfem::linalg::Space;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::mesh::{Group, Mesh};
use warpfem::model::{Model, Temperature};
use warpfem::pipeline::{self, Solution};
use warpfem::result::Physics;
use warpfem::result::choices::Operator;
use warpfem::solve::Silent;

fn heat(tables: &str, mesh: Mesh) -> Model {
    model(&format!("[analysis]\nkind = \"heat\"\n{tables}"), mesh)
}

fn steel(conductivity: &str) -> String {
    format!("[[material]]\nname = \"steel\"\nconductivity = {conductivity}\n")
}

/// A material whose diffusivity is 1.
pub const UNIT: &str = "[[material]]\nname = \"m\"\nconductivity = 1.0\ndensity = 2.0\nspecific_heat = 0.5\n";

pub fn transient(tables: &str, time: &str, mesh: Mesh) -> Model {
    model(&format!("[analysis]\nkind = \"heat\"\nstudy = \"transient\"\n{tables}[time]\n{time}"), mesh)
}

fn solve(model: &mut Model) -> Solution {
    let found = fields::solve(model, 1e-13);
    assert!(found.step.fields.iter().all(|field| field.info.physics.contains(&Physics::Heat)));
    assert!(found.equilibrium_error < 1e-11, "out of balance by {:.1e}", found.equilibrium_error);
    found
}

/// All times of a model.
pub fn times(model: &Model, device: DeviceName) -> Vec<Solution> {
    let space = Space::open(device).unwrap();
    let found = pipeline::solve_cases(&space, model, &Silent).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.len(), model.n_steps());
    for of in &found {
        assert!(of.outcome.converged, "{:?}", of.outcome);
        // What the body takes up is in balance with what comes in, unless nothing flows any more.
        let flows = of.step.balance.nodal_forces > 1e-6;
        assert!(
            !flows || of.equilibrium_error < 1e-6,
            "{}: out of balance by {:.1e}",
            of.step.label,
            of.equilibrium_error
        );
    }
    found
}

pub fn temperatures(of: &Solution) -> &[f64] {
    of.step.nodes("temperature")
}

/// The temperature at a node at a place.
pub fn at(model: &Model, of: &Solution, place: [f64; 2]) -> f64 {
    let is_there = |x: &[f64; 3]| (x[0] - place[0]).abs() < 1e-9 && (x[1] - place[1]).abs() < 1e-9;
    temperatures(of)[model.mesh.coords.iter().position(is_there).unwrap()]
}

/// Between convection on two sides the flux is the difference over all resistances, `1 / h + L / k + 1 / h`; conductivities across
/// count for nothing.
#[test]
fn a_wall_between_two_fluids() {
    let sides = "[[convection]]\non = \"xmin\"\ncoefficient = 25.0\nambient = 100.0\n\
                 [[convection]]\nname = \"cold\"\non = \"xmax\"\ncoefficient = 10.0\nambient = 20.0\n";
    for kind in solvable() {
        let mut wall = heat(&(steel("[2.0, 7.0, 0.5]") + sides), regular_box(kind, [2, 2, 2]));
        let found = solve(&mut wall);
        let flux = 80.0 / (1.0 / 25.0 + 1.0 / 2.0 + 1.0 / 10.0);
        let expected: Vec<f64> = wall.mesh.coords.iter().map(|x| 100.0 - flux / 25.0 - flux / 2.0 * x[0]).collect();
        assert_close(kind.info().name, temperatures(&found), &expected, 1e-12, 100.0);
        for name in ["heat_flux", "heat_flux_nodal"] {
            for q in found.step.lists(name).concat().chunks_exact(3) {
                assert_close(name, q, &[flux, 0.0, 0.0], 1e-10, flux);
            }
        }
        let flows = &found.step.table("flows").unwrap().rows;
        assert_eq!(flows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["xmin", "cold"]);
        assert_close("flows", &[flows[0].1[0], flows[1].1[0]], &[flux, -flux], 1e-11, flux);
        assert_close("sum", &[found.reaction_sum[0]], &[0.0], 1e-10, flux);
    }
}

/// Two meshes side by side, their groups named `left_` and `right_`.
pub fn beside(left: &Mesh, right: &Mesh) -> Mesh {
    let mut right = right.clone();
    right.coords.iter_mut().for_each(|x| x[0] += 1.0);
    joined([("left".to_string(), left.clone()), ("right".to_string(), right)].into_iter())
}

/// A joint of conductance h between meshes that do not match adds the resistance 1 / h; a source on one side alone is conducted through it.
#[test]
fn a_joint_resists_the_flow() {
    for (kind, cells, other) in [
        (Quad4, [2, 3, 1], [3, 2, 1]),
        (Tri6, [1, 2, 1], [2, 1, 1]),
        (Hex8, [1, 2, 3], [2, 3, 2]),
        (Tet10, [1, 1, 2], [1, 2, 1]),
    ] {
        let mesh = beside(&regular_box(kind, cells), &regular_box(kind, other));
        let tables = "[[material]]\nname = \"a\"\non = \"left_body\"\nconductivity = 2.0\n\
                      [[material]]\nname = \"b\"\non = \"right_body\"\nconductivity = 5.0\n\
                      [[support]]\non = \"left_xmin\"\nvalue = 10.0\n\
                      [[convection]]\non = \"right_xmax\"\ncoefficient = 4.0\nambient = 0.0\n\
                      [[tie]]\nname = \"joint\"\nslave = \"left_xmax\"\nmaster = \"right_xmin\"\nconductance = 0.8\n";
        let mut wall = heat(tables, mesh);
        let found = solve(&mut wall);
        let flux = 10.0 / (1.0 / 2.0 + 1.0 / 0.8 + 1.0 / 5.0 + 1.0 / 4.0);
        let n_left = regular_box(kind, cells).coords.len();
        let exact = |(i, x): (usize, &[f64; 3])| match i < n_left {
            true => 10.0 - flux / 2.0 * x[0],
            false => flux / 4.0 + flux / 5.0 * (2.0 - x[0]),
        };
        let expected: Vec<f64> = wall.mesh.coords.iter().enumerate().map(exact).collect();
        assert_close(kind.info().name, temperatures(&found), &expected, 1e-11, 10.0);
        assert_close("through the joint", found.step.row("tie_flows", 0), &[-flux], 1e-11, flux);
        let with_source = format!("{tables}[[source]]\non = \"right_body\"\nvalue = 6.0\n");
        let mut warmed = heat(&with_source.replace("value = 10.0", "value = 0.0"), wall.mesh.as_ref().clone());
        let found = solve(&mut warmed);
        assert_close("source", &[found.applied[0]], &[6.0], 1e-11, 6.0);
        let rows = &found.step.table("flows").unwrap().rows;
        assert_close("both ends", &[rows[0].1[0] + rows[1].1[0]], &[-6.0], 1e-10, 6.0);
        assert_close("the joint takes the left end's", found.step.row("tie_flows", 0), &[-rows[0].1[0]], 1e-10, 6.0);
    }
}

/// A fin so thin that it is as warm across: `T = cosh m (L - x) / cosh m L`, m^2 = 2 h / (k t). A round one: Bessel functions.
#[test]
fn fins_cool_as_textbooks_say() {
    let (k, h, thick): (f64, f64, f64) = (50.0, 2.0, 0.01);
    let convection = format!(
        "[[convection]]\non = [\"ymin\", \"ymax\"]\ncoefficient = {h:?}\nambient = 0.0\n[[support]]\non = \"xmin\"\nvalue = 1.0\n"
    );
    let m = (2.0 * h / (k * thick)).sqrt();
    for (kind, cells, allowed) in
        [(Quad8, [8, 1], 1e-3), (Tri6, [8, 1], 1e-3), (Quad4, [40, 1], 2e-3), (Tri3, [40, 1], 2e-3)]
    {
        let mut fin =
            heat(&(steel(&format!("{k:?}")) + &convection), generate_rectangle(kind, [0.5, thick], cells).unwrap());
        let found = solve(&mut fin);
        let tip = at(&fin, &found, [0.5, 0.0]);
        let exact = 1.0 / (m * 0.5).cosh();
        assert!((tip / exact - 1.0).abs() < allowed, "{kind:?} {tip} {exact}");
        let flow = k * thick * m * (m * 0.5).tanh();
        let into = found.reaction(0)[0];
        assert!((into / flow - 1.0).abs() < 2.0 * allowed, "{kind:?} {into} {flow}");
    }
    // From radius 0.1 to 0.4, insulated outside: T = (K1(m b) I0(m r) + I1(m b) K0(m r)) / (K1(m b) I0(m a) + I1(m b) K0(m a)).
    let mut mesh = generate_rectangle(Quad8, [0.3, thick], [10, 1]).unwrap();
    mesh.coords.iter_mut().for_each(|x| x[0] += 0.1);
    let round = format!("[analysis]\nkind = \"axisymmetric_heat\"\n{}{convection}", steel(&format!("{k:?}")));
    let mut fin = model(&round, mesh);
    let found = solve(&mut fin);
    let of = |r: f64| bessel_k(1, m * 0.4) * bessel_i(0, m * r) + bessel_i(1, m * 0.4) * bessel_k(0, m * r);
    let (tip, exact) = (at(&fin, &found, [0.4, 0.0]), of(0.4) / of(0.1));
    assert!((tip / exact - 1.0).abs() < 1e-3, "{tip} {exact}");
}

/// `1 / pi int_0^pi e^(x cos t) cos n t dt`, which the trapezoidal rule has to rounding.
fn bessel_i(n: i32, x: f64) -> f64 {
    let value = |i: u32| {
        let t = PI * f64::from(i) / 64.0;
        (if i.is_multiple_of(64) { 0.5 } else { 1.0 }) * (x * t.cos()).exp() * (f64::from(n) * t).cos()
    };
    (0..=64).map(value).sum::<f64>() / 64.0
}

/// `int_0^inf e^(-x cosh t) cosh n t dt`, likewise.
fn bessel_k(n: i32, x: f64) -> f64 {
    let value = |i: u32| {
        let t = 0.01 * f64::from(i);
        (if i == 0 { 0.5 } else { 1.0 }) * (-x * t.cosh()).exp() * (f64::from(n) * t).cosh()
    };
    0.01 * (0..1000).map(value).sum::<f64>()
}

/// NAFEMS T4: a plate 0.6 by 1.0 m, 100 C below, convection to the right and above; 18.25 C at (0.6, 0.2).
#[test]
fn nafems_t4() {
    let tables = steel("52.0")
        + "[[support]]\non = \"ymin\"\nvalue = 100.0\n[[convection]]\non = [\"xmax\", \"ymax\"]\ncoefficient = 750.0\nambient = 0.0\n";
    for (kind, cells, allowed) in
        [(Quad8, [12, 20], 0.1), (Tri6, [12, 20], 0.1), (Quad4, [48, 80], 0.2), (Tri3, [48, 80], 0.3)]
    {
        let mut plate = heat(&tables, generate_rectangle(kind, [0.6, 1.0], cells).unwrap());
        let found = solve(&mut plate);
        let value = at(&plate, &found, [0.6, 0.2]);
        println!("T4 {kind:?}: {value:.3} of 18.25");
        assert!((value - 18.25).abs() < allowed, "{kind:?} {value}");
    }
}

/// Writes a heat case and one of stress; the times of the one are the load cases of the other.
#[test]
fn times_of_heat_are_load_cases_of_stress() {
    let dir = std::env::temp_dir().join(format!("warpfem-times-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let mesh = |cells: &str| {
        format!(
            "[mesh]\ngenerate = {{ kind = \"box\", element = \"hex8\", size = [1.0, 1.0, 1.0], cells = {cells} }}\n"
        )
    };
    // C = 1: it warms evenly, by 10 per time.
    let heat = format!(
        "[analysis]\nkind = \"heat\"\nstudy = \"transient\"\n{UNIT}[source]\nvalue = 10.0\n[time]\nend = 4.0\nstep = 0.5\noutputs = 4\ninitial = 20.0\n"
    );
    let steel = "[[material]]\nname = \"s\"\nyoung = 1000.0\npoisson = 0.3\nexpansion = 1e-3\n";
    let held = "[[support]]\non = \"xmin\"\nfix = \"x\"\n[[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"zmin\"\nfix = \"z\"\n";
    let from = "[temperature]\nreference = 20.0\nfrom = \"heat.toml\"\n";
    std::fs::write(dir.join("heat.toml"), mesh("[2, 3, 2]") + &heat).unwrap();
    for cells in ["[2, 3, 2]", "[3, 2, 1]"] {
        std::fs::write(dir.join("part.toml"), mesh(cells) + steel + from + held).unwrap();
        let part = Model::load(&dir.join("part.toml")).unwrap();
        assert_eq!((part.n_steps(), part.has_steps(), &*part.step_name(1)), (4, true, "time 2"));
        for device in [DeviceName::Cpu, DeviceName::Emulate] {
            let part = Model::load(&dir.join("part.toml")).unwrap();
            let found = times(&part, device);
            for (number, of) in found.iter().enumerate() {
                let warmer = 10.0 * (number + 1) as f64;
                assert_eq!(of.step.value, (number + 1) as f64);
                for (x, u) in part.mesh.coords.iter().zip(of.displacement()) {
                    assert_close("free expansion", u, &x.map(|c| 1e-3 * warmer * c), 1e-6, 0.04);
                }
            }
        }
    }
    // Held along x, the stress is -E alpha dT; constants of a table are those between its rows.
    let rows = "[[material]]\nname = \"s\"\nby_temperature = [{ temperature = 0.0, young = 1200.0, poisson = 0.3, expansion = 1e-3 }, \
                { temperature = 100.0, young = 800.0, poisson = 0.2, expansion = 2e-3 }]\n";
    let stiff = held.replacen("on = \"xmin\"", "on = [\"xmin\", \"xmax\"]", 1);
    let one = heat.replace("outputs = 4", "outputs = 1");
    std::fs::write(dir.join("heat.toml"), mesh("[2, 3, 2]") + &one).unwrap();
    std::fs::write(dir.join("part.toml"), mesh("[2, 2, 2]") + rows + from + &stiff).unwrap();
    let part = Model::load(&dir.join("part.toml")).unwrap();
    let space = Space::open(DeviceName::Cpu).unwrap();
    let found = pipeline::solve_asked(&space, &part, &["strain"], &Silent).unwrap();
    // At 60: E = 960, alpha = 1.6e-3, 40 above the reference.
    for stress in found.step.lists("stress").concat().chunks_exact(6) {
        assert_close("stress", stress, &[-960.0 * 1.6e-3 * 40.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-9, 100.0);
    }
    let across = 1.6e-3 * 40.0 * (1.0 + 0.24);
    for strain in found.step.lists("strain").concat().chunks_exact(6) {
        assert_close("strain", strain, &[0.0, across, across, 0.0, 0.0, 0.0], 1e-9, 0.1);
    }
    // Of several times each has its own stiffness.
    std::fs::write(dir.join("heat.toml"), mesh("[2, 3, 2]") + &heat).unwrap();
    for operator in [Operator::Assembled, Operator::MatrixFree] {
        for device in [DeviceName::Cpu, DeviceName::Emulate] {
            let mut part = Model::load(&dir.join("part.toml")).unwrap();
            part.solver.operator = Some(operator);
            for (of, warm) in times(&part, device).iter().zip([30.0, 40.0, 50.0, 60.0]) {
                let stress = -(1200.0 - 4.0 * warm) * (1e-3 + 1e-5 * warm) * (warm - 20.0);
                for found in of.step.lists("stress").concat().chunks_exact(6) {
                    assert_close("stress", found, &[stress, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-5, 60.0);
                }
            }
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A long cylinder that is warm inside (Timoshenko and Goodier, art. 151): its temperature is that of a heat case on another mesh.
#[test]
fn a_warm_cylinder_is_stressed_as_lame_says() {
    let dir = std::env::temp_dir().join(format!("warpfem-lame-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (a, b, warm, young, nu, alpha) = (1.0f64, 2.0f64, 100.0, 200e3, 0.3, 1e-5);
    let write = |name: &str, kind: ElementKind, cells: [usize; 2], tables: &str| {
        let mut mesh = generate_rectangle(kind, [b - a, 0.2], cells).unwrap();
        mesh.coords.iter_mut().for_each(|x| x[0] += a);
        let bytes = warpfem::mesh::write::to_bytes(&mesh, warpfem::mesh::write::Form::Ascii);
        std::fs::write(dir.join(format!("{name}.msh")), bytes).unwrap();
        std::fs::write(dir.join(format!("{name}.toml")), format!("[mesh]\nfile = \"{name}.msh\"\n{tables}")).unwrap();
    };
    let of_heat = format!(
        "[analysis]\nkind = \"axisymmetric_heat\"\n{}[[support]]\non = \"xmin\"\nvalue = {warm:?}\n[[support]]\non = \"xmax\"\nvalue = 0.0\n",
        steel("5.0")
    );
    let of_stress = format!(
        "[analysis]\nkind = \"axisymmetric\"\n[[material]]\nname = \"m\"\nyoung = {young:?}\npoisson = {nu:?}\nexpansion = {alpha:?}\n\
         [temperature]\nreference = 0.0\nfrom = \"heat.toml\"\n[[support]]\non = [\"ymin\", \"ymax\"]\nfix = \"y\"\n"
    );
    for (kind, cells, allowed) in [(Quad8, [12, 1], 6e-3), (Tri6, [12, 2], 2e-2)] {
        write("heat", Quad8, [17, 3], &of_heat);
        write("part", kind, cells, &of_stress);
        let part = Model::load(&dir.join("part.toml")).unwrap();
        let found = pipeline::solve(&part, DeviceName::Cpu, &Silent).unwrap();
        let factor = young * alpha * warm / (2.0 * (1.0 - nu) * (b / a).ln());
        let hoop = |r: f64| {
            let c = a * a / (b * b - a * a);
            factor * (1.0 - (b / r).ln() - c * (1.0 + b * b / (r * r)) * (b / a).ln())
        };
        let stress = found.step.vectors::<6>("stress_nodal");
        for (x, stress) in part.mesh.coords.iter().zip(stress) {
            assert!(
                (stress[2] - hoop(x[0])).abs() < allowed * hoop(a).abs(),
                "{kind:?} {x:?} {} {}",
                stress[2],
                hoop(x[0])
            );
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A quarter of a plate 20 wide, inside and outside of a circle of radius 1, as a grid from the middle outwards and round; a hole of a
/// thousandth is none.
fn hot_spot(kind: ElementKind, cells: [usize; 2]) -> Mesh {
    let mut mesh = generate_rectangle(kind, [2.0, 1.0], cells).unwrap();
    for x in &mut mesh.coords {
        let angle = 0.5 * PI * x[1];
        let [c, s] = [angle.cos(), angle.sin()];
        let r = if x[0] < 1.0 { x[0].max(1e-3) } else { 10.0f64.powf(x[0] - 1.0) };
        let to_square = 1.0 + ((r - 1.0) / 9.0).max(0.0) * (1.0 / c.max(s) - 1.0);
        *x = [r * to_square * c, r * to_square * s, 0.0];
    }
    let is_hot = |cell: &[u32]| {
        cell.iter().all(|node| mesh.coords[*node as usize][0].hypot(mesh.coords[*node as usize][1]) < 1.0 + 1e-9)
    };
    let block = mesh.solids().next().unwrap().0;
    let (hot, cold) = (0..mesh.cells[block].len() as u32).partition(|i| is_hot(mesh.cells[block].cell(*i as usize)));
    for (name, cells) in [("hot", hot), ("cold", cold)] {
        mesh.groups.push(Group { name: name.into(), dim: 2, members: vec![(block, cells)] });
    }
    mesh
}

/// NAFEMS T1: a hot spot in a membrane, thermal strain 1e-3, has 50 MPa along y beside it at D, (1, 0). That is `E eps / 2` of a plate
/// without end; the plate's size is in the benchmark's figure alone, and here ten times the spot's.
#[test]
fn nafems_t1() {
    let material = |name: &str, expansion: &str| {
        format!(
            "[[material]]\nname = \"{name}\"\non = \"{name}\"\nyoung = 100e3\npoisson = 0.3\nexpansion = {expansion}\n"
        )
    };
    let tables = format!(
        "[analysis]\nkind = \"plane_stress\"\nthickness = 1.0\n{}{}[temperature]\nreference = 0.0\nvalue = 100.0\n\
         [[support]]\non = \"ymin\"\nfix = \"y\"\n[[support]]\non = \"ymax\"\nfix = \"x\"\n",
        material("hot", "1e-5"),
        material("cold", "0.0")
    );
    for (kind, cells, allowed) in
        [(Quad8, [24, 8], 0.015), (Tri6, [24, 8], 0.02), (Quad4, [96, 24], 0.05), (Tri3, [192, 48], 0.05)]
    {
        let mut plate = model(&tables, hot_spot(kind, cells));
        let found = fields::solve(&mut plate, 1e-10);
        let stress = found.step.vectors::<6>("stress_nodal")[fields::node_at(&plate, [1.0, 0.0, 0.0])][1];
        println!("T1 {kind:?}: {stress:.2} of 50");
        assert!((stress / 50.0 - 1.0).abs() < allowed, "{kind:?} {stress}");
    }
}

/// The section of LE11, from the inside outwards and upwards: inside an arc of radius 1 up to 45 degrees and a line, outside one of
/// radius 1.4 up to 30 degrees, a taper and a line.
fn le11(across: f64, up: f64) -> [f64; 3] {
    let arc = |r: f64, degrees: f64| [r * degrees.to_radians().cos(), r * degrees.to_radians().sin()];
    let line = |a: [f64; 2], b: [f64; 2], s: f64| [0, 1].map(|c| a[c] + s * (b[c] - a[c]));
    let (part, s) = (up.floor().min(3.0), up - up.floor().min(3.0));
    let (foot, shoulder, waist) = (arc(1.4, 30.0), [1.0, 1.39], arc(1.0, 45.0));
    let middle = line(foot, shoulder, 0.5);
    let (inside, outside) = match part as usize {
        0 => (arc(1.0, 30.0 * s), arc(1.4, 30.0 * s)),
        1 => (arc(1.0, 30.0 + 15.0 * s), line(foot, middle, s)),
        2 => (line(waist, [waist[0], 1.39], s), line(middle, shoulder, s)),
        _ => (line([waist[0], 1.39], [waist[0], 1.79], s), line(shoulder, [1.0, 1.79], s)),
    };
    let [x, y] = line(inside, outside, across);
    [x, y, 0.0]
}

/// NAFEMS LE11, as a body of revolution: warmed by `T = r + z` between two planes it has -105 MPa along the axis at A, (1, 0).
#[test]
fn nafems_le11() {
    for (kind, allowed) in [(Quad8, 0.02), (Tri6, 0.03)] {
        let mut mesh = generate_rectangle(kind, [1.0, 4.0], [6, 24]).unwrap();
        mesh.coords.iter_mut().for_each(|x| *x = le11(x[0], x[1]));
        let tables = "[analysis]\nkind = \"axisymmetric\"\n[[material]]\nname = \"m\"\nyoung = 210e9\npoisson = 0.3\nexpansion = 2.3e-4\n\
                      [temperature]\nreference = 0.0\nvalue = 1.0\n[[support]]\non = [\"ymin\", \"ymax\"]\nfix = \"y\"\n";
        let mut body = model(tables, mesh);
        let nodal = body.mesh.coords.iter().map(|x| x[0] + x[1]).collect();
        body.temperature = Some(Temperature::new(0.0, nodal, vec![]));
        let found = fields::solve(&mut body, 1e-10);
        let node = fields::node_at(&body, [1.0, 0.0, 0.0]);
        let stress = found.step.vectors::<6>("stress_nodal")[node][1];
        println!("LE11 {kind:?}: {stress:.4e} of -105e6");
        assert!((stress / -105e6 - 1.0).abs() < allowed, "{kind:?} {stress:e}");
    }
}
