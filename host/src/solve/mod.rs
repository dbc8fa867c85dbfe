//! Solvers of `K u = f`.

pub mod cg;
pub mod direct;
pub mod iteration;
mod monitor;
mod refine;

pub use cg::{CgOptions, CgOutcome, Ending, Stepping, cg};
pub use iteration::Iteration;
pub use monitor::{Monitor, Silent};
pub use refine::Refinement;
