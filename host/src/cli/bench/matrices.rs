//! Where the benchmarks meet the storage formats: set-up, and matrices by their format's name.

use super::synthetic::value;
use kernels_rs::real::Real;
use kernels_rs::sparse::Layout;
use std::rc::Rc;
use warpfem::assembly::{Ordering, Symbolic};
use warpfem::backend::{Backend, CpuBackend, Scalar, Vector};
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::pipeline::{Phase, System, Timings, natural_order};
use warpfem::solve::Silent;
use warpfem::sparse::{self, Ebw, Footprint, Format, Operator, Pattern, Sparsity};
use warpfem::{Error, Result};

/// The orders of nodes by name; `auto` chooses among them.
const ORDERINGS: &[(&str, Ordering)] = &[("mesh", Ordering::Mesh), ("hilbert", Ordering::Hilbert)];

/// What `--ordering` may be.
pub fn orderings() -> Vec<&'static str> {
    std::iter::once("auto").chain(ORDERINGS.iter().map(|(name, _)| *name)).collect()
}

/// The order of this name and its name; `auto` stands for the mesh's own choice.
pub fn ordering(name: &str, mesh: &Mesh) -> (&'static str, Ordering) {
    let natural = natural_order(mesh);
    let found = ORDERINGS.iter().find(|(known, order)| if name == "auto" { *order == natural } else { *known == name });
    *found.unwrap_or(&ORDERINGS[0])
}

/// What the formats with parameters take.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    /// Rows per slice of `sell`.
    pub slice_height: usize,
    /// Rows that are sorted by length together.
    pub sorting_window: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { slice_height: 32, sorting_window: 1024 }
    }
}

/// The set-up that all formats share: which blocks the matrix of a mesh has.
pub fn pattern<B: Backend>(backend: &B, mesh: &Mesh, order: Ordering, window: usize) -> Result<Rc<Pattern<B>>> {
    let Symbolic { sparsity, .. } = Symbolic::new(mesh, order, window)?;
    Ok(Rc::new(Pattern::upload(backend, sparsity)?))
}

/// Which blocks the matrix of a mesh has, in the host's memory and the mesh's own order.
pub fn sparsity(mesh: &Mesh) -> Result<Sparsity> {
    Ok(Symbolic::new(mesh, Ordering::Mesh, 1)?.sparsity)
}

/// A model assembled in one format.
pub type Assembled<B, T> = System<B, Ebw, T>;

/// Assembles a model in the format of this name.
pub fn assemble<B: Backend, T: Real>(backend: &B, model: &Model, _format: &str) -> Result<(Assembled<B, T>, Timings)> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(&Silent, "setup");
    let system = System::assemble(backend, model, &mut phase, &mut timings)?;
    Ok((system, timings))
}

/// A matrix in the format of some name.
pub struct Matrix<B: Backend, T: Real> {
    format: Ebw,
    sparsity: Sparsity,
    matrix: sparse::Matrix<B, Ebw, T>,
}

impl<B: Backend, T: Real> Matrix<B, T> {
    /// Lays a matrix of zeros out.
    pub fn zeros(backend: &B, _: &str, block_size: usize, pattern: &Rc<Pattern<B>>, _: Tuning) -> Result<Self> {
        if block_size != 3 {
            return Err(Error::NotAvailable { what: "block size", name: block_size.to_string(), available: vec!["3"] });
        }
        let sparsity = pattern.download(backend)?;
        let format = Ebw::build(&sparsity);
        let matrix = sparse::Matrix::zeros(backend, &format, pattern.n_rows)?;
        Ok(Matrix { format, sparsity, matrix })
    }

    /// What it stores.
    pub fn footprint(&self) -> Footprint {
        self.format.footprint()
    }

    /// Fills it with [`value`]s.
    pub fn fill_synthetic(&mut self, backend: &B) -> Result<()> {
        let arrays = self.format.upload(&CpuBackend::default())?;
        let layout = Ebw::layout(&arrays);
        let mut values = vec![T::ZERO; self.footprint().values as usize];
        for row in 0..self.sparsity.n_rows() {
            for (k, column) in self.sparsity.row(row).iter().enumerate() {
                for (i, j) in (0..9).map(|entry| (entry / 3, entry % 3)) {
                    // SAFETY: block k of this row is one of the matrix's; host views check their bounds.
                    let place = unsafe { layout.entry(row, k, i, j) };
                    values[place] = T::from_f64(value(3, [row, *column as usize], [i, j]));
                }
            }
        }
        self.matrix.values = backend.upload_vec(values)?;
        Ok(())
    }
}

impl<B: Backend, T: Real> Operator<B, T> for Matrix<B, T> {
    fn n(&self) -> usize {
        self.matrix.n()
    }

    fn apply(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>) -> Result<()> {
        self.matrix.apply(backend, x, y)
    }

    fn apply_dot(&self, backend: &B, x: &Vector<B, T>, y: &mut Vector<B, T>, out: Scalar) -> Result<()> {
        self.matrix.apply_dot(backend, x, y, out)
    }
}

/// Bytes of the values that a format stores at least, known before it is laid out: dense matrices have all, and ELLPACK's
/// rows are as long as the longest.
pub fn least_bytes<T: Real>(format: &str, block_size: usize, sparsity: &Sparsity) -> u64 {
    let rows = sparsity.n_rows() as u64;
    let longest = || (0..sparsity.n_rows()).map(|row| sparsity.row(row).len()).max().unwrap_or(0) as u64;
    let blocks = match format {
        dense if dense.starts_with("dense") => rows.saturating_mul(rows),
        "ell" | "ell_row" => rows.saturating_mul(longest()),
        _ => sparsity.n_blocks() as u64,
    };
    blocks.saturating_mul((block_size * block_size * size_of::<T>()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_pad_are_known_to_before_they_do() {
        let sparsity = Sparsity { row_start: vec![0, 3, 4, 5], columns: vec![0, 1, 2, 1, 2] };
        assert_eq!(least_bytes::<f64>("csr", 3, &sparsity), 5 * 9 * 8);
        assert_eq!(least_bytes::<f32>("ell_row", 2, &sparsity), 3 * 3 * 4 * 4);
        assert_eq!(least_bytes::<f64>("dense_block", 1, &sparsity), 9 * 8);
        let huge = Sparsity { row_start: vec![0; 3_000_001], columns: Vec::new() };
        assert_eq!(least_bytes::<f64>("dense", 3, &huge), 9_000_000 * 9_000_000 * 8);
    }
}
