//! Few unknowns: all of A and M on the host, and every eigenvalue of `M x = mu A x`.

use super::problem::{Problem, dots, scale, sum_of};
use super::ritz::descending;
use super::{EigenOptions, Eigenpairs, Progress};
use crate::device::Buffer;
use crate::result::{Ending, Result};
use kernels_rs::blas::quotient;
use nalgebra::{DMatrix, DVector};

/// Eigenvalues of A, its diagonal scaled to 1, relative to the largest, that are 0 but for rounding: unknowns that others
/// determine, and rigid motions.
const SINGULAR: f64 = 1e-13;
/// The same of mu: vectors without mass.
const MASSLESS: f64 = 1e-13;

/// Solves for the eigenvalues wanted.
pub fn solve(
    mut problem: Problem,
    options: &EigenOptions,
    monitor: &mut dyn FnMut(Progress) -> bool,
) -> Result<Eigenpairs> {
    let EigenOptions { n, tolerance, .. } = *options;
    if !monitor(Progress { iteration: 0, converged: 0, n, error: 1.0, tolerance }) {
        return Ok(super::pairs(Vec::new(), (0, problem.products), 0, Ending::Cancelled));
    }
    let (space, length) = (problem.space, problem.n());
    let a = columns(&mut problem, Problem::apply_a)?;
    let mut m = columns(&mut problem, Problem::apply_m)?;
    problem.deflate_dense(&mut m)?;
    let vectors = eigenvectors(&a, &m, n);
    let mut x: Vec<Buffer<f64>> =
        vectors.into_iter().map(|x| space.upload_vec(x.as_slice().to_vec())).collect::<Result<_>>()?;
    problem.deflate(&mut x)?;
    let (mut ax, mut mx) = (space.vectors(length, x.len())?, space.vectors(length, x.len())?);
    problem.apply_a(&x, &mut ax)?;
    problem.apply_m(&x, &mut mx)?;
    let (energies, masses) = (dots(space, &x, &ax)?, dots(space, &x, &mx)?);
    let mut pairs = Vec::with_capacity(x.len());
    for (j, mut x) in x.into_iter().enumerate() {
        let eta = relative_residual(&problem, masses[j] / energies[j], &ax[j], &mx[j])?;
        scale(space, 1.0 / masses[j].sqrt(), &mut x)?;
        pairs.push((energies[j] / masses[j], x, [eta, eta * eta]));
    }
    let converged = pairs.len();
    Ok(super::pairs(pairs, (0, problem.products), converged, Ending::Converged))
}

/// What makes products with unit vectors.
type Apply<'a> = fn(&mut Problem<'a>, &[Buffer<f64>], &mut [Buffer<f64>]) -> Result<()>;

/// An operator, column by column, made symmetric. What is held has an empty row, but its column may say what would be.
fn columns<'a>(problem: &mut Problem<'a>, apply: Apply<'a>) -> Result<DMatrix<f64>> {
    let (space, n) = (problem.space, problem.n());
    let (mut matrix, mut product) = (DMatrix::zeros(n, n), space.vectors(n, 1)?);
    for j in 0..n {
        let unit = space.upload_vec((0..n).map(|i| f64::from(u8::from(i == j))).collect())?;
        apply(problem, &[unit], &mut product)?;
        matrix.set_column(j, &DVector::from_vec(space.download(&product[0])?));
    }
    crate::linalg::check_finite(matrix.as_slice())?;
    for row in 0..n {
        if matrix.row(row).iter().all(|value| *value == 0.0) {
            matrix.fill_column(row, 0.0);
        }
    }
    Ok(0.5 * (&matrix + matrix.transpose()))
}

/// The vectors of the n largest mu: A is scaled and its eigenvectors make `B^T A B = I`, in which mu are those of
/// `B^T M B`.
fn eigenvectors(a: &DMatrix<f64>, m: &DMatrix<f64>, n: usize) -> Vec<DVector<f64>> {
    let free: Vec<usize> = (0..a.nrows()).filter(|i| a[(*i, *i)] > 0.0).collect();
    let scales: Vec<f64> = free.iter().map(|i| 1.0 / a[(*i, *i)].sqrt()).collect();
    let scaled = |of: &DMatrix<f64>| {
        DMatrix::from_fn(free.len(), free.len(), |i, j| scales[i] * of[(free[i], free[j])] * scales[j])
    };
    let (stiffness, vectors) = descending(scaled(a));
    let rank = stiffness.iter().take_while(|value| **value > SINGULAR * stiffness[0]).count();
    let mut b = vectors.columns(0, rank).into_owned();
    b.column_iter_mut().zip(&stiffness).for_each(|(mut column, value)| column /= value.sqrt());
    let product = b.tr_mul(&(scaled(m) * &b));
    let (mu, c) = descending(0.5 * (&product + product.transpose()));
    let n = mu.iter().take(n).take_while(|value| **value > MASSLESS * mu[0]).count();
    let x = b * c.columns(0, n);
    let whole = |column: usize| {
        let mut whole = DVector::zeros(a.nrows());
        free.iter().enumerate().for_each(|(i, row)| whole[*row] = scales[i] * x[(i, column)]);
        whole
    };
    (0..n).map(whole).collect()
}

/// `||M x - mu A x||_T / ||M x||_T`.
fn relative_residual(problem: &Problem, mu: f64, ax: &Buffer<f64>, mx: &Buffer<f64>) -> Result<f64> {
    let (space, n) = (problem.space, problem.n());
    let (mut r, mut z) = (space.vectors(n, 2)?, space.vectors(n, 2)?);
    let mass = dots(space, std::slice::from_ref(mx), std::slice::from_ref(mx))?[0].sqrt();
    for (k, factor) in [-mu, 0.0].into_iter().enumerate() {
        sum_of(space, [quotient(1.0, mass), quotient(factor, mass)], mx, ax, &mut r[k])?;
    }
    problem.precondition(&r, &mut z)?;
    let squares = dots(space, &r, &z)?;
    Ok(quotient(squares[0].abs().sqrt(), squares[1].abs().sqrt()))
}
