//! What every report of `warpfem-bench` but FEMSES begins with, as it is written and read.

use super::Common;
use kernels_rs::real::Real;
use serde::{Deserialize, Serialize};
use warpfem::linalg::Space;
use warpfem::mesh::Mesh;
use warpfem::result::Result;

/// The problem and the machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// DeviceName name.
    pub device: String,
    /// A file's name without extension, or `tet4 cube 40`.
    pub problem: String,
    /// Nodes of the mesh: block rows of its matrix.
    pub nodes: usize,
    /// Elements of the mesh's dimension.
    pub elements: usize,
    /// Unknowns per node: rows and columns of a block.
    pub block_size: usize,
    /// Rows of the matrix.
    pub dofs: usize,
    /// Blocks of the matrix, without what a format pads.
    pub blocks: usize,
    /// `f32` or `f64`.
    pub precision: String,
    /// Bandwidth of a copy within the device's memory, reads and writes both counted.
    pub copy_gb_per_s: f64,
}

impl Header {
    /// Measures the copy bandwidth and describes a mesh with this many unknowns per node; `blocks` are not known yet.
    pub fn new<T: Real>(space: &Space, common: &Common, mesh: &Mesh, block_size: usize) -> Result<Self> {
        Ok(Header {
            device: space.name(),
            problem: common.problem.name(),
            nodes: mesh.coords.len(),
            elements: mesh.n_solids(),
            block_size,
            dofs: block_size * mesh.coords.len(),
            blocks: 0,
            precision: T::NAME.into(),
            copy_gb_per_s: common.copy_bandwidth(space)?,
        })
    }

    /// Bytes that a product must move in any format: the values and one index of each block, x and y once.
    pub fn product_bytes<T: Real>(&self) -> u64 {
        self.bytes_of::<T>(self.blocks)
    }

    /// As [`Header::product_bytes`], of a matrix that is known to be symmetric: on the CPU of its diagonal blocks and
    /// those below.
    pub fn symmetric_product_bytes<T: Real>(&self, on_host: bool) -> u64 {
        self.bytes_of::<T>(if on_host { (self.blocks + self.nodes) / 2 } else { self.blocks })
    }

    fn bytes_of<T: Real>(&self, blocks: usize) -> u64 {
        let block = self.block_size * self.block_size * size_of::<T>() + size_of::<u32>();
        (blocks * block + 2 * self.dofs * size_of::<T>()) as u64
    }
}
