//! Several devices have the answers of one.

use crate::common::devices;
use crate::common::recorder::Recorder;
use crate::couplings::{self, HEAD, joined, tie};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use warpfem::device::DeviceName;
use warpfem::element::ElementKind;
use warpfem::linalg::{Comm, Scalar, Space};
use warpfem::mesh::generate::{self, generate_box};
use warpfem::mesh::rectangle::generate_rectangle;
use warpfem::model::{Case, Model};
use warpfem::pipeline::ranks::{self, Division, GATHERED, Share};
use warpfem::pipeline::{self, Phase, Solution, System, Timings};
use warpfem::result::choices::{Method, Operator, Precision, Preconditioner};
use warpfem::result::{Error, Plan, Result, Steps};
use warpfem::solve::Silent;
use warpfem::verify::meshes::Random;

fn on(device: DeviceName, n: usize, model: &Model) -> Result<Solution> {
    pipeline::solve_on(&Space::open_several(&device.several(n))?, model, &Silent)
}

/// How far a solution is from another, relative to its largest displacement or potential.
fn difference(model: &Model, [a, b]: [&Solution; 2]) -> f64 {
    let [a, b] = [a, b].map(|of| of.unknown(model.analysis.components()));
    let largest = b.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

/// Ranks take as many iterations as one, or a quarter more.
fn takes_no_more_iterations(solutions: [&Solution; 2], what: &str) {
    let [with, without] = solutions.map(|of| of.outcome.iterations);
    assert!(with as f64 <= 1.25 * without as f64 + 1.0, "{what}: {with} and {without} iterations");
}

/// A body of one kind of element with weight, a pressure, a spring, and a support that moves.
fn body(kind: ElementKind) -> Model {
    let (mesh, of_space) = match kind.info().dim {
        2 => (generate_rectangle(kind, [3.0, 1.0], [9, 3]), ""),
        _ => (generate_box(kind, [3.0, 1.0, 1.0], [6, 2, 2]), ", 0.0"),
    };
    let plane = if of_space.is_empty() { "kind = \"plane_stress\"\nthickness = 0.1\n" } else { "" };
    let moved = if of_space.is_empty() { "" } else { ", z = 0.0" };
    let text = format!(
        "[mesh]\nfile = \"body.msh\"\n[analysis]\n{plane}\n[[material]]\nname = \"steel\"\nyoung = 210.0\npoisson = 0.3\ndensity = 2.0\n\
         [gravity]\nacceleration = [0.5, -1.0{of_space}]\n\
         [[support]]\non = \"xmin\"\ndisplacement = {{ x = 0.01{moved} }}\n\
         [[support]]\non = \"ymin\"\nfix = \"normal\"\n\
         [[spring]]\non = \"xmax\"\nfoundation = 3.0\n\
         [[pressure]]\non = \"ymax\"\nvalue = 0.7\n"
    );
    let case = Case::parse(Path::new("body.toml"), &text).unwrap();
    Model::resolve(&case, mesh.unwrap()).unwrap()
}

#[test]
fn every_element_has_the_displacements_of_one_rank() {
    let mut n_bodies = 0;
    for kind in [2, 3].into_iter().flat_map(generate::kinds) {
        let mut model = body(kind);
        model.solver.tolerance = 1e-12;
        for (by, numbers) in [(Preconditioner::Jacobi, [3, 4]), (Preconditioner::Amg, [2, 7])] {
            model.solver.preconditioner = Some(by);
            let alone = on(DeviceName::Cpu, 1, &model).unwrap();
            for n in numbers {
                let shared = on(DeviceName::Cpu, n, &model).unwrap();
                let off = difference(&model, [&shared, &alone]);
                assert!(off < 1e-9, "{} {} {n} ranks: {off:e}", kind.info().name, by.name());
                assert_eq!(shared.used.ranks.len(), n);
                n_bodies += 1;
            }
        }
    }
    assert!(n_bodies >= 4 * 14, "{n_bodies}");
}

fn meshes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes")
}

#[test]
fn cases_have_the_answers_of_one_rank() {
    for name in ["annulus", "bracket", "cantilever", "cube_1149", "cube_463", "hole", "ring", "strip", "vase"] {
        let mut model = Model::load(&meshes().join(name).with_extension("toml")).unwrap();
        model.solver.tolerance = 1e-11;
        (model.solver.method, model.solver.preconditioner) = (Some(Method::Cg), Some(Preconditioner::Amg));
        let alone = on(DeviceName::Cpu, 1, &model).unwrap();
        let is_large = model.mesh.coords.len() > 5_000;
        for n in if is_large { vec![3] } else { vec![2, 5] } {
            let shared = on(DeviceName::Cpu, n, &model).unwrap();
            let off = difference(&model, [&shared, &alone]);
            assert!(off < 1e-9, "{name}, {n} ranks: {off:e}");
            takes_no_more_iterations([&shared, &alone], &format!("{name}, {n} ranks"));
            let tables = |of: &Solution| of.step.tables.clone();
            assert_eq!(tables(&shared).len(), tables(&alone).len(), "{name}");
        }
    }
}

#[test]
fn operators_without_a_matrix_are_shared_too() {
    for kind in [ElementKind::Tet10, ElementKind::Hex20, ElementKind::Hex8] {
        let mut model = body(kind);
        let by = if kind == ElementKind::Hex8 { Preconditioner::Jacobi } else { Preconditioner::Amg };
        (model.solver.tolerance, model.solver.preconditioner) = (1e-12, Some(by));
        (model.solver.operator, model.solver.precision) = (Some(Operator::MatrixFree), Some(Precision::Double));
        let alone = on(DeviceName::Cpu, 1, &model).unwrap();
        for n in [2, 3] {
            let off = difference(&model, [&on(DeviceName::Cpu, n, &model).unwrap(), &alone]);
            assert!(off < 1e-9, "{} {n} ranks: {off:e}", kind.info().name);
        }
    }
}

#[test]
fn flat_and_slender_bodies_take_no_more_iterations() {
    let bodies = [
        (ElementKind::Hex8I, [1.0, 1.0, 0.01], [24, 24, 1]),
        (ElementKind::Hex8, [1.0, 1.0, 0.02], [20, 20, 2]),
        (ElementKind::Hex20, [1.0, 1.0, 0.01], [12, 12, 1]),
        (ElementKind::Tet10, [1.0, 1.0, 0.02], [12, 12, 1]),
        (ElementKind::Hex8I, [1.0, 0.02, 0.02], [60, 2, 2]),
        (ElementKind::Hex20, [1.0, 0.02, 0.02], [40, 1, 1]),
    ];
    let text = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[traction]]\non = \"xmax\"\nvector = [0.0, 0.0, -1.0]\n";
    for (kind, size, cells) in bodies {
        let mut model = couplings::model(&format!("{HEAD}{text}"), generate_box(kind, size, cells).unwrap());
        (model.solver.method, model.solver.preconditioner) = (Some(Method::Cg), Some(Preconditioner::Amg));
        let alone = on(DeviceName::Cpu, 1, &model).unwrap();
        for n in [2, 8] {
            let shared = on(DeviceName::Cpu, n, &model).unwrap();
            takes_no_more_iterations([&shared, &alone], &format!("{} {cells:?}, {n} ranks", kind.info().name));
        }
    }
}

/// Two bars one on the other, whose meshes do not match, tied all along; a node follows two others besides.
fn tied(kind: ElementKind, cells: usize) -> Model {
    let bars = [("a", 0.0, [3 * cells, cells, cells]), ("b", 1.0, [4 * cells, cells, cells])];
    let mesh = joined(bars.into_iter().map(|(name, z, cells)| {
        let mut bar = generate_box(kind, [4.0, 1.0, 1.0], cells).unwrap();
        bar.coords.iter_mut().for_each(|x| x[2] += z);
        (name.to_owned(), bar)
    }));
    let tip = mesh.coords.iter().position(|x| *x == [4.0, 1.0, 0.0]).unwrap() + 1;
    let term = |node: usize, factor: f64| format!("{{ node = {node}, dof = \"y\", factor = {factor:?} }}");
    let terms = [term(tip, 1.0), term(tip - 1, -0.5), term(1, -0.1)].join(", ");
    let text = format!(
        "{HEAD}density = 8.0\n[[support]]\non = \"a_xmin\"\nfix = \"xyz\"\n[gravity]\nacceleration = [0.0, -1.0, 2.0]\n\
         [[force]]\non = \"b_xmax\"\ntotal = [30.0, -10.0, 5.0]\n{}[[equation]]\nterms = [{terms}]\nvalue = 1e-4\n",
        tie("b_zmin", "a_zmax")
    );
    couplings::model(&text, mesh)
}

#[test]
fn ties_and_equations_are_those_of_one_rank() {
    let preconditioners = [
        (Preconditioner::Jacobi, 5),
        (Preconditioner::Chebyshev, 3),
        (Preconditioner::Amg, 2),
        (Preconditioner::Amg, 5),
    ];
    for (kind, cells) in
        [(ElementKind::Hex8, 4), (ElementKind::Tet4, 3), (ElementKind::Hex20, 2), (ElementKind::Tet10, 2)]
    {
        let mut model = tied(kind, cells);
        model.solver.tolerance = 1e-12;
        for (by, n) in preconditioners {
            (model.solver.method, model.solver.preconditioner) = (Some(Method::Cg), Some(by));
            let [shared, alone] = [n, 1].map(|n| on(DeviceName::Cpu, n, &model).unwrap());
            let off = difference(&model, [&shared, &alone]);
            assert!(off < 1e-9, "{} {} {n} ranks: {off:e}", kind.info().name, by.name());
            takes_no_more_iterations([&shared, &alone], &format!("{} {} {n} ranks", kind.info().name, by.name()));
        }
    }
}

#[test]
fn other_devices_have_the_answer_of_the_cpu() {
    for mut model in [body(ElementKind::Tet4), body(ElementKind::Hex20), tied(ElementKind::Hex8, 2)] {
        (model.solver.tolerance, model.solver.preconditioner) = (1e-12, Some(Preconditioner::Amg));
        let alone = on(DeviceName::Cpu, 1, &model).unwrap();
        for device in devices().into_iter().filter(|device| *device != DeviceName::Cpu) {
            for n in [2, 3] {
                let off = difference(&model, [&on(device, n, &model).unwrap(), &alone]);
                assert!(off < 1e-9, "{device:?} {} {n} ranks: {off:e}", model.name);
            }
        }
    }
}

#[test]
fn the_same_number_of_ranks_gives_the_same_bits() {
    let mut model = body(ElementKind::Hex8);
    model.solver.preconditioner = Some(Preconditioner::Amg);
    for n in [2, 3] {
        let first = on(DeviceName::Cpu, n, &model).unwrap();
        for _ in 0..4 {
            assert_eq!(on(DeviceName::Cpu, n, &model).unwrap().step, first.step, "{n} ranks");
        }
    }
}

#[test]
fn what_one_device_alone_can_do_is_refused() {
    let refused = |change: fn(&mut Model)| {
        let mut model = body(ElementKind::Tet4);
        change(&mut model);
        on(DeviceName::Cpu, 2, &model).unwrap_err()
    };
    let said = |error: Error| (error.exit_code(), error.to_string());
    for (change, word) in [
        ((|model: &mut Model| model.solver.method = Some(Method::Direct)) as fn(&mut Model), "must be `cg`"),
        (|model| model.solver.precision = Some(Precision::Mixed), "must be `double`"),
        (|model| model.study = warpfem::model::Study::Modal, "static studies"),
    ] {
        let (code, text) = said(refused(change));
        assert!(code == 2 && text.contains("devices") && text.contains(word), "{code} {text}");
    }
}

/// The error of the first rank, and of one of three whose device is full at some array.
fn with_a_full_device(model: &Model, full_at: usize) -> [Error; 2] {
    let mut comms = Comm::threads(3);
    let (last, second) = (comms.pop().unwrap(), comms.pop().unwrap());
    let first = Space::of_rank(DeviceName::Cpu.open().unwrap(), comms.pop().unwrap()).unwrap();
    thread::scope(|scope| {
        let others = [
            scope.spawn(move || ranks::serve(&Space::of_rank(DeviceName::Cpu.open()?, second)?)),
            scope.spawn(move || {
                let recorder = Recorder { full_at: Some(full_at), ..Recorder::default() };
                ranks::serve(&recorder.space_of_rank(last)?)
            }),
        ];
        let error = pipeline::solve_on(&first, model, &Silent).unwrap_err();
        let [_, last] = others.map(|other| other.join().unwrap());
        [error, last.unwrap_err()]
    })
}

/// The most bytes that each of some ranks has had on its device, and the nodes of its part.
fn bytes_of_ranks(model: &Model, n: usize) -> Vec<(usize, usize)> {
    if n == 1 {
        let recorder = Recorder::default();
        pipeline::solve_on(&recorder.space().unwrap(), model, &Silent).unwrap();
        return vec![(recorder.usage.most(), model.mesh.coords.len())];
    }
    let of_rank = |comm: Comm| {
        let recorder = Recorder::default();
        let (is_first, space) = (comm.rank() == 0, recorder.space_of_rank(comm).unwrap());
        let sizes = match is_first {
            true => pipeline::solve_on(&space, model, &Silent).unwrap().used.ranks,
            false => ranks::serve(&space).map(|()| Vec::new()).unwrap(),
        };
        (recorder.usage.most(), sizes)
    };
    let found: Vec<_> = thread::scope(|scope| {
        let of_rank = &of_rank;
        let ranks: Vec<_> = Comm::threads(n).into_iter().map(|comm| scope.spawn(move || of_rank(comm))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    found.iter().zip(&found[0].1).map(|((bytes, _), size)| (*bytes, size.nodes + size.ghosts)).collect()
}

#[test]
fn devices_store_their_rank_s_part() {
    let mesh = generate_box(ElementKind::Hex8, [8.0, 1.0, 1.0], [48, 8, 8]).unwrap();
    let text = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[force]]\non = \"xmax\"\ntotal = [30.0, -10.0, 5.0]\n";
    let mut model = couplings::model(&format!("{HEAD}{text}"), mesh);
    model.solver.tolerance = 0.5;
    model.solver.preconditioner = Some(Preconditioner::Jacobi);
    let (alone, n) = bytes_of_ranks(&model, 1)[0];
    for ranks in [2, 8] {
        for (rank, (bytes, nodes)) in bytes_of_ranks(&model, ranks).into_iter().enumerate() {
            let share = alone as f64 * nodes as f64 / n as f64;
            assert!(
                (bytes as f64) < 1.15 * share,
                "rank {rank} of {ranks}: {bytes} bytes for {nodes} of {n} nodes, and {alone} for all"
            );
        }
    }
}

#[test]
fn a_rank_without_memory_ends_all() {
    let mut model = body(ElementKind::Hex8);
    model.solver.preconditioner = Some(Preconditioner::Amg);
    for full_at in [10, 40, 120] {
        let since = Instant::now();
        let [first, last] = with_a_full_device(&model, full_at);
        assert!(matches!(first, Error::Abandoned) && last.exit_code() == 6, "{first} {last}");
        assert!(since.elapsed() < Duration::from_secs(60), "the others have waited");
    }
}

#[test]
fn nobody_waits_for_a_rank_that_has_given_up() {
    let comms = Comm::threads(3);
    comms[2].abandon();
    let said = comms[0].gather(vec![1]);
    assert!(matches!(said, Err(Error::Abandoned)), "{said:?}");
    // What has been sent before arrives.
    comms[1].send(0, vec![7]);
    assert_eq!(comms[0].receive(1).unwrap(), [7]);
}

/// A bar that is pulled at its end.
fn bar(kind: ElementKind, cells: [usize; 3]) -> Model {
    bar_with(kind, cells, "")
}

/// The same with more tables.
fn bar_with(kind: ElementKind, cells: [usize; 3], more: &str) -> Model {
    let text = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[traction]]\non = \"xmax\"\nvector = [0.0, 1.0, -2.0]\n";
    couplings::model(&format!("{HEAD}{text}{more}"), generate_box(kind, [4.0, 1.0, 1.0], cells).unwrap())
}

fn solved_gathering(model: &Model, n: usize, gathered: usize) -> Solution {
    let space = Space::open_several(&DeviceName::Cpu.several(n)).unwrap();
    let mut kept = Steps { fields: vec!["displacement".into()], ..Steps::default() };
    let found = ranks::solve_into(&space, model, gathered, &mut kept, &Silent);
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
        let alone = solved_gathering(&model, 1, GATHERED);
        for (n, gathered) in [(2, GATHERED), (2, 400), (3, 0), (5, 0)] {
            let shared = solved_gathering(&model, n, gathered);
            let levels = &shared.used.hierarchy.as_ref().unwrap().levels;
            println!(
                "{} {n} {gathered} {:?}",
                kind.info().name,
                levels.iter().map(|of| of.unknowns()).collect::<Vec<_>>()
            );
            takes_no_more_iterations([&shared, &alone], &format!("{n} ranks, {gathered}"));
            let off = difference(&model, [&shared, &alone]);
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
        let share = Share::new(&space, &part, &plan).unwrap();
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
