//! The errors of all rooms as one, for programs that do not tell them apart.

use crate::mesh::MeshError;
use crate::{model, output, result};

/// What most of the library returns, whichever room it is of.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, by who has to act on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Mesh or case file are wrong, or describe a model that cannot be solved (exit codes 2, 3, 4 and 6).
    #[error(transparent)]
    Model(#[from] model::Error),
    /// The model was not solved (exit codes 2, 4, 6 and 7).
    #[error(transparent)]
    Solve(#[from] result::Error),
    /// The results were not written (exit codes 2 and 8).
    #[error(transparent)]
    Output(#[from] output::Error),
}

impl From<MeshError> for Error {
    fn from(error: MeshError) -> Self {
        Error::Model(error.into())
    }
}

impl From<Box<model::CaseError>> for Error {
    fn from(error: Box<model::CaseError>) -> Self {
        Error::Model(error.into())
    }
}

impl Error {
    /// The process exit code that stands for this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Model(error) => error.exit_code(),
            Error::Solve(error) => error.exit_code(),
            Error::Output(error) => error.exit_code(),
        }
    }
}
