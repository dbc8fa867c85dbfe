//! Incompatible modes of the cells: the host's side of [`kernels_rs::assembly::incompatible`].

use super::numeric::{DeviceBlock, DeviceMesh};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Physics;
use crate::result::Result;
use crate::sparse::Matrix;
use kernels_rs::assembly::Destination;
use kernels_rs::assembly::incompatible::{Condense, FindAmplitudes, TakeOff};
use kernels_rs::eigenstrain::Eigenstrain;
use kernels_rs::real::Real;

/// Bytes of what condensing leaves of a cell to the rows of its nodes.
pub const CONDENSED_BYTES: u64 = (8 * 3 * size_of::<[[f64; 3]; 3]>()) as u64;

impl DeviceMesh {
    /// Whether the cells of a block have modes beside their nodes: a potential has none.
    fn has_modes(&self, block: &DeviceBlock) -> bool {
        block.cells.kind.has_modes() && self.form.physics == Physics::Elasticity
    }

    /// Condenses the modes of a block's cells: takes what they make softer off a matrix that has their stiffness without
    /// modes.
    pub(super) fn condense<T: Real>(&self, space: &Space, block: &DeviceBlock, matrix: &mut Matrix<T>) -> Result<()> {
        if !self.has_modes(block) {
            return Ok(());
        }
        let cells = &block.cells;
        let mut condensed = space.zeros(cells.n_cells * cells.kind.info().n_nodes * 3)?;
        let mesh = self.general_view(block);
        let to = Destination { slots: cells.slots.view(), entries: matrix.entries(), values: matrix.values_mut() };
        // SAFETY: views of this mesh, of its matrix and of blocks for all of the cells' nodes, which live until `finish`. A row is
        // written by its owner alone.
        unsafe {
            space.run(cells.n_cells, Condense { mesh, condensed: condensed.view_mut() })?;
            space.run(self.n_nodes, TakeOff { mesh, condensed: condensed.view(), to })?;
        }
        space.finish()
    }

    /// The amplitudes of the modes of a block's cells, of displacements `u [n_nodes][3]` beside some thermal strains; nothing if
    /// they have none.
    pub fn amplitudes(
        &self,
        space: &Space,
        block: &DeviceBlock,
        eigen: Eigenstrain,
        u: &Buffer<f64>,
    ) -> Result<Buffer<[[f64; 3]; 3]>> {
        let mut amplitudes = space.zeros(if self.has_modes(block) { block.cells.n_cells } else { 0 })?;
        if !amplitudes.is_empty() {
            let (mesh, u, to) = (self.general_view(block), u.view(), amplitudes.view_mut());
            // SAFETY: as above.
            unsafe { space.run(block.cells.n_cells, FindAmplitudes { mesh, eigen, u, amplitudes: to }) }?;
            space.finish()?;
        }
        Ok(amplitudes)
    }
}
