//! The `warpfem` program.

fn main() {}
