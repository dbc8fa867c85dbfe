//! What a solution that is called done must keep to.

use super::errors::Errors;
use warpfem::pipeline::Solution;
use warpfem::result::Ending;

/// Largest error of displacements, relative to the deformation.
const DEFORMATION: f64 = 1e-5;
/// Largest error of von Mises stresses, relative to the largest in the material.
const VON_MISES: f64 = 1e-4;
/// An estimate may be so many times the error: of multigrid, and of others. That of a direct solution is the error before
/// its last correction, which may leave as little as it likes.
const OVER: [f64; 2] = [15.0, 3_000.0];
/// At the floor of rounding either may be so many times the other.
const AT_FLOOR: f64 = 6.0;
/// Estimates and errors below this need not agree: nobody asks for so many digits.
const NEGLIGIBLE: f64 = 1e-8;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The tolerance is met.
    Converged,
    /// Rounding forbids more, and what there is will do.
    Acceptable,
    /// Not so.
    Failed,
}

/// How the program says that a solution ended.
pub fn ended(solution: &Solution) -> Ended {
    match (solution.outcome.converged, solution.outcome.ending) {
        (true, Ending::Stagnated) => Ended::Acceptable,
        (true, _) => Ended::Converged,
        _ => Ended::Failed,
    }
}

/// The error that the program says a solution has.
pub fn estimate(solution: &Solution) -> f64 {
    solution.outcome.error_estimate.unwrap_or(f64::NAN)
}

/// A run to be judged.
pub struct Run<'a> {
    /// `auto`, or the method that was named.
    pub method: &'a str,
    /// What the iteration was preconditioned with; `direct`.
    pub preconditioner: &'a str,
    pub ended: Ended,
    pub estimate: f64,
    pub errors: Errors,
}

impl Run<'_> {
    /// What it breaks. A method that was named may say that it could not; by default none may.
    pub fn breaches(&self) -> Vec<String> {
        if self.ended == Ended::Failed {
            return if self.method == super::AUTO { vec!["not converged".into()] } else { Vec::new() };
        }
        let mut broken = Vec::new();
        let mut check = |holds: bool, what: &str| {
            if !holds {
                broken.push(what.to_owned());
            }
        };
        check(self.errors.deformation <= DEFORMATION, "deformation");
        check(self.errors.von_mises <= VON_MISES, "von Mises");
        check(!self.is_underestimated(), "estimate too small");
        check(!self.is_overestimated(), "estimate too large");
        broken
    }

    /// The error as far as the solver made it, and not the rounding of the displacements that it writes.
    fn error(&self) -> f64 {
        self.errors.energy - self.errors.rounding
    }

    fn is_underestimated(&self) -> bool {
        let times = if self.is_at_floor() { AT_FLOOR } else { 1.0 };
        // What is no number is not below.
        self.errors.energy.is_nan() || self.error() > (times * self.estimate).max(NEGLIGIBLE)
    }

    fn is_overestimated(&self) -> bool {
        let times = match self.preconditioner {
            _ if self.is_at_floor() => AT_FLOOR,
            "direct" => f64::INFINITY,
            "amg" => OVER[0],
            _ => OVER[1],
        };
        self.estimate.is_nan() || self.estimate > (times * self.errors.energy).max(NEGLIGIBLE)
    }

    fn is_at_floor(&self) -> bool {
        self.ended == Ended::Acceptable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Errors = Errors { energy: 2e-7, rounding: 1e-12, deformation: 1e-7, von_mises: 1e-6 };

    fn breaches(method: &str, preconditioner: &str, ended: Ended, estimate: f64, errors: Errors) -> String {
        Run { method, preconditioner, ended, estimate, errors }.breaches().join(", ")
    }

    #[test]
    fn each_bound_is_kept_or_named() {
        let of = |estimate, errors| breaches("auto", "amg", Ended::Converged, estimate, errors);
        assert_eq!(of(5e-7, GOOD), "");
        assert_eq!(of(1.9e-7, GOOD), "estimate too small");
        assert_eq!(of(3.1e-6, GOOD), "estimate too large");
        assert_eq!(of(5e-7, Errors { deformation: 1.1e-5, ..GOOD }), "deformation");
        assert_eq!(of(5e-7, Errors { von_mises: f64::INFINITY, ..GOOD }), "von Mises");
        assert_eq!(of(f64::NAN, GOOD), "estimate too small, estimate too large");
        assert_eq!(of(1e-9, Errors { energy: 5e-7, rounding: 5e-7, ..GOOD }), "");
    }

    #[test]
    fn bounds_depend_on_preconditioner_and_ending() {
        assert_eq!(breaches("auto", "jacobi", Ended::Converged, 3.1e-6, GOOD), "");
        assert_eq!(breaches("auto", "jacobi", Ended::Converged, 7e-4, GOOD), "estimate too large");
        assert_eq!(breaches("auto", "amg", Ended::Acceptable, 4e-8, GOOD), "");
        assert_eq!(breaches("auto", "amg", Ended::Acceptable, 3e-8, GOOD), "estimate too small");
        assert_eq!(breaches("auto", "jacobi", Ended::Acceptable, 1.3e-6, GOOD), "estimate too large");
        let wrong = Errors { energy: 1.0, deformation: 1.0, ..GOOD };
        assert_eq!(breaches("auto", "jacobi", Ended::Failed, 1.0, wrong), "not converged");
        assert_eq!(breaches("jacobi", "jacobi", Ended::Failed, 1.0, wrong), "");
    }
}
