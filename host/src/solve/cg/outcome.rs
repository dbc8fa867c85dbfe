//! When an iteration stops, and how it ended.

use crate::result::{Ending, Measure, Outcome};
use crate::solve::energy::{Verdict, digits};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgOptions {
    /// What is good enough.
    pub tolerance: f64,
    /// What it is on.
    pub measure: Measure,
    /// Where to give up.
    pub max_iterations: usize,
    /// How the device is told what to do.
    pub stepping: Stepping,
    /// The smallest eigenvalue of the preconditioned matrix, if an earlier solution has found it.
    pub theta: Option<f64>,
}

impl CgOptions {
    /// On the residual, as [`Stepping::Auto`] steps.
    pub const fn new(tolerance: f64, max_iterations: usize) -> Self {
        CgOptions { tolerance, measure: Measure::Residual, max_iterations, stepping: Stepping::Auto, theta: None }
    }

    /// On the error in the energy norm.
    pub const fn of_energy(tolerance: f64, max_iterations: usize) -> Self {
        CgOptions { measure: Measure::Energy, ..CgOptions::new(tolerance, max_iterations) }
    }
}

/// How the device is told what to do. What it computes is the same to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stepping {
    /// Many iterations in one go, where the preconditioner is diagonal and [`crate::sparse::LinOp::fused_cg`] has such a thing
    /// for the format and size: there it is the fastest. Else as [`Stepping::Graph`].
    ///
    #[default]
    Auto,
    /// A launch for each step.
    Launches,
    /// Launches recorded once and repeated in one go, where the device can.
    Graph,
}

impl Stepping {
    /// All of them.
    pub const ALL: [Stepping; 3] = [Stepping::Auto, Stepping::Launches, Stepping::Graph];

    /// Its name: `graph`.
    pub fn name(self) -> &'static str {
        match self {
            Stepping::Auto => "auto",
            Stepping::Launches => "launches",
            Stepping::Graph => "graph",
        }
    }
}

/// An answer that rounding has ended is good enough if its errors are within this.
const ACCEPTABLE: f64 = 1e-4;

/// Reactions farther from the loads than this show that the answer is not.
pub const MOST_LOAD_ERROR: f64 = 1e-3;

impl Outcome {
    /// Before the first iteration, from this relative residual.
    pub(crate) fn start(relative_residual: f64, tolerance: f64) -> Self {
        let converged = relative_residual <= tolerance;
        let ending = if converged { Ending::Converged } else { Ending::Stagnated };
        Outcome {
            iterations: 0,
            spmvs: 0,
            relative_residual,
            tolerance,
            measure: Measure::Residual,
            converged,
            ending,
            error_estimate: None,
            part_errors: Vec::new(),
            digits: None,
            backward_error: None,
            theta: None,
            changes: Vec::new(),
            history: Vec::new(),
        }
    }

    /// The solution is 0.
    pub(in crate::solve) fn exact(tolerance: f64) -> Self {
        Outcome {
            error_estimate: Some(0.0),
            digits: Some(15),
            backward_error: Some(0.0),
            ..Self::start(0.0, tolerance)
        }
    }

    /// The end of an iteration whose error is known.
    pub(in crate::solve) fn judged(&mut self, ending: Ending, verdict: Verdict) {
        self.converged = match ending {
            Ending::Converged => true,
            Ending::Stagnated => verdict.worst() <= ACCEPTABLE,
            _ => false,
        };
        (self.ending, self.measure) = (ending, Measure::Energy);
        self.error_estimate = Some(verdict.estimate);
        // What a new start at the floor of rounding has changed is the error; else it is far more than that.
        let of_displacements = if ending == Ending::Stagnated { verdict.change } else { 0.0 };
        self.digits = Some(digits(verdict.estimate.max(of_displacements)));
        self.part_errors = verdict.parts;
    }

    /// Takes for the error how far reactions are from the loads, where that is more than a thousandth, as on bodies so
    /// slender that no residual in double shows what is missing.
    /// A rough answer that was asked for is left as it is.
    pub(crate) fn judge_by_loads(&mut self, load_error: f64) {
        let is_fine = self.measure == Measure::Energy && self.tolerance <= ACCEPTABLE;
        if load_error > MOST_LOAD_ERROR && self.converged && is_fine {
            (self.converged, self.ending) = (false, Ending::Stagnated);
            self.error_estimate = self.error_estimate.map(|error| error.max(load_error));
            self.digits = Some(digits(load_error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reactions_that_are_not_the_loads_are_an_error() {
        let mut outcome = Outcome::start(1.0, 1e-6);
        outcome.judged(Ending::Converged, Verdict { estimate: 1e-7, ..Verdict::default() });
        outcome.judge_by_loads(0.5 * MOST_LOAD_ERROR);
        assert!(outcome.converged && outcome.digits == Some(7));
        outcome.judge_by_loads(0.02);
        assert_eq!((outcome.converged, outcome.ending, outcome.digits), (false, Ending::Stagnated, Some(1)));
        assert_eq!(outcome.error_estimate, Some(0.02));
    }
}
