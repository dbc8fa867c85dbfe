//! `warpfem info MESH`.

use super::print;
use std::path::PathBuf;

/// Describes a mesh.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The mesh file (MSH 4.1 or 2.2).
    mesh: PathBuf,
}

/// Runs the command.
pub fn run(_arguments: &Arguments) -> anyhow::Result<()> {
    print::text("")
}
