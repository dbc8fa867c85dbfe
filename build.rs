//! Provides the device code: `WARPFEM_PTX` is the path of the archive of PTX that the library embeds.

use cuda_builder::CudaBuilder;
use std::process::ExitCode;

fn main() -> ExitCode {
    match CudaBuilder::new("kernels-rs").copy_to("kernels-rs/ptx/kernels.archive").build() {
        Ok(built) => {
            println!("cargo:rustc-env=WARPFEM_PTX={}", built.archive.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
