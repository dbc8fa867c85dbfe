//! Mixed precision: preconditioners in f32, of matrices in f32 and f16, under conjugate gradients in f64, and conjugate
//! gradients in f32 under refinement in f64, give what f64 alone gives.

use crate::cg::true_residual;
use crate::common::blocks::{Blocks, chain};
use crate::common::fields::converged;
use crate::common::recorder::Recorder;
use crate::common::{Random, applied, assert_close, bits, largest, meshes, on_every_device};
use kernels_rs::half::F16;
use kernels_rs::real::Stored;
use nalgebra::DVector;
use std::cell::RefCell;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::mesh::generate::generate_box;
use warpfem::model::Model;
use warpfem::pipeline;
use warpfem::precond::{self, Context};
use warpfem::result::choices::{Format, Method, Precision, Preconditioner};
use warpfem::result::{Ending, Error, Outcome};
use warpfem::solve::iteration::{self, Builder};
use warpfem::solve::{CgOptions, Equations, Monitor, Silent};
use warpfem::sparse::Matrix;

/// The rounded preconditioner is the one in double, whatever the units, and exactly that of the scaled copy.
fn rounded_on<V: Stored<Arithmetic = f32>>(space: &Space) -> Vec<u64> {
    let (mut blocks, r) = Blocks::system(40);
    let dense = blocks.dense();
    let mut found = Vec::new();
    for unit in [1.0, 1e30, 1e-30] {
        blocks.set_all(|row, column| unit * dense[(row, column)]);
        let matrix: Matrix<f64> = blocks.upload(space, Format::Ebw);
        let inverse: Vec<f64> = dense.diagonal().iter().map(|v| 1.0 / (unit * v)).collect();
        let copy = matrix.scaled_to::<V>(space, &space.upload(&inverse).unwrap()).unwrap();
        assert_eq!(copy.footprint(), matrix.footprint());
        let values = copy.blocks(space).unwrap().iter().map(|value| f64::from(value.value())).collect();
        let single: Matrix<f32> = Blocks { values, ..blocks.clone() }.upload(space, Format::Ebw);
        let small: Vec<f32> = r.iter().zip(&inverse).map(|(r, inverse)| (inverse.sqrt() * r) as f32).collect();
        for name in Preconditioner::ALL.into_iter().filter(|name| precond::has_order(*name)) {
            for order in [1, 7] {
                let double = precond::build(name, &Context::of_order(order), space, &matrix).unwrap();
                let rounded = precond::build_rounded::<V>(name, &Context::of_order(order), space, &matrix).unwrap();
                let inner = precond::build(name, &Context::of_order(order), space, &single).unwrap();
                assert_eq!(rounded.products(), order);
                let z = applied(space, &*rounded, &matrix, &r);
                let what = format!("{name} {order} of {}", V::NAME);
                let of_copy = applied(space, &*inner, &single, &small);
                let expected: Vec<f64> =
                    of_copy.iter().zip(&inverse).map(|(z, inverse)| inverse.sqrt() * f64::from(*z)).collect();
                assert_close(&what, &z, &expected, 2e-6, largest(&expected));
                // The bounds of the spectrum, found in single precision, differ a little.
                let expected = applied(space, &*double, &matrix, &r);
                assert_close(&what, &z, &expected, 3e-2, largest(&expected));
                found.extend(bits(&z));
            }
        }
    }
    found
}

#[test]
fn rounded_preconditioners_are_those_of_the_copy() {
    on_every_device!(rounded_on::<f32>);
    let results = on_every_device!(rounded_on::<F16>);
    assert!(results[0] == rounded_on::<F16>(&Space::cpu()), "two runs differ");
}

#[test]
fn only_what_reads_the_matrix_has_a_rounded_copy() {
    let space = Space::cpu();
    let (blocks, _) = Blocks::system(20);
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    for name in [Preconditioner::Identity, Preconditioner::Jacobi, Preconditioner::BlockJacobi] {
        match precond::build_rounded::<F16>(name, &Context::of_order(6), &space, &matrix) {
            Err(Error::NotAvailable { available, .. }) => assert_eq!(available, precond::reading_matrix()),
            _ => panic!("{name} has a rounded copy"),
        }
    }
}

const LIMIT: usize = 300;

fn solved(space: &Space, make: Builder<f64>, name: Preconditioner, n: usize, tolerance: f64) -> (Vec<u64>, Outcome) {
    let (blocks, f) = Blocks::system(n);
    let mut matrix: Matrix<f64> = blocks.upload(space, Format::Ebw);
    matrix.promise_symmetric();
    let way = make(name, &Context::of_order(4), space, &matrix).unwrap();
    let (device_f, mut u) = (space.upload(&f).unwrap(), space.zeros(3 * n).unwrap());
    let options = CgOptions::new(tolerance, LIMIT);
    let outcome = way.solve(space, &Equations::new(&matrix, &device_f), &mut u, options, &Silent).unwrap();
    let u = space.download(&u).unwrap();
    let residual = true_residual(&blocks, &f, &u);
    assert!((outcome.relative_residual - residual).abs() < 1e-14, "{name}: {residual}, said {outcome:?}");
    let expected = blocks.dense().cholesky().unwrap().solve(&DVector::from_vec(f));
    assert!(outcome.converged && outcome.relative_residual <= tolerance, "{name}: {outcome:?}");
    assert_eq!(outcome.ending, Ending::Converged);
    assert_eq!(outcome.history.len(), outcome.iterations);
    assert_close(name.name(), &u, expected.as_slice(), 1e3 * tolerance, expected.amax());
    (bits(&u), outcome)
}

#[test]
fn solutions_are_those_of_a_dense_solver_in_every_precision_and_repeat() {
    for name in Preconditioner::ALL {
        for n in [1, 2, 33, 100] {
            on_every_device!(solved, iteration::plain, name, n, 1e-12);
        }
        let results = on_every_device!(solved, iteration::plain, name, 33, 1e-12);
        assert!(results == on_every_device!(solved, iteration::plain, name, 33, 1e-12), "two runs differ");
        on_every_device!(solved, iteration::mixed, name, 60, 1e-13);
        if precond::reads_matrix(name) {
            on_every_device!(solved, iteration::mixed_half, name, 60, 1e-13);
        }
    }
}

fn models() -> Vec<Model> {
    let tet = meshes::two_materials(meshes::distorted_box(ElementKind::Tet4, [6, 3, 3], 0.2));
    let thin = generate_box(ElementKind::Hex8, [1.0, 0.2, 0.05], [40, 10, 1]).unwrap();
    let pulled = "[[traction]]\non = \"xmax\"\nvector = [0.0, 1.0, -2.0]\n";
    let thin = meshes::model(&format!("{}{}{pulled}", meshes::SOFT, meshes::CLAMP), thin);
    let mut tet = tet;
    tet.gravity = Some([0.0, 1.0, -9.81]);
    vec![meshes::load("cube_463.toml"), tet, thin]
}

#[test]
fn models_have_the_solution_they_have_in_double() {
    for mut model in models() {
        (model.solver.method, model.solver.residual_tolerance) = (Some(Method::Cg), Some(1e-9));
        let solve = |model: &Model| converged(model, DeviceName::Cpu);
        let double = solve(&model);
        let expected = double.displacement().as_flattened();
        for precision in [Precision::Mixed, Precision::MixedHalf] {
            model.solver.precision = Some(precision);
            for name in Preconditioner::ALL
                .into_iter()
                .filter(|name| precision == Precision::Mixed || precond::reads_matrix(*name))
            {
                model.solver.preconditioner = Some(name);
                let mixed = solve(&model);
                assert!(mixed.outcome.relative_residual <= 1e-9);
                let what = format!("{name}, {precision}");
                assert_close(&what, mixed.displacement().as_flattened(), expected, 1e-6, largest(expected));
                let counts = (mixed.outcome.iterations, double.outcome.iterations);
                assert!(!precond::has_order(name) || counts.0 < counts.1, "{what}: {counts:?}");
            }
            model.solver.preconditioner = None;
            let auto = solve(&model);
            assert_eq!(auto.used.plan.preconditioner, Some(precond::AUTO_MIXED));
            assert!(auto.outcome.iterations < double.outcome.iterations, "{:?}", auto.outcome);
        }
    }
}

#[test]
fn half_precision_is_refused_to_what_takes_no_products() {
    let mut model = models().remove(0);
    (model.solver.precision, model.solver.preconditioner) = (Some(Precision::MixedHalf), Some(Preconditioner::Jacobi));
    let error = pipeline::solve(&model, DeviceName::Cpu, &Silent).unwrap_err();
    assert!(error.to_string().contains("neumann, chebyshev, least_squares, amg"), "{error}");
    assert_eq!(error.exit_code(), 2);
}

/// Launches of one solution by entry point.
#[test]
fn the_products_of_the_preconditioner_are_in_what_its_copy_is_in() {
    let ways: [(Builder<f64>, _, _); 2] = [
        (iteration::mixed, "ebw_polynomial_step_3_32_f32", "ebw_spmv_dot_3_32_f32"),
        (iteration::mixed_half, "ebw_polynomial_step_3_32_f16", "ebw_spmv_dot_3_32_f16"),
    ];
    for (make, step, of_the_bounds) in ways {
        let recorder = Recorder::default();
        let space = recorder.space().unwrap();
        let (_, outcome) = solved(&space, make, Preconditioner::LeastSquares, 60, 1e-10);
        let counts = recorder.counts().launches;
        let starts = outcome.spmvs / 5 - outcome.iterations;
        assert_eq!(counts[step], 4 * outcome.spmvs / 5);
        assert_eq!(counts[of_the_bounds], precond::spectrum::STEPS);
        assert_eq!(counts["ebw_spmv_dot_3_32_f64"], outcome.iterations);
        assert_eq!(counts["spmv_ebw3_f64"], starts);
        assert!(!counts.contains_key("ebw_polynomial_step_3_32_f64"), "{counts:?}");
    }
}

/// The products of refinement are in single, but for one in double per correction and one at the start.
#[test]
fn the_products_of_refinement_are_in_single() {
    let recorder = Recorder::default();
    let space = recorder.space().unwrap();
    let (_, outcome) = solved(&space, iteration::mixed, Preconditioner::Jacobi, 60, 1e-10);
    let counts = recorder.counts().launches;
    // A launch of many iterations per correction.
    assert_eq!(counts["cg_persistent_3_f32"] + 1, counts["spmv_ebw3_f64"]);
    assert!((3..=8).contains(&counts["spmv_ebw3_f64"]), "{counts:?}");
    assert_eq!(outcome.spmvs, outcome.iterations + counts["spmv_ebw3_f64"] + counts["spmv_ebw3_f32"]);
    assert!(!counts.contains_key("ebw_spmv_dot_3_32_f64"), "{counts:?}");
}

/// Keeps what it is told, and cancels after so many looks.
struct Watcher {
    seen: RefCell<Vec<(usize, f64, f64)>>,
    patience: usize,
}

impl Monitor for Watcher {
    fn error(&self, iteration: usize, relative: f64, tolerance: f64) {
        self.seen.borrow_mut().push((iteration, relative, tolerance));
    }

    fn is_cancelled(&self) -> bool {
        self.seen.borrow().len() >= self.patience
    }
}

/// Refinement with Jacobi of a chain of 200 nodes, watched.
fn refined(options: CgOptions, patience: usize) -> (Outcome, Vec<(usize, f64, f64)>) {
    let space = Space::cpu();
    let matrix: Matrix<f64> = chain(200).upload(&space, Format::Ebw);
    let (f, mut u) = (space.upload(&Random(5).vector::<f64>(600)).unwrap(), space.zeros(600).unwrap());
    let watcher = Watcher { seen: RefCell::default(), patience };
    let way = iteration::mixed(Preconditioner::Jacobi, &Context::of_order(6), &space, &matrix).unwrap();
    let outcome = way.solve(&space, &Equations::new(&matrix, &f), &mut u, options, &watcher).unwrap();
    assert_eq!(outcome.history.len(), outcome.iterations);
    (outcome, watcher.seen.into_inner())
}

#[test]
fn refinement_says_why_it_ends_and_how_it_goes() {
    let options = CgOptions::new(1e-12, 5000);
    let (outcome, seen) = refined(options, usize::MAX);
    assert_eq!((outcome.ending, outcome.converged), (Ending::Converged, true));
    assert!(seen.is_sorted_by_key(|(iteration, ..)| *iteration) && seen.len() > 5, "{seen:?}");
    assert!(seen.iter().all(|(.., tolerance)| *tolerance == 1e-12));
    assert!(seen[0].1 > 1e-3 && seen.last().unwrap().1 < 1e-11, "{seen:?}");
    for max_iterations in [0, 1, 7, outcome.iterations / 2] {
        let (outcome, _) = refined(CgOptions { max_iterations, ..options }, usize::MAX);
        assert_eq!((outcome.ending, outcome.converged), (Ending::Limit, false));
        assert_eq!(outcome.iterations, max_iterations);
    }
    for patience in [0, 1, seen.len() - 1] {
        let (outcome, seen) = refined(options, patience);
        assert_eq!((outcome.ending, outcome.converged, seen.len()), (Ending::Cancelled, false, patience));
        assert!(outcome.iterations == seen.last().map_or(0, |(iteration, ..)| *iteration));
    }
    let (outcome, _) = refined(CgOptions { tolerance: 1e-30, ..options }, usize::MAX);
    assert_eq!((outcome.ending, outcome.converged), (Ending::Stagnated, false));
    assert!(outcome.iterations < 5000 && outcome.relative_residual < 1e-11, "{outcome:?}");
}

#[test]
fn refinement_takes_a_correction_back_that_makes_it_worse() {
    let space = Space::cpu();
    let (blocks, n) = (chain(200), 600);
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    let way = iteration::mixed(Preconditioner::Jacobi, &Context::of_order(6), &space, &matrix).unwrap();
    // Of a matrix three times as large: the correction goes three times as far as it should.
    let mut larger = blocks.clone();
    larger.values.iter_mut().for_each(|value| *value *= 3.0);
    let operator: Matrix<f64> = larger.upload(&space, Format::Ebw);
    let (f, mut u) = (space.upload(&Random(5).vector::<f64>(n)).unwrap(), space.zeros::<f64>(n).unwrap());
    let outcome =
        way.solve(&space, &Equations::new(&operator, &f), &mut u, CgOptions::new(1e-10, 5000), &Silent).unwrap();
    assert_eq!((outcome.ending, outcome.relative_residual), (Ending::Stagnated, 1.0));
    assert!(u.host().iter().all(|u| u.abs() < 1e-9), "{}", largest(u.host()));
}

#[test]
fn refinement_of_nothing_is_nothing_and_of_a_solution_itself() {
    let space = Space::cpu();
    let (blocks, f) = Blocks::system(20);
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    let way = iteration::mixed(Preconditioner::BlockJacobi, &Context::of_order(6), &space, &matrix).unwrap();
    let options = CgOptions::new(1e-12, 100);
    let mut u = space.upload(&[7.0; 60]).unwrap();
    let zero = space.zeros(60).unwrap();
    let outcome = way.solve(&space, &Equations::new(&matrix, &zero), &mut u, options, &Silent).unwrap();
    assert!(outcome.converged && outcome.iterations == 0 && u.host() == [0.0; 60], "{outcome:?}");
    let f = space.upload(&f).unwrap();
    way.solve(&space, &Equations::new(&matrix, &f), &mut u, options, &Silent).unwrap();
    // It starts from what is there.
    let again = way.solve(&space, &Equations::new(&matrix, &f), &mut u, options, &Silent).unwrap();
    assert_eq!((again.ending, again.iterations), (Ending::Converged, 0));
}

/// A soft cube whose end is moved.
fn moved(young: f64, by: f64, precision: Precision) -> warpfem::result::Result<pipeline::Solution> {
    let tables = format!(
        "[[material]]\nname = \"soft\"\nyoung = {young:e}\npoisson = 0.3\n[[support]]\non = \"xmin\"\nfix = \"xyz\"\n\
         [[support]]\non = \"xmax\"\ndisplacement = {{ x = 1e-3 }}\n"
    );
    let mut model = meshes::model(&tables, generate_box(ElementKind::Hex8, [1.0; 3], [2; 3]).unwrap());
    model.supports[1].displacement[0] = Some(by);
    (model.solver.method, model.solver.precision) = (Some(Method::Cg), precision.into());
    pipeline::solve(&model, DeviceName::Cpu, &Silent)
}

#[test]
fn loads_that_the_precision_does_not_hold_are_refused() {
    // K u is 1e-50 where single precision ends at 1e-38, and 1e-309 or, squared, 1e-318 where double ends at 1e-308.
    for (young, by, precision) in [
        (1e-20, 1e-30, Precision::Single),
        (1e11, -1e-320, Precision::Double),
        (1.0, 1e-159, Precision::Double),
        (1.0, 1e-159, Precision::Mixed),
    ] {
        let found = moved(young, by, precision);
        assert!(matches!(found, Err(Error::Breakdown)), "{young} {by} {precision}: {found:?}");
    }
    for (young, by) in [(1e-20, 1e-30), (1.0, 1e-140)] {
        let found = moved(young, by, Precision::Double).unwrap();
        assert!(found.displacement().iter().any(|u| u[0] > 0.3 * by && u[0] < 0.7 * by), "{young} {by}");
    }
}
