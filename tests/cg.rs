//! Conjugate gradients: against dense solutions, in exact arithmetic's number of iterations, and when it cannot
//! succeed.

use crate::common::blocks::{Blocks, chain};
use crate::common::recorder::Recorder;
use crate::common::{Random, assert_close, bits, floats, largest, on_every_device, on_threads, tests_on_every_device};
use kernels_rs::real::Real;
use warpfem::linalg::Space;
use warpfem::precond::{self, Context};
use warpfem::result::choices::{Format, Preconditioner};
use warpfem::result::{Ending, Error, Outcome};
use warpfem::solve::cg::CHECK_EVERY;
use warpfem::solve::{CgOptions, Equations, Monitor, Silent, Stepping, cg};
use warpfem::sparse::Matrix;

const TIGHT: CgOptions = CgOptions::new(1e-12, 1000);

/// Solves from zero.
fn solve<T: Real>(
    space: &Space,
    blocks: &Blocks,
    f: &[f64],
    preconditioner: Preconditioner,
    options: CgOptions,
) -> Result<(Vec<f64>, Outcome), Error> {
    let mut matrix: Matrix<T> = blocks.upload(space, Format::Ebw);
    if blocks.is_symmetric() {
        matrix.promise_symmetric();
    }
    let f: Vec<T> = f.iter().map(|v| T::from_f64(*v)).collect();
    let f = space.upload(&f)?;
    let preconditioner = precond::build(preconditioner, &Context::of_order(6), space, &matrix)?;
    let mut u = space.zeros::<T>(3 * blocks.n_rows())?;
    let outcome = cg(space, &Equations::new(&matrix, &f), &*preconditioner, &mut u, options, &Silent)?;
    Ok((floats(&space.download(&u)?), outcome))
}

/// `||f - A u|| / ||f||` in f64.
pub fn true_residual(blocks: &Blocks, f: &[f64], u: &[f64]) -> f64 {
    let difference: f64 = blocks.product(u).iter().zip(f).map(|(ku, f)| (f - ku) * (f - ku)).sum();
    difference.sqrt() / f.iter().map(|f| f * f).sum::<f64>().sqrt()
}

/// A diagonal of this many distinct values, and a right-hand side that has a part in each.
fn distinct(k: usize, scale: f64) -> (Blocks, Vec<f64>) {
    let diagonal: Vec<f64> = (0..300).map(|i| scale * (1.0 + (i % k) as f64)).collect();
    (Blocks::diagonal(&diagonal), Random(9).vector(300))
}

fn ends_in_time<T: Real>(space: &Space, k: usize, scale: f64, tolerance: f64) {
    let (blocks, f) = distinct(k, scale);
    let options = CgOptions::new(tolerance, 200);
    let (u, outcome) = solve::<T>(space, &blocks, &f, Preconditioner::Identity, options).unwrap();
    let most = k.next_multiple_of(CHECK_EVERY);
    assert!(outcome.converged && outcome.iterations <= most, "{k} values, {}: {outcome:?}", T::NAME);
    assert!(outcome.history[k - 1] <= tolerance, "{k} values: {:?}", outcome.history);
    assert!(true_residual(&blocks, &f, &u) <= 2.0 * tolerance);
    let (_, jacobi) = solve::<T>(space, &blocks, &f, Preconditioner::Jacobi, options).unwrap();
    // Its diagonal is in single precision.
    let history = &jacobi.history;
    assert!(history[0] <= tolerance.max(1e-7), "Jacobi nearly solves a diagonal matrix in one: {history:?}");
    assert!(history.iter().take(2).any(|&r| r <= tolerance), "and in two: {history:?}");
}

#[test]
fn needs_one_iteration_per_distinct_eigenvalue() {
    for k in [1, 5, 10, 12] {
        for scale in [1e11, 1e-9] {
            on_every_device!(ends_in_time::<f64>, k, scale, 1e-10);
        }
        on_every_device!(ends_in_time::<f32>, k, 1.0, 1e-5);
        on_every_device!(ends_in_time::<f32>, k, 1e11, 1e-5);
    }
}

tests_on_every_device! {
    nothing_follows_from_no_load: zero;
    what_is_not_a_number_is_a_breakdown: not_a_number;
    gives_up_where_it_is_told_to: gives_up;
    single_precision_says_how_far_it_got: single;
    a_direction_without_curvature_ends_it: singular;
    a_matrix_that_is_not_positive_definite_is_found_out: indefinite;
    what_diverges_is_found_out: diverges;
    the_last_iterate_is_left_at_the_limit: leaves_the_last;
    it_starts_from_what_is_there: starts_from_what_is_there;
    one_launch_does_what_launches_do: stepping_changes_little;
}

fn zero(space: &Space) {
    let (blocks, f) = Blocks::system(40);
    let matrix: Matrix<f64> = blocks.upload(space, Format::Ebw);
    let preconditioner = precond::build(Preconditioner::Jacobi, &Context::of_order(6), space, &matrix).unwrap();
    let mut u = space.upload(&f).unwrap();
    let f = space.zeros(120).unwrap();
    let outcome = cg(space, &Equations::new(&matrix, &f), &*preconditioner, &mut u, TIGHT, &Silent).unwrap();
    assert!(outcome.converged && outcome.iterations == 0 && outcome.relative_residual == 0.0, "{outcome:?}");
    assert_eq!(space.download(&u).unwrap(), [0.0; 120]);
}

fn not_a_number(space: &Space) {
    for spoil in [f64::NAN, f64::INFINITY] {
        let (blocks, f) = Blocks::system(40);
        let mut spoiled = blocks.clone();
        spoiled.values[64] = spoil;
        let result = solve::<f64>(space, &spoiled, &f, Preconditioner::Jacobi, TIGHT);
        assert!(matches!(result, Err(Error::Breakdown)), "in the matrix: {result:?}");
        let mut spoiled = f.clone();
        spoiled[100] = spoil;
        let result = solve::<f64>(space, &blocks, &spoiled, Preconditioner::Identity, TIGHT);
        assert!(matches!(result, Err(Error::Breakdown)), "in the right-hand side: {result:?}");
    }
}

/// A matrix that is hard for conjugate gradients, and a right-hand side.
fn chain_and_load(n: usize) -> (Blocks, Vec<f64>) {
    (chain(n), Random(2).vector(3 * n))
}

fn gives_up(space: &Space) {
    let (blocks, f) = chain_and_load(200);
    for max_iterations in [0, 1, 10, 25] {
        let options = CgOptions::new(1e-10, max_iterations);
        let (u, outcome) = solve::<f64>(space, &blocks, &f, Preconditioner::Jacobi, options).unwrap();
        assert!(!outcome.converged && outcome.iterations == max_iterations, "{outcome:?}");
        assert_eq!(outcome.ending, Ending::Limit);
        assert_eq!(outcome.history.len(), max_iterations);
        let residual = true_residual(&blocks, &f, &u);
        assert!((outcome.relative_residual - residual).abs() <= 1e-10 * residual, "{outcome:?}, true {residual}");
        assert!(max_iterations == 0 || largest(&u) > 0.0, "what was found is kept");
    }
}

fn single(space: &Space) {
    let (blocks, f) = chain_and_load(50);
    let options = CgOptions::new(1e-10, 5000);
    let (u, outcome) = solve::<f32>(space, &blocks, &f, Preconditioner::Jacobi, options).unwrap();
    let residual = true_residual(&blocks, &f, &u);
    assert!(!outcome.converged && outcome.iterations < 5000, "{} iterations", outcome.iterations);
    assert_eq!(outcome.ending, Ending::Stagnated);
    assert!(outcome.relative_residual > 0.3 * residual, "reported {}, true {residual}", outcome.relative_residual);
    assert!(outcome.relative_residual < 3.0 * residual, "reported {}, true {residual}", outcome.relative_residual);
    let (double, _) = solve::<f64>(space, &blocks, &f, Preconditioner::Jacobi, options).unwrap();
    assert_close("single precision", &u, &double, 1e-2, largest(&double));
}

/// The first direction has no curvature: an iteration that goes on would stay where it is.
fn singular(space: &Space) {
    let mut blocks = chain(2);
    blocks.set_all(|row, column| match row % 3 == column % 3 {
        true if row == column => 1.0,
        true => -1.0,
        false => 0.0,
    });
    for stepping in [Stepping::Auto, Stepping::Graph, Stepping::Launches] {
        for preconditioner in [Preconditioner::Identity, Preconditioner::Jacobi, Preconditioner::BlockJacobi] {
            let options = CgOptions { stepping, ..CgOptions::new(1e-10, 5000) };
            let (u, outcome) = solve::<f64>(space, &blocks, &[1.0; 6], preconditioner, options).unwrap();
            assert!(!outcome.converged && outcome.iterations <= 2 * CHECK_EVERY, "{preconditioner}: {outcome:?}");
            assert_eq!((outcome.ending, u), (Ending::Stagnated, vec![0.0; 6]), "{preconditioner}");
        }
    }
}

fn indefinite(space: &Space) {
    // The chain's matrix less 1 has eigenvalues on both sides of 0.
    let (mut blocks, f) = chain_and_load(200);
    let dense = blocks.dense();
    blocks.set_all(|row, column| dense[(row, column)] - if row == column { 1.0 } else { 0.0 });
    let options = CgOptions::new(1e-10, 5000);
    for preconditioner in Preconditioner::ALL {
        let (u, outcome) = solve::<f64>(space, &blocks, &f, preconditioner, options).unwrap();
        assert_eq!((outcome.converged, outcome.ending), (false, Ending::Indefinite), "{preconditioner}");
        assert!(outcome.iterations < 200 && u.iter().all(|u| u.is_finite()), "{preconditioner}: {outcome:?}");
        assert!(outcome.ending.reason().contains("not positive definite"));
    }
}

fn diverges(space: &Space) {
    // x . A x = x . x for every x, so that no curvature is negative; but A is far from symmetric.
    let (mut blocks, f) = chain_and_load(60);
    blocks.set_all(|row, column| match (row as i64) - (column as i64) {
        0 => 1.0,
        3 => 1e7,
        -3 => -1e7,
        _ => 0.0,
    });
    for preconditioner in [Preconditioner::Identity, Preconditioner::Jacobi] {
        for stepping in [Stepping::Launches, Stepping::Auto] {
            let options = CgOptions { stepping, ..CgOptions::new(1e-10, 5000) };
            let (u, outcome) = solve::<f64>(space, &blocks, &f, preconditioner, options).unwrap();
            assert_eq!((outcome.converged, outcome.ending), (false, Ending::Diverged), "{preconditioner}");
            assert!(outcome.iterations < 2000, "{} iterations", outcome.iterations);
            let worst = outcome.history.iter().fold(0.0, |a: f64, b| a.max(*b));
            assert!(worst > 6e7 && outcome.relative_residual <= 1.0, "of {worst:e}, {}", outcome.relative_residual);
            let residual = true_residual(&blocks, &f, &u);
            assert!((residual - outcome.relative_residual).abs() < 1e-12, "{residual}, said {outcome:?}");
        }
    }
}

fn leaves_the_last(space: &Space) {
    // As above, but most of the load is on rows that are solved at once, and the others run away slowly.
    let mut blocks = chain(60);
    let is_skew = |row: usize| row >= 120;
    blocks.set_all(|row, column| match (row as i64) - (column as i64) {
        0 => 1.0,
        3 if is_skew(column) => 1e4,
        -3 if is_skew(row) => -1e4,
        _ => 0.0,
    });
    let f: Vec<f64> = (0..blocks.n()).map(|row| if is_skew(row) { 1e-12 } else { 1.0 }).collect();
    let options = CgOptions { stepping: Stepping::Launches, ..CgOptions::new(1e-14, 500) };
    let (u, outcome) = solve::<f64>(space, &blocks, &f, Preconditioner::Jacobi, options).unwrap();
    assert_eq!((outcome.converged, outcome.ending), (false, Ending::Limit));
    let looks = outcome.history.chunks(CHECK_EVERY).filter_map(|steps| steps.last());
    let (best, last) = (looks.fold(1.0, |a: f64, b| a.min(*b)), outcome.history[499]);
    let residual = true_residual(&blocks, &f, &u);
    assert!(best < 1e-2 && last > 11.0 * best && residual < 1.01 * last, "{residual:e}, best {best:e}, last {last:e}");
    assert!((residual - outcome.relative_residual).abs() < 1e-12, "{residual:e}, said {:e}", outcome.relative_residual);
}

fn starts_from_what_is_there(space: &Space) {
    let (blocks, f) = Blocks::system(60);
    let mut matrix: Matrix<f64> = blocks.upload(space, Format::Ebw);
    matrix.promise_symmetric();
    let f = space.upload(&f).unwrap();
    for name in Preconditioner::ALL {
        let preconditioner = precond::build(name, &Context::of_order(6), space, &matrix).unwrap();
        let solve = |u: &mut _| {
            let outcome = cg(space, &Equations::new(&matrix, &f), &*preconditioner, u, TIGHT, &Silent).unwrap();
            assert!(outcome.converged, "{name}: {}", outcome.relative_residual);
            outcome.history.len()
        };
        let mut u = space.zeros(blocks.n()).unwrap();
        let from_zero = solve(&mut u);
        let cold = space.download(&u).unwrap();
        // An answer is a good start for what is nearly the same, and its own.
        let near: Vec<f64> = cold.iter().enumerate().map(|(i, u)| u * (1.0 + 1e-9 * (i % 7) as f64)).collect();
        let mut u = space.upload(&near).unwrap();
        let rest = solve(&mut u);
        let is_fewer = rest < from_zero || from_zero <= CHECK_EVERY;
        assert!(rest > 0 && is_fewer, "{name}: {rest} of {from_zero} iterations");
        assert_eq!(solve(&mut u), 0);
        assert_close(name.name(), &space.download(&u).unwrap(), &cold, 1e-10, largest(&cold));
    }
}

/// Cancels at the first look.
struct Impatient;

impl Monitor for Impatient {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn endings_are_told_apart() {
    let space = Space::cpu();
    let (blocks, f) = chain_and_load(200);
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    let jacobi = precond::build(Preconditioner::Jacobi, &Context::of_order(6), &space, &matrix).unwrap();
    let (f, mut u) = (space.upload(&f).unwrap(), space.zeros(600).unwrap());
    let outcome = cg(&space, &Equations::new(&matrix, &f), &*jacobi, &mut u, TIGHT, &Impatient).unwrap();
    assert_eq!((outcome.ending, outcome.converged, outcome.iterations), (Ending::Cancelled, false, 0));
    let outcome = cg(&space, &Equations::new(&matrix, &f), &*jacobi, &mut u, TIGHT, &Silent).unwrap();
    assert_eq!((outcome.ending, outcome.converged), (Ending::Converged, true));
    let hopeless = CgOptions::new(1e-30, 5000);
    let outcome = cg(&space, &Equations::new(&matrix, &f), &*jacobi, &mut u, hopeless, &Silent).unwrap();
    assert_eq!((outcome.ending, outcome.converged), (Ending::Stagnated, false));
    assert!(outcome.iterations < 5000 && outcome.relative_residual < 1e-11, "{outcome:?}");
}

/// One launch does what launches do: as many iterations, but for those that end between looks, and the same answer.
fn stepping_changes_little(space: &Space) -> Vec<u64> {
    let (blocks, f) = chain_and_load(120);
    let run = |stepping, tolerance| {
        let options = CgOptions { stepping, ..CgOptions::new(tolerance, 5000) };
        solve::<f64>(space, &blocks, &f, Preconditioner::Jacobi, options).unwrap()
    };
    let mut found = Vec::new();
    // Between two looks, and after many.
    for tolerance in [1e-2, 1e-9] {
        let [launches, graph, persistent] =
            [Stepping::Launches, Stepping::Graph, Stepping::Auto].map(|stepping| run(stepping, tolerance));
        assert_eq!(bits(&launches.0), bits(&graph.0), "the same launches");
        assert_eq!(launches.1, graph.1);
        assert!(persistent.1.converged && persistent.1.history.len() == persistent.1.iterations, "{:?}", persistent.1);
        let (most, least) = (launches.1.iterations, launches.1.iterations - CHECK_EVERY);
        assert!((least..=most).contains(&persistent.1.iterations), "{} of {most}", persistent.1.iterations);
        let end = persistent.1.history.iter().position(|residual| *residual <= tolerance).unwrap() + 1;
        assert!(end == persistent.1.iterations, "it ends at once: {end}");
        let common = persistent.1.iterations.min(100);
        assert_close("history", &persistent.1.history[..common], &launches.1.history[..common], 1e-9, 1.0);
        assert_close("solution", &persistent.0, &launches.0, 1e4 * tolerance, largest(&launches.0));
        found.extend(bits(&persistent.0));
    }
    found
}

/// What `more` iterations beyond `few` add: launches per entry point, copies, reads.
fn difference(
    preconditioner: Preconditioner,
    stepping: Stepping,
    few: usize,
    more: usize,
) -> (Vec<(&'static str, usize)>, [usize; 6]) {
    let (blocks, f) = chain_and_load(400);
    let counts = |max_iterations: usize| {
        let recorder = Recorder::default();
        let space = recorder.space().unwrap();
        let options = CgOptions { stepping, ..CgOptions::new(1e-10, max_iterations) };
        let (_, outcome) = solve::<f64>(&space, &blocks, &f, preconditioner, options).unwrap();
        assert_eq!(outcome.iterations, max_iterations);
        recorder.counts()
    };
    let (few, more) = (counts(few), counts(more));
    let launches = more.launches.iter().map(|(name, n)| (*name, n - few.launches[name])).filter(|(_, n)| *n > 0);
    let others =
        |c: &crate::common::recorder::Counts| [c.reads, c.copies, c.uploads, c.downloads, c.waits, c.allocations];
    let (few, others) = (others(&few), others(&more));
    (launches.collect(), core::array::from_fn(|i| others[i] - few[i]))
}

#[test]
fn a_device_whose_blocks_cannot_wait_for_one_another_goes_step_by_step() {
    let (blocks, f) = chain_and_load(400);
    let run = |recorder: Recorder| {
        let space = recorder.space().unwrap();
        let (u, outcome) =
            solve::<f64>(&space, &blocks, &f, Preconditioner::Jacobi, CgOptions::new(1e-10, 1000)).unwrap();
        (u, outcome, recorder.counts().launches)
    };
    let (expected, in_one, launches) = run(Recorder::default());
    assert!(launches.keys().any(|name| name.contains("persistent")), "{launches:?}");
    let (found, outcome, launches) = run(Recorder { refuses_cooperation: true, ..Recorder::default() });
    assert!(!launches.keys().any(|name| name.contains("persistent")), "{launches:?}");
    assert_eq!(launches["cg_update_f64"], outcome.iterations.next_multiple_of(CHECK_EVERY));
    assert!(outcome.converged && in_one.converged);
    assert_close("u", &found, &expected, 1e-8, largest(&expected));
}

#[test]
fn an_iteration_takes_few_launches_and_ten_a_read() {
    let (launches, [reads, copies, uploads, downloads, ..]) =
        difference(Preconditioner::Jacobi, Stepping::Auto, 128, 384);
    assert_eq!(launches, [("cg_persistent_3_f64", 1), ("fill_f64", 1)]);
    assert_eq!((reads, copies, uploads, downloads), (0, 0, 0, 1));
    // Of ten looks, and of two: the launches of each iteration, in the order of their names, and copies.
    let product = ("ebw_spmv_dot_3_32_f64", 1);
    let general = [("cg_residual_norm_f64", 1), ("cg_update_f64", 1), ("dot_f64", 1)];
    let own = [("ebw_polynomial_step_3_32_f64", 6), product, ("polynomial_start_f64", 1)];
    for (preconditioner, looks, copies, expected) in [
        (Preconditioner::Jacobi, 10, 0, &[("cg_residual_f64", 1), ("cg_update_f64", 1), product][..]),
        (Preconditioner::BlockJacobi, 10, 0, &[("cg_residual_blocks_f64_3", 1), ("cg_update_f64", 1), product]),
        // The identity is applied by a copy.
        (Preconditioner::Identity, 10, 1, &[&general[..], &[product]].concat()),
        (Preconditioner::LeastSquares, 2, 0, &[general, own].concat()),
    ] {
        let each = looks * CHECK_EVERY;
        let (launches, [reads, copied, others @ ..]) =
            difference(preconditioner, Stepping::Launches, 2 * CHECK_EVERY, 2 * CHECK_EVERY + each);
        let expected: Vec<_> = expected.iter().map(|(name, n)| (*name, n * each)).collect();
        assert_eq!((launches, reads, copied, others), (expected, looks, copies * each, [0; 4]), "{preconditioner}");
    }
}

#[test]
fn threads_do_not_change_the_bits() {
    let (blocks, f) = chain_and_load(6000);
    let with = |threads: usize| {
        let options = CgOptions::new(1e-10, 50);
        on_threads(threads, || solve::<f64>(&Space::cpu(), &blocks, &f, Preconditioner::Jacobi, options).unwrap().0)
    };
    let one = with(1);
    assert!(bits(&one) == bits(&with(2)) && bits(&one) == bits(&with(5)));
}
