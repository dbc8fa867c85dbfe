//! `cuda_builder CRATE OUT.ptx`: compiles a kernel crate to PTX, whether or not the sources changed.

use cuda_builder::CudaBuilder;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [crate_dir, out] = arguments.as_slice() else {
        eprintln!("usage: cuda_builder CRATE OUT.ptx");
        return ExitCode::from(2);
    };
    match CudaBuilder::new(crate_dir).copy_to(out).force(true).build() {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
