//! The `warpfem` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpfem::cli::main()
}
