//! What the program fails with, and its exit code.

use crate::mesh::MeshError;
use crate::model::CaseError;
use crate::pipeline::Solution;
use crate::result::{Measure, Outcome, Step, Study};
use crate::{Error, model, output, result};
use std::path::PathBuf;
use warpfem_text::files::plain;

/// What is no error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The solution is short of the tolerance (exit code 5). Its results are written.
    #[error("not converged: {}{}", of_case(.0), not_converged(&.0.outcome))]
    NotConverged(Box<Solution>),
    /// The run was stopped before anything was found (exit code 5, or that of the interruption).
    #[error("stopped before the first mode was found: nothing is written")]
    Stopped,
    /// Published values were missed by more than their tolerances (exit code 5): this build computes wrongly on this
    /// device.
    #[error("{off} of {of} values are wrong: do not trust results of this build on this device")]
    Unverified {
        /// Values that are off.
        off: usize,
        /// Values in all.
        of: usize,
    },
    /// No mesh is made of a geometry (exit code 3).
    #[error("{}: {why}", path.display())]
    Gmsh {
        /// The geometry.
        path: PathBuf,
        /// Gmsh's reason, or why it does not run.
        why: String,
    },
    /// The operating system starts no more threads (exit code 7).
    #[error("cannot start the threads to compute with: {}", plain(source))]
    Threads {
        /// The operating system's reason.
        source: std::io::Error,
    },
}

impl Failure {
    /// The process exit code that stands for it.
    fn exit_code(&self) -> u8 {
        match self {
            Failure::NotConverged(_) | Failure::Stopped | Failure::Unverified { .. } => 5,
            Failure::Gmsh { .. } => 3,
            Failure::Threads { .. } => 7,
        }
    }
}

/// The load case, if there are several, or the mode.
fn of_case(solution: &Solution) -> String {
    let Step { label, study, .. } = &solution.step;
    match study {
        _ if label.is_empty() => String::new(),
        Study::Static => format!("load case `{label}`: "),
        Study::Modal | Study::Buckling | Study::Transient => format!("{label}: "),
    }
}

/// What an iteration came to, and why it ended.
fn not_converged(outcome: &Outcome) -> String {
    let (what, value) = match outcome.error_estimate {
        Some(error) if outcome.measure == Measure::Energy => ("estimated error", error),
        _ => ("relative residual", outcome.relative_residual),
    };
    let Outcome { tolerance, iterations, ending, .. } = outcome;
    let plural = if *iterations == 1 { "" } else { "s" };
    format!(
        "the {what} is {value:.2e} after {iterations} iteration{plural}, the tolerance {tolerance:e}{}",
        ending.reason()
    )
}

/// An error of one of the library's rooms as the library's; others stay as they are.
pub fn united(error: anyhow::Error) -> anyhow::Error {
    /// The error as one of `E`, made the library's.
    fn of<E: Into<Error> + std::error::Error + Send + Sync + 'static>(
        error: anyhow::Error,
    ) -> Result<Error, anyhow::Error> {
        error.downcast::<E>().map(Into::into)
    }
    let found = of::<model::Error>(error)
        .or_else(of::<Box<CaseError>>)
        .or_else(of::<MeshError>)
        .or_else(of::<result::Error>)
        .or_else(of::<output::Error>);
    found.map_or_else(|other| other, anyhow::Error::from)
}

/// The exit code of an error that is [`united`].
pub fn exit_code(error: &anyhow::Error) -> u8 {
    let of_library = error.downcast_ref::<Error>().map(Error::exit_code);
    // What is neither is a file or a terminal that could not be written.
    of_library.or_else(|| error.downcast_ref::<Failure>().map(Failure::exit_code)).unwrap_or(8)
}
