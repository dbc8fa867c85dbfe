//! The small dense problems of an iteration, on the host.

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// A Gram matrix this near the identity needs no second pass.
const NEAR: f64 = 0.1;
/// Diagonal entries of a factor, of a matrix whose diagonal is 1, down to which it is good for a first pass.
const SMALLEST_PIVOT: f64 = 1e-3;
/// Eigenvalues of such a matrix, relative to the largest, below which a direction depends on the others.
const DEPENDENT: f64 = 1e-12;
/// Columns of coefficients of which less than this is left are no directions.
const VANISHED: f64 = 1e-10;

/// Whether vectors with this Gram matrix are orthonormal but for a little.
pub fn is_near_identity(gram: &DMatrix<f64>) -> bool {
    let n = gram.nrows();
    (0..n).all(|i| (0..n).all(|j| (gram[(i, j)] - f64::from(u8::from(i == j))).abs() <= NEAR))
}

/// T with `T^T G T = I`, of a Gram matrix G; fewer columns than rows where vectors depend on one another.
///
/// By a Cholesky factor of the scaled matrix, or where that is ill-conditioned by its eigenvectors (Stathopoulos and Wu
/// 2002, "SVQB").
pub fn orthonormalising(gram: &DMatrix<f64>) -> DMatrix<f64> {
    let present: Vec<usize> = (0..gram.nrows()).filter(|i| gram[(*i, *i)] > 0.0).collect();
    let scale: Vec<f64> = present.iter().map(|i| 1.0 / gram[(*i, *i)].sqrt()).collect();
    let n = present.len();
    let scaled = DMatrix::from_fn(n, n, |i, j| scale[i] * gram[(present[i], present[j])] * scale[j]);
    let t = of_factor(&scaled).unwrap_or_else(|| of_eigenvectors(scaled));
    let mut all = DMatrix::zeros(gram.nrows(), t.ncols());
    present.iter().enumerate().for_each(|(i, row)| all.set_row(*row, &(scale[i] * t.row(i))));
    all
}

/// `L^-T`, if no pivot is small.
fn of_factor(scaled: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let l = Cholesky::new(scaled.clone())?.unpack();
    if l.diagonal().iter().any(|pivot| *pivot < SMALLEST_PIVOT) {
        return None;
    }
    Some(l.solve_lower_triangular(&DMatrix::identity(l.nrows(), l.nrows()))?.transpose())
}

/// The eigenvectors that are not dependent, each over the root of its eigenvalue.
fn of_eigenvectors(scaled: DMatrix<f64>) -> DMatrix<f64> {
    let (values, mut vectors) = descending(scaled);
    let rank = values.iter().take_while(|value| **value > DEPENDENT * values[0].max(1.0)).count();
    vectors = vectors.columns(0, rank).into_owned();
    vectors.column_iter_mut().zip(&values).for_each(|(mut column, value)| column /= value.sqrt());
    vectors
}

/// Eigenvalues of a symmetric matrix, descending, and its eigenvectors.
pub fn descending(matrix: DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
    if matrix.is_empty() {
        return (Vec::new(), matrix);
    }
    let eigen = SymmetricEigen::new(matrix);
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|i, j| eigen.eigenvalues[*j].total_cmp(&eigen.eigenvalues[*i]));
    let values = order.iter().map(|i| eigen.eigenvalues[*i]).collect();
    (values, DMatrix::from_fn(order.len(), order.len(), |row, column| eigen.eigenvectors[(row, order[column])]))
}

/// The directions of a step: of the columns named of c, whose columns are orthonormal, what the rows after the first `n_x`
/// have, made orthonormal and orthogonal to all of c (Hetmaniuk and Lehoucq 2006). What vanishes is left out.
pub fn directions(c: &DMatrix<f64>, n_x: usize, columns: &[usize]) -> DMatrix<f64> {
    let mut basis: Vec<DVector<f64>> = Vec::new();
    for column in columns {
        let mut z = c.column(*column).into_owned();
        z.rows_mut(0, n_x).fill(0.0);
        let mut left = normalised(&mut z);
        for _ in 0..2 {
            z -= c * c.tr_mul(&z);
            basis.iter().for_each(|other| z.axpy(-other.dot(&z), other, 1.0));
            left *= normalised(&mut z);
        }
        if left > VANISHED {
            basis.push(z);
        }
    }
    DMatrix::from_fn(c.nrows(), basis.len(), |row, column| basis[column][row])
}

/// Makes its norm 1; what it was.
fn normalised(z: &mut DVector<f64>) -> f64 {
    let norm = z.norm();
    if norm > 0.0 {
        *z /= norm;
    }
    norm
}
