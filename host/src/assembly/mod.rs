//! Assembly: first which entries the matrix has ([`topology`], by [`symbolic`] where the host does it), then their
//! values ([`stiffness`], by one [`Strategy`](crate::result::choices::Strategy) or another), loads and supports ([`numeric`]). Or no matrix, but those of
//! the elements ([`element_operator`]), or none at all ([`matrix_free`]), with that of vertices ([`VertexLevel`]) or
//! some rows at a time ([`SlabStiffness`]) for multigrid.

mod addition;
pub mod coloring;
mod couplings;
pub mod element_operator;
pub(crate) mod forms;
mod geometric;
mod incompatible;
mod mass;
mod materials;
pub mod matrix_free;
pub mod numbering;
pub mod numeric;
pub mod patch_order;
pub mod patches;
mod rule;
mod slabs;
mod slanted;
pub mod stiffness;
mod strategy;
mod supports;
pub mod symbolic;
pub mod topology;
mod vertices;

pub use addition::Addition;
pub use coloring::CellColors;
pub use couplings::Couplings;
pub use element_operator::ElementOperator;
pub use geometric::geometric_stiffness;
pub use incompatible::CONDENSED_BYTES;
pub use mass::{BodyMass, body_masses, capacity_matrix, mass_along, mass_matrix};
pub use matrix_free::MatrixFree;
pub use numbering::Numbering;
pub use numeric::{DeviceBlock, DeviceMesh};
pub use slabs::SlabStiffness;
pub use slanted::{DeviceSlanted, Slanted};
pub use stiffness::Assembly;
pub use supports::{DeviceSupports, Supports};
pub use symbolic::Symbolic;
pub use topology::Topology;
pub use vertices::VertexLevel;
