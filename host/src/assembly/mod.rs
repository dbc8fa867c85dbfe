//! Assembly: first which entries the matrix has ([`symbolic`]), then their values ([`numeric`]), loads and supports.

pub mod numbering;
pub mod numeric;
pub mod symbolic;

pub use numbering::{Numbering, Ordering};
pub use numeric::{DeviceMesh, Supports};
pub use symbolic::Symbolic;
