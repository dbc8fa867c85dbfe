//! `cuda_builder CRATE ARCHIVE`: compiles a kernel crate to an archive of PTX, whether or not the sources changed.
//!
//! `cuda_builder --text ARCHIVE [ENTRY..]`: prints the PTX in an archive, or the module of some entry points.

use cuda_builder::{BuilderError, CudaBuilder, text};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cuda_builder CRATE ARCHIVE\n       cuda_builder --text ARCHIVE [ENTRY..]";

fn print(archive: &str, entries: &[&str]) -> Result<(), BuilderError> {
    let text = text(archive, entries)?;
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| BuilderError::Io(Path::new("stdout").into(), error))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["--text", archive, ref entries @ ..] => print(archive, entries),
        [crate_dir, archive] => CudaBuilder::new(crate_dir).copy_to(archive).force(true).build().map(|_| ()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
