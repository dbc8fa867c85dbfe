//! Solvers of `K u = f`.

pub mod cg;
pub mod femses;
pub mod iteration;
mod monitor;
mod refine;

pub use cg::{CgOptions, CgOutcome, Ending, Stepping, cg};
pub use femses::{Acceleration, FemsesOptions, femses};
pub use iteration::Iteration;
pub use monitor::{Monitor, Silent};
pub use refine::Refinement;
