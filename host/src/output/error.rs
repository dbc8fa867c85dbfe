//! What keeps results from being written.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use warpfem_text::{files, names::suggest};

/// What writing returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there are no files of the results.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No picture can show a field of this name (exit code 2).
    #[error("there is no field `{name}` at the nodes; {}", suggest(name, "fields", &available.iter().map(String::as_str).collect::<Vec<_>>()))]
    UnknownField {
        /// What was asked for.
        name: String,
        /// What there is.
        available: Vec<String>,
    },
    /// A result could not be written (exit code 8).
    #[error("cannot write {}: {}", path.display(), not_written(path, source))]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// No results can be put into a folder (exit code 8).
    #[error("cannot write into {}: {}", asked.display(), in_the_way(obstacle, source))]
    Folder {
        /// The folder that was asked for, from the root.
        asked: PathBuf,
        /// It, or the folder above it that is there and takes no file.
        obstacle: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// The process exit code that stands for this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::UnknownField { .. } => 2,
            Error::Output { .. } | Error::Folder { .. } => 8,
        }
    }
}

fn not_written(path: &Path, source: &std::io::Error) -> String {
    let folder = files::folder_of(path);
    match source.kind() {
        ErrorKind::NotFound if !folder.exists() => format!("there is no folder {}", folder.display()),
        _ => files::plain(source),
    }
}

fn in_the_way(obstacle: &Path, source: &std::io::Error) -> String {
    let obstacle = obstacle.display();
    match source.kind() {
        ErrorKind::NotADirectory => format!("{obstacle} is a file, not a folder"),
        ErrorKind::PermissionDenied => format!("you may not write in {obstacle} (permission denied)"),
        _ => format!("{obstacle} takes no new files ({})", files::plain(source)),
    }
}
