//! A GPU that runs out of memory, whichever array it is that has no room: an error with the exit code for that, no
//! panic.

use crate::common::fields::node_at;
use crate::common::meshes::{CLAMP, SOFT, model, regular_box};
use crate::common::recorder::Recorder;
use warpfem::element::ElementKind::Hex8;
use warpfem::model::Model;
use warpfem::pipeline::{self, Phase, Solution, System, Timings, Used};
use warpfem::plan;
use warpfem::precond::{self, Context};
use warpfem::result::choices::{Method, Operator, Preconditioner};
use warpfem::result::{Changed, Error, Plan};
use warpfem::solve::{CgOptions, Equations, Silent, cg};
use warpfem::stress;

/// A clamped cube of `n` cells a side under a force.
fn pulled(n: usize) -> Model {
    let tables = format!("{SOFT}{CLAMP}[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n");
    model(&tables, regular_box(Hex8, [n; 3]))
}

/// Two solutions of it have the same displacement of a corner.
#[track_caller]
fn assert_same(model: &Model, one: &Solution, other: &Solution) {
    let [found, expected] = [one, other].map(|one| one.displacement()[node_at(model, [1.0; 3])][0]);
    assert!((found - expected).abs() < 1e-6 * expected.abs());
}

/// Assembles, iterates and recovers stresses; the arrays that took, and the displacement of a corner.
fn solve(recorder: Recorder, model: &Model, preconditioner: Preconditioner) -> Result<(usize, f64), Error> {
    let space = recorder.space()?;
    let mut phase = Phase::begin(&Silent, "setup");
    let system =
        System::<f64>::assemble(&space, model, &Plan::plain(model, false), &mut phase, &mut Timings::default())?;
    let context = Context::of_nodes(4, system.body.mesh.coords(), system.body.mesh.ends());
    let preconditioner = precond::build(preconditioner, &context, &space, system.matrix())?;
    let mut u = space.zeros::<f64>(system.f.len())?;
    let options = CgOptions::new(1e-8, 500);
    let outcome = cg(&space, &Equations::new(system.matrix(), &system.f), &*preconditioner, &mut u, options, &Silent)?;
    assert!(outcome.converged);
    let stresses = stress::stresses(&space, &system.body.mesh, &u, model.mesh.cells.len())?;
    assert_eq!(stresses[0].len(), model.mesh.cells[0].len());
    let counts = recorder.counts();
    let u = system.body.numbering.scatter(&space.take(u)?, 3);
    Ok((counts.uploads + counts.allocations, u[node_at(model, [1.0; 3])][0]))
}

#[test]
fn no_array_that_has_no_room_is_a_panic() {
    let model = pulled(2);
    for preconditioner in [Preconditioner::Jacobi, Preconditioner::Chebyshev, Preconditioner::Amg] {
        let (arrays, expected) = solve(Recorder::default(), &model, preconditioner).unwrap();
        assert!(arrays > 20 && expected > 0.0, "{preconditioner}: {arrays} arrays, {expected}");
        for room in 0..arrays {
            let error =
                solve(Recorder { full_at: Some(room), ..Recorder::default() }, &model, preconditioner).unwrap_err();
            assert_eq!(error.exit_code(), 6, "{preconditioner}, {room} arrays: {error}");
        }
        let (_, found) =
            solve(Recorder { full_at: Some(arrays), ..Recorder::default() }, &model, preconditioner).unwrap();
        assert_eq!(found, expected);
    }
}

/// Every third array is refused: one after the other takes long.
const THIRD: usize = 3;

/// A hierarchy that has no room, by what it is expected to take or when it is made, gives way to Jacobi and says so.
#[test]
fn multigrid_without_room_gives_way() {
    let mut model = pulled(3);
    model.solver.preconditioner = Some(Preconditioner::Amg);
    model.solver.operator = Some(Operator::Assembled);
    let solved = |recorder: Recorder| {
        let space = recorder.space()?;
        let found = pipeline::solve_on(&space, &model, &Silent)?;
        let counts = recorder.counts();
        Ok::<_, Error>((found, counts.uploads + counts.allocations))
    };
    let (expected, arrays) = solved(Recorder::default()).unwrap();
    assert!(expected.used.hierarchy.is_some() && expected.outcome.changes.is_empty());
    let room = plan::hierarchy_bytes(&model, None) - 1;
    let (small, _) = solved(Recorder { room: Some(room), ..Recorder::default() }).unwrap();
    // Arrays of the assembly and of the results have no substitute.
    let mut given_way: Vec<Solution> = Vec::new();
    for room in (0..arrays).step_by(THIRD) {
        match solved(Recorder { refused: Some(room), ..Recorder::default() }) {
            Ok((solution, _)) => given_way.push(solution),
            Err(error) => assert_eq!(error.exit_code(), 6, "{room} arrays: {error}"),
        }
    }
    let tried = arrays.div_ceil(THIRD);
    assert!(given_way.len() > 50 / THIRD && given_way.len() < tried, "{} of {tried}", given_way.len());
    for found in given_way.iter().chain([&small]) {
        let Used { plan, hierarchy, .. } = &found.used;
        assert_eq!((plan.preconditioner, hierarchy.is_none()), (Some(Preconditioner::Jacobi), true));
        assert_eq!(plan.reason(), "jacobi: multigrid has too little memory");
        let [change] = &found.outcome.changes[..] else { panic!("{:?}", found.outcome.changes) };
        assert_eq!((change.choice, change.from, change.to), (Changed::Preconditioner, "amg", "jacobi"));
        assert!(change.to_string().starts_with("preconditioned by jacobi instead of multigrid: "), "{change}");
        assert_same(&model, found, &expected);
    }
}

/// A factor that `auto` has chosen and that has no room gives way to an iteration and says so; one that was asked for is
/// an error.
#[test]
fn a_factor_without_room_gives_way_if_nobody_asked_for_it() {
    let mut model = pulled(3);
    let solved = |model: &Model, room: u64| {
        pipeline::solve_on(
            &Recorder { has_factors: true, room: Some(room), ..Recorder::default() }.space()?,
            model,
            &Silent,
        )
    };
    let direct = solved(&model, 1 << 30).unwrap();
    assert_eq!((direct.used.plan.method, direct.outcome.changes.len()), (Method::Direct, 0));
    assert_eq!(direct.used.plan.reason(), "direct: a small model");
    // Three tiles of 64 in a row, and more beside them, are 396 kB.
    let iterated = solved(&model, 350_000).unwrap();
    let plan = &iterated.used.plan;
    assert_eq!((plan.method, plan.preconditioner), (Method::Cg, Some(Preconditioner::Jacobi)));
    let [change] = &iterated.outcome.changes[..] else { panic!("{:?}", iterated.outcome.changes) };
    assert_eq!((change.choice, change.from, change.to), (Changed::Method, "direct", "cg"));
    let said = change.to_string();
    assert!(said.starts_with("a direct solution was not possible: out of memory on "), "{said}");
    assert!(plan.reason().starts_with("jacobi: a factor was not possible; "), "{}", plan.reason());
    assert_same(&model, &iterated, &direct);
    model.solver.method = Some(Method::Direct);
    assert_eq!(solved(&model, 350_000).unwrap_err().exit_code(), 6);
}
