//! The program itself, run as people run it: exit codes, messages, and what it leaves behind.

mod bad_case;
mod bad_mesh;
mod bad_use;
mod check;
mod convert;
mod decks;
mod demo;
mod disk;
mod femses;
mod files;
mod folder;
mod heat;
mod init;
mod laplace;
mod limits;
mod load_cases;
mod mistakes;
mod modal;
mod names;
mod outputs;
mod pictures;
mod plane;
mod refine;
mod results;
mod solve;
mod speech;
mod stop;
mod terminal;
mod tools;
mod verify;
mod vtu;

pub(crate) use folder::{Folder, GOOD, Run, SOLVE, good_but, has_gpu, repository};

/// The program under test, and the root of the repository.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_warpfem");
pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What `solve` leaves of `case.toml`.
pub(crate) const FILES: [&str; 7] =
    ["case.html", "case.png", "case.vtu", "case_elements.csv", "case_nodes.csv", "case_tables.csv", "summary.json"];
