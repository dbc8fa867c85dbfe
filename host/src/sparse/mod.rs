//! Sparse matrices of `d x d` blocks, in one storage format or another, built on a device from the pattern of a mesh.

mod compress;
mod coupling;
pub mod ebw_row;
mod ebw_symmetric;
pub mod format;
mod halo;
mod interface;
mod matrix;
mod pattern;
mod places;
mod products;

mod reduced;
mod slabs;
mod sliced;
mod sums;
mod triangle;
mod zero_sums;

pub use compress::from_dense;
pub use coupling::{Constrained, Coupled, CoupledRows, Coupling};
pub use format::{Built, Format, Half, PART, Places, Plan, Tuning};
pub use halo::{Exchange, Halo, Shared};
pub use interface::{
    CrossRows, CrossTransfer, Interface, Interfaces, Neighbour, Node, add_product, add_transposed_product,
};
pub use matrix::{Footprint, LinOp, Matrix};
pub use pattern::{Pattern, Sparsity};
pub use places::{gather_into, pick, places, put, scatter};
pub use products::{CgState, Epilogue};
pub use reduced::reduced;
pub use slabs::{SLABS, SlabWork, Slabs};
pub use triangle::Triangle;
pub use zero_sums::{SumEquation, ZeroSums};

use crate::result::choices;
use kernels_rs::for_each_format;

macro_rules! files {
    ($($file:ident { $($formats:tt)+ })+) => { $(pub mod $file;)+ };
}
for_each_format!(files);

/// What `auto` stands for: on every solid mesh measured within 5 % of the fastest, in both precisions. What beats it is
/// mostly `ebw16`, by 2 to 4 %, but that cannot hold every mesh (docs/formats.md).
pub const AUTO: choices::Format = choices::Format::Ebw;
