//! Solvers of `K u = f`.

pub mod cg;
mod monitor;

pub use cg::{CgOptions, CgOutcome, Ending, Stepping, cg};
pub use monitor::{Monitor, Silent};
