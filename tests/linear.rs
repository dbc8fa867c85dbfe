//! The equations of a model by themselves, meshes from arrays, multigrid with modes that are given.

use crate::common::meshes::{self, CLAMP, SOFT, model, system};
use crate::common::{assert_close, gpu};
use std::collections::BTreeSet;
use warpfem::device::{DeviceName, Emulated};
use warpfem::element::ElementKind::{self, Hex8, Quad4, Tet10};
use warpfem::linalg::Space;
use warpfem::mesh::{Block, Members, Mesh};
use warpfem::model::Model;
use warpfem::pipeline::{LinearSystem, solve};
use warpfem::precond::{self, Context, Modes};
use warpfem::result::choices::Preconditioner;
use warpfem::solve::energy::Equations;
use warpfem::solve::{CgOptions, Silent, cg};

fn pulled(kind: ElementKind) -> Model {
    let load = "[[traction]]\non = \"xmax\"\nvector = [1.0, 0.3, 2.0]\n";
    model(&format!("{SOFT}{CLAMP}{load}"), meshes::regular_box(kind, [4, 2, 2]))
}

const TIGHT: CgOptions = CgOptions::new(1e-11, 500);

fn spaces() -> Vec<Space> {
    [Space::cpu(), Space::gpu(Emulated::default()).unwrap()].into_iter().chain(gpu()).collect()
}

fn size(of: &[f64]) -> f64 {
    of.iter().fold(0.0, |most, x| x.abs().max(most))
}

#[test]
fn a_system_solves_what_its_model_is() {
    for kind in [Hex8, Tet10] {
        let u = solve(&pulled(kind), DeviceName::Cpu, &Silent).unwrap().unknown(3);
        for space in spaces() {
            let mut system = LinearSystem::new(space, pulled(kind)).unwrap();
            let (found, outcome) = system.solve(None, TIGHT, &Silent).unwrap();
            assert!(outcome.converged);
            assert_close("u", &found, &u, 1e-5, size(&u));
            let load = system.load().unwrap();
            let (again, _) = system.solve(Some(&load), TIGHT, &Silent).unwrap();
            assert_close("u of the load", &again, &found, 1e-9, size(&u));
            assert_close("K u", &system.apply(&found).unwrap(), &load, 1e-9, size(&load));
            let work: f64 = found.iter().zip(&load).map(|(u, f)| u * f).sum();
            let energy: f64 = system.energies(&found).unwrap().iter().sum();
            assert_close("energy", &[energy], &[work], 1e-9, work);
        }
    }
}

/// A support that moves, also as a rigid body, whose motion the equations leave out.
#[test]
fn a_system_knows_what_is_prescribed() {
    let ends = "[[support]]\non = \"xmax\"\ndisplacement = { z = 0.1 }\n";
    for supports in
        [format!("{CLAMP}{ends}"), CLAMP.replace("fix = \"xyz\"", "displacement = { x = 0.2, y = 0.0, z = 0.1 }")]
    {
        let of = || model(&format!("{SOFT}{supports}"), meshes::regular_box(Hex8, [4, 2, 2]));
        let u = solve(&of(), DeviceName::Cpu, &Silent).unwrap().unknown(3);
        let mut system = LinearSystem::new(Space::cpu(), of()).unwrap();
        assert_close("u", &system.solve(None, TIGHT, &Silent).unwrap().0, &u, 1e-6, size(&u));
    }
}

#[test]
fn its_matrix_is_its_operator() {
    let system = LinearSystem::new(Space::cpu(), pulled(Hex8)).unwrap();
    let (matrix, x) = (system.matrix().unwrap(), crate::common::Random(1).vector(system.n()));
    let mut y = vec![0.0; x.len()];
    for row in 0..matrix.row_start.len() - 1 {
        for block in matrix.row_start[row] as usize..matrix.row_start[row + 1] as usize {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                y[3 * row + i] += matrix.values[9 * block + 3 * i + j] * x[3 * matrix.columns[block] as usize + j];
            }
        }
    }
    assert_close("K x", &system.apply(&x).unwrap(), &y, 1e-12, size(&y));
}

#[test]
fn elements_are_as_stiff_as_their_factors_say() {
    for space in spaces() {
        let mut system = LinearSystem::new(space, pulled(Hex8)).unwrap();
        let (u, _) = system.solve(None, TIGHT, &Silent).unwrap();
        let of_one = system.energies(&u).unwrap();
        let factors: Vec<f64> = (0..system.n_elements()).map(|i| 0.5 + 0.1 * i as f64).collect();
        // The first assembles anew, the others in the blocks that are there.
        for factors in [&vec![4.0; factors.len()], &factors, &vec![4.0; factors.len()]] {
            system.scale(factors).unwrap();
            let expected: Vec<f64> = of_one.iter().zip(factors).map(|(energy, factor)| factor * energy).collect();
            assert_close("energies", &system.energies(&u).unwrap(), &expected, 1e-9, size(&expected));
        }
        let quarter: Vec<f64> = u.iter().map(|u| 0.25 * u).collect();
        assert_close("u", &system.solve(None, TIGHT, &Silent).unwrap().0, &quarter, 1e-7, size(&quarter));
    }
}

#[test]
fn results_are_those_of_stiffer_elements() {
    let (soft, mut stiff) = (pulled(Hex8), pulled(Hex8));
    stiff.cell_factors = stiff.cell_material.iter().map(|of| vec![2.0; of.len()]).collect();
    let [soft, stiff] = [soft, stiff].map(|model| solve(&model, DeviceName::Cpu, &Silent).unwrap());
    let half: Vec<f64> = soft.unknown(3).iter().map(|u| 0.5 * u).collect();
    assert_close("u", &stiff.unknown(3), &half, 1e-5, size(&half));
    let stress = |of: &warpfem::pipeline::Solution| of.step.lists("stress").concat();
    assert_close("stress", &stress(&stiff), &stress(&soft), 1e-4, size(&stress(&soft)));
}

#[test]
fn rigid_motions_that_are_given_are_those_of_the_nodes() {
    let space = Space::cpu();
    let system = system(&space, &model(&format!("{SOFT}{CLAMP}"), meshes::regular_box(Hex8, [24, 4, 4])));
    let coords = space.download(system.body.mesh.coords()).unwrap();
    let rows = coords
        .iter()
        .flat_map(|&[x, y, z]| [[1.0, 0.0, 0.0, -y, z, 0.0], [0.0, 1.0, 0.0, x, 0.0, -z], [0.0, 0.0, 1.0, 0.0, -x, y]]);
    let modes = Modes::given(&space, 6, rows.flatten().collect::<Vec<_>>().as_slice()).unwrap();
    let four: Vec<f64> = (0..3 * coords.len()).flat_map(|k| [0, 1, 2, 3].map(|m| f64::from(k % 3 == m))).collect();
    let four = Modes::given(&space, 4, &four).unwrap();
    let iterations = |context: &Context| {
        let made = precond::build(Preconditioner::Amg, context, &space, system.matrix()).unwrap();
        let f = space.upload_vec(crate::common::Random(3).vector(system.f.len())).unwrap();
        let (equations, mut u) = (Equations::new(system.matrix(), &f), space.zeros(f.len()).unwrap());
        let outcome = cg(&space, &equations, &*made, &mut u, CgOptions::new(1e-8, 500), &Silent).unwrap();
        assert!(outcome.converged);
        outcome.iterations
    };
    let of_nodes = Context::of_nodes(1, system.body.mesh.coords(), None);
    let (of_nodes, given, constants) = (
        iterations(&of_nodes),
        iterations(&Context { modes: Some(&modes), ..of_nodes }),
        iterations(&Context { modes: Some(&four), ..of_nodes }),
    );
    assert!(of_nodes == given && given < constants, "{of_nodes}, {given}, {constants}");
    assert!(Modes::given(&space, 7, &[]).is_err());
}

#[test]
fn arrays_are_a_mesh() {
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0]];
    let line = [0, 3];
    // In blocks of one kind, the second read backwards.
    let blocks = [
        Block { kind: Quad4, nodes: &[0, 1, 2, 3], order: &[] },
        Block { kind: ElementKind::Line2, nodes: &line, order: &[] },
        Block { kind: Quad4, nodes: &[2, 5, 4, 1], order: &[3, 2, 1, 0] },
    ];
    let groups = || {
        vec![
            ("far".to_string(), Members::Cells(vec![(2, vec![0])])),
            ("left".to_string(), Members::Cells(vec![(1, vec![0, 0])])),
            ("ends".to_string(), Members::Nodes(vec![5, 0, 5])),
        ]
    };
    let mesh = Mesh::from_arrays(points.clone(), &blocks, groups()).unwrap();
    assert_eq!((mesh.cells[0].nodes.as_slice(), mesh.node_tags.len()), (&[0, 1, 2, 3, 1, 4, 5, 2][..], 6));
    assert!(mesh.warnings.is_empty(), "{:?}", mesh.warnings);
    assert_eq!(mesh.group("far").unwrap().members, vec![(0, vec![1])]);
    assert_eq!(mesh.group("left").unwrap().members, vec![(1, vec![0])]);
    let ends = mesh.group("ends").unwrap();
    let nodes: BTreeSet<u32> = mesh.cells[ends.members[0].0].nodes.iter().copied().collect();
    assert_eq!((ends.dim, nodes), (0, BTreeSet::from([0, 5])));
    for (members, text) in [
        (Members::Cells(vec![(3, vec![])]), "group `bad` has number 3 of 3 blocks"),
        (Members::Cells(vec![(0, vec![1])]), "group `bad` has number 1 of 1 quad4"),
        (Members::Nodes(vec![9]), "node 9"),
    ] {
        let mut groups = groups();
        groups.push(("bad".into(), members));
        let error = Mesh::from_arrays(points.clone(), &blocks, groups).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}
