//! How a solution ended.

use super::choices::choices;
use serde::Serialize;
use std::fmt;

/// What a tolerance is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The estimated error in the energy norm, relative to the strain energy, of every part: see
    /// [`energy`](crate::solve::energy).
    Energy,
    /// The true residual, `||f - K u|| / ||f||`.
    #[default]
    Residual,
}

choices! {
    /// Why an iteration ended.
    Ending:
    /// The error or the residual is within the tolerance.
    Converged = "converged",
    /// The iterations are used up.
    Limit = "limit",
    /// Rounding allows no more.
    Stagnated = "stagnated",
    /// `p . K p < 0` for some p: K is not positive definite.
    Indefinite = "indefinite",
    /// The residual has grown by more than it can if the matrix is symmetric.
    Diverged = "diverged",
    /// Somebody asked for it.
    Cancelled = "cancelled",
}

impl Ending {
    /// What there is to say of it, to follow the number of iterations.
    pub fn reason(self) -> &'static str {
        match self {
            Ending::Converged => "",
            Ending::Cancelled => "; it was told to stop",
            Ending::Limit => "; that is the limit of iterations",
            Ending::Stagnated => "; rounding allows no more",
            Ending::Diverged => {
                "; the residual grows without bound, as happens if the matrix or the preconditioner is not symmetric, and \
                 to FEMSES without acceleration on elongated elements"
            }
            Ending::Indefinite => {
                "; the stiffness matrix is not positive definite to this precision (p . K p < 0), as happens if parts are \
                 barely held, elements are degenerate, stiffnesses differ too much, or reduced integration leaves motions free"
            }
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Iterations done.
    pub iterations: usize,
    /// Products with the matrix, those of the preconditioner among them.
    pub spmvs: usize,
    /// The true `||f - K u|| / ||f||`, recomputed at the end.
    pub relative_residual: f64,
    /// What was asked for.
    pub tolerance: f64,
    /// What that is on.
    pub measure: Measure,
    /// Whether the answer is good enough: within the tolerance, or as near as rounding allows and right to four digits.
    pub converged: bool,
    /// Why it ended.
    pub ending: Ending,
    /// The estimated error in the energy norm, relative to the strain energy: that of the worst part. None where the
    /// energy norm is not known.
    pub error_estimate: Option<f64>,
    /// The same of each part.
    pub part_errors: Vec<f64>,
    /// Correct digits of the displacements.
    pub digits: Option<u32>,
    /// `||f - K u|| / (||K|| ||u|| + ||f||)`.
    pub backward_error: Option<f64>,
    /// The smallest eigenvalue of the preconditioned matrix that was found.
    pub theta: Option<f64>,
    /// What gave way to something else while it was solved, in that order.
    pub changes: Vec<Change>,
    /// The recurrence's relative residual after each iteration.
    pub history: Vec<f64>,
}

/// A choice of the plan that was not carried out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What was chosen.
    pub choice: Changed,
    /// The word of what was planned.
    pub from: &'static str,
    /// The word of what took its place.
    pub to: &'static str,
    /// Why.
    pub reason: String,
}

/// What can give way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// A GPU that `auto` stood for, to the CPU.
    Device,
    /// A direct solution, to an iteration.
    Method,
    /// A sparse factor, to a dense one.
    Factor,
    /// Multigrid, to another preconditioner.
    Preconditioner,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { choice, to, reason, .. } = self;
        match choice {
            Changed::Device => write!(f, "solved on the CPU instead: {reason}"),
            Changed::Method => write!(f, "a direct solution was not possible: {reason}"),
            Changed::Factor => write!(f, "the factor is of a dense matrix: {reason}"),
            Changed::Preconditioner => write!(f, "preconditioned by {to} instead of multigrid: {reason}"),
        }
    }
}
