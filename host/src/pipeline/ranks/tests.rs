//! Multigrid on levels that ranks share, whatever the level that is put together.

use super::super::build::Iterations;
use super::super::system::System;
use super::super::{Phase, Solution, Timings, run_all};
use super::division::Division;
use super::{GATHERED, Share, with_others};
use crate::device::DeviceName;
use crate::element::ElementKind;
use crate::linalg::{Comm, Scalar, Space};
use crate::mesh::generate::generate_box;
use crate::model::{Case, Model};
use crate::result::choices::{Operator, Preconditioner};
use crate::result::{Plan, Steps};
use crate::solve::Silent;
use crate::verify::meshes::Random;
use std::path::Path;
use std::thread;

/// A bar that is pulled at its end.
fn bar(kind: ElementKind, cells: [usize; 3]) -> Model {
    bar_with(kind, cells, "")
}

/// The same with more tables.
fn bar_with(kind: ElementKind, cells: [usize; 3], more: &str) -> Model {
    let text = "[mesh]\nfile = \"bar.msh\"\n[[material]]\nname = \"steel\"\nyoung = 210e3\npoisson = 0.3\n\
                [[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[traction]]\non = \"xmax\"\nvector = [0.0, 1.0, -2.0]\n";
    let case = Case::parse(Path::new("bar.toml"), &format!("{text}{more}")).unwrap();
    Model::resolve(&case, generate_box(kind, [4.0, 1.0, 1.0], cells).unwrap()).unwrap()
}

fn solved(model: &Model, n: usize, gathered: usize) -> Solution {
    let space = Space::open_several(&DeviceName::Cpu.several(n)).unwrap();
    let mut kept = Steps { fields: vec!["displacement".into()], ..Steps::default() };
    let found = with_others(&space, model, gathered, |ranks| run_all(&space, model, 1, (&mut kept, &Silent), ranks));
    let mut solution = found.unwrap().swap_remove(0);
    solution.step = kept.steps.swap_remove(0);
    solution
}

#[test]
fn shared_levels_take_no_more_iterations() {
    for (kind, cells) in [(ElementKind::Hex8, [32, 8, 8]), (ElementKind::Tet10, [12, 3, 3])] {
        let mut model = bar(kind, cells);
        (model.solver.tolerance, model.solver.preconditioner) = (1e-10, Some(Preconditioner::Amg));
        model.solver.operator = Some(Operator::Assembled);
        let alone = solved(&model, 1, GATHERED);
        let largest = alone.displacement().as_flattened().iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        for (n, gathered) in [(2, GATHERED), (2, 400), (3, 0), (5, 0)] {
            let shared = solved(&model, n, gathered);
            let levels = &shared.used.hierarchy.as_ref().unwrap().levels;
            println!(
                "{} {n} {gathered} {:?}",
                kind.info().name,
                levels.iter().map(|of| of.unknowns()).collect::<Vec<_>>()
            );
            let [with, without] = [&shared, &alone].map(|of| of.outcome.iterations);
            assert!(
                with as f64 <= 1.25 * without as f64 + 1.0,
                "{n} ranks, {gathered}: {with} and {without} iterations"
            );
            let pairs = shared.displacement().as_flattened().iter().zip(alone.displacement().as_flattened());
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest;
            assert!(off < 1e-9, "{n} ranks, {gathered}: {off:e}");
        }
    }
}

/// `A x` and `[x . A x, y . A x]` of the operator of a rank's system; x, y and the result by node of the mesh, of which `nodes`
/// are those of the system's rows, and the rank has its own.
fn product(
    (space, system): (&Space, &System<f64>),
    nodes: &[Option<u32>],
    [x, y]: [&[f64]; 2],
) -> (Vec<(usize, f64)>, [f64; 2]) {
    let supports = &system.body.supports;
    let size = supports.components;
    let entry = |place: usize| nodes[place / size].map(|node| size * node as usize + place % size);
    let [x, y] = [x, y].map(|of| {
        let mut local: Vec<f64> = (0..size * nodes.len()).map(|k| entry(k).map_or(0.0, |k| of[k])).collect();
        supports.free_part(&mut local);
        space.upload_vec(local).unwrap()
    });
    let mut ax = space.zeros(x.len()).unwrap();
    let sums = [0, 1].map(Scalar::new);
    space.together(|| {
        system.with_operator(|operator| operator.apply(space, &x, &mut ax)).unwrap();
        space.dot(&x, &ax, sums[0]).unwrap();
        space.dot(&y, &ax, sums[1]).unwrap();
    });
    let sums = space.read(sums).unwrap();
    let own = space.take(ax).unwrap().into_iter().enumerate().filter_map(|(k, value)| Some((entry(k)?, value)));
    (own.collect(), sums)
}

/// The same of a model on so many ranks, x with y and y with x; each rank has these sums.
fn products(model: &Model, n: usize, [x, y]: [&[f64]; 2]) -> [(Vec<f64>, [f64; 2]); 2] {
    let plan = Plan::plain(model, true);
    let (division, mut whole) = (Division::new(model, n, GATHERED), [vec![0.0; x.len()], vec![0.0; x.len()]]);
    let of_rank = |comm: Comm| {
        let rank = comm.rank();
        let space = Space::of_rank(DeviceName::Cpu.open().unwrap(), comm).unwrap();
        let both = |system: &System<f64>, nodes: Vec<Option<u32>>| {
            [[x, y], [y, x]].map(|pair| product((&space, system), &nodes, pair))
        };
        if n == 1 {
            let mut phase = Phase::begin(&Silent, "setup");
            let system = System::assemble(&space, model, &plan, &mut phase, &mut Timings::default()).unwrap();
            return both(&system, system.body.numbering.to_mesh.iter().copied().map(Some).collect());
        }
        let part = division.part(rank);
        let share = Share::new(&space, &part, &plan, Iterations::PLAIN).unwrap();
        let own = |place: &u32| part.is_own(*place).then(|| division.piece(rank).nodes[*place as usize]);
        both(&share.system, share.system.body.numbering.to_mesh.iter().map(own).collect())
    };
    let found: Vec<_> = thread::scope(|scope| {
        let of_rank = &of_rank;
        let ranks: Vec<_> = Comm::threads(n).into_iter().map(|comm| scope.spawn(move || of_rank(comm))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    let sums = [0, 1].map(|k: usize| found[0][k].1);
    for of_rank in &found {
        assert_eq!([0, 1].map(|k: usize| of_rank[k].1), sums, "ranks have different sums");
        whole.iter_mut().zip(of_rank).for_each(|(whole, (own, _))| {
            own.iter().for_each(|(place, value)| whole[*place] = *value);
        });
    }
    let [first, second] = whole;
    [(first, sums[0]), (second, sums[1])]
}

#[test]
fn operators_of_ranks_are_those_of_one() {
    for (kind, cells) in
        [(ElementKind::Hex8, [8, 3, 3]), (ElementKind::Tet10, [4, 2, 1]), (ElementKind::Tet4, [6, 2, 2])]
    {
        for text in [
            "",
            "[[equation]]\nterms = [{ node = 7, dof = \"y\", factor = 2.0 }, { node = 30, dof = \"x\", factor = 1.0 }]\n",
        ] {
            let model = bar_with(kind, cells, text);
            let n_unknowns = 3 * model.mesh.coords.len();
            for seed in 0..3 {
                let [x, y] = [2 * seed, 2 * seed + 1].map(|seed| Random(seed).vector::<f64>(n_unknowns));
                let [alone, of_y] = products(&model, 1, [&x, &y]);
                let scale = alone.0.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                assert!((alone.1[1] - of_y.1[1]).abs() < 1e-12 * alone.1[0], "symmetric");
                for n in [2, 3, 4, 7] {
                    let [shared, of_y] = products(&model, n, [&x, &y]);
                    let off = shared.0.iter().zip(&alone.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
                    assert!(off < 1e-13, "{} {n} ranks: {off:e}", kind.info().name);
                    let energy = alone.1[0];
                    assert!((shared.1[0] - energy).abs() < 1e-12 * energy, "{n} ranks: {:?} {energy}", shared.1);
                    assert!((shared.1[1] - of_y.1[1]).abs() < 1e-12 * energy, "{n} ranks: symmetric");
                }
            }
        }
    }
}
