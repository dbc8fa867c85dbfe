//! The stiffness of a mesh that keeps no matrix, in slabs: some rows at a time, as often as they are asked for.
//!
//! Multigrid makes its first coarse level from K. It reads it four times: norms of the diagonal, strong couplings, `A P_0`
//! and `A P`. So K is assembled four times, and a sixteenth of it is there.

use super::topology::{CellBlock, TypeCells};
use super::{Assembly, DeviceMesh, Numbering, Supports, Topology};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::result::Result;
use crate::result::choices::{Format, Strategy};
use crate::sparse::{Matrix, Pattern, SLABS, SlabWork, Slabs, Tuning};
use std::cell::RefCell;
use std::rc::Rc;

/// K of a mesh after supports, in slabs.
pub struct SlabStiffness<'a> {
    mesh: &'a DeviceMesh,
    pattern: Rc<Pattern>,
    /// Those of each element type, see [`CellBlock`].
    slots: Vec<Buffer<u16>>,
    assembly: RefCell<Assembly<f64>>,
    supports: &'a Supports,
}

impl<'a> SlabStiffness<'a> {
    /// Of a mesh whose topology has no matrix.
    ///
    /// # Errors
    ///
    /// [`crate::result::Error::OutOfMemory`], [`crate::result::Error::TooLarge`]
    pub fn new(
        space: &Space,
        model: &Model,
        numbering: &Numbering,
        mesh: &'a DeviceMesh,
        supports: &'a Supports,
    ) -> Result<Self> {
        let mut coords = space.zeros(mesh.n_nodes)?;
        space.copy(mesh.coords(), &mut coords)?;
        let cells = mesh.blocks.iter().map(|block| -> Result<TypeCells> {
            let mut nodes = space.zeros(block.cells.nodes.len())?;
            space.copy(&block.cells.nodes, &mut nodes)?;
            Ok((block.cells.index, block.cells.kind, nodes))
        });
        let pairs = model.constraints.pairs().into_iter();
        let pairs: Vec<[u32; 2]> = pairs.map(|pair| pair.map(|node| numbering.to_solver[node as usize])).collect();
        let Topology { pattern, blocks, .. } =
            Topology::of_cells(space, cells.collect::<Result<_>>()?, &pairs, coords)?;
        let slots = blocks.into_iter().map(|CellBlock { slots, .. }| slots).collect();
        let assembly = RefCell::new(Assembly::new(space, mesh, &pattern, Strategy::RowOwner)?);
        Ok(SlabStiffness { mesh, pattern, slots, assembly, supports })
    }
}

impl Slabs<f64> for SlabStiffness<'_> {
    fn pattern(&self) -> &Rc<Pattern> {
        &self.pattern
    }

    fn block_size(&self) -> usize {
        self.mesh.components()
    }

    fn for_each(&self, space: &Space, work: &mut SlabWork<f64>) -> Result<()> {
        let n = self.pattern.n_rows;
        let height = n.div_ceil(SLABS).max(1);
        let slots: Vec<_> = self.slots.iter().map(Buffer::view).collect();
        for first in (0..n).step_by(height) {
            let rows = first..(first + height).min(n);
            let blocks = Rc::new(self.pattern.rows(space, &rows)?.0);
            let mut slab = Matrix::zeros(space, Format::Bcsr, self.block_size(), &blocks, Tuning::default())?;
            self.assembly.borrow_mut().assemble_by(space, self.mesh, &slots, &mut slab)?;
            self.supports.eliminate(space, &mut slab)?;
            work(&slab, rows)?;
        }
        Ok(())
    }
}
