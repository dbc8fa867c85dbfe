//! Preconditioners: symmetric and positive, and the polynomials that they are said to be.

use crate::common::blocks::{Blocks, chain, dense_of, random_sparsity};
use crate::common::{
    Random, applied, assert_close, bits, columns_of, floats, meshes, on_every_device, on_threads, rounding,
    tests_on_every_device,
};
use kernels_rs::half::F16;
use kernels_rs::precond::{PolynomialStep, Step};
use kernels_rs::real::Real;
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use std::f64::consts::PI;
use warpfem::device::Buffer;
use warpfem::element::ElementKind;
use warpfem::linalg::Space;
use warpfem::mesh::generate::generate_box;
use warpfem::model::Model;
use warpfem::precond::{self, Context, spectrum};
use warpfem::result::choices::ORDERS;
use warpfem::result::choices::{Format, Preconditioner};
use warpfem::solve::{CgOptions, Equations, Silent, cg};
use warpfem::sparse::{Epilogue, LinOp, Matrix};

/// `D^-1/2` of a matrix.
fn scaling(k: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_diagonal(&k.diagonal().map(|v| 1.0 / v.sqrt()))
}

fn models() -> Vec<Model> {
    let tet = meshes::two_materials(meshes::distorted_box(ElementKind::Tet4, [3, 2, 2], 0.2));
    let thin = generate_box(ElementKind::Hex8, [1.0, 0.2, 0.05], [5, 2, 1]).unwrap();
    vec![tet, meshes::model(&format!("{}{}", meshes::SOFT, meshes::CLAMP), thin)]
}

/// `M^-1`, column by column.
fn inverse_of<T: Real>(space: &Space, name: Preconditioner, order: usize, matrix: &Matrix<T>) -> DMatrix<f64> {
    columns_of(space, &*precond::build(name, &Context::of_order(order), space, matrix).unwrap(), matrix)
}

#[track_caller]
fn assert_sound(what: &str, inverse: &DMatrix<f64>, rounding: f64) {
    let asymmetry = (inverse - inverse.transpose()).amax() / inverse.amax();
    assert!(asymmetry < 20.0 * rounding, "{what}: asymmetric by {asymmetry}");
    // Scaled, so that what is small because of its unit is not taken for nothing.
    let scale = scaling(inverse);
    let smallest = SymmetricEigen::new(&scale * inverse * &scale).eigenvalues.min();
    assert!(smallest > 1e-3, "{what}: smallest eigenvalue {smallest}");
}

#[track_caller]
fn assert_symmetric_and_positive<T: Real>(space: &Space, what: &str, matrix: &Matrix<T>) {
    for name in Preconditioner::ALL {
        for order in ORDERS {
            let inverse = inverse_of(space, name, order, matrix);
            assert_sound(&format!("{name} {order} of {what}"), &inverse, rounding::<T>());
            if !precond::has_order(name) {
                break;
            }
        }
    }
}

#[test]
fn every_preconditioner_is_symmetric_and_positive() {
    let space = Space::cpu();
    for n in [1, 2, 20] {
        let blocks = Blocks::system(n).0;
        assert_symmetric_and_positive::<f64>(&space, "blocks", &blocks.upload(&space, Format::Ebw));
        assert_symmetric_and_positive::<f32>(&space, "blocks in f32", &blocks.upload(&space, Format::Csr));
    }
    for model in models() {
        assert_symmetric_and_positive(&space, "stiffness", meshes::system(&space, &model).matrix());
    }
}

#[test]
fn polynomials_of_a_copy_in_half_are_symmetric_and_positive() {
    let space = Space::cpu();
    for model in models() {
        let system = meshes::system(&space, &model);
        let matrix = system.matrix();
        for name in Preconditioner::ALL.into_iter().filter(|name| precond::has_order(*name)) {
            for order in ORDERS {
                let rounded = precond::build_rounded::<F16>(name, &Context::of_order(order), &space, matrix).unwrap();
                let what = format!("{name} {order} in half");
                assert_sound(&what, &columns_of(&space, &*rounded, matrix), rounding::<f32>());
            }
        }
    }
}

/// The bounds are those of the copy as it is stored.
#[test]
fn bounds_of_a_copy_in_half_enclose_its_own_spectrum() {
    let space = Space::cpu();
    for model in models() {
        let system = meshes::system(&space, &model);
        let matrix = system.matrix();
        let inverse = precond::inverse_diagonal(&space, matrix).unwrap();
        let copy = matrix.scaled_to::<F16>(&space, &inverse).unwrap();
        let inverse = precond::inverse_diagonal(&space, &copy).unwrap();
        assert!(inverse.host().iter().all(|v| *v == 1.0), "the scaled diagonal is 1");
        let bounds = spectrum::estimate(&space, &copy, &inverse, spectrum::STEPS).unwrap();
        let dense = dense_of(&space, &copy);
        assert_eq!(dense, dense.transpose());
        let exact = SymmetricEigen::new(dense).eigenvalues;
        // Rounding may leave the copy indefinite; polynomials are positive there, and no bound is negative.
        assert!(bounds.lower <= exact.min().max(0.0) && exact.max() <= bounds.upper, "{bounds:?}, not {}", exact.max());
        assert!(bounds.upper < 1.15 * exact.max(), "{bounds:?}, far above {}", exact.max());
    }
}

/// The same by products, on any device.
fn symmetric_on(space: &Space) -> Vec<u64> {
    let matrix: Matrix<f64> = Blocks::system(90).0.upload(space, Format::Ebw);
    let [x, y]: [Vec<f64>; 2] = [1, 2].map(|seed| Random(seed).vector(270));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut found = Vec::new();
    for name in Preconditioner::ALL {
        let preconditioner = precond::build(name, &Context::of_order(5), space, &matrix).unwrap();
        let [mx, my] = [&x, &y].map(|r| applied(space, &*preconditioner, &matrix, r));
        let scale = dot(&x, &mx);
        assert!(scale > 0.0 && (dot(&x, &my) - dot(&y, &mx)).abs() < 1e-13 * scale, "{name}");
        found.extend(bits(&[mx, my].concat()));
    }
    found
}

#[test]
fn devices_and_orders_agree() {
    let results = on_every_device!(symmetric_on);
    assert!(results == on_every_device!(symmetric_on), "two runs differ");
    for result in &results {
        let floats = |bits: &[u64]| bits.iter().map(|b| f64::from_bits(*b)).collect::<Vec<f64>>();
        assert_close("devices", &floats(result), &floats(&results[0]), 1e-12, 1.0);
    }
}

/// On the CPU a step rides on the product part by part: the same bits as one after the other, for any number of
/// threads.
fn step_rides_on_the_product<T: Real>(size: usize, format: Format) {
    let space = Space::cpu();
    let blocks = Blocks::random(random_sparsity(1700, 8, 1), size, 11);
    let matrix: Matrix<T> = blocks.upload(&space, format);
    let n = matrix.n();
    let [z, r, inverse, old] = [1, 2, 3, 4].map(|seed| space.upload(&Random(seed).vector::<T>(n)).unwrap());
    for factors in [[0.5, -2.0, 1.5], [0.5, 0.0, 1.5]].map(|factors| factors.map(T::from_f64)) {
        let step = |previous: &mut Buffer<T>| Step {
            factors,
            inverse: inverse.view(),
            r: r.view(),
            previous: previous.view_mut(),
        };
        let (mut product, mut expected) = (space.zeros(n).unwrap(), space.upload(old.host()).unwrap());
        matrix.apply(&space, &z, &mut product).unwrap();
        let kernel = PolynomialStep { step: step(&mut expected), z: z.view(), product: product.view() };
        // SAFETY: all live and have the rows of the matrix.
        unsafe { space.run(n, kernel) }.unwrap();
        for threads in [1, 3] {
            let host = [&z, &r, &inverse, &old].map(Buffer::host);
            let found = on_threads(threads, || {
                let space = Space::cpu();
                let [z, r, inverse, mut found] = host.map(|values| space.upload(values).unwrap());
                let (inverse, r, previous) = (inverse.view(), r.view(), found.view_mut());
                let step = Step { factors, inverse, r, previous };
                let matrix: Matrix<T> = blocks.upload(&space, format);
                let mut scratch = space.zeros(n).unwrap();
                // SAFETY: as above; `scratch` is nobody else's.
                unsafe { matrix.apply_then(&space, &z, &mut scratch, Epilogue::Step(step)) }.unwrap();
                bits(found.host())
            });
            assert!(found == bits(expected.host()), "{format}, blocks of {size}, {threads} threads");
        }
    }
}

#[test]
fn steps_ride_on_products() {
    for size in [1, 2, 3] {
        for format in [Format::Ebw, Format::Ebw64, Format::Ebw128, Format::Csr, Format::Sell] {
            step_rides_on_the_product::<f64>(size, format);
        }
        step_rides_on_the_product::<f32>(size, Format::Ebw);
    }
}

/// p(t) of a family, from its definition.
fn value(name: Preconditioner, order: usize, upper: f64, lower: f64) -> Box<dyn Fn(f64) -> f64> {
    let n = (order + 1) as f64;
    match name {
        Preconditioner::Neumann => {
            Box::new(move |t| (0..=order).map(|j| (1.0 - t / upper).powi(j as i32)).sum::<f64>() / upper)
        }
        Preconditioner::Chebyshev => {
            let of_degree = move |x: f64| match x {
                x if x.abs() <= 1.0 => (n * x.acos()).cos(),
                x => (n * x.abs().acosh()).cosh() * if x < 0.0 && order.is_multiple_of(2) { -1.0 } else { 1.0 },
            };
            // The interval on which the residual is halved, by bisection.
            let (mut short, mut long) = (1.0_f64, 100.0_f64);
            for _ in 0..200 {
                let middle = 0.5 * (short + long);
                if of_degree(middle) < 2.0 { short = middle } else { long = middle }
            }
            let lower = lower.max(upper * (short - 1.0) / (short + 1.0)).min(0.9 * upper);
            let x = move |t: f64| (upper + lower - 2.0 * t) / (upper - lower);
            Box::new(move |t| (1.0 - of_degree(x(t)) / of_degree(x(0.0))) / t)
        }
        _ => least_squares(order, upper),
    }
}

/// The polynomial p of which `1 - t p(t)` has the smallest sum of squares, in a basis of Chebyshev polynomials. With
/// `t = upper (1 - cos phi) / 2` the weight `t^(-1/2) (upper - t)^(-1/2)` is 1, and the sum over equal parts of phi is
/// exact.
fn least_squares(order: usize, upper: f64) -> Box<dyn Fn(f64) -> f64> {
    let basis = move |j: usize, t: f64| (j as f64 * (1.0 - 2.0 * t / upper).clamp(-1.0, 1.0).acos()).cos();
    let points = 4 * (order + 2);
    let t: Vec<f64> =
        (0..points).map(|q| upper * 0.5 * (1.0 - ((q as f64 + 0.5) * PI / points as f64).cos())).collect();
    let a = DMatrix::from_fn(points, order + 1, |q, j| t[q] * basis(j, t[q]));
    let p = a.svd(true, true).solve(&DVector::from_element(points, 1.0), 1e-14).unwrap();
    Box::new(move |t| (0..=order).map(|j| p[j] * basis(j, t)).sum())
}

fn polynomials_on<T: Real>(space: &Space) -> Vec<u64> {
    let blocks = Blocks::system(9).0;
    let matrix: Matrix<T> = blocks.upload(space, Format::Ebw);
    let inverse: Vec<T> = blocks.dense().diagonal().iter().map(|v| T::ONE / T::from_f64(*v)).collect();
    let bounds = spectrum::estimate(space, &matrix, &space.upload(&inverse).unwrap(), spectrum::STEPS).unwrap();
    let scale = scaling(&blocks.dense());
    let eigen = SymmetricEigen::new(&scale * blocks.dense() * &scale);
    let r: Vec<T> = Random(8).vector(27);
    let mut found = Vec::new();
    for name in Preconditioner::ALL.into_iter().filter(|name| precond::has_order(*name)) {
        for order in ORDERS {
            let p = value(name, order, bounds.upper, bounds.lower);
            let p = DMatrix::from_diagonal(&eigen.eigenvalues.map(p));
            let dense = &scale * &eigen.eigenvectors * p * eigen.eigenvectors.transpose() * &scale;
            let expected = dense * DVector::from_vec(floats(&r));
            let preconditioner = precond::build(name, &Context::of_order(order), space, &matrix).unwrap();
            assert_eq!(preconditioner.products(), order);
            let z = applied(space, &*preconditioner, &matrix, &r);
            assert_close(&format!("{name} {order}"), &z, expected.as_slice(), 20.0 * rounding::<T>(), expected.amax());
            found.extend(bits(&z));
        }
    }
    found
}

tests_on_every_device! {
    polynomials_in_double_are_those_of_their_definitions: polynomials_on::<f64>;
    polynomials_in_single_are_those_of_their_definitions: polynomials_on::<f32>;
    bounds_enclose_the_spectrum: bounds_on;
    block_jacobi_solves_a_block_diagonal_matrix_in_one_iteration: block_diagonal;
}

#[test]
fn least_squares_of_low_order_are_those_of_the_table() {
    // Saad 2003, table 12.1, for upper = 4, by ascending powers; divided by the first of the next row's, 2n + 1 of n =
    // m + 1.
    let table: [&[f64]; 4] =
        [&[5.0, -1.0], &[14.0, -7.0, 1.0], &[30.0, -27.0, 9.0, -1.0], &[55.0, -77.0, 44.0, -11.0, 1.0]];
    for (coefficients, order) in table.iter().zip(1..) {
        let p = least_squares(order, 4.0);
        for t in [0.1, 1.0, 2.5, 4.0] {
            let sum = |t: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c);
            let (found, expected) = (p(t) / p(4.0), sum(t) / sum(4.0));
            assert!((found - expected).abs() < 1e-10 * expected.abs(), "order {order} at {t}: {found}, {expected}");
        }
    }
}

fn bounds_on(space: &Space) -> Vec<u64> {
    let enclosed = |what: &str, matrix: &Matrix<f64>| {
        let dense = dense_of(space, matrix);
        let inverse: Vec<f64> = dense.diagonal().iter().map(|v| 1.0 / v).collect();
        let bounds = spectrum::estimate(space, matrix, &space.upload(&inverse).unwrap(), spectrum::STEPS).unwrap();
        let scale = scaling(&dense);
        let exact = SymmetricEigen::new(&scale * dense * &scale).eigenvalues;
        let (smallest, largest) = (exact.min(), exact.max());
        assert!(bounds.lower <= smallest && largest <= bounds.upper, "{what}: {bounds:?}, not {smallest} to {largest}");
        assert!(bounds.upper < 1.15 * largest, "{what}: {bounds:?}, far above {largest}");
        bits(&[bounds.lower, bounds.upper])
    };
    let mut found = Vec::new();
    for n in [1, 2, 5, 20, 60] {
        found.extend(enclosed("blocks", &Blocks::system(n).0.upload(space, Format::Ebw)));
    }
    for model in models() {
        found.extend(enclosed("stiffness", meshes::system(space, &model).matrix()));
    }
    found
}

#[test]
fn few_eigenvalues_are_found_exactly() {
    let space = Space::cpu();
    let diagonal: Vec<f64> = (0..300).map(|i| 1.0 + (i % 4) as f64).collect();
    let matrix: Matrix<f64> = Blocks::diagonal(&diagonal).upload(&space, Format::Ebw);
    // Unscaled, by a "diagonal" of ones: the eigenvalues are 1 to 4.
    let bounds = spectrum::estimate(&space, &matrix, &space.upload(&[1.0; 300]).unwrap(), spectrum::STEPS).unwrap();
    // But for the margin that a diagonal in single precision takes.
    let margin = f64::from(f32::EPSILON);
    let expected = [1.0 - margin, 4.0 * (1.0 + margin)];
    assert_close("bounds", &[bounds.lower, bounds.upper], &expected, 1e-10, 1.0);
}

/// Twenty steps see little of a spectrum of 9,000 whose smallest eigenvalue is a millionth.
#[test]
fn bounds_enclose_a_long_spectrum() {
    const N: usize = 3000;
    let (space, blocks) = (Space::cpu(), chain(N));
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    let bounds = spectrum::estimate(&space, &matrix, &space.upload(&[0.5; 3 * N]).unwrap(), spectrum::STEPS).unwrap();
    let [smallest, largest] = [1, N].map(|j| 1.0 - (j as f64 * PI / (N + 1) as f64).cos());
    assert!(bounds.lower <= smallest && largest <= bounds.upper, "{bounds:?}, not {smallest} to {largest}");
    assert!(bounds.upper < 1.05 * largest, "{bounds:?}, far above {largest}");
}

/// `sqrt(e . K e)` of an error.
fn energy_norm(blocks: &Blocks, error: &[f64]) -> f64 {
    blocks.product(error).iter().zip(error).map(|(k, e)| k * e).sum::<f64>().sqrt()
}

#[test]
fn iterations_are_as_few_as_the_known_spectrum_says() {
    const N: usize = 300;
    let (space, blocks) = (Space::cpu(), chain(N));
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    let expected: Vec<f64> = Random(3).vector(3 * N);
    let f = space.upload(&blocks.product(&expected)).unwrap();
    let inverse = space.upload(&[0.5; 3 * N]).unwrap();
    let bounds = spectrum::estimate(&space, &matrix, &inverse, spectrum::STEPS).unwrap();
    let eigenvalues: Vec<f64> = (1..=N).map(|j| 1.0 - (j as f64 * PI / (N + 1) as f64).cos()).collect();
    let start = energy_norm(&blocks, &expected);
    for name in Preconditioner::ALL.into_iter().filter(|name| precond::has_order(*name)) {
        for order in [1, 2, 3, 6, 16] {
            let preconditioner = precond::build(name, &Context::of_order(order), &space, &matrix).unwrap();
            let p = value(name, order, bounds.upper, bounds.lower);
            let spectrum = eigenvalues.iter().map(|t| t * p(*t));
            let (low, high) = spectrum.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
            let root = (high / low).sqrt();
            for iterations in [10, 20, 40] {
                let options = CgOptions::new(1e-14, iterations);
                let mut u = space.zeros(3 * N).unwrap();
                let outcome =
                    cg(&space, &Equations::new(&matrix, &f), &*preconditioner, &mut u, options, &Silent).unwrap();
                let error: Vec<f64> = space.download(&u).unwrap().iter().zip(&expected).map(|(u, e)| u - e).collect();
                // Saad 2003, eq. 6.128.
                let bound = 2.0 * ((root - 1.0) / (root + 1.0)).powi(outcome.iterations as i32) * start;
                let error = energy_norm(&blocks, &error);
                assert!(error <= bound + 1e-11 * start, "{name} {order} after {iterations}: {error} of {bound}");
                assert_eq!(outcome.spmvs % (1 + order), 0);
                assert!(outcome.spmvs >= outcome.iterations * (1 + order), "{outcome:?}");
            }
        }
    }
}

#[test]
fn polynomials_trade_iterations_for_products() {
    let (space, blocks) = (Space::cpu(), chain(300));
    let matrix: Matrix<f64> = blocks.upload(&space, Format::Ebw);
    let f = space.upload(&Random(3).vector::<f64>(900)).unwrap();
    let iterations = |name: Preconditioner, order: usize| {
        let preconditioner = precond::build(name, &Context::of_order(order), &space, &matrix).unwrap();
        let options = CgOptions::new(1e-8, 5000);
        let mut u = space.zeros(900).unwrap();
        let outcome = cg(&space, &Equations::new(&matrix, &f), &*preconditioner, &mut u, options, &Silent).unwrap();
        assert!(outcome.converged, "{name} {order}: {outcome:?}");
        outcome.history.iter().position(|r| *r <= 1e-8).unwrap() + 1
    };
    let jacobi = iterations(Preconditioner::Jacobi, 1);
    for order in [2, 4, 6] {
        let [neumann, chebyshev, least_squares] =
            [Preconditioner::Neumann, Preconditioner::Chebyshev, Preconditioner::LeastSquares]
                .map(|name| iterations(name, order));
        // As SBELL's table 3 has it: least squares beats Neumann, and a polynomial of m products cannot save more than
        // Jacobi's iterations over m + 1.
        assert!(least_squares < neumann && neumann < jacobi, "order {order}: {least_squares}, {neumann}, {jacobi}");
        assert!(chebyshev < neumann, "order {order}: {chebyshev}, {neumann}");
        let least = jacobi as f64 / (order + 1) as f64;
        assert!(0.8 * least <= least_squares.min(chebyshev) as f64, "order {order}: {chebyshev}, {least_squares}");
    }
}

fn block_diagonal(space: &Space) {
    let mut blocks = Blocks::system(33).0;
    let dense = blocks.dense();
    blocks.set_all(|row, column| if row / 3 == column / 3 { dense[(row, column)] } else { 0.0 });
    let matrix: Matrix<f64> = blocks.upload(space, Format::Ebw);
    let preconditioner = precond::build(Preconditioner::BlockJacobi, &Context::of_order(1), space, &matrix).unwrap();
    let f = space.upload(&Random(5).vector::<f64>(99)).unwrap();
    let mut u = space.zeros(99).unwrap();
    let options = CgOptions::new(1e-12, 100);
    let outcome = cg(space, &Equations::new(&matrix, &f), &*preconditioner, &mut u, options, &Silent).unwrap();
    assert!(outcome.converged && outcome.history[0] < 1e-12, "{outcome:?}");
}
