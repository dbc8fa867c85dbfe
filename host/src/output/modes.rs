//! What is told of the modes of a body: how much of its mass each has along x, y and z.

use super::summary::Results;
use crate::model::MassProperties;

/// What shapes and effective masses mean.
pub const NOTE: &str = "shapes have unit modal mass: their size means nothing";

/// Effective masses as parts of the whole mass.
#[derive(Debug, Clone, PartialEq)]
pub struct MassShares {
    /// The directions that the body moves along: x, y, z.
    pub axes: Vec<&'static str>,
    /// Per cent along each of them, of each mode; NaN where that is not known.
    pub of_modes: Vec<Vec<f64>>,
    /// The same of all modes together.
    pub sum: Vec<f64>,
}

impl MassShares {
    /// Of these modes; none if they have no effective masses.
    pub fn of<'a>(modes: impl Iterator<Item = &'a Results>, whole: Option<MassProperties>) -> Option<MassShares> {
        let whole = whole?.mass;
        let masses: Vec<&[f64]> = modes.map(|mode| mode.table_row("effective_mass")).collect();
        let of = |masses: &[f64], c: usize| 100.0 * masses.get(c).copied().unwrap_or(f64::NAN) / whole;
        // In the plane there is no z, and in a body of revolution no x.
        let moves = |c: &usize| masses.iter().any(|masses| masses.get(*c).is_some_and(|mass| *mass != 0.0));
        let along: Vec<usize> = (0..3).filter(moves).collect();
        let of_modes: Vec<Vec<f64>> =
            masses.iter().map(|masses| along.iter().map(|c| of(masses, *c)).collect()).collect();
        let known = |k: usize| of_modes.iter().map(move |shares| shares[k]).filter(|share| share.is_finite());
        let sum = (0..along.len()).map(|k| known(k).sum()).collect();
        let axes = along.iter().map(|c| ["x", "y", "z"][*c]).collect();
        (!along.is_empty()).then_some(MassShares { axes, of_modes, sum })
    }
}
