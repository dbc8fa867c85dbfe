//! How the values of other ranks' nodes come.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::result::Result;
use crate::sparse::{Exchange, Neighbour, scatter};

/// How the values of other ranks' nodes come.
pub struct Ghosts {
    exchange: Exchange<f64>,
    /// Where they go.
    places: Buffer<u32>,
}

impl Ghosts {
    /// Those of a rank, whose nodes have `size` components and these rows.
    pub(super) fn new(space: &Space, neighbours: &[Neighbour], rows: &[u32], size: usize) -> Result<Self> {
        let places = rows.iter().flat_map(|row| row * size as u32..(row + 1) * size as u32).collect();
        Ok(Ghosts { exchange: Exchange::new(space, neighbours, size)?, places: space.upload_vec(places)? })
    }

    /// Gives a vector the values of other ranks' nodes.
    pub fn fill(&self, space: &Space, w: &mut Buffer<f64>) -> Result<()> {
        let come = self.exchange.outside(space, w)?;
        scatter(space, &come, &self.places, w)
    }
}
