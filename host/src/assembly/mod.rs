//! Assembly: first which entries the matrix has ([`topology`], by [`symbolic`] where the host does it), then their
//! values ([`stiffness`], by one [`Strategy`](crate::result::choices::Strategy) or another), loads and supports ([`numeric`]). Or no matrix, but those of
//! the elements ([`element_operator`]).

pub mod coloring;
mod couplings;
pub mod element_operator;
pub(crate) mod forms;
mod materials;
pub mod numbering;
pub mod numeric;
pub mod stiffness;
mod strategy;
pub mod symbolic;
pub mod topology;

pub use coloring::CellColors;
pub use couplings::Couplings;
pub use element_operator::ElementOperator;
pub use numbering::Numbering;
pub use numeric::{DeviceBlock, DeviceMesh, Supports};
pub use stiffness::Assembly;
pub use symbolic::Symbolic;
pub use topology::Topology;
