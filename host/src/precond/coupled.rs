//! The diagonal of `T^T K T`, T the couplings around a matrix K: see [`crate::sparse::Constrained`].

use super::jacobi;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{self, CoupledRows, Matrix};
use cuda_std::{GpuFloat, Number};
use kernels_rs::coupling::{CoupledDiagonal, SparseRows};
use kernels_rs::real::Stored;

/// What stands in the inverse of a diagonal for slaves, whose rows are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slaves {
    /// 0, as for other empty rows.
    Zero,
    /// What K has there.
    OfMatrix,
}

/// The inverse of the diagonal of `T^T K T`, `[n]`.
pub fn inverse_diagonal<V: Stored>(
    space: &Space,
    matrix: &Matrix<V>,
    coupled: Option<&CoupledRows>,
    slaves: Slaves,
) -> Result<Buffer<V::Arithmetic>> {
    let mut inverse = jacobi::inverse_diagonal(space, matrix)?;
    let Some(rows) = coupled else { return Ok(inverse) };
    let mut added: Vec<(u32, f64)> = rows.masters.iter().copied().zip(terms(space, matrix, rows)?).collect();
    added.sort_by_key(|of| of.0);
    let of_each = added.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.iter().map(|of| of.1).sum::<f64>()));
    let (masters, added): (Vec<u32>, Vec<f64>) = of_each.unzip();
    let mut of_masters = sparse::pick(space, &inverse, &masters)?;
    for (inverse, added) in of_masters.iter_mut().zip(added) {
        let own = inverse.to_f64();
        let diagonal = added + if own == 0.0 { 0.0 } else { 1.0 / own };
        // Half precision may leave a diagonal that is not positive: there K's own does.
        if diagonal > 0.0 {
            *inverse = V::Arithmetic::from_f64(1.0 / diagonal);
        }
    }
    sparse::put(space, &mut inverse, &masters, &of_masters)?;
    if slaves == Slaves::Zero {
        sparse::put(space, &mut inverse, &rows.slaves, &vec![V::Arithmetic::ZERO; rows.slaves.len()])?;
    }
    Ok(inverse)
}

/// What each entry of T adds to the diagonal of its master.
fn terms<V: Stored>(space: &Space, matrix: &Matrix<V>, rows: &CoupledRows) -> Result<Vec<f64>> {
    let slaves: Vec<u32> = rows.rows().flat_map(|(slave, of)| of.map(move |_| slave as u32)).collect();
    let n = slaves.len();
    let (slaves, row_of) = (space.upload_vec(slaves)?, sparse::places(space, rows.n, &rows.slaves)?);
    let (starts, columns) = (space.upload(&rows.starts)?, space.upload(&rows.masters)?);
    let (factors, mut terms) = (space.upload(&rows.factors)?, space.zeros(n)?);
    let kernel = CoupledDiagonal {
        entries: matrix.entries(),
        values: matrix.values(),
        rows: SparseRows { starts: starts.view(), columns: columns.view(), factors: factors.view() },
        slaves: slaves.view(),
        row_of: row_of.view(),
        terms: terms.view_mut(),
    };
    // SAFETY: all live until `take`, which waits; a term for each entry, whose unknowns are those of the matrix.
    unsafe { space.run(n, kernel) }?;
    space.take(terms)
}
