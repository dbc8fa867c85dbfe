//! Mixed precision: a preconditioner in f32 under conjugate gradients in f64 gives what f64 alone gives.

mod common;

use common::blocks::{Blocks, random_sparsity};
use common::recorder::Recorder;
use common::{Random, assert_close, assert_orders_agree, bits, largest, meshes, on_every_device};
use kernels_rs::real::Real;
use nalgebra::DVector;
use warpfem::Error;
use warpfem::backend::{Backend, CpuBackend, Device, GpuBackend};
use warpfem::element::ElementKind;
use warpfem::mesh::generate::generate_box;
use warpfem::model::Model;
use warpfem::pipeline;
use warpfem::precond::{self, Preconditioner};
use warpfem::solve::{CgOptions, CgOutcome, Silent, cg};
use warpfem::sparse::Matrix;

fn polynomials() -> Vec<&'static str> {
    precond::names().into_iter().filter(|name| precond::has_order(name)).collect()
}

fn positive(n: usize) -> (Blocks, Vec<f64>) {
    (Blocks::positive(random_sparsity(n, 8, 3), 0.5, 4), Random(5).vector(3 * n))
}

fn applied<B: Backend, T: Real>(
    backend: &B,
    matrix: &Matrix<B, T>,
    preconditioner: &dyn Preconditioner<B, T>,
    r: &[T],
) -> Vec<T> {
    let (r, mut z) = (backend.upload(r).unwrap(), backend.zeros(r.len()).unwrap());
    preconditioner.apply(backend, matrix, &r, &mut z).unwrap();
    backend.download(&z).unwrap()
}

/// The rounded preconditioner is the one in double, whatever the units, and exactly that of the scaled copy.
fn rounded_on<B: Backend>(backend: &B) -> Vec<u64> {
    let (mut blocks, r) = positive(40);
    let dense = blocks.dense();
    let mut found = Vec::new();
    for unit in [1.0, 1e30, 1e-30] {
        blocks.set_all(|row, column| unit * dense[(row, column)]);
        let matrix: Matrix<B, f64> = blocks.upload(backend, "ebw");
        let inverse: Vec<f64> = dense.diagonal().iter().map(|v| 1.0 / (unit * v)).collect();
        let single = matrix.scaled_to_single(backend, &backend.upload(&inverse).unwrap()).unwrap();
        let small: Vec<f32> = r.iter().zip(&inverse).map(|(r, inverse)| (inverse.sqrt() * r) as f32).collect();
        for name in polynomials() {
            for order in [1, 2, 7] {
                let double = precond::build(name, order, backend, &matrix).unwrap();
                let rounded = precond::build_rounded(name, order, backend, &matrix).unwrap();
                let inner = precond::build(name, order, backend, &single).unwrap();
                assert_eq!(rounded.products(), order);
                let z = applied(backend, &matrix, &*rounded, &r);
                let what = format!("{name} {order}");
                let of_copy = applied(backend, &single, &*inner, &small);
                let expected: Vec<f64> =
                    of_copy.iter().zip(&inverse).map(|(z, inverse)| inverse.sqrt() * f64::from(*z)).collect();
                assert_close(&what, &z, &expected, 2e-6, largest(&expected));
                // The bounds of the spectrum, found in single precision, differ a little.
                let expected = applied(backend, &matrix, &*double, &r);
                assert_close(&what, &z, &expected, 3e-2, largest(&expected));
                found.extend(bits(&z));
            }
        }
    }
    found
}

#[test]
fn rounded_preconditioners_are_those_of_the_copy_in_single() {
    let results = on_every_device!(rounded_on);
    assert_orders_agree(&results);
    assert!(results == on_every_device!(rounded_on), "two runs differ");
}

#[test]
fn what_reads_no_matrix_stays_in_double() {
    let backend = CpuBackend::default();
    let (blocks, r) = positive(20);
    let matrix: Matrix<_, f64> = blocks.upload(&backend, "ebw");
    for name in precond::names().into_iter().filter(|name| !precond::has_order(name)) {
        let [double, rounded] = [precond::build, precond::build_rounded].map(|build| {
            let build: precond::Builder<_, f64> = build;
            applied(&backend, &matrix, &*build(name, 6, &backend, &matrix).unwrap(), &r)
        });
        assert_eq!(double, rounded, "{name}");
    }
    let unknown = precond::build_rounded("ilu", 6, &backend, &matrix);
    assert!(matches!(unknown, Err(Error::NotAvailable { .. })));
}

fn solved<B: Backend>(backend: &B, name: &str, tolerance: f64) -> (Vec<u64>, CgOutcome) {
    let (blocks, f) = positive(60);
    let matrix: Matrix<B, f64> = blocks.upload(backend, "ebw");
    let preconditioner = precond::build_rounded(name, 4, backend, &matrix).unwrap();
    let (device_f, mut u) = (backend.upload(&f).unwrap(), backend.zeros(180).unwrap());
    let options = CgOptions::new(tolerance, 300);
    let outcome = cg(backend, &matrix, &*preconditioner, &device_f, &mut u, options, &Silent).unwrap();
    let u = backend.download(&u).unwrap();
    let expected = blocks.dense().cholesky().unwrap().solve(&DVector::from_vec(f));
    assert!(outcome.converged && outcome.relative_residual <= tolerance, "{name}: {outcome:?}");
    assert_close(name, &u, expected.as_slice(), 1e3 * tolerance, expected.amax());
    (bits(&u), outcome)
}

#[test]
fn the_solution_is_as_exact_as_in_double() {
    for name in polynomials() {
        assert_orders_agree(&on_every_device!(solved, name, 1e-13));
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
        model.solver.tolerance = 1e-9;
        let solve = |model: &Model| {
            pipeline::solve(model, Device::Cpu, &Silent).unwrap_or_else(|error| panic!("{:?}: {error}", model.solver))
        };
        let double = solve(&model);
        let expected = double.displacement.as_flattened();
        model.solver.precision = "mixed".into();
        for name in polynomials() {
            model.solver.preconditioner = name.into();
            let mixed = solve(&model);
            assert!(mixed.outcome.relative_residual <= 1e-9);
            assert_close(name, mixed.displacement.as_flattened(), expected, 1e-6, largest(expected));
            model.solver.precision = "double".into();
            let same = solve(&model);
            model.solver.precision = "mixed".into();
            let (mixed, same) = (mixed.outcome, same.outcome);
            let counts = [mixed.iterations, mixed.spmvs, same.iterations, same.spmvs];
            assert!(mixed.iterations < double.outcome.iterations, "{name}: {counts:?}");
        }
        model.solver.preconditioner = "auto".into();
        let auto = solve(&model);
        assert_eq!(auto.choices.preconditioner, precond::AUTO_MIXED);
        assert!(auto.outcome.iterations < double.outcome.iterations, "{:?}", auto.outcome);
    }
}

/// Launches of one solution by entry point.
#[test]
fn the_products_of_the_preconditioner_are_in_single() {
    let backend = GpuBackend::new(Recorder::default()).unwrap();
    let (_, outcome) = solved(&backend, "least_squares", 1e-10);
    let counts = backend.launcher().counts().launches;
    let starts = outcome.spmvs / 5 - outcome.iterations;
    assert_eq!(counts["ebw_polynomial_step_3_32_f32"], 4 * outcome.spmvs / 5);
    assert_eq!(counts["ebw_spmv_dot_3_32_f64"], outcome.iterations);
    assert_eq!(counts["spmv_ebw3_f64"], starts);
    assert!(!counts.contains_key("ebw_polynomial_step_3_32_f64"), "{counts:?}");
}
