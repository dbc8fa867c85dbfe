//! Assembly: first which entries the matrix has ([`topology`], by [`symbolic`] where the host does it), then their values
//! ([`numeric`]), loads and supports.

pub mod coloring;
pub mod numbering;
pub mod numeric;
pub mod symbolic;
pub mod topology;

pub use coloring::CellColors;
pub use numbering::{Numbering, Ordering};
pub use numeric::{DeviceMesh, Supports};
pub use symbolic::Symbolic;
pub use topology::Topology;
