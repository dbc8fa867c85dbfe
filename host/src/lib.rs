//! warpfem: finite elements for static linear elasticity and for potentials, with GPU kernels written in Rust.
//!
//! Data flows one way, and a module uses only those before it (besides [`device`], [`linalg`], [`sparse`] and [`element`]):
//!
//! [`mesh`] -> [`model`] -> [`assembly`] -> [`solve`] -> [`stress`] -> [`output`]
//!
//! The mathematics (shape functions, element blocks, row products, stresses) lives in the `kernels-rs` crate, as pure
//! functions that the GPU kernels and the CPU's loops both call.

pub mod assembly;
#[cfg(feature = "cli")]
pub mod cli;
pub mod device;
pub mod eigen;
pub mod element;
pub mod error;
pub mod io;
pub mod linalg;
pub mod mesh;
pub mod model;
pub mod output;
mod parallel;
pub mod pipeline;
pub mod plan;
pub mod precond;
pub mod result;
pub mod solve;
pub mod sparse;
pub mod stress;
pub mod verify;

// The linker finds the driver's functions, which `cust` refers to, in this crate.
#[cfg(feature = "cuda")]
use cuda_loader as _;

pub use error::{Error, Result};
