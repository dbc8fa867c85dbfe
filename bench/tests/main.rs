//! The program itself, run as people run it.

mod bench;
#[path = "../../tests/cli/folder.rs"]
mod folder;
mod report;
mod trust;

use folder::{Folder, GOOD, Run, has_gpu, repository};

/// The program under test, and the root of the repository.
const PROGRAM: &str = env!("CARGO_BIN_EXE_warpfem-bench");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
