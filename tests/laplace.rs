//! Potentials, `-div(k grad u) = s`, the whole way: exact solutions, rates of convergence, and what flows in and out.

use crate::common::elements::solvable;
use crate::common::fields::{Displacement, converged};
use crate::common::meshes::{distorted_box, file, model, on_skin, prescribe, regular_box, straighten};
use crate::common::{assert_close, fields};
use std::f64::consts::PI;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Quad4, Quad8, Tet4, Tri3, Tri6};
use warpfem::mesh::annulus::generate_annulus;
use warpfem::mesh::rectangle::{Diagonals, generate_cut_rectangle};
use warpfem::mesh::write::{Form, to_bytes};
use warpfem::mesh::{Group, Mesh};
use warpfem::model::{Model, SolverOptions};
use warpfem::pipeline::{self, Solution};
use warpfem::result::choices::{Acceleration, Format, Method, Precision, Preconditioner, Strategy};
use warpfem::result::{Error, Physics};
use warpfem::solve::Silent;
use warpfem::verify::laplace::{self as verify, K};

const BODY: &str = "[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"body\"\nconductivity = 3.0\n";
/// 1 on the left, 3 on the right.
const SIDES: &str = "[[support]]\non = \"xmin\"\nvalue = 1.0\n[[support]]\non = \"xmax\"\nvalue = 3.0\n";

fn laplace(tables: &str, mesh: Mesh) -> Model {
    model(&format!("{BODY}{tables}"), mesh)
}

fn solve(model: &mut Model) -> Solution {
    let found = fields::solve(model, 1e-13);
    assert!(found.step.fields.iter().all(|field| field.info.physics.contains(&Physics::Potential)));
    assert!(found.equilibrium_error < 1e-11, "out of balance by {:.1e}", found.equilibrium_error);
    found
}

fn cells(kind: ElementKind) -> [usize; 3] {
    if kind.info().is_quadratic() { [2, 3, 2] } else { [4, 3, 3] }
}

/// Distorted elements with straight edges: on curved ones the rule of tet10 does not integrate gradients exactly.
fn distorted(kind: ElementKind, amount: f64) -> Mesh {
    let mut mesh = distorted_box(kind, cells(kind), amount);
    straighten(&mut mesh);
    mesh
}

/// Nodal values and gradients of a field that elements hold exactly.
#[track_caller]
fn assert_exact(what: &str, model: &Model, found: &Solution, u: impl Fn([f64; 3]) -> f64, gradient: [f64; 3]) {
    let expected: Vec<f64> = model.mesh.coords.iter().map(|x| u(*x)).collect();
    assert_close(what, found.step.nodes("potential"), &expected, 1e-12, 3.0);
    for g in found.step.lists("gradient").concat().chunks_exact(3) {
        assert_close(what, g, &gradient, 1e-10, 3.0);
    }
}

/// Fixed on two sides, nothing through the others: FEMSES eq. 2.78 with its denominator put right, `U0 + (U1 - U0) x`.
#[test]
fn between_two_sides_the_potential_is_linear() {
    for kind in solvable() {
        for mesh in [regular_box(kind, cells(kind)), distorted(kind, 0.2)] {
            let mut model = laplace(SIDES, mesh);
            let found = solve(&mut model);
            assert_exact(kind.info().name, &model, &found, |x| 1.0 + 2.0 * x[0], [2.0, 0.0, 0.0]);
            let flows = [0, 1].map(|support| found.reaction(support)[0]);
            assert_close("flows", &flows, &[-2.0 * K, 2.0 * K], 1e-11, 2.0 * K);
            assert_eq!(found.applied, [0.0; 3]);
        }
    }
    let down = generate_cut_rectangle(Tri3, [1.0; 2], [5, 4], Diagonals::Down).unwrap();
    let mut model = laplace(SIDES, down);
    let found = solve(&mut model);
    assert_exact("downward diagonals", &model, &found, |x| 1.0 + 2.0 * x[0], [2.0, 0.0, 0.0]);
}

/// The patch test: any linear potential that is prescribed all round, on distorted elements.
#[test]
fn linear_potentials_are_held_exactly_on_distorted_elements() {
    for kind in solvable() {
        let slope = [0.7, -1.3, if kind.info().dim == 3 { 0.4 } else { 0.0 }];
        let u = |x: [f64; 3]| 0.2 + slope.iter().zip(x).map(|(s, x)| s * x).sum::<f64>();
        let mut model = laplace(SIDES, distorted(kind, 0.25));
        let n_inside = model.mesh.coords.iter().filter(|x| !on_skin(kind.info().dim, **x)).count();
        assert!(n_inside > 2, "{kind:?}");
        prescribe(&mut model, |x| on_skin(kind.info().dim, x).then(|| [u(x), 0.0, 0.0]));
        let found = solve(&mut model);
        assert_exact(kind.info().name, &model, &found, u, slope);
    }
}

/// `(int (u - u_h)^2 dV / int u^2 dV)^(1/2)`.
fn error(model: &Model, found: &Solution, exact: impl Fn([f64; 3]) -> f64) -> f64 {
    let values: Vec<[f64; 3]> = found.step.nodes("potential").iter().map(|u| [*u, 0.0, 0.0]).collect();
    fields::errors(model, &values, |x| Displacement { u: [exact(x), 0.0, 0.0], h: [[0.0; 3]; 3] })[0]
}

/// 0 at radius 1 and 1 at radius 2: `ln r / ln 2`, and a flow of `2 pi k / ln 2`.
fn ring(kind: ElementKind, n: usize) -> Model {
    verify::ring(kind, n, [1.0; 2]).unwrap().model
}

#[test]
fn rings_converge_to_the_logarithm() {
    for (kind, order) in [(Tri3, 2.0), (Quad4, 2.0), (Tri6, 3.0), (Quad8, 3.0)] {
        let [coarse, fine] = [4, 8].map(|n| {
            let mut model = ring(kind, n);
            let found = solve(&mut model);
            let flow = verify::FLOW;
            let flows = [found.reaction(0)[0] / -flow - 1.0, found.reaction(1)[0] / flow - 1.0];
            assert!((flows[0] - flows[1]).abs() < 1e-11, "what flows in flows out: {flows:?}");
            (error(&model, &found, verify::exact), flows[0].abs())
        });
        let rate = |coarse: f64, fine: f64| (coarse / fine).log2();
        let rates = [rate(coarse.0, fine.0), rate(coarse.1, fine.1)];
        println!("{kind:?}: errors {:.2e} {:.2e}, rates {rates:.2?}", coarse.0, fine.0);
        assert!((rates[0] - order).abs() < 0.2, "{kind:?}: {rates:?}");
        // The flow is as good as the energy: twice the order of the gradient.
        assert!(rates[1] > 2.0 * (order - 1.0) - 0.2, "{kind:?}: {rates:?}");
        assert!(fine.0 < if order == 2.0 { 2e-3 } else { 5e-5 }, "{kind:?}: {fine:?}");
    }
}

/// The same mesh from a file, in text and in bytes, and one that Gmsh has made.
#[test]
fn rings_from_files_give_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = ring(Tri3, 4);
    let expected = solve(&mut model);
    for form in [Form::Ascii, Form::Binary] {
        let path = folder.path().join("ring.msh");
        std::fs::write(&path, to_bytes(&model.mesh, form)).unwrap();
        let mut read = crate::common::meshes::model(verify::TABLES, Mesh::read(&path).unwrap());
        let found = solve(&mut read);
        assert_close("from a file", found.step.nodes("potential"), expected.step.nodes("potential"), 1e-12, 1.0);
    }
    let mut gmsh = Model::load(&file("ring.toml")).unwrap();
    let mut coarse = crate::common::meshes::model(verify::TABLES, Mesh::read(&file("ring_coarse.msh")).unwrap());
    let of_coarse = solve(&mut coarse);
    let missed_more = error(&coarse, &of_coarse, verify::exact);
    let found = solve(&mut gmsh);
    let missed = error(&gmsh, &found, verify::exact);
    // Edges of half the length, give or take: sizes are those of the triangles there are.
    let finer = (found.step.nodes("potential").len() as f64 / of_coarse.step.nodes("potential").len() as f64).sqrt();
    let order = (missed_more / missed).ln() / finer.ln();
    println!("{} nodes of Gmsh: {missed:.2e}, order {order:.2}", found.step.nodes("potential").len());
    assert!(missed < 2e-3 && (order - 2.0).abs() < 0.3, "{missed:.2e}, order {order:.2}");
    let flow = verify::FLOW / K * gmsh.materials[0].conductivity[0];
    assert!((found.reaction(1)[0] / flow - 1.0).abs() < 4e-3, "{:?} against {flow}", found.reaction(1));
}

/// `u = sin(pi x) sin(pi y) sin(pi z)`, 0 all round, of the source `3 k pi^2 u` as nodal loads.
#[test]
fn manufactured_sources_converge_at_second_order() {
    let exact = |x: [f64; 3]| x.iter().map(|c| (PI * c).sin()).product::<f64>();
    for kind in [Tet4, Hex8] {
        let [coarse, fine] = [6, 12].map(|n| {
            let mut model = laplace(SIDES, regular_box(kind, [n, n, n]));
            prescribe(&mut model, |x| on_skin(3, x).then_some([0.0; 3]));
            fields::add_body_force(&mut model, |x| [3.0 * K * PI * PI * exact(x), 0.0, 0.0]);
            let found = solve(&mut model);
            error(&model, &found, exact)
        });
        let rate = (coarse / fine).log2();
        println!("{kind:?}: {coarse:.2e} {fine:.2e}, rate {rate:.2}");
        assert!((rate - 2.0).abs() < 0.2 && fine < 0.04, "{kind:?}: {coarse:.2e} {fine:.2e} {rate:.2}");
    }
}

/// A uniform source between sides at 0: `u = s x (1 - x) / (2 k)`, which quadratic elements hold exactly, and linear
/// ones at their nodes.
#[test]
fn a_uniform_source_leaves_by_the_sides() {
    let tables = "[[support]]\non = [\"xmin\", \"xmax\"]\nvalue = 0.0\n[source]\nvalue = 12.0\n";
    for kind in [Quad4, Quad8, Tri6, Hex8] {
        let plane = kind.info().dim == 2;
        let text = if plane { BODY.replace("\"laplace\"", "\"laplace\"\nthickness = 0.25") } else { BODY.to_string() };
        let mut model = model(&format!("{text}{tables}"), regular_box(kind, cells(kind)));
        let found = solve(&mut model);
        let expected: Vec<f64> = model.mesh.coords.iter().map(|x| 12.0 * x[0] * (1.0 - x[0]) / (2.0 * K)).collect();
        assert_close(kind.info().name, found.step.nodes("potential"), &expected, 1e-12, 0.5);
        let volume = model.thickness;
        assert_close("applied", &found.applied, &[12.0 * volume, 0.0, 0.0], 1e-12, 12.0);
        assert_close("flow", &[found.reaction(0)[0]], &[-12.0 * volume], 1e-11, 12.0);
    }
}

/// Two slabs in series, k = 1 to the left of x = 1/2 and 3 to the right: between 0 and 1 the interface is at 3/4.
#[test]
fn two_conductivities_in_series_share_the_drop() {
    for kind in solvable() {
        let mut mesh = distorted_box(kind, [4, 2, 2], 0.0);
        let n = kind.info().n_nodes;
        let is_left =
            |cell: &[u32]| cell.iter().map(|node| mesh.coords[*node as usize][0]).sum::<f64>() < 0.5 * n as f64;
        let (left, right): (Vec<u32>, Vec<u32>) =
            (0..mesh.cells[0].len() as u32).partition(|cell| is_left(mesh.cells[0].cell(*cell as usize)));
        let dim = kind.info().dim;
        let group = |name: &str, cells| Group { name: name.into(), dim, members: vec![(0, cells)] };
        let halves = [group("left", left), group("right", right)];
        mesh.groups.extend(halves);
        let material =
            |on: &str, k: f64| format!("[[material]]\nname = \"{on}\"\non = \"{on}\"\nconductivity = {k:?}\n");
        let sides = "[[support]]\non = \"xmin\"\nvalue = 0.0\n[[support]]\non = \"xmax\"\nvalue = 1.0\n";
        let tables =
            format!("[analysis]\nkind = \"laplace\"\n{}{}{sides}", material("left", 1.0), material("right", 3.0));
        let mut model = model(&tables, mesh);
        let found = solve(&mut model);
        let exact = |x: f64| if x <= 0.5 { 1.5 * x } else { 0.75 + 0.5 * (x - 0.5) };
        let expected: Vec<f64> = model.mesh.coords.iter().map(|x| exact(x[0])).collect();
        assert_close(kind.info().name, found.step.nodes("potential"), &expected, 1e-12, 1.0);
        assert_close("flow", &[found.reaction(1)[0]], &[1.5], 1e-11, 1.5);
    }
}

/// What a flux brings in is its value times the area (in the plane length and thickness), and leaves where the value is
/// fixed.
#[test]
fn fluxes_flow_into_the_body_by_area_and_thickness() {
    let tables = "[[support]]\non = \"xmin\"\nvalue = 2.0\n[[flux]]\non = \"xmax\"\nvalue = 5.0\n";
    for kind in solvable() {
        let plane = kind.info().dim == 2;
        let text = if plane { BODY.replace("\"laplace\"", "\"laplace\"\nthickness = 0.25") } else { BODY.to_string() };
        let mut model = model(&format!("{text}{tables}"), distorted(kind, 0.2));
        let area = if plane { 0.25 } else { 1.0 };
        let found = solve(&mut model);
        assert_exact(kind.info().name, &model, &found, |x| 2.0 + 5.0 / K * x[0], [5.0 / K, 0.0, 0.0]);
        assert_close("applied", &found.applied, &[5.0 * area, 0.0, 0.0], 1e-12, 5.0);
        assert_close("flow", &[found.reaction(0)[0]], &[-5.0 * area], 1e-11, 5.0);
        assert_eq!(model.applied[0].name, "flux on xmax");
    }
    // On a circle the length of its polygon counts: what flows in round the outside leaves inside.
    let tables = "[[support]]\non = \"inner\"\nvalue = 0.0\n[[flux]]\non = \"outer\"\nvalue = 1.0\n";
    let mut model = laplace(tables, generate_annulus(Tri3, [1.0, 2.0], [4, 32]).unwrap());
    let found = solve(&mut model);
    let length = 32.0 * 4.0 * (PI / 32.0).sin();
    assert_close("applied", &[found.applied[0], -found.reaction(0)[0]], &[length; 2], 1e-11, length);
}

/// Every storage format, strategy, preconditioner, precision and method, on a distorted mesh with a flux and a source.
#[test]
fn every_way_to_solve_gives_the_same_potential() {
    let tables =
        "[[support]]\non = \"xmin\"\nvalue = 2.0\n[[flux]]\non = \"ymax\"\nvalue = 5.0\n[source]\nvalue = -1.0\n";
    let mut model = laplace(tables, distorted_box(Quad4, [9, 7, 1], 0.2));
    let expected = solve(&mut model);
    let on = |device, model: &Model, what: &str, tolerance: f64| {
        let found = converged(model, device);
        assert_close(what, found.step.nodes("potential"), expected.step.nodes("potential"), tolerance, 5.0);
    };
    let again = |model: &Model, what: &str, tolerance: f64| on(DeviceName::Cpu, model, what, tolerance);
    model.solver.method = Some(Method::Cg);
    let auto = model.solver.clone();
    for format in Format::ALL {
        model.solver.format = Some(format);
        again(&model, format.name(), 1e-11);
    }
    model.solver = auto.clone();
    for preconditioner in Preconditioner::ALL {
        model.solver.preconditioner = Some(preconditioner);
        again(&model, preconditioner.name(), 1e-10);
    }
    model.solver = auto.clone();
    for assembly in [Strategy::RowOwner, Strategy::Atomic] {
        model.solver.assembly = Some(assembly);
        again(&model, assembly.name(), 1e-11);
    }
    model.solver = auto.clone();
    for (precision, tolerance) in [(Precision::Single, 1e-5), (Precision::Mixed, 1e-11), (Precision::MixedHalf, 1e-11)]
    {
        (model.solver.precision, model.solver.tolerance) = (Some(precision), tolerance);
        again(&model, precision.name(), 1e3 * tolerance);
    }
    // The CPU's factors, and those of a device without a library of them.
    for device in [DeviceName::Cpu, DeviceName::Emulate, DeviceName::Auto] {
        model.solver = SolverOptions { method: Some(Method::Direct), ..auto.clone() };
        on(device, &model, "direct", 1e-11);
        for acceleration in Acceleration::ALL {
            let (method, max_iterations) = (Some(Method::Femses), 20_000);
            model.solver = SolverOptions { method, acceleration, max_iterations, ..auto.clone() };
            on(device, &model, acceleration.name(), 1e-8);
        }
    }
}

#[test]
fn strategies_of_elasticity_alone_are_refused_with_those_that_do() {
    let mut model = laplace(SIDES, regular_box(Hex8, [2, 2, 2]));
    for assembly in [Strategy::ByElement, Strategy::ByWarp4, Strategy::Ppni8, Strategy::TwoKernels] {
        model.solver.assembly = Some(assembly);
        let error = pipeline::solve(&model, DeviceName::Cpu, &Silent).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Unsuited { .. }) && error.exit_code() == 2, "{text}");
        assert!(text.contains("is not available for laplace; available here: row_owner, atomic"), "{text}");
    }
}
