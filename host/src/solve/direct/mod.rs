//! Direct solution of `K u = f`: `K = L L^T` by Cholesky's method, then substitution, then iterative refinement
//! (Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch. 10 and 12).
//!
//! | step | here |
//! | --- | --- |
//! | `A = D^-1/2 K D^-1/2`, D the diagonal of K | where the factor is made |
//! | how large L is, before any number | [`Fill`](crate::result::Fill) |
//! | `A = L L^T` on the CPU, sparse | `sparse`, in the order of [`Dissection`]; with the feature `direct` |
//! | the same without that feature, of up to [`MOST_DENSE`] unknowns | [`HostDenseFactor`] |
//! | `A = L L^T` on a GPU, sparse, where its maker's library is found | [`DeviceSparseFactor`] |
//! | `A = L L^T` on a GPU without it, or on the emulator, dense | [`DenseFactor`] |
//! | `r = f - K u`, `u += D^-1/2 A^-1 D^-1/2 r`, until r is small | [`Direct`] |
//!
//! With a diagonal of 1 no unit of measurement matters, and a pivot says how near to singular the matrix is: the
//! smallest is at least the smallest eigenvalue of A. One of the size of rounding errors makes the matrix singular, and
//! there is no solution.
//!
//! | precision | factor | refined by the residual of |
//! | --- | --- | --- |
//! | double | double | the matrix, in double |
//! | mixed | single: half the memory, twice the speed | the matrix, in double |
//! | single | single | the matrix rounded to single: the true residual is reported, and may be above the tolerance |

#[cfg(feature = "direct")]
mod count;
pub mod dense;
mod device_sparse;
mod dissection;
mod fill;
mod host_dense;
mod refinement;
#[cfg(feature = "direct")]
mod sparse;

pub use dense::DenseFactor;
pub use device_sparse::DeviceSparseFactor;
pub use dissection::{Dissection, Division};
pub use host_dense::HostDenseFactor;
pub use refinement::Direct;
#[cfg(feature = "direct")]
pub use sparse::SparseFactor;

use super::Iteration;
use crate::device::{self, Buffer, LowerTriangle};
use crate::linalg::Space;
use crate::result::{DirectError, Error, Result};
use crate::sparse::{Matrix, Sparsity};
use kernels_rs::real::Real;

/// The precision of a factor.
#[cfg(feature = "direct")]
pub trait Precision: Real + warpfem_cholesky::Number {}
/// The precision of a factor.
#[cfg(not(feature = "direct"))]
pub trait Precision: Real {}
impl Precision for f32 {}
impl Precision for f64 {}

/// The factors of a matrix.
pub trait Factor<T: Real> {
    /// `d = K^-1 r`, as far as the factor's precision goes.
    fn solve(&self, space: &Space, r: &Buffer<T>, d: &mut Buffer<T>) -> Result<()>;
    /// Values that it stores.
    fn nonzeros(&self) -> u64;
}

/// Unknowns up to which a dense factor on the CPU is an answer: a minute's work for a core.
pub const MOST_DENSE: usize = 5_000;

/// How a direct solver is made: on a device, of a matrix and the coordinates of its block rows, `[n_rows]`.
pub type Builder<T> = fn(&Space, &Matrix<T>, &[[f64; 3]]) -> Result<Box<dyn Iteration<T>>>;

/// A direct solver by [`factorise`].
///
/// # Errors
///
/// Those of [`factorise`].
pub fn build<T: Real, F: Precision>(
    space: &Space,
    matrix: &Matrix<T>,
    coords: &[[f64; 3]],
) -> Result<Box<dyn Iteration<T>>> {
    Ok(Box::new(Direct { factor: factorise::<T, F>(space, matrix, coords)? }))
}

/// Factorises a matrix in the precision `F`; `coords` are those of its block rows, `[n_rows]`.
///
/// # Errors
///
/// [`Error::OutOfMemory`], before the factor is computed where that can be told; [`DirectError`].
pub fn factorise<T: Real, F: Precision>(
    space: &Space,
    matrix: &Matrix<T>,
    coords: &[[f64; 3]],
) -> Result<Box<dyn Factor<T>>> {
    check_built(space.on_host(), matrix.block_size() * matrix.pattern().n_rows)?;
    match sparse::<T, F>(space, matrix, coords) {
        Err(Error::Direct(DirectError::NotBuilt { .. })) => dense::<T, F>(space, matrix, coords),
        Err(Error::Direct(DirectError::NoLibrary(why))) => {
            let why = format!(" (a sparse factor would be smaller, and needs cuDSS: {why})");
            dense::<T, F>(space, matrix, coords).map_err(|error| lacking(error, &why))
        }
        factor => factor,
    }
}

/// Whether this build has factors for a system of `n` unknowns on such a device.
///
/// # Errors
///
/// [`DirectError::NotBuilt`]
pub fn check_built(on_host: bool, n: usize) -> Result<(), DirectError> {
    let is_dense = on_host && !cfg!(feature = "direct");
    if is_dense && n > MOST_DENSE { Err(DirectError::NotBuilt { most_dense: MOST_DENSE }) } else { Ok(()) }
}

/// Sparse factors.
pub fn sparse<T: Real, F: Precision>(
    space: &Space,
    matrix: &Matrix<T>,
    coords: &[[f64; 3]],
) -> Result<Box<dyn Factor<T>>> {
    if !space.on_host() {
        return Ok(Box::new(DeviceSparseFactor::<T, F>::build(space, matrix, coords)?));
    }
    cfg_select! {
        feature = "direct" => Ok(Box::new(SparseFactor::<F>::build(space, matrix, coords)?)),
        _ => Err(DirectError::NotBuilt { most_dense: MOST_DENSE }.into()),
    }
}

/// The number of negative eigenvalues of a symmetric matrix, by a factor on the host; `coords` are those of its block rows. What is
/// `held`, directions of rows that nothing is coupled with, does not count.
///
/// # Errors
///
/// [`Error::OutOfMemory`], [`DirectError`].
pub fn negative_eigenvalues(
    space: &Space,
    matrix: &Matrix<f64>,
    coords: &[[f64; 3]],
    held: &[(usize, [f64; 3])],
) -> Result<usize> {
    cfg_select! {
        feature = "direct" => count::negative_eigenvalues(space, matrix, coords, held),
        _ => {
            let _ = (space, matrix, coords, held);
            Err(DirectError::NotBuilt { most_dense: MOST_DENSE }.into())
        }
    }
}

/// Dense factors.
pub fn dense<T: Real, F: Precision>(
    space: &Space,
    matrix: &Matrix<T>,
    coords: &[[f64; 3]],
) -> Result<Box<dyn Factor<T>>> {
    Ok(match space.on_host() {
        true => Box::new(HostDenseFactor::build(space, matrix, coords)?),
        false => Box::new(DenseFactor::<T, F>::build(space, matrix, coords)?),
    })
}

/// An error; of a lack of memory, with more behind the device's name.
fn lacking(error: Error, more: &str) -> Error {
    match error {
        Error::OutOfMemory { device, needed, available } => {
            Error::OutOfMemory { device: device + more, needed, available }
        }
        other => other,
    }
}

/// The smallest pivot of a matrix with a diagonal of 1 that is taken for more than rounding errors.
fn smallest_pivot<F: Real>() -> f64 {
    64.0 * F::EPSILON.to_f64()
}

/// Whether a pivot, of a matrix with a diagonal of 1, is none: no more than a rounding error, or not a number.
fn is_no_pivot<F: Real>(pivot: f64) -> bool {
    pivot.is_nan() || pivot < smallest_pivot::<F>()
}

/// `D^-1/2` of a matrix with this diagonal, `[n]`. Where that is not positive it is left as it is, for the
/// factorisation to find.
fn scaling(diagonal: impl Iterator<Item = f64>) -> Vec<f64> {
    diagonal.map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 1.0 }).collect()
}

/// The matrix as sparse factorisations take it: the lower triangle of `D^-1/2 K D^-1/2`, scalar by scalar, and `D^-1/2`,
/// of a symmetric matrix of these blocks, `[n_blocks][size][size]`.
fn scaled_lower<T: Real, F: Real>(sparsity: &Sparsity, size: usize, blocks: &[T]) -> (LowerTriangle<F>, Vec<f64>) {
    let n = sparsity.n_rows() * size;
    let value = |block: usize, i: usize, j: usize| blocks[(block * size + i) * size + j].to_f64();
    let first = |row: usize| sparsity.row_start[row] as usize;
    // The diagonal block is a row's first.
    let scale = scaling((0..n).map(|i| value(first(i / size), i % size, i % size)));
    let mut lower = LowerTriangle { row_start: vec![0], columns: Vec::new(), values: Vec::new() };
    for node in 0..sparsity.n_rows() {
        let neighbours = sparsity.row(node);
        for i in 0..size {
            // Those before the diagonal ascend.
            let before = neighbours.iter().enumerate().skip(1).take_while(|(_, other)| (**other as usize) < node);
            for (k, other) in before.chain([(0, &neighbours[0])]) {
                let other = *other as usize;
                for j in 0..if other == node { i + 1 } else { size } {
                    let (row, column) = (node * size + i, other * size + j);
                    lower.columns.push(column);
                    lower.values.push(F::from_f64(value(first(node) + k, i, j) * scale[row] * scale[column]));
                }
            }
            lower.row_start.push(lower.columns.len());
        }
    }
    (lower, scale)
}

/// `D^-1/2 r` in the precision of a factor on the host.
fn scale_in<T: Real, F: Real>(space: &Space, scale: &[f64], r: &Buffer<T>) -> Result<Vec<F>> {
    let r = space.download(r)?;
    Ok(r.iter().zip(scale).map(|(r, scale)| F::from_f64(r.to_f64() * scale)).collect())
}

/// `D^-1/2 x`, what [`scale_in`] has been solved for, back on the device.
fn scale_out<T: Real, F: Real>(space: &Space, scale: &[f64], x: &[F]) -> Result<Buffer<T>> {
    space.upload_vec(x.iter().zip(scale).map(|(x, scale)| T::from_f64(x.to_f64() * scale)).collect())
}

/// What memory is missing for, and what does without.
const PURPOSE: &str = " for a direct solver's factor, which `--method cg` does without";

fn check_memory(space: &Space, needed: u64) -> Result<()> {
    device::check_memory(space, needed, PURPOSE)
}

/// A pivot that is too small, or whose value nobody knows, by its row.
fn not_positive<F: Real>(pivot: Option<f64>, row: usize, size: usize, coords: &[[f64; 3]]) -> Error {
    let precision = if F::NAME == "f32" { "single" } else { "double" };
    DirectError::NotPositive { pivot, at: coords[row / size], component: row % size, precision }.into()
}
