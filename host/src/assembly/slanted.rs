//! Supports in directions that are not those of the components: the host's side of [`kernels_rs::assembly::slanted`].

use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::assembly::slanted::{Directions, ProjectFree};
use kernels_rs::real::Real;

/// Nodes that are held in such directions, in the solver's numbering.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Slanted {
    /// The nodes, ascending.
    pub rows: Vec<u32>,
    /// What is held there.
    pub directions: Vec<Directions>,
}

/// The same on a device.
pub struct DeviceSlanted {
    rows: Buffer<u32>,
    /// What is held there.
    pub directions: Buffer<Directions>,
}

impl DeviceSlanted {
    /// Takes what is held off a vector of `size` components a node: `x <- Q x`.
    pub fn project<T: Real>(&self, space: &Space, size: usize, x: &mut Buffer<T>) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let (rows, directions, x) = (self.rows.view(), self.directions.view(), x.view_mut());
        // SAFETY: all live until `finish`; the rows are of x, each once.
        unsafe { space.run(self.rows.len(), ProjectFree { size, rows, directions, x }) }?;
        space.finish()
    }
}

impl Slanted {
    /// Copies them to a device.
    pub fn upload(&self, space: &Space) -> Result<DeviceSlanted> {
        Ok(DeviceSlanted { rows: space.upload(&self.rows)?, directions: space.upload(&self.directions)? })
    }

    /// The directions of a node, if it is one of these.
    pub fn at(&self, row: usize) -> Option<Directions> {
        self.rows.binary_search(&(row as u32)).ok().map(|place| self.directions[place])
    }
}
