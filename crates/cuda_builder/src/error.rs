//! What can go wrong on the way from a kernel crate to PTX.

use ptx_archive::ArchiveError;
use std::io;
use std::path::{Path, PathBuf};

/// An error of [`CudaBuilder::build`](crate::CudaBuilder::build) or [`text`](crate::text).
#[derive(Debug, thiserror::Error)]
pub enum BuilderError {
    /// The kernel crate's folder has no `Cargo.toml`.
    #[error("{} is not a crate: it has no Cargo.toml", .0.display())]
    NotACrate(PathBuf),
    /// A file could not be read or written.
    #[error("{path}: {1}", path = .0.display())]
    Io(PathBuf, io::Error),
    /// PTX cannot be taken from an archive.
    #[error("{path}: {1}", path = .0.display())]
    Archive(PathBuf, ArchiveError),
    /// The compiler named by `CUDA_BUILDER_RUSTC` cannot build kernels; why not.
    #[error("CUDA_BUILDER_RUSTC={path} cannot build kernels: {1}", path = .0.display())]
    UnusableCompiler(PathBuf, String),
    /// PTX is needed, there is no checked-in archive that can be read (or a build is forced), and no compiler can make it.
    #[error(
        "no compiler here can build the kernels: run `rustup component add rust-src`, or on Debian \
         `apt-get install rustc-web cargo-web rust-web-src`"
    )]
    NoCompiler,
    /// The kernels do not compile: what the compiler printed.
    #[error("the kernels do not compile:\n{0}")]
    CompilationFailed(String),
}

/// Attaches the path to an error of reading or writing it.
pub(crate) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, BuilderError> {
    result.map_err(|error| BuilderError::Io(path.to_owned(), error))
}
