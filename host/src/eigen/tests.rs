//! Eigenvalues against those of dense matrices and of the Laplacian, by both methods.

use super::problem::Problem;
use super::{EigenOptions, Eigenpairs, Pencil, Progress, block_size, dense, lobpcg};
use crate::device::{Buffer, DeviceName};
use crate::linalg::Space;
use crate::precond::Preconditioner;
use crate::result::{Ending, Result};
use crate::sparse::LinOp;
use nalgebra::{Cholesky, DMatrix, DVector};
use std::f64::consts::PI;

/// What a product makes of a vector.
type Function = Box<dyn Fn(&[f64]) -> Vec<f64>>;

/// A product on the host, as an operator and as a preconditioner, on any device.
struct Product(usize, Function);

impl Product {
    fn dense(matrix: DMatrix<f64>) -> Product {
        let n = matrix.nrows();
        Product(n, Box::new(move |x| (&matrix * DVector::from_column_slice(x)).as_slice().to_vec()))
    }

    fn diagonal(values: Vec<f64>) -> Product {
        Product(values.len(), Box::new(move |x| x.iter().zip(&values).map(|(x, value)| x * value).collect()))
    }

    fn identity(n: usize) -> Product {
        Product::diagonal(vec![1.0; n])
    }

    fn inverse(matrix: &DMatrix<f64>) -> Product {
        Product::dense(Cholesky::new(matrix.clone()).unwrap().inverse())
    }

    fn jacobi(matrix: &DMatrix<f64>) -> Product {
        Product::diagonal(matrix.diagonal().iter().map(|value| 1.0 / value).collect())
    }

    fn apply(&self, space: &Space, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        *y = space.upload_vec(self.1(&space.download(x)?))?;
        Ok(())
    }
}

impl LinOp<f64> for Product {
    fn n(&self) -> usize {
        self.0
    }

    fn apply(&self, space: &Space, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        Product::apply(self, space, x, y)
    }

    fn row_sums(&self, _: &Space) -> Result<Buffer<f64>> {
        unreachable!("nobody asks for it")
    }
}

impl Preconditioner<f64> for Product {
    fn apply(&self, space: &Space, _: &dyn LinOp<f64>, r: &Buffer<f64>, z: &mut Buffer<f64>) -> Result<()> {
        Product::apply(self, space, r, z)
    }
}

fn options(n: usize) -> EigenOptions {
    EigenOptions { n, shift: 0.0, tolerance: 1e-10, max_iterations: 2000 }
}

/// By the iteration, however few unknowns there are.
fn iterate(space: &Space, pencil: &Pencil, options: &EigenOptions) -> Eigenpairs {
    let problem = Problem::new(space, pencil).unwrap();
    lobpcg::solve(problem, block_size(options.n), options, &mut |_| true).unwrap()
}

/// Densely, however many there are.
fn directly(space: &Space, pencil: &Pencil, options: &EigenOptions) -> Eigenpairs {
    dense::solve(Problem::new(space, pencil).unwrap(), options, &mut |_| true).unwrap()
}

/// The eigenvalues of a dense pencil that are not infinite, ascending.
fn expected(a: &DMatrix<f64>, m: &DMatrix<f64>) -> Vec<f64> {
    let l = Cholesky::new(a.clone()).unwrap().l();
    let half = l.solve_lower_triangular(m).unwrap();
    let inverse = l.solve_lower_triangular(&half.transpose()).unwrap();
    let mu = super::ritz::descending(0.5 * (&inverse + inverse.transpose())).0;
    mu.iter().take_while(|value| **value > 1e-12 * mu[0]).map(|value| 1.0 / value).collect()
}

/// The values are these, the vectors M-orthonormal, and `A x = lambda M x`.
#[track_caller]
fn assert_sound(what: &str, space: &Space, pencil: &Pencil, found: &Eigenpairs, expected: &[f64], tolerance: f64) {
    let Eigenpairs { values, iterations, products, ending, residuals, .. } = found;
    println!("{what}: {iterations} iterations, {products} products, residuals to {:.1e}", max(residuals));
    assert_eq!(*ending, Ending::Converged, "{what}");
    assert_eq!((values.len(), found.converged), (expected.len(), expected.len()), "{what}: {values:?}");
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() <= tolerance * expected, "{what}: {value}, not {expected}");
    }
    let vectors: Vec<DVector<f64>> =
        found.vectors.iter().map(|x| DVector::from_vec(space.download(x).unwrap())).collect();
    let product = |of: &dyn LinOp<f64>, x: &Buffer<f64>| {
        let mut y = space.zeros(x.len()).unwrap();
        of.apply(space, x, &mut y).unwrap();
        DVector::from_vec(space.download(&y).unwrap())
    };
    for (j, x) in found.vectors.iter().enumerate() {
        let (ax, mx) = (product(pencil.a, x), product(pencil.m, x));
        for (k, other) in vectors.iter().enumerate() {
            let (m, a) = (other.dot(&mx), other.dot(&ax) / values[j]);
            let one = f64::from(u8::from(j == k));
            let root = (values[k] / values[j]).sqrt().max(1.0);
            assert!((m - one).abs() < 1e-6 && (a - one).abs() < 1e-6 * root, "{what}: {j} {k}: {m}, {a}");
        }
        let eta = (&ax - values[j] * &mx).norm() / ax.norm();
        assert!(eta < 1e-2, "{what}: residual {eta} of {j}");
    }
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// A symmetric positive definite matrix with eigenvalues from 1 to `n^2`, and no pattern.
fn positive(n: usize, seed: usize) -> DMatrix<f64> {
    let random = |i: usize, j: usize| kernels_rs::real::mixed((seed * n + i) * n + j) as f64 / 2f64.powi(63) - 1.0;
    let q = DMatrix::from_fn(n, n, random).qr().q();
    let values = DVector::from_fn(n, |i, _| ((i + 1) * (i + 1)) as f64);
    let matrix = &q * DMatrix::from_diagonal(&values) * q.transpose();
    0.5 * (&matrix + matrix.transpose())
}

/// A well-conditioned mass matrix.
fn mass(n: usize, seed: usize) -> DMatrix<f64> {
    let noise = positive(n, seed) / (n * n) as f64;
    DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) * (1.0 + (i % 7) as f64) + noise[(i, j)])
}

/// `-u''` by differences, `cells` intervals a side, 0 on the boundary.
fn laplacian(cells: usize) -> DMatrix<f64> {
    let side = cells - 1;
    DMatrix::from_fn(side * side, side * side, |row, column| {
        let apart =
            [row / side, row % side].into_iter().zip([column / side, column % side]).map(|(i, j)| i.abs_diff(j));
        match apart.sum::<usize>() {
            0 => 4.0,
            1 => -1.0,
            _ => 0.0,
        }
    })
}

/// Its eigenvalues, ascending.
fn laplacian_values(cells: usize) -> Vec<f64> {
    let one = |k: usize| 4.0 * (k as f64 * PI / (2 * cells) as f64).sin().powi(2);
    let mut values: Vec<f64> =
        (1..cells).flat_map(|i| (1..cells).map(move |j| (i, j))).map(|(i, j)| one(i) + one(j)).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn dense_pencils() {
    let space = Space::cpu();
    for n in [1, 2, 9, 40, 120] {
        let (a, m) = (positive(n, 1), mass(n, 2));
        let values = expected(&a, &m);
        let (of_a, of_m) = (Product::dense(a.clone()), Product::dense(m.clone()));
        let jacobi = Product::jacobi(&a);
        let pencil = Pencil { a: &of_a, m: &of_m, preconditioner: &jacobi, deflated: &[] };
        for wanted in [1, 6, 20, n] {
            let values = &values[..wanted.min(n)];
            let found = directly(&space, &pencil, &options(wanted));
            assert_sound(&format!("{wanted} of {n}, dense"), &space, &pencil, &found, values, 1e-9);
            let found = iterate(&space, &pencil, &options(wanted));
            assert_sound(&format!("{wanted} of {n}"), &space, &pencil, &found, values, 1e-9);
        }
    }
}

#[test]
fn preconditioners_change_nothing_but_the_way() {
    let (space, n) = (Space::cpu(), 320);
    let (a, m) = (positive(n, 3), mass(n, 4));
    let values = expected(&a, &m);
    let (of_a, of_m) = (Product::dense(a.clone()), Product::dense(m.clone()));
    let mut counts = Vec::new();
    let choices =
        [("identity", Product::identity(n)), ("jacobi", Product::jacobi(&a)), ("inverse", Product::inverse(&a))];
    for (name, preconditioner) in &choices {
        let pencil = Pencil { a: &of_a, m: &of_m, preconditioner, deflated: &[] };
        for wanted in [1, 6, 20] {
            let found = super::lobpcg(&space, &pencil, &options(wanted), &mut |_| true).unwrap();
            assert_sound(&format!("{wanted} by {name}"), &space, &pencil, &found, &values[..wanted], 1e-9);
            counts.push(found.iterations);
        }
    }
    assert!(counts[6..].iter().all(|count| *count < 15), "{counts:?}");
}

#[test]
fn multiple_eigenvalues_have_their_multiplicity() {
    let (space, cells) = (Space::cpu(), 20);
    let (a, values) = (laplacian(cells), laplacian_values(cells));
    let (of_a, of_m) = (Product::dense(a.clone()), Product::identity(a.nrows()));
    for (name, preconditioner) in [("identity", Product::identity(a.nrows())), ("inverse", Product::inverse(&a))] {
        let pencil = Pencil { a: &of_a, m: &of_m, preconditioner: &preconditioner, deflated: &[] };
        for wanted in [1, 2, 3, 6, 20] {
            let found = super::lobpcg(&space, &pencil, &options(wanted), &mut |_| true).unwrap();
            assert!(found.iterations > 0);
            assert_sound(&format!("{wanted} of a square by {name}"), &space, &pencil, &found, &values[..wanted], 1e-9);
        }
        let found = directly(&space, &pencil, &options(30));
        assert_sound("30 of a square", &space, &pencil, &found, &values[..30], 1e-9);
    }
}

#[test]
fn clusters_are_resolved() {
    let (space, n) = (Space::cpu(), 400);
    // Seven together, then five of them equal, then the rest.
    let value = |i: usize| match i {
        0..7 => 1.0 + 1e-7 * i as f64,
        7..12 => 2.0,
        _ => 3.0 + i as f64,
    };
    let diagonal: Vec<f64> = (0..n).map(|i| value((i * 147 + 11) % n)).collect();
    let mut values = diagonal.clone();
    values.sort_by(f64::total_cmp);
    let (a, m) = (Product::diagonal(diagonal.clone()), Product::identity(n));
    for (name, preconditioner) in [
        ("identity", Product::identity(n)),
        ("nearly the inverse", Product::diagonal(diagonal.iter().map(|value| 1.0 / (value + 0.1)).collect())),
    ] {
        let pencil = Pencil { a: &a, m: &m, preconditioner: &preconditioner, deflated: &[] };
        for wanted in [3, 7, 9, 12, 14] {
            let found = super::lobpcg(&space, &pencil, &options(wanted), &mut |_| true).unwrap();
            // Of a cluster that is larger than the block any value will do.
            let tolerance = if wanted == 3 { 1e-6 } else { 1e-9 };
            assert_sound(&format!("{wanted} by {name}"), &space, &pencil, &found, &values[..wanted], tolerance);
        }
    }
}

#[test]
fn unknowns_may_have_no_mass() {
    let space = Space::cpu();
    for (n, massive, wanted) in [(60, 20, 6), (400, 130, 6), (400, 5, 5), (400, 5, 8), (60, 3, 10), (400, 0, 3)] {
        let a = positive(n, 5);
        let m: Vec<f64> = (0..n).map(|i| if i * 7 % n < massive { 1.0 + (i % 3) as f64 } else { 0.0 }).collect();
        let values = expected(&a, &DMatrix::from_diagonal(&DVector::from_column_slice(&m)));
        let (of_a, of_m) = (Product::dense(a.clone()), Product::diagonal(m));
        for (name, preconditioner) in [("jacobi", Product::jacobi(&a)), ("inverse", Product::inverse(&a))] {
            let pencil = Pencil { a: &of_a, m: &of_m, preconditioner: &preconditioner, deflated: &[] };
            let what = format!("{wanted} with {massive} masses of {n} by {name}");
            let values = &values[..wanted.min(values.len())];
            assert_eq!(values.len(), wanted.min(massive));
            assert_sound(&what, &space, &pencil, &iterate(&space, &pencil, &options(wanted)), values, 1e-9);
            assert_sound(&what, &space, &pencil, &directly(&space, &pencil, &options(wanted)), values, 1e-9);
        }
    }
}

#[test]
fn held_and_coupled_unknowns_do_not_count() {
    // Of 330 unknowns the first 30 are held, with a diagonal in A; the last 30 follow others, with empty rows.
    let (space, n) = (Space::cpu(), 330);
    let free = |i: usize| (30..300).contains(&i);
    let (mut a, full) = (positive(n, 6), mass(n, 7));
    let values = expected(&a.view((30, 30), (270, 270)).into_owned(), &full.view((30, 30), (270, 270)).into_owned());
    let inverse = Cholesky::new(a.view((30, 30), (270, 270)).into_owned()).unwrap().inverse();
    let t = DMatrix::from_fn(n, n, |i, j| if free(i) && free(j) { inverse[(i - 30, j - 30)] } else { 0.0 });
    a = DMatrix::from_fn(n, n, |i, j| match free(i) && free(j) {
        true => a[(i, j)],
        false => {
            if i == j && i < 30 {
                1e3
            } else {
                0.0
            }
        }
    });
    // M of what is held has a column still.
    let m = DMatrix::from_fn(n, n, |i, j| if free(i) && j < 300 { full[(i, j)] } else { 0.0 });
    let (a, m, t) = (Product::dense(a), Product::dense(m), Product::dense(t));
    let pencil = Pencil { a: &a, m: &m, preconditioner: &t, deflated: &[] };
    assert_sound("held", &space, &pencil, &iterate(&space, &pencil, &options(6)), &values[..6], 1e-9);
    assert_sound("held", &space, &pencil, &directly(&space, &pencil, &options(6)), &values[..6], 1e-9);
}

#[test]
fn known_eigenvectors_are_left_out() {
    // A free chain of springs, whose rigid motion is known; and one on a soft ground, which has the same vector.
    let (space, n) = (Space::cpu(), 340);
    for ground in [0.0, 1e-3] {
        let a = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => ground + f64::from(u8::from(i > 0)) + f64::from(u8::from(i + 1 < n)),
            1 => -1.0,
            _ => 0.0,
        });
        let values: Vec<f64> =
            (1..7).map(|k| ground + 4.0 * (f64::from(k) * PI / (2 * n) as f64).sin().powi(2)).collect();
        let shifted = &a + DMatrix::identity(n, n) * 1e-4;
        let (of_a, m, t) = (Product::dense(a), Product::identity(n), Product::inverse(&shifted));
        let rigid = [space.upload(&vec![1.0 / (n as f64).sqrt(); n]).unwrap()];
        let pencil = Pencil { a: &of_a, m: &m, preconditioner: &t, deflated: &rigid };
        let what = format!("a chain on {ground}");
        assert_sound(&what, &space, &pencil, &iterate(&space, &pencil, &options(6)), &values, 1e-8);
        assert_sound(&what, &space, &pencil, &directly(&space, &pencil, &options(6)), &values, 1e-8);
    }
}

#[test]
fn units_do_not_matter() {
    let (space, n) = (Space::cpu(), 310);
    let (a, m) = (positive(n, 8) * 1e11, mass(n, 9) * 1e-9);
    let values = expected(&a, &m);
    let (of_a, of_m, t) = (Product::dense(a.clone()), Product::dense(m), Product::inverse(&a));
    let pencil = Pencil { a: &of_a, m: &of_m, preconditioner: &t, deflated: &[] };
    assert_sound("units", &space, &pencil, &iterate(&space, &pencil, &options(6)), &values[..6], 1e-9);
    assert_sound("units", &space, &pencil, &directly(&space, &pencil, &options(6)), &values[..6], 1e-9);
}

/// The values and vectors of a square, more unknowns than a part of a sum; with the products of a stencil.
fn large_square(space: &Space) -> Vec<f64> {
    const SIDE: usize = 100;
    let stencil = |x: &[f64]| {
        let at = |i: usize, j: usize| if i < SIDE && j < SIDE { x[i * SIDE + j] } else { 0.0 };
        let around =
            |i: usize, j: usize| at(i.wrapping_sub(1), j) + at(i + 1, j) + at(i, j.wrapping_sub(1)) + at(i, j + 1);
        (0..SIDE * SIDE).map(|k| 4.0 * x[k] - around(k / SIDE, k % SIDE)).collect()
    };
    let (a, m) = (Product(SIDE * SIDE, Box::new(stencil)), Product::identity(SIDE * SIDE));
    let pencil = Pencil { a: &a, m: &m, preconditioner: &m, deflated: &[] };
    let found = super::lobpcg(space, &pencil, &EigenOptions { tolerance: 1e-8, ..options(6) }, &mut |_| true).unwrap();
    println!("{} iterations, {} products", found.iterations, found.products);
    let exact = laplacian_values(SIDE + 1);
    assert!(found.values.iter().zip(&exact).all(|(value, exact)| (value - exact).abs() < 1e-7 * exact));
    assert_eq!(found.converged, 6);
    let vectors = found.vectors.iter().flat_map(|x| space.download(x).unwrap());
    found.values.iter().copied().chain(vectors).collect()
}

#[test]
fn threads_change_no_bit() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| large_square(&Space::cpu()))
    };
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert!(bits(on(1)) == bits(on(2)));
}

#[test]
fn devices_agree() {
    let a = laplacian(20);
    let solve = |device: DeviceName| {
        let space = Space::open(device).unwrap();
        let (of_a, m, t) = (Product::dense(a.clone()), Product::identity(a.nrows()), Product::inverse(&a));
        let pencil = Pencil { a: &of_a, m: &m, preconditioner: &t, deflated: &[] };
        let found = super::lobpcg(&space, &pencil, &options(3), &mut |_| true).unwrap();
        assert_sound("a square", &space, &pencil, &found, &laplacian_values(20)[..3], 1e-9);
        found
    };
    let (found, expected, again) = (solve(DeviceName::Emulate), solve(DeviceName::Cpu), solve(DeviceName::Emulate));
    assert_eq!(found.iterations, expected.iterations);
    assert!(found.values.iter().zip(&expected.values).all(|(x, y)| (x - y).abs() < 1e-10 * y));
    assert_eq!(found.values, again.values);
}

#[test]
fn an_iteration_can_be_stopped() {
    let (space, a) = (Space::cpu(), laplacian(20));
    let (of_a, m) = (Product::dense(a.clone()), Product::identity(a.nrows()));
    let pencil = Pencil { a: &of_a, m: &m, preconditioner: &m, deflated: &[] };
    let mut seen: Vec<Progress> = Vec::new();
    let cancelled = super::lobpcg(&space, &pencil, &options(6), &mut |progress| {
        seen.push(progress);
        progress.iteration < 3
    });
    let cancelled = cancelled.unwrap();
    assert_eq!((cancelled.ending, cancelled.iterations, cancelled.values.len()), (Ending::Cancelled, 3, 6));
    assert!(seen.len() == 4 && seen[3].error.is_finite() && seen[3].iteration == 3 && seen[3].n == 6, "{seen:?}");
    let limited = iterate(&space, &pencil, &EigenOptions { max_iterations: 5, ..options(6) });
    assert_eq!((limited.ending, limited.iterations), (Ending::Limit, 5));
    assert!(limited.converged < 6 && limited.residuals.len() == 6);
    let small = laplacian(5);
    let (of_a, m) = (Product::dense(small), Product::identity(16));
    let pencil = Pencil { a: &of_a, m: &m, preconditioner: &m, deflated: &[] };
    let cancelled = super::lobpcg(&space, &pencil, &options(3), &mut |_| false).unwrap();
    assert_eq!((cancelled.ending, cancelled.values.len()), (Ending::Cancelled, 0));
}

#[test]
fn rounding_ends_an_iteration() {
    let space = Space::cpu();
    let (a, values) = (laplacian(20), laplacian_values(20));
    let (of_a, m) = (Product::dense(a.clone()), Product::identity(a.nrows()));
    for preconditioner in [Product::identity(a.nrows()), Product::inverse(&a)] {
        let pencil = Pencil { a: &of_a, m: &m, preconditioner: &preconditioner, deflated: &[] };
        let found = iterate(&space, &pencil, &EigenOptions { tolerance: 1e-40, max_iterations: 10_000, ..options(4) });
        println!("{} iterations, {:?}", found.iterations, found.residuals);
        assert_eq!((found.ending, found.converged), (Ending::Stagnated, 0));
        assert!(found.iterations < 400 && max(&found.residuals) < 1e-10);
        assert!(found.values.iter().zip(&values).all(|(x, y)| (x - y).abs() < 1e-13 * y));
    }
}

#[test]
fn numbers_that_overflow_are_an_error() {
    let (space, n) = (Space::cpu(), 320);
    for at in [0, 3] {
        let a = Product(
            n,
            Box::new(move |x| x.iter().enumerate().map(|(i, x)| if i == at { f64::NAN } else { *x }).collect()),
        );
        let m = Product::identity(n);
        let pencil = Pencil { a: &a, m: &m, preconditioner: &m, deflated: &[] };
        for wanted in [2, 200] {
            assert!(super::lobpcg(&space, &pencil, &options(wanted), &mut |_| true).is_err());
        }
    }
}

#[test]
fn a_negative_eigenvalue_of_a_is_no_answer() {
    let (space, n) = (Space::cpu(), 400);
    let diagonal: Vec<f64> = (0..n).map(|i| if i == 17 { -0.5 } else { 1.0 + i as f64 }).collect();
    let (a, m) = (Product::diagonal(diagonal.clone()), Product::identity(n));
    let t = Product::diagonal(diagonal.iter().map(|value| 1.0 / (value.abs() + 0.1)).collect());
    let pencil = Pencil { a: &a, m: &m, preconditioner: &t, deflated: &[] };
    let found = super::lobpcg(&space, &pencil, &options(4), &mut |_| true).unwrap();
    assert_eq!((found.ending, found.converged), (Ending::Indefinite, 0));
}
