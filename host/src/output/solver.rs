//! How a solution came about, as `summary.json` has it.

use serde::Serialize;

use crate::pipeline::RankSize;
use crate::pipeline::{Hierarchy, ModeCount};
use crate::result::Change;

/// How it was solved.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Solver {
    /// `static`, `modal`, `buckling` or `transient`.
    pub study: String,
    /// `cg`, `direct` or `femses`.
    pub method: String,
    /// Why this method and this preconditioner, in words.
    pub reason: String,
    /// What gave way to something else while it was solved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// `assembled`, `matrix_free`, or `element` with `femses`.
    pub operator: String,
    /// Storage format of the matrix.
    pub format: String,
    /// Order of the nodes before the sort by degree.
    pub ordering: String,
    /// The preconditioner.
    pub preconditioner: String,
    /// Its order, if it is a polynomial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// `double`, `single`, `mixed` or `mixed_half`.
    pub precision: String,
    /// Assembly strategy.
    pub assembly: String,
    /// Values that the factors of a direct solver store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor_nonzeros: Option<u64>,
    /// The modes that were counted by a factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<ModeCount>,
    /// The levels of a multigrid preconditioner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid: Option<Hierarchy>,
    /// The nodes of each device, of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankSize>,
    /// Iterations done; of a direct solver, solutions with its factors: the first, and those that refine it.
    pub iterations: usize,
    /// Products with the matrix, those of the preconditioner among them.
    pub spmvs: usize,
    /// `||b - K u|| / ||b||`, recomputed from u at the end.
    pub relative_residual: f64,
    /// The estimated error in the energy norm, relative to the strain energy: that of the worst part.
    pub error_estimate: Option<f64>,
    /// `||b - K u|| / (||K|| ||u|| + ||b||)`.
    pub backward_error: Option<f64>,
    /// Correct digits of the displacements, or of the potential.
    pub digits: Option<u32>,
    /// Whether the answer is good enough: within the tolerance, or as near as rounding allows and right to four digits.
    pub converged: bool,
    /// Why the iteration ended: `converged`, `limit`, `stagnated`, `indefinite`, `diverged`, `cancelled`.
    pub ending: String,
    /// Its residuals.
    pub history: History,
    /// The connected parts of the mesh.
    pub parts: Vec<Part>,
}

/// A connected part of the mesh.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The estimated error in the energy norm, relative to the part's strain energy.
    pub error_estimate: Option<f64>,
    /// How far loads and reactions are from balance, relative to the sum of the magnitudes of all nodal forces.
    pub equilibrium_error: f64,
}

/// The recurrence's relative residual after iterations `every`, `2 every` and so on.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct History {
    /// Iterations from one entry to the next.
    pub every: usize,
    /// At most [`History::MOST`] entries.
    pub relative_residual: Vec<f64>,
}

impl History {
    /// Entries of a long history.
    pub const MOST: usize = 300;

    /// Of the residuals after each iteration.
    pub fn of(residuals: &[f64]) -> History {
        let every = residuals.len().div_ceil(Self::MOST).max(1);
        History { every, relative_residual: residuals.iter().skip(every - 1).step_by(every).copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_histories_are_thinned() {
        for n in [0, 1, 299, 300, 301, 12_345] {
            let residuals: Vec<f64> = (1..=n).map(f64::from).collect();
            let history = History::of(&residuals);
            assert!(history.relative_residual.len() <= History::MOST, "{n}: {}", history.every);
            assert_eq!(history.relative_residual.len(), n as usize / history.every);
            let expected = (1..).map(|i| (i * history.every) as f64);
            assert!(history.relative_residual.iter().zip(expected).all(|(found, expected)| *found == expected));
        }
    }
}
