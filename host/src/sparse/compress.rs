//! A dense matrix as a sparse one: what FEMSES does between a dense assembly and a sparse solver. See
//! `kernels_rs::sparse::compress`.

use super::{Matrix, Pattern, Tuning};
use crate::linalg::Space;
use crate::result::choices::Format;
use crate::result::{Error, Result};
use kernels_rs::real::Real;
use kernels_rs::sparse::compress::{CountNonzeros, NonzeroColumns, PickNonzeros};
use std::rc::Rc;

/// The entries of a matrix in format `dense` that are not zero, and its diagonal, as a matrix of scalars in another
/// format (`csr`, say). Made where the matrix is, the same every time.
///
/// # Errors
///
/// [`Error::NotAvailable`] if the matrix is not in format `dense`; [`Error::OutOfMemory`].
pub fn from_dense<T: Real>(space: &Space, dense: &Matrix<T>, format: Format) -> Result<Matrix<T>> {
    if dense.format() != Format::Dense.name() {
        let (what, name) = ("format to find nonzero entries in", dense.format().into());
        return Err(Error::NotAvailable { what, name, available: vec![Format::Dense.name()] });
    }
    let n = dense.block_size() * dense.pattern().n_rows;
    let mut counts = space.zeros(n)?;
    // SAFETY: a count for every row; the matrix lives.
    unsafe { space.run(n, CountNonzeros { values: dense.values(), counts: counts.view_mut() }) }?;
    let row_start = space.exclusive_sum(&counts)?;
    let total = space.read_at(&row_start, n)? as usize;
    let mut columns = space.zeros(total)?;
    let kernel = NonzeroColumns { values: dense.values(), row_start: row_start.view(), columns: columns.view_mut() };
    // SAFETY: a place for every entry that was counted; all live.
    unsafe { space.run(n, kernel) }?;
    space.finish()?;
    let pattern = Rc::new(Pattern { n_rows: n, row_start, columns });
    let mut sparse = Matrix::zeros(space, format, 1, &pattern, Tuning::default())?;
    let entries = sparse.entries();
    let kernel = PickNonzeros { n, dense: dense.values(), entries, values: sparse.values_mut() };
    // SAFETY: the entries are those of these values; each belongs to one row.
    unsafe { space.run(n, kernel) }?;
    space.finish()?;
    Ok(sparse)
}
