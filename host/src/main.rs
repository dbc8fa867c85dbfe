//! The `warpfem` program.
#![feature(alloc_error_hook)]

use std::process::ExitCode;
use warpfem::device::host_memory::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    std::alloc::set_alloc_error_hook(warpfem::cli::out_of_memory);
    warpfem::cli::main()
}
