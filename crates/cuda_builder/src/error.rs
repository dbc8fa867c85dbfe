//! What can go wrong on the way from a kernel crate to PTX.

use ptx_archive::ArchiveError;
use std::path::PathBuf;
use std::{fmt, io};

/// An error of [`CudaBuilder::build`](crate::CudaBuilder::build) or [`text`](crate::text).
#[derive(Debug)]
pub enum BuilderError {
    /// The kernel crate's folder has no `Cargo.toml`.
    NotACrate(PathBuf),
    /// A file could not be read or written.
    Io(PathBuf, io::Error),
    /// PTX cannot be taken from an archive.
    Archive(PathBuf, ArchiveError),
    /// The compiler named by `CUDA_BUILDER_RUSTC` cannot build kernels; why not.
    UnusableCompiler(PathBuf, String),
    /// PTX is needed, there is no checked-in archive that can be read (or a build is forced), and no compiler can make it.
    NoCompiler,
    /// The kernels do not compile: what the compiler printed.
    CompilationFailed(String),
}

impl fmt::Display for BuilderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACrate(path) => write!(f, "{} is not a crate: it has no Cargo.toml", path.display()),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Archive(path, error) => write!(f, "{}: {error}", path.display()),
            Self::UnusableCompiler(path, reason) => {
                write!(f, "CUDA_BUILDER_RUSTC={} cannot build kernels: {reason}", path.display())
            }
            Self::NoCompiler => f.write_str(
                "no compiler here can build the kernels: run `rustup component add rust-src`, or on Debian \
                 `apt-get install rustc-web cargo-web rust-web-src`",
            ),
            Self::CompilationFailed(output) => write!(f, "the kernels do not compile:\n{output}"),
        }
    }
}

impl std::error::Error for BuilderError {}

/// Attaches the path to an error of reading or writing it.
pub(crate) fn at<T>(path: &std::path::Path, result: io::Result<T>) -> Result<T, BuilderError> {
    result.map_err(|error| BuilderError::Io(path.to_owned(), error))
}
