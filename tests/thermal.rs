//! Thermal strain with known solutions.

use crate::common::elements::solvable;
use crate::common::fields::converged;
use crate::common::meshes::{self, distorted_box, model};
use crate::common::{assert_close, largest};
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Quad4, Quad8, Tet10, Tri6, Wedge15};
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::{Analysis, Model, Physics, Temperature};
use warpfem::pipeline::{self, Solution};
use warpfem::result::choices::Method;
use warpfem::solve::Silent;
use warpfem::verify;

const YOUNG: f64 = 1000.0;
const POISSON: f64 = 0.3;
const EXPANSION: f64 = 1e-4;
/// Above the reference.
const DEGREES: f64 = 50.0;
const STEEL: &str = "[[material]]\nname = \"soft\"\nyoung = 1000.0\npoisson = 0.3\nexpansion = 1e-4\n";
const WARM: &str = "[temperature]\nreference = 20.0\nvalue = 70.0\n";

/// `E alpha dT`.
fn scale() -> f64 {
    YOUNG * EXPANSION * DEGREES
}

fn solve(model: &mut Model, device: DeviceName) -> Solution {
    (model.solver.method, model.solver.residual_tolerance) = (Some(Method::Direct), Some(1e-11));
    let fields = ["strain", "strain_nodal", "stress_points"];
    model.fields.extend(fields.map(String::from));
    converged(model, device)
}

/// The CPU; and the emulator, and the GPU if there is one, for some elements.
fn devices(kind: ElementKind) -> Vec<DeviceName> {
    let all = [Hex8, Tet10, Quad4, Quad8].contains(&kind);
    if all { crate::common::devices() } else { vec![DeviceName::Cpu] }
}

/// Holds the corners of the unit box, or square, that its six, or three, rigid motions need.
fn pins(of: Analysis) -> String {
    let pin = |x: [f64; 3], fix: &str| format!("[[support]]\nbox = {{ min = {x:?}, max = {x:?} }}\nfix = \"{fix}\"\n");
    let (origin, x, y) = ([0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    match (of.is_revolved(), of.dim()) {
        (true, _) => "[[support]]\non = \"ymin\"\nfix = \"y\"\n".into(),
        (_, Some(2)) => pin(origin, "xy") + &pin(x, "y"),
        _ => pin(origin, "xyz") + &pin(x, "yz") + &pin(y, "z"),
    }
}

fn on_rollers(dim: usize) -> String {
    let roller = |(on, axis): &(&str, &str)| format!("[[support]]\non = \"{on}\"\nfix = \"{axis}\"\n");
    [("xmin", "x"), ("ymin", "y"), ("zmin", "z")][..dim].iter().map(roller).collect()
}

/// The stresses of all kinds are these, the strains those.
#[track_caller]
fn check(solution: &Solution, stress: [f64; 6], strain: [f64; 6]) {
    for name in ["stress", "stress_nodal", "stress_points"] {
        for list in solution.step.lists(name) {
            list.chunks_exact(6).for_each(|found| assert_close(name, found, &stress, 1e-10, scale()));
        }
    }
    for name in ["strain", "strain_nodal"] {
        for list in solution.step.lists(name) {
            list.chunks_exact(6).for_each(|found| assert_close(name, found, &strain, 1e-10, scale() / YOUNG));
        }
    }
}

fn elastic() -> impl Iterator<Item = (ElementKind, Analysis)> {
    let is_elastic = |of: &Analysis| of.physics() == Physics::Elasticity;
    solvable().flat_map(move |kind| meshes::all_analyses(kind).into_iter().filter(is_elastic).map(move |of| (kind, of)))
}

fn mesh(kind: ElementKind, of: Analysis) -> Mesh {
    let mut mesh = distorted_box(kind, [2, 2, 2], 0.2);
    if kind.is_reduced() {
        // Curved, their points balance a constant stress only nearly.
        meshes::straighten(&mut mesh);
    }
    if of.is_revolved() {
        mesh.coords.iter_mut().for_each(|x| x[0] += 0.5);
    }
    mesh
}

#[test]
fn a_free_body_expands_without_stress() {
    for (kind, of) in elastic() {
        let tables = format!("{}{STEEL}{WARM}{}", meshes::analysis(of, 0.4), pins(of));
        for device in devices(kind) {
            let solution = solve(&mut model(&tables, mesh(kind, of)), device);
            let along = EXPANSION * DEGREES;
            match of {
                // Held along z: it pushes, and is wider for that.
                Analysis::PlaneStrain => {
                    let wide = (1.0 + POISSON) * along;
                    check(&solution, [0.0, 0.0, -scale(), 0.0, 0.0, 0.0], [wide, wide, 0.0, 0.0, 0.0, 0.0]);
                }
                _ => {
                    check(&solution, [0.0; 6], [along, along, along, 0.0, 0.0, 0.0]);
                    assert!(solution.strain_energy().abs() < 1e-12 * scale() * along, "{}", solution.strain_energy());
                }
            }
            assert!(largest(&solution.applied) == 0.0);
        }
    }
}

/// Three expansions along axes of the material's own, also round an axis along which it expands differently.
#[test]
fn a_free_crystal_expands_without_stress() {
    let fixed = ("[1e-4, 3e-4, -1e-4]", "{ x = [1.0, 2.0, 0.5], y = [0.0, 1.0, -1.0] }");
    let round = ("[1e-4, 1e-4, 5e-4]", "{ axis = [0.0, 0.6, 0.8], at = [0.3, -0.4, 0.1] }");
    let flat = ("[1e-4, 3e-4, 2e-4]", "{ x = [1.0, 2.0, 0.0], y = [-2.0, 1.0, 0.0] }");
    for (kind, (expansion, axes)) in [Hex8, Tet10, Wedge15]
        .into_iter()
        .flat_map(|kind| [(kind, fixed), (kind, round)])
        .chain([(Quad8, flat), (Quad4, flat)])
    {
        let of = if kind.info().dim == 2 { Analysis::PlaneStress } else { Analysis::Elasticity };
        let material = STEEL.replace("expansion = 1e-4", &format!("expansion = {expansion}\naxes = {axes}"));
        let tables = format!("{}{material}{WARM}{}", meshes::analysis(of, 0.4), pins(of));
        for device in devices(kind) {
            let mut body = model(&tables, mesh(kind, of));
            let strain = body.materials[0].expansion_at([0.2, 0.3, 0.4]).map(|e| DEGREES * e);
            check(&solve(&mut body, device), [0.0; 6], strain);
        }
    }
}

#[test]
fn a_bar_between_walls_presses() {
    for (kind, of) in elastic().filter(|(_, of)| !of.is_revolved() && *of != Analysis::PlaneStrain) {
        let wall = "[[support]]\non = \"xmax\"\nfix = \"x\"\n";
        let tables = format!("{}{STEEL}{WARM}{}{wall}", meshes::analysis(of, 0.4), on_rollers(kind.info().dim));
        for device in devices(kind) {
            let solution = solve(&mut model(&tables, verify::patch::mesh(kind).unwrap()), device);
            let wide = (1.0 + POISSON) * EXPANSION * DEGREES;
            check(&solution, [-scale(), 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, wide, wide, 0.0, 0.0, 0.0]);
            let area = if kind.info().dim == 2 { 0.4 } else { 1.0 };
            let reaction = solution.reaction(kind.info().dim);
            assert_close("reaction", &reaction[..1], &[-scale() * area], 1e-10, scale());
            // `sigma : eps_elastic / 2` with the elastic strain `-alpha dT` along the bar.
            let energy = 0.5 * scale() * EXPANSION * DEGREES * area;
            assert_close("energy", &[solution.strain_energy()], &[energy], 1e-10, energy);
        }
    }
}

/// Held on all sides nothing moves, and the loads at free nodes are rounding: the iteration ends at once or converges.
#[test]
fn a_block_in_a_mould_is_under_pressure() {
    for kind in [Hex8, Tet10] {
        let wall = |(on, fix): (&str, &str)| format!("[[support]]\non = [\"{on}min\", \"{on}max\"]\nfix = \"{fix}\"\n");
        let walls: String = [("x", "x"), ("y", "y"), ("z", "z")].map(wall).concat();
        let mut block = model(&format!("{STEEL}{WARM}{walls}"), verify::patch::mesh(kind).unwrap());
        for method in [Method::Cg, Method::Direct] {
            block.solver.method = Some(method);
            let solution = converged(&block, DeviceName::Cpu);
            let pressure = -scale() / (1.0 - 2.0 * POISSON);
            for stress in solution.step.lists("stress")[0].chunks(6) {
                assert_close("stress", stress, &[pressure, pressure, pressure, 0.0, 0.0, 0.0], 1e-6, -pressure);
            }
        }
    }
}

/// Temperatures of nodes, of groups of bodies, of a file and everywhere are the same.
#[test]
fn one_temperature_said_in_several_ways_is_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), "x,y,z,T\n0,0,0,70\n1,1,1,70\n0,1,0,70\n1,0,0,70\n").unwrap();
    let wall = "[[support]]\non = \"xmax\"\nfix = \"x\"\n";
    let file = format!("[temperature]\nreference = 20.0\nfile = '{}'\n", folder.path().join("t.csv").display());
    let on = "[temperature]\nreference = 20.0\n[[temperature.on]]\non = \"body\"\nvalue = 70.0\n";
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"].map(|side| format!("\"{side}\"")).join(", ");
    let nodes =
        format!("[temperature]\nreference = 20.0\nvalue = 1.0\n[[temperature.on]]\non = [{sides}]\nvalue = 70.0\n");
    for kind in [Hex8, Tet10] {
        let solved = |temperature: &str| {
            let tables = format!("{STEEL}{temperature}{}{wall}", on_rollers(3));
            // Of two cells a side hex8 has a node inside; of one, none.
            solve(&mut model(&tables, generate_box(kind, [1.0; 3], [1; 3]).unwrap()), DeviceName::Cpu)
        };
        let expected = solved(WARM);
        let ways: &[&str] = if kind == Hex8 { &[&file, on, &nodes] } else { &[&file, on] };
        for way in ways {
            let found = solved(way);
            for name in ["stress", "strain", "strain_nodal"] {
                let [found, expected] = [&found, &expected].map(|of| of.step.lists(name).concat());
                assert_close(name, &found, &expected, 1e-10, largest(&expected));
            }
        }
    }
}

/// Timoshenko, "Analysis of bi-metal thermostats", 1925.
#[test]
fn a_bimetal_strip_bends() {
    let (length, height) = (40.0, 1.0);
    for (kind, cells) in [(Quad8, [40, 4]), (Tri6, [40, 4]), (Quad4, [160, 8])] {
        let end = "[[support]]\non = \"xmin\"\nfix = \"x\"\n[[support]]\nbox = { min = [0.0, 0.0], max = [0.0, 0.0] }\nfix = \"y\"\n";
        let tables = format!("{}{STEEL}{WARM}{end}", meshes::analysis(Analysis::PlaneStress, 0.4));
        let mut strip = model(&tables, generate_rectangle(kind, [length, height], cells).unwrap());
        let mut other = strip.materials[0].clone();
        other.set_isotropic(2.0 * YOUNG, POISSON);
        other.expansion = Some([3.0 * EXPANSION; 3]);
        strip.materials.push(other);
        let block = strip.mesh.solids().next().unwrap();
        let upper = |cell: usize| strip.mesh.middle(block.1.cell(cell))[1] > 0.5 * height;
        let of: Vec<u32> = (0..block.1.len()).map(|cell| u32::from(upper(cell))).collect();
        let block = block.0;
        strip.cell_material[block] = of;
        let solution = solve(&mut strip, DeviceName::Cpu);
        // As thick as the other, stiffness ratio n.
        let (m, n) = (1.0_f64, 0.5);
        let curvature = 6.0 * 2.0 * EXPANSION * DEGREES * (1.0 + m).powi(2)
            / (height * (3.0 * (1.0 + m).powi(2) + (1.0 + m * n) * (m * m + 1.0 / (m * n))));
        let expected = -0.5 * curvature * length * length;
        let tip = strip.mesh.coords.iter().position(|x| x[0] == length && x[1] == 0.0).unwrap();
        let found = solution.displacement()[tip][1];
        // Linear elements are too stiff in bending.
        let within = if kind.info().is_quadratic() { 0.01 } else { 0.03 };
        assert!((found / expected - 1.0).abs() < within, "{kind:?} {found} {expected}");
    }
}

/// A solid cylinder between walls, warmer outwards in proportion to the radius (Timoshenko and Goodier, art. 135): the
/// displacement is quadratic, which quad8 has and integrates exactly.
#[test]
fn a_cylinder_hot_outside_is_exact() {
    let (radius, per_radius) = (2.0, 30.0);
    let walls = "[[support]]\non = [\"ymin\", \"ymax\"]\nfix = \"y\"\n";
    let tables = format!("{}{STEEL}{WARM}{walls}", meshes::analysis(Analysis::Axisymmetric, 1.0));
    for device in devices(Quad8) {
        let mut cylinder = model(&tables, generate_rectangle(Quad8, [radius, 1.0], [3, 2]).unwrap());
        let nodal = cylinder.mesh.coords.iter().map(|x| per_radius * x[0]).collect();
        cylinder.temperature = Some(Temperature::new(0.0, nodal, vec![]));
        let solution = solve(&mut cylinder, device);
        let grown = (1.0 + POISSON) / (1.0 - POISSON) * EXPANSION * per_radius;
        for (x, u) in cylinder.mesh.coords.iter().zip(solution.displacement()) {
            let expected = grown / 3.0 * (x[0] * x[0] + (1.0 - 2.0 * POISSON) * x[0] * radius);
            assert_close("radial", &[u[0], u[1]], &[expected, 0.0], 1e-10, grown * radius * radius);
        }
        let scale = EXPANSION * YOUNG * per_radius / (1.0 - POISSON);
        for (x, found) in cylinder.mesh.coords.iter().zip(solution.step.lists("stress_nodal")[0].chunks(6)) {
            let r = x[0];
            let (radial, hoop) = (scale * (radius - r) / 3.0, scale * (radius - 2.0 * r) / 3.0);
            let axial = scale * (2.0 * POISSON * radius / 3.0 - r);
            assert_close("stress", found, &[radial, axial, hoop, 0.0, 0.0, 0.0], 1e-8, scale * radius);
        }
    }
}

/// A temperature that is linear in space leaves a free body without stress, too: elements of second order with straight
/// sides have its displacement.
#[test]
fn a_gradient_of_temperature_bends_without_stress() {
    for kind in [Tet10, Hex20] {
        let tables = format!("{STEEL}{WARM}{}", pins(Analysis::Elasticity));
        let mut body = model(&tables, generate_box(kind, [1.0; 3], [2; 3]).unwrap());
        let nodal = body.mesh.coords.iter().map(|[x, y, z]| DEGREES * (x - 2.0 * y + 0.5 * z)).collect();
        body.temperature = Some(Temperature::new(0.0, nodal, vec![]));
        let solution = solve(&mut body, DeviceName::Cpu);
        for name in ["stress", "stress_nodal", "stress_points"] {
            solution.step.lists(name).iter().flatten().for_each(|s| assert!(s.abs() < 1e-9 * scale(), "{kind:?} {s}"));
        }
    }
}

/// A bar whose ends are at two temperatures, of which a heat case says how warm it is between them.
#[test]
fn temperatures_of_a_heat_case_are_those_that_it_finds() {
    let dir = std::env::temp_dir().join(format!("warpfem-heat-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let mesh = |kind: &str, cells: &str| {
        format!(
            "[mesh]\ngenerate = {{ kind = \"box\", element = \"{kind}\", size = [2.0, 1.0, 1.0], cells = {cells} }}\n"
        )
    };
    let heat = "[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 5.0\n[solver]\nmethod = \"direct\"\n\
                [[support]]\non = \"xmin\"\nvalue = 20.0\n[[support]]\non = \"xmax\"\nvalue = 70.0\n";
    let body = format!(
        "{STEEL}[temperature]\nreference = 20.0\nfrom = \"heat.toml\"\n[solver]\nmethod = \"direct\"\n{}",
        pins(Analysis::Elasticity)
    );
    for (kind, cells) in [("tet10", "[2, 1, 1]"), ("hex8", "[3, 2, 4]")] {
        std::fs::write(dir.join("heat.toml"), mesh(kind, cells) + heat).unwrap();
        std::fs::write(dir.join("part.toml"), mesh("tet10", "[2, 1, 1]") + &body).unwrap();
        let part = Model::load(&dir.join("part.toml")).unwrap();
        assert_eq!(part.temperature.as_ref().unwrap().range(), None);
        for device in [DeviceName::Cpu, DeviceName::Emulate] {
            let part = Model::load(&dir.join("part.toml")).unwrap();
            let solution = pipeline::solve(&part, device, &Silent).unwrap();
            let temperature = part.temperature.as_ref().unwrap();
            for (x, found) in part.mesh.coords.iter().zip(temperature.nodal(0)) {
                assert_close("temperature", &[*found], &[25.0 * x[0]], 1e-9, 50.0);
            }
            // Linear in space, it leaves a free body without stress.
            solution
                .step
                .lists("stress")
                .iter()
                .flatten()
                .for_each(|s| assert!(s.abs() < 1e-9 * scale(), "{kind} {s}"));
            let most = solution.displacement().iter().fold(0.0_f64, |most, u| most.max(u[0]));
            assert!(most > 0.9 * EXPANSION * 25.0 * 2.0, "{most}");
        }
    }
    let refused = |heat: &str, word: &str| {
        std::fs::write(dir.join("heat.toml"), heat).unwrap();
        let error = Model::load(&dir.join("part.toml")).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains(word), "{error}");
    };
    refused(&(mesh("tet4", "[1, 1, 1]") + heat).replace("conductivity", "conductance"), "conductance");
    refused(&(mesh("tet4", "[2, 1, 1]") + STEEL + &pins(Analysis::Elasticity)), "is a case of");
    refused(
        "[mesh]\ngenerate = { kind = \"rectangle\", element = \"quad4\", size = [2.0, 1.0], cells = [2, 1] }\n[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"m\"\nconductivity = 5.0\n[[support]]\non = \"xmin\"\nvalue = 20.0\n",
        "another shape",
    );
    std::fs::remove_dir_all(&dir).unwrap();
}
