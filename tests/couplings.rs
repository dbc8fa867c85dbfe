//! Ties and equations: two bodies coupled are one body, whatever solves them.

use crate::common::devices;
use crate::common::fields::converged;
use std::path::Path;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Tet4, Tet10};
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::{Cells, Group, Mesh};
use warpfem::model::{Case, Model};
use warpfem::pipeline::Solution;
use warpfem::result::choices::{Method, Precision, Preconditioner};

/// Boxes in a row along x, each with its length and cells; groups are `a_xmin`, `b_xmin` and so on.
pub fn row(kind: ElementKind, boxes: &[(f64, [usize; 3])]) -> Mesh {
    let mut end = 0.0;
    joined(boxes.iter().zip(["a", "b", "c"]).map(|((length, cells), letter)| {
        let mut one = generate_box(kind, [*length, 1.0, 1.0], *cells).unwrap();
        one.coords.iter_mut().for_each(|x| x[0] += end);
        end += length;
        (letter.to_string(), one)
    }))
}

/// Meshes that share no nodes as one; the names of groups follow those of their meshes.
pub fn joined(meshes: impl Iterator<Item = (String, Mesh)>) -> Mesh {
    let mut whole = Mesh::default();
    for (name, one) in meshes {
        let (first, block) = (whole.coords.len() as u32, whole.cells.len());
        let tag = whole.cells.iter().map(|cells| cells.tags.len() as u64).sum::<u64>();
        whole.coords.extend(&one.coords);
        whole.cells.extend(one.cells.iter().map(|cells| Cells {
            kind: cells.kind,
            nodes: cells.nodes.iter().map(|node| node + first).collect(),
            tags: cells.tags.iter().map(|own| own + tag).collect(),
        }));
        whole.groups.extend(one.groups.iter().map(|group| Group {
            name: format!("{name}_{}", group.name),
            dim: group.dim,
            members: group.members.iter().map(|(of, cells)| (of + block, cells.clone())).collect(),
        }));
    }
    whole.node_tags = (1..=whole.coords.len() as u64).collect();
    whole
}

/// A mesh that is made, and steel.
pub const HEAD: &str = "[mesh]\nfile = \"made.msh\"\n[[material]]\nname = \"steel\"\nyoung = 200e3\npoisson = 0.3\n";

/// Clamped at one end, sheared and pulled at the other.
pub fn bent(last: &str) -> String {
    format!(
        "{HEAD}[[support]]\non = \"a_xmin\"\nfix = \"xyz\"\n[[force]]\non = \"{last}_xmax\"\ntotal = [30.0, -10.0, 5.0]\n\
         [[pressure]]\non = \"{last}_ymax\"\nvalue = 2.0\n"
    )
}

pub fn tie(slave: &str, master: &str) -> String {
    format!("[[tie]]\nslave = \"{slave}\"\nmaster = \"{master}\"\n")
}

pub fn model(text: &str, mesh: Mesh) -> Model {
    Model::resolve(&Case::parse(Path::new("made.toml"), text).unwrap(), mesh).unwrap_or_else(|error| panic!("{error}"))
}

/// Solved so that nothing is left but rounding.
pub fn solved(mut model: Model, device: DeviceName) -> (Model, Solution) {
    model.solver.method.get_or_insert(Method::Direct);
    model.solver.residual_tolerance.get_or_insert(1e-12);
    let solution = converged(&model, device);
    (model, solution)
}

/// The largest difference of the displacements of nodes at the same places, over the largest of all.
pub fn difference((one, of_one): &(Model, Solution), (two, of_two): &(Model, Solution)) -> f64 {
    let key = |x: &[f64; 3]| x.map(|c| (c * 1e6).round() as i64);
    let places: std::collections::HashMap<_, _> =
        one.mesh.coords.iter().zip(of_one.displacement()).map(|(x, u)| (key(x), *u)).collect();
    let most = of_one.displacement().as_flattened().iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    let pairs = two.mesh.coords.iter().zip(of_two.displacement());
    let off = pairs.map(|(x, u)| (0..3).map(|c| (places[&key(x)][c] - u[c]).abs()).fold(0.0, f64::max));
    off.fold(0.0, f64::max) / most
}

/// The pair of tags of nodes at each place of a joint, first of the first box.
fn pairs(mesh: &Mesh, x: f64) -> Vec<[u64; 2]> {
    let at = |i: usize| mesh.coords[i];
    let joint: Vec<usize> = (0..mesh.coords.len()).filter(|i| (at(*i)[0] - x).abs() < 1e-12).collect();
    let same = |i: usize, j: usize| (0..3).all(|c| (at(i)[c] - at(j)[c]).abs() < 1e-12);
    let pair = |i: &usize| joint.iter().find(|j| *j > i && same(*i, **j)).map(|j| [*i, *j].map(|k| k as u64 + 1));
    joint.iter().filter_map(pair).collect()
}

#[test]
fn two_tied_blocks_are_one() {
    for (kind, n) in [(Tet4, 3), (Hex8, 3), (Tet10, 2), (Hex20, 2)] {
        let whole = solved(model(&bent("a"), row(kind, &[(2.0, [2 * n, n, n])])), DeviceName::Cpu);
        for device in devices() {
            let text = bent("b") + &tie("b_xmin", "a_xmax");
            let halves = solved(
                model(&text.replace("\"b_ymax\"", "[\"a_ymax\", \"b_ymax\"]"), row(kind, &[(1.0, [n; 3]); 2])),
                device,
            );
            let off = difference(&whole, &halves);
            assert!(off < 1e-9, "{kind:?} on {device:?}: {off}");
            let (_, solution) = &halves;
            assert!(solution.equilibrium_error < 1e-9, "{}", solution.equilibrium_error);
            // The tie carries what is beyond it, and the support all.
            let force = solution.step.row("tie_forces", 0);
            let all = solution.applied;
            let beyond = [30.0, -10.0 - 2.0, 5.0];
            (0..3).for_each(|c| {
                assert!((force[c] + beyond[c]).abs() < 1e-7, "{force:?}");
                assert!((solution.reaction(0)[c] + all[c]).abs() < 1e-7, "{:?}", solution.reaction(0));
            });
            // About the centroid: what the force at the far end, the pressure and their arms make.
            let moment = solution.step.row("tie_moments", 0);
            let expected = [0.0, 5.0, 10.0 + 2.0 * 0.5];
            (1..3).for_each(|c| assert!((moment[c] - expected[c]).abs() < 1e-6, "{moment:?}"));
        }
    }
}

#[test]
fn equations_join_blocks_as_a_tie_does_and_chains_are_resolved() {
    let mesh = || row(Hex8, &[(1.0, [2; 3]), (1.0, [2; 3]), (1.0, [2; 3])]);
    let whole = solved(model(&bent("a").replace("a_ymax", "a_xmax"), row(Hex8, &[(3.0, [6, 2, 2])])), DeviceName::Cpu);
    let text = bent("c").replace("c_ymax", "c_xmax");
    let mut equations = String::new();
    for [a, b] in pairs(&mesh(), 1.0).into_iter().chain(pairs(&mesh(), 2.0)) {
        for c in ["x", "y", "z"] {
            equations += &format!(
                "[[equation]]\nterms = [{{ node = {a}, dof = \"{c}\", factor = 2.0 }}, {{ node = {b}, dof = \"{c}\", factor = -2.0 }}]\n"
            );
        }
    }
    let ties = tie("a_xmax", "b_xmin") + &tie("b_xmax", "c_xmin");
    for device in devices() {
        for couplings in [&equations, &ties] {
            let joined = solved(model(&(text.clone() + couplings), mesh()), device);
            let off = difference(&whole, &joined);
            assert!(off < 1e-9, "{device:?}: {off}");
            assert!(joined.1.equilibrium_error < 1e-9);
        }
    }
}

/// A free block follows a jump, and the value of a support by way of an equation, without stress.
#[test]
fn values_of_equations_move_what_they_hold() {
    let mesh = row(Hex8, &[(1.0, [2; 3]); 2]);
    let mut text = format!("{HEAD}[[support]]\non = \"a_xmin\"\ndisplacement = {{ x = 0.25, y = 0.0, z = 0.0 }}\n");
    for [a, b] in pairs(&mesh, 1.0) {
        for (c, value) in [("x", 0.5), ("y", -0.125), ("z", 0.0)] {
            text += &format!(
                "[[equation]]\nterms = [{{ node = {b}, dof = \"{c}\", factor = 1.0 }}, {{ node = {a}, dof = \"{c}\", factor = -1.0 }}]\nvalue = {value:?}\n"
            );
        }
    }
    for device in devices() {
        for method in [Method::Direct, Method::Cg] {
            let mut given = model(&text, row(Hex8, &[(1.0, [2; 3]); 2]));
            given.solver.method = Some(method);
            let (of, solution) = solved(given, device);
            for (x, u) in of.mesh.coords.iter().zip(solution.displacement()).filter(|(x, _)| x[0] > 1.1) {
                let off = [0.75, -0.125, 0.0].iter().zip(u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-9, "{x:?}: {u:?} on {device:?} by {method:?}");
            }
        }
    }
}

/// A bar that is pulled and free to contract, its second half meshed otherwise.
fn pulled(kind: ElementKind, cells: [usize; 2]) -> Model {
    let text = format!(
        "{HEAD}[[support]]\non = \"a_xmin\"\nfix = \"x\"\n[[support]]\non = [\"a_ymin\", \"b_ymin\"]\nfix = \"y\"\n\
         [[support]]\non = [\"a_zmin\", \"b_zmin\"]\nfix = \"z\"\n[[traction]]\non = \"b_xmax\"\nvector = [100.0, 0.0, 0.0]\n{}",
        tie("b_xmin", "a_xmax")
    );
    model(&text, row(kind, &cells.map(|n| (1.0, [n; 3]))))
}

#[test]
fn constant_stress_passes_whatever_the_meshes_are() {
    for (kind, cells) in
        [Tet4, Hex8].into_iter().flat_map(|kind| [[2, 4], [2, 3], [4, 3], [5, 2]].map(|cells| (kind, cells)))
    {
        for device in devices() {
            let (_, solution) = solved(pulled(kind, cells), device);
            for stress in solution.step.lists("stress").iter().flat_map(|list| list.as_chunks::<6>().0) {
                let expected = [100.0, 0.0, 0.0, 0.0, 0.0, 0.0];
                let off = (0..6).map(|c| (stress[c] - expected[c]).abs()).fold(0.0, f64::max);
                assert!(off < 1e-7, "{kind:?} {cells:?} on {device:?}: {stress:?}");
            }
        }
    }
}

#[test]
fn other_meshes_meet_the_better_the_finer_they_are() {
    let exact = 0.5 * 100.0 * 100.0 / 200e3 * 2.0;
    for (kind, sizes) in [(Tet10, [1, 2]), (Hex20, [1, 2])] {
        let error = |n: usize| {
            let (_, solution) = solved(pulled(kind, [2 * n, 3 * n]), DeviceName::Cpu);
            ((solution.strain_energy() - exact) / exact).abs()
        };
        let errors = sizes.map(error);
        assert!(errors[1] < 0.6 * errors[0] + 1e-9, "{kind:?}: {errors:?}");
    }
}

#[test]
fn every_way_to_solve_gives_the_same() {
    for (device, kind, n) in
        [(DeviceName::Cpu, Tet10, 1), (DeviceName::Emulate, Hex8, 2), (DeviceName::Emulate, Hex20, 1)]
    {
        let text = bent("b") + &tie("b_xmin", "a_xmax");
        let made = || model(&text, row(kind, &[(1.0, [n; 3]), (1.0, [n + 1; 3])]));
        let expected = solved(made(), DeviceName::Cpu);
        for precision in [Precision::Double, Precision::Mixed] {
            let few = [Preconditioner::Jacobi, Preconditioner::Chebyshev, Preconditioner::Amg];
            let all = if device == DeviceName::Cpu { Preconditioner::ALL.to_vec() } else { few.to_vec() };
            for way in all.into_iter().map(Some).chain([None]) {
                let mut given = made();
                given.solver.method = Some(if way.is_some() { Method::Cg } else { Method::Direct });
                (given.solver.preconditioner, given.solver.precision) = (way, Some(precision));
                given.solver.residual_tolerance = Some(if precision == Precision::Double { 1e-12 } else { 1e-10 });
                let off = difference(&expected, &solved(given, device));
                println!("{kind:?} {way:?} {precision:?} on {device:?}: {off:.1e}");
                assert!(off < 1e-7, "{kind:?} {way:?} {precision:?} on {device:?}: {off}");
            }
        }
        // By the error in energy, as it is by default.
        for one in [Preconditioner::Jacobi, Preconditioner::Amg] {
            let mut given = made();
            (given.solver.method, given.solver.preconditioner) = (Some(Method::Cg), Some(one));
            let solution = converged(&given, device);
            let off = difference(&expected, &(given, solution));
            assert!(off < 1e-4, "{one:?} on {device:?}: {off}");
        }
    }
}

#[test]
fn multigrid_takes_about_as_many_iterations_as_of_one_piece() {
    for (kind, n, thickness) in [(Hex8, 6, 1.0), (Hex20, 4, 1.0), (Hex8, 12, 0.2), (Hex20, 4, 0.05)] {
        let iterations = |text: &str, mut mesh: Mesh| {
            mesh.coords.iter_mut().for_each(|x| x[2] *= thickness);
            let mut given = model(text, mesh);
            (given.solver.method, given.solver.preconditioner) = (Some(Method::Cg), Some(Preconditioner::Amg));
            converged(&given, DeviceName::Cpu).outcome.iterations
        };
        let one = iterations(&bent("a"), row(kind, &[(1.0, [n; 3])]));
        let text = bent("b") + &tie("b_xmin", "a_xmax");
        let two = iterations(&text, row(kind, &[(0.5, [n / 2, n, n]); 2]));
        println!("{kind:?}, {thickness} thick: {one} and {two}");
        assert!(2 * two <= 3 * one, "{kind:?}, {thickness} thick: {two}, and {one} of one piece");
    }
}

#[test]
fn what_slides_presses_and_does_not_shear() {
    let text = format!(
        "{HEAD}[[support]]\non = \"a_xmin\"\nfix = \"xyz\"\n[[support]]\non = \"b_xmax\"\ndisplacement = {{ x = -1e-3, y = 0.0, z = 0.0 }}\n{}kind = \"sliding\"\n",
        tie("b_xmin", "a_xmax")
    );
    let (_, solution) = solved(model(&text, row(Hex8, &[(1.0, [2; 3]), (1.0, [4; 3])])), DeviceName::Cpu);
    let force = solution.step.row("tie_forces", 0);
    assert!(force[0] > 50.0 && force[1].abs() + force[2].abs() < 1e-9, "{force:?}");
    assert!((solution.reaction(0)[0] - force[0]).abs() < 1e-7 * force[0], "{:?}", solution.reaction(0));
}
