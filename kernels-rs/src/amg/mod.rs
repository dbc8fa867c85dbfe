//! Smoothed aggregation multigrid: what its set-up and its cycle do on a device. The algorithm as a whole, with its
//! sources, is described where it is put together, in the library's `precond::amg`.
//!
//! | what | where |
//! | --- | --- |
//! | which couplings are strong | [`strength`] |
//! | the vertices of quadratic elements | [`vertices`] |
//! | nodes across flat elements, solved for at once | [`stacks`] |
//! | aggregates of nodes, by distance-2 independent sets | [`aggregate`] |
//! | rigid-body modes, orthonormal on each aggregate | [`modes`] |
//! | which blocks a product of matrices has | [`pattern`] |
//! | matrices of rectangular blocks | [`blocks`] |
//! | couplings in the prolongator | [`coupled`] |
//! | products of matrices: `A P`, `P^T (A P)`; the smoothed P | [`product`] |
//! | from a level to the next and back | [`transfer`] |
//! | the inverse on the coarsest level | [`inverse`] |
//! | products as CPUs do them | `cpu` |
//!
//! One thread makes one entry of a result, from a list in a fixed order: no atomic additions of floating-point numbers,
//! so the same input gives the same bits.

pub mod aggregate;
pub mod blocks;
pub mod coupled;
#[cfg(not(target_arch = "nvptx64"))]
mod cpu;
pub mod inverse;
pub mod modes;
pub mod pattern;
pub mod product;
pub mod stacks;
pub mod strength;
pub mod transfer;
pub mod vertices;

/// What stands for no aggregate.
pub const NONE: u32 = u32::MAX;
