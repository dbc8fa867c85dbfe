//! A dense matrix as a sparse one: what FEMSES does between a dense assembly and a sparse solver. See
//! `kernels_rs::sparse::compress`.

use super::{Matrix, Pattern, Tuning};
use crate::backend::{Backend, Buffer};
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
pub fn from_dense<B: Backend, T: Real>(backend: &B, dense: &Matrix<B, T>, format: Format) -> Result<Matrix<B, T>> {
    if dense.format() != Format::Dense.name() {
        let (what, name) = ("format to find nonzero entries in", dense.format().into());
        return Err(Error::NotAvailable { what, name, available: vec![Format::Dense.name()] });
    }
    let n = dense.block_size() * dense.pattern().n_rows;
    let mut counts = backend.zeros(n)?;
    // SAFETY: a count for every row; the matrix lives.
    unsafe { backend.run(n, CountNonzeros { values: dense.values(), counts: counts.view_mut() }) }?;
    let row_start = backend.exclusive_sum(&counts)?;
    let total = backend.read_at(&row_start, n)? as usize;
    let mut columns = backend.zeros(total)?;
    let kernel = NonzeroColumns { values: dense.values(), row_start: row_start.view(), columns: columns.view_mut() };
    // SAFETY: a place for every entry that was counted; all live.
    unsafe { backend.run(n, kernel) }?;
    backend.finish()?;
    let pattern = Rc::new(Pattern { n_rows: n, row_start, columns });
    let mut sparse = Matrix::zeros(backend, format, 1, &pattern, Tuning::default())?;
    let entries = sparse.entries();
    let kernel = PickNonzeros { n, dense: dense.values(), entries, values: sparse.values_mut() };
    // SAFETY: the entries are those of these values; each belongs to one row.
    unsafe { backend.run(n, kernel) }?;
    backend.finish()?;
    Ok(sparse)
}
