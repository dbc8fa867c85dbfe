//! Set-up: what is needed before a matrix can be filled, computed where the mesh's connectivity is.
//!
//! Running sums and the order of keys are here for everybody.

pub mod scan;
pub mod sort;
