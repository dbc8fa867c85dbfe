//! The operator without a matrix: `y = K x` from the mesh's coordinates and materials, with the same bits on every run.
//!
//! `(K x)_a = sum_e sum_q w_q |J_q| s(grad x) g_a`, with the stress s of [`Flux`](crate::form::Flux)
//!
//! Cells that lie together make a *patch*, which a block of threads computes in its shared memory ([`product`]):
//!
//! | step | thread mapping |
//! | --- | --- |
//! | coordinates, relative to the patch's first node, and x of the patch's nodes | a thread per node |
//! | forces of the cells on their nodes ([`cell`]), each in a slot of its own | a thread per cell |
//! | the sum of a node's slots, in a fixed order | a thread per node and component |
//!
//! A node of one patch alone has its sum then. The sums of nodes that patches share lie side by side in an array, node by
//! node and patch by patch, and a second kernel ([`shared`]) adds them up. Supports are taken care of in both: a held node
//! takes part with what is free of x, and is always among the shared ones.
//!
//! One kernel serves all elements of a dimension; those that most bodies are made of have [formulas of their own](fixed),
//! with lists laid out for a number of cells that compilers know, and the coordinates of each patch kept beside them.
//!
//! All that a patch reads is on its way to shared memory at the same time ([`shared::copy_async`](cuda_std::shared::copy_async)).
//! `x . y` costs little on the way: it is the sum over patches of x times the forces on their nodes.
//!
//! The CPU runs the same functions, a thread per patch.

pub mod cell;
pub mod fixed;
pub mod formulas;
mod hex20;
mod hex8;
pub mod patch;
pub mod product;
pub mod shared;
mod tet10;
mod tet4;

#[cfg(test)]
mod tests;

pub use formulas::FixedCell;
pub use hex8::TrilinearHex8;
pub use hex20::SerendipityHex20;
pub use patch::Patches;
pub use product::{Operator, Sums};
pub use shared::Held;
pub use tet4::LinearTet4;
pub use tet10::{CurvedTet10, StraightTet10};

use crate::element::{Revolved, Tet4, Tri3};

/// Stands for all elements in space: what is asked of it is what they have in common.
pub type Solid = Tet4;
/// Stands for all elements of the plane.
pub type Plane = Tri3;
/// Stands for all elements of bodies of revolution.
pub type Ring = Revolved<Tri3>;
