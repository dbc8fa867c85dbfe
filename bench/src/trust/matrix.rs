//! The stiffness matrix before supports, on the host, and its product in extended precision.

use super::extended::Extended;
use warpfem::assembly::{Assembly, DeviceMesh};
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::result::Result;
use warpfem::result::choices::{Format, Strategy};
use warpfem::sparse::{Matrix, Sparsity, Tuning};

/// A symmetric matrix by the blocks on and below its diagonal.
pub struct Stiffness {
    size: usize,
    sparsity: Sparsity,
    blocks: Vec<f64>,
}

impl Stiffness {
    /// That of a model, assembled as its solution on the CPU does, where another matrix has its blocks.
    pub fn assemble(space: &Space, model: &Model, mesh: &DeviceMesh, other: &Matrix<f64>) -> Result<Stiffness> {
        let (size, pattern) = (model.analysis.components(), other.shared_pattern());
        let mut matrix = Matrix::<f64>::zeros(space, Format::Bcsr, size, pattern, Tuning::default())?;
        let kinds = model.mesh.solids().map(|(_, cells)| cells.kind);
        let strategy = Strategy::auto(true, model.form(), kinds);
        let mut assembly = Assembly::new(space, mesh, pattern, strategy)?;
        assembly.assemble(space, mesh, &mut matrix)?;
        Ok(Stiffness { size, sparsity: pattern.download(space)?, blocks: matrix.blocks(space)? })
    }

    /// Its diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let (size, rows) = (self.size, 0..self.sparsity.n_rows());
        // The block on the diagonal comes first.
        let first = |row: usize| self.sparsity.row_start[row] as usize * size * size;
        rows.flat_map(|row| (0..size).map(move |i| self.blocks[first(row) + i * size + i])).collect()
    }

    /// `K x`.
    pub fn product(&self, x: &[Extended]) -> Vec<Extended> {
        let size = self.size;
        let mut y = vec![Extended::ZERO; x.len()];
        for row in 0..self.sparsity.n_rows() {
            let first = self.sparsity.row_start[row] as usize;
            for (k, &column) in self.sparsity.row(row).iter().enumerate() {
                let column = column as usize;
                if column > row {
                    continue;
                }
                let block = &self.blocks[(first + k) * size * size..][..size * size];
                for (entry, &value) in block.iter().enumerate() {
                    let (i, j) = (row * size + entry / size, column * size + entry % size);
                    y[i] += x[j].times(value);
                    if column < row {
                        y[j] += x[i].times(value);
                    }
                }
            }
        }
        y
    }
}
