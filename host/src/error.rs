//! The library's error: one enum, one variant per exit code, each carrying the data of what went wrong.

use crate::solve::{CgOutcome, Measure};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use warpfem_text::{files, names::suggest};

pub use crate::mesh::MeshError;
pub use crate::model::{CaseError, ModelError};
pub use crate::solve::direct::DirectError;

/// What the library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, by who has to act on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The case file or an argument is wrong (exit code 2).
    #[error(transparent)]
    Case(#[from] Box<CaseError>),
    /// The case file names a mesh file that does not exist (exit code 3).
    #[error(transparent)]
    MissingMesh(Box<CaseError>),
    /// The mesh file cannot be read, or what it holds is not a mesh (exit code 3).
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Mesh and case are readable, but the model they describe cannot be solved (exit code 4).
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is no stiffness for this element type (exit code 4).
    #[error("elements of type {0} cannot be solved in this version")]
    NotSolvable(&'static str),
    /// A method, format or other choice does not go with the others (exit code 2).
    #[error("{what} `{name}` is not available; available: {}", available.join(", "))]
    NotAvailable {
        /// What was to be chosen.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        available: Vec<&'static str>,
    },
    /// No picture can show a field of this name (exit code 2).
    #[error("there is no field `{name}` at the nodes; {}", suggest(name, "fields", &available.iter().map(String::as_str).collect::<Vec<_>>()))]
    UnknownField {
        /// What was asked for.
        name: String,
        /// What there is.
        available: Vec<String>,
    },
    /// An assembly strategy cannot assemble this mesh on this device (exit code 2).
    #[error("assembly strategy `{strategy}` {why}; available here: {}", available.join(", "))]
    Unsuited {
        /// What was asked for.
        strategy: &'static str,
        /// Why not, as the rest of a sentence.
        why: String,
        /// What can.
        available: Vec<&'static str>,
    },
    /// The iteration ended short of the tolerance (exit code 5). Carries what there is.
    #[error("not converged: {}", not_converged(&.0.outcome))]
    NotConverged(Box<crate::pipeline::Solution>),
    /// Published values were missed by more than their tolerances (exit code 5): this build computes wrongly on this
    /// device.
    #[error("{off} of {of} values are wrong: do not trust results of this build on this device")]
    Unverified {
        /// Values that are off.
        off: usize,
        /// Values in all.
        of: usize,
    },
    /// A direct solver has no solution (exit code 2 or 4).
    #[error(transparent)]
    Direct(#[from] DirectError),
    /// A count does not fit the integers the solver uses (exit code 4).
    #[error("the model is too large: {0}")]
    TooLarge(String),
    /// The numbers of the model overflow, or loads underflow, in the precision chosen (exit code 4).
    #[error("numbers overflow or vanish in this precision: check the units of loads, materials and coordinates")]
    Breakdown,
    /// The problem does not fit in memory (exit code 6).
    #[error("out of memory on {device}{}", lack(*.needed, *.available))]
    OutOfMemory {
        /// The device that has too little.
        device: String,
        /// Bytes asked for, where it is known how many.
        needed: Option<u64>,
        /// Bytes there, where that is known.
        available: Option<u64>,
    },
    /// A device is missing or failed (exit code 7).
    #[error("{0}")]
    Device(String),
    /// The operating system starts no more threads (exit code 7).
    #[error("cannot start the threads to compute with: {}", files::plain(source))]
    Threads {
        /// The operating system's reason.
        source: std::io::Error,
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

/// What an iteration came to, and why it ended.
fn not_converged(outcome: &CgOutcome) -> String {
    let (what, value) = match outcome.error_estimate {
        Some(error) if outcome.measure == Measure::Energy => ("estimated error", error),
        _ => ("relative residual", outcome.relative_residual),
    };
    let CgOutcome { tolerance, iterations, ending, .. } = outcome;
    let plural = if *iterations == 1 { "" } else { "s" };
    format!(
        "the {what} is {value:.2e} after {iterations} iteration{plural}, the tolerance {tolerance:e}{}",
        ending.reason()
    )
}

/// Why a file could not be written.
fn not_written(path: &Path, source: &std::io::Error) -> String {
    let folder = files::folder_of(path);
    match source.kind() {
        ErrorKind::NotFound if !folder.exists() => format!("there is no folder {}", folder.display()),
        _ => files::plain(source),
    }
}

/// What keeps a folder from taking files.
fn in_the_way(obstacle: &Path, source: &std::io::Error) -> String {
    let obstacle = obstacle.display();
    match source.kind() {
        ErrorKind::NotADirectory => format!("{obstacle} is a file, not a folder"),
        ErrorKind::PermissionDenied => format!("you may not write in {obstacle} (permission denied)"),
        _ => format!("{obstacle} takes no new files ({})", files::plain(source)),
    }
}

/// What is said of a lack of memory: bytes asked for and bytes there, as far as they are known.
fn lack(needed: Option<u64>, available: Option<u64>) -> String {
    match (needed.map(bytes), available.map(bytes)) {
        (Some(needed), Some(available)) => format!(": {needed} are needed, {available} are available"),
        (Some(needed), None) => format!(": {needed} are needed"),
        (None, Some(available)) => format!(": more than the {available} available is needed"),
        (None, None) => String::new(),
    }
}

/// A number of bytes in a unit that suits it.
fn bytes(n: u64) -> String {
    match n as f64 / f64::from(1 << 20) {
        mib if mib < 1024.0 => format!("{mib:.1} MiB"),
        mib => format!("{:.1} GiB", mib / 1024.0),
    }
}

/// Whether there is too little memory for a file.
fn does_not_fit(error: &MeshError) -> bool {
    matches!(error.root(), MeshError::Io(source) if source.kind() == ErrorKind::OutOfMemory)
}

impl Error {
    /// The process exit code that stands for this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Case(_) | Error::NotAvailable { .. } | Error::UnknownField { .. } | Error::Unsuited { .. } => 2,
            Error::Mesh(error) if does_not_fit(error) => 6,
            Error::Mesh(_) | Error::MissingMesh(_) => 3,
            Error::Model(_) | Error::NotSolvable(_) | Error::TooLarge(_) | Error::Breakdown => 4,
            Error::Direct(error) => error.exit_code(),
            Error::NotConverged(_) | Error::Unverified { .. } => 5,
            Error::OutOfMemory { .. } => 6,
            Error::Device(_) | Error::Threads { .. } => 7,
            Error::Output { .. } | Error::Folder { .. } => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_says_what_is_known_of_it() {
        let said = |needed, available| Error::OutOfMemory { device: "it".into(), needed, available }.to_string();
        let (much, little) = (Some(3 << 30), Some(1 << 20));
        assert_eq!(said(much, little), "out of memory on it: 3.0 GiB are needed, 1.0 MiB are available");
        assert_eq!(said(much, None), "out of memory on it: 3.0 GiB are needed");
        assert_eq!(said(None, little), "out of memory on it: more than the 1.0 MiB available is needed");
        assert_eq!(said(None, None), "out of memory on it");
    }
}
