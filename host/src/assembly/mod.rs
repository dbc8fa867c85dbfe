//! Assembly: first which entries the matrix has ([`topology`], by [`symbolic`] where the host does it), then their values
//! ([`numeric`]), loads and supports.

pub mod numbering;
pub mod numeric;
pub mod symbolic;
pub mod topology;

pub use numbering::{Numbering, Ordering};
pub use numeric::{DeviceMesh, Supports};
pub use symbolic::Symbolic;
pub use topology::Topology;
