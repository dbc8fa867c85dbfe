//! Load cases: each the same as a run with its loads alone, whatever the others are.

use crate::common::elements::solvable;
use crate::common::meshes::{distorted_box, model};
use crate::common::{assert_close, emulator};
use cuda_std::emulator::Order;
use warpfem::element::ElementKind::{self, Hex20, Tet4};
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::pipeline::{self, Solution};
use warpfem::result::Physics;
use warpfem::result::choices::{Acceleration, Method, Precision, Preconditioner};
use warpfem::solve::Silent;

const STEEL: &str = "[[material]]\nname = \"soft\"\nyoung = 1e6\npoisson = 0.3\ndensity = 2.0\n";
const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
const MOVED: &str =
    "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[support]]\non = \"xmax\"\ndisplacement = { z = 1e-3 }\n";

/// The loads with factors of gravity, wind, press and tip; the last force has no name.
fn loads([gravity, wind, press, tip]: [f64; 4], is_named: bool) -> String {
    let name = |name: &str| if is_named { format!("name = \"{name}\"\n") } else { String::new() };
    let mut text = String::new();
    if gravity != 0.0 {
        text += &format!("[gravity]\nacceleration = [0.0, {:?}, {:?}]\n", gravity, -10.0 * gravity);
    }
    for (table, called, factor, load) in [
        ("traction", "wind", wind, "on = \"zmax\"\nvector = [0.0, {}, 0.0]\n"),
        ("pressure", "press", press, "on = \"ymin\"\nvalue = {}\n"),
        ("push", "press", press, "direction = [0.0, 0.0, 1.0]\ntotal = {}\n"),
        ("force", "tip", tip, "on = \"xmax\"\ntotal = [0.0, 0.0, {}]\n"),
    ] {
        if factor != 0.0 {
            text += &format!("[[{table}]]\n{}{}", name(called), load.replace("{}", &format!("{:?}", 30.0 * factor)));
        }
    }
    text + "[[force]]\non = \"xmax\"\ntotal = [5.0, 0.0, 0.0]\n"
}

const FACTORS: [[f64; 4]; 12] = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0, 0.0],
    [1.35, 1.5, 0.0, 0.0],
    [1.35, 0.0, 1.5, 0.75],
    [1.0, -1.5, 0.0, 2.0],
    [0.9, 1.5, 1.05, 0.0],
    [0.0, 0.0, 0.0, 0.0],
    [1.35, 1.5, 1.05, 0.75],
    [1.0, 0.3, 0.6, -0.5],
];

fn cases(factors: &[[f64; 4]]) -> String {
    let case = |(i, [gravity, wind, press, tip]): (usize, &[f64; 4])| {
        format!(
            "[[load_case]]\nname = \"case {i}\"\nfactors = {{ gravity = {gravity:?}, wind = {wind:?}, press = {press:?}, tip = {tip:?} }}\n"
        )
    };
    factors.iter().enumerate().map(case).collect()
}

fn body(kind: ElementKind, tables: &str, supports: &str) -> Model {
    let cells = if kind.info().is_quadratic() { [2, 2, 1] } else { [4, 3, 2] };
    model(&format!("{STEEL}{supports}{tables}"), distorted_box(kind, cells, 0.1))
}

fn spaces() -> [Space; 2] {
    [Space::cpu(), emulator((Order::Shuffled(1), Order::Reverse))]
}

/// Fields, reactions and sums of a case beside those of a run.
#[track_caller]
fn assert_same(what: &str, case: &Solution, run: &Solution, tolerance: f64) {
    assert!(case.outcome.converged && run.outcome.converged, "{what}");
    for (found, alone) in case.step.fields.iter().zip(&run.step.fields) {
        let scale = alone.values.iter().flatten().fold(0.0, |most: f64, v| most.max(v.abs()));
        let name = format!("{what}: {}", found.info.name);
        assert_close(&name, &found.values.concat(), &alone.values.concat(), tolerance, scale);
    }
    let scale = run.reaction(0).iter().fold(1.0, |most: f64, v| most.max(v.abs()));
    assert_close(what, case.reaction(0), run.reaction(0), tolerance, scale);
    assert_close(what, &case.applied, &run.applied, tolerance, scale);
    assert!(case.equilibrium_error < 1e-9, "{what}");
}

#[test]
fn twelve_cases_are_twelve_runs() {
    for (kind, supports) in [(Tet4, CLAMP), (Tet4, MOVED), (Hex20, MOVED)] {
        let mut all = body(kind, &(loads([1.0; 4], true) + &cases(&FACTORS)), supports);
        let mut runs: Vec<Model> = FACTORS.map(|factors| body(kind, &loads(factors, false), supports)).into();
        for (method, preconditioner) in [
            (Method::Direct, None),
            (Method::Cg, Some(Preconditioner::Jacobi)),
            (Method::Cg, Some(Preconditioner::Amg)),
        ] {
            for model in runs.iter_mut().chain([&mut all]) {
                (model.solver.method, model.solver.preconditioner) = (Some(method), preconditioner);
                model.solver.residual_tolerance = Some(1e-12);
            }
            // Quadratic elements take the emulator half a minute.
            let n = if kind == Hex20 { 1 } else { 2 };
            for space in spaces().into_iter().take(n) {
                let found = pipeline::solve_cases(&space, &all, &Silent).unwrap();
                assert_eq!(found.len(), 12);
                for (i, (case, run)) in found.iter().zip(&runs).enumerate() {
                    let alone = pipeline::solve_on(&space, run, &Silent).unwrap();
                    assert_same(&format!("{kind:?} {method} case {i}"), case, &alone, 1e-9);
                    assert_eq!((case.step.label.as_str(), case.step.value), (&*format!("case {i}"), (i + 1) as f64));
                    assert!(i < 4 || method != Method::Cg || case.outcome.iterations <= alone.outcome.iterations);
                }
            }
        }
    }
}

/// With multigrid a GPU solves eight at a time: the others stand behind them, and one has no loads.
#[test]
fn cases_that_are_solved_side_by_side_are_runs() {
    let without_load = |text: String| text.replace("[[force]]\non = \"xmax\"\ntotal = [5.0, 0.0, 0.0]\n", "");
    for (precision, supports, tolerance) in
        [(Precision::Double, MOVED, 1e-8), (Precision::Mixed, CLAMP, 1e-8), (Precision::Single, CLAMP, 1e-4)]
    {
        let tables = without_load(loads([1.0; 4], true)) + &cases(&FACTORS);
        let mut all = body(Tet4, &tables, supports);
        let mut runs = FACTORS.map(|factors| body(Tet4, &without_load(loads(factors, false)), supports));
        for model in runs.iter_mut().chain([&mut all]) {
            (model.solver.method, model.solver.preconditioner) = (Some(Method::Cg), Some(Preconditioner::Amg));
            (model.solver.precision, model.solver.tolerance) = (Some(precision), tolerance);
        }
        let [_, gpu] = spaces();
        let found = pipeline::solve_cases(&gpu, &all, &Silent).unwrap();
        assert_eq!(found.len(), 12);
        for (i, (case, run)) in found.iter().zip(&runs).enumerate() {
            let alone = pipeline::solve_on(&gpu, run, &Silent).unwrap();
            let what = format!("{precision} case {i}");
            assert!(case.outcome.converged && alone.outcome.converged, "{what}");
            assert_eq!(case.outcome.iterations, alone.outcome.iterations, "{what}: from 0 as alone");
            assert!(case.outcome.backward_error.is_some_and(|error| error < 10.0 * tolerance), "{what}");
            let [u, expected] = [case, &alone].map(|of| of.step.nodes("displacement"));
            let scale = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            assert_close(&what, u, expected, tolerance, scale);
        }
    }
}

/// From 0 it is the same computation: the first case of an iteration, and every case with a factor.
#[test]
fn cases_that_start_at_zero_have_the_bits_of_a_run() {
    let factors = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]];
    let mut all = body(Tet4, &(loads([1.0; 4], true) + &cases(&factors)), CLAMP);
    for (method, n) in [(Method::Cg, 1), (Method::Direct, 3)] {
        all.solver.method = Some(method);
        for space in spaces() {
            let found = pipeline::solve_cases(&space, &all, &Silent).unwrap();
            assert_eq!(pipeline::solve_on(&space, &all, &Silent).unwrap().step, found[0].step);
            for (case, factors) in found.iter().zip(factors).take(n) {
                let mut run = body(Tet4, &loads(factors, false), CLAMP);
                run.solver.method = Some(method);
                let alone = pipeline::solve_on(&space, &run, &Silent).unwrap();
                assert_eq!((&case.step.fields, &case.step.tables), (&alone.step.fields, &alone.step.tables));
                assert_eq!(case.outcome, alone.outcome);
            }
        }
    }
}

/// A case that combines earlier ones starts at its solution, and is judged as any other.
#[test]
fn combinations_take_hardly_an_iteration() {
    let factors = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [1.35, 1.5, 0.0, 0.0],
        [1.0, -1.5, 0.0, 0.0],
    ];
    let mut all = body(Tet4, &(loads([1.0; 4], true) + &cases(&factors)), CLAMP);
    all.solver.method = Some(Method::Cg);
    for (precision, preconditioner) in [
        (Precision::Double, Preconditioner::Jacobi),
        (Precision::Double, Preconditioner::Amg),
        (Precision::Mixed, Preconditioner::Jacobi),
        (Precision::Single, Preconditioner::Jacobi),
    ] {
        (all.solver.precision, all.solver.preconditioner) = (Some(precision), Some(preconditioner));
        all.solver.tolerance = if precision == Precision::Single { 1e-4 } else { 1e-8 };
        let found = pipeline::solve_cases(&Space::cpu(), &all, &Silent).unwrap();
        let iterations: Vec<usize> = found.iter().map(|case| case.outcome.iterations).collect();
        assert!(found.iter().all(|case| case.outcome.converged), "{precision} {preconditioner} {iterations:?}");
        assert!(
            iterations[3..].iter().all(|n| 3 * n <= iterations[0].max(6)),
            "{precision} {preconditioner} {iterations:?}"
        );
        let u = |case: usize| found[case].step.nodes("displacement");
        let largest = u(3).iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        // The unnamed force is in each of them once.
        let combined: Vec<f64> = (0..u(0).len()).map(|i| 1.35 * u(0)[i] + 1.5 * u(1)[i] - 1.85 * u(2)[i]).collect();
        assert_close("combination", u(3), &combined, 20.0 * all.solver.tolerance, largest);
    }
}

#[test]
fn potentials_have_cases_too() {
    let head = "[analysis]\nkind = \"laplace\"\n[[material]]\nname = \"body\"\nconductivity = 3.0\n\
                [[support]]\non = \"xmin\"\nvalue = 1.0\n";
    let loads = |flux: f64, source: f64, name: &str| {
        let flux =
            if flux == 0.0 { String::new() } else { format!("[[flux]]\n{name}on = \"xmax\"\nvalue = {flux:?}\n") };
        let source = if source == 0.0 { String::new() } else { format!("[source]\nvalue = {source:?}\n") };
        flux + &source
    };
    let cases: String = [[1.0, 0.0], [0.0, 1.0], [2.0, -0.5]]
        .iter()
        .map(|[flux, source]| {
            format!("[[load_case]]\nname = \"{flux} {source}\"\nfactors = {{ in = {flux:?}, source = {source:?} }}\n")
        })
        .collect();
    for kind in solvable() {
        let cells = if kind.info().is_quadratic() { [2, 2, 1] } else { [3, 3, 2] };
        let build = |tables: &str| {
            let mut model = model(&format!("{head}{tables}"), distorted_box(kind, cells, 0.1));
            model.solver.residual_tolerance = Some(1e-12);
            model
        };
        let mut all = build(&(loads(3.0, 4.0, "name = \"in\"\n") + &cases));
        for method in [Method::Cg, Method::Femses] {
            all.solver.method = Some(method);
            let is_plain = method != Method::Femses;
            all.solver.acceleration = if is_plain { Acceleration::None } else { Acceleration::Cg };
            for space in spaces() {
                // FEMSES refuses some elements.
                let Ok(found) = pipeline::solve_cases(&space, &all, &Silent) else {
                    assert_eq!(method, Method::Femses);
                    continue;
                };
                for (case, [flux, source]) in found.iter().zip([[3.0, 0.0], [0.0, 4.0], [6.0, -2.0]]) {
                    let mut run = build(&loads(flux, source, ""));
                    (run.solver.method, run.solver.acceleration) = (Some(method), all.solver.acceleration);
                    let alone = pipeline::solve_on(&space, &run, &Silent).unwrap();
                    assert_eq!(case.step.physics, Physics::Potential);
                    assert_same(&format!("{kind:?} {method}"), case, &alone, 1e-8);
                }
            }
        }
    }
}
