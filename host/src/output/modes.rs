//! What is told of the modes of a body: a frequency or a load factor, and how much of its mass each has along x, y and z.

use crate::model::MassProperties;
use crate::result::Quantity;
use serde::Serialize;
use warpfem_text::engineering;

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
    /// Of the effective masses of each mode; none if they have none.
    pub fn of<'a>(masses: impl Iterator<Item = &'a [f64]>, whole: Option<MassProperties>) -> Option<MassShares> {
        let (whole, masses) = (whole?.mass, masses.collect::<Vec<_>>());
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

/// What a mode is of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Mode {
    /// How fast it vibrates.
    Vibration {
        /// Cycles per time.
        frequency: f64,
        /// `(2 pi frequency)^2`.
        eigenvalue: f64,
    },
    /// The loads that make it buckle.
    Buckling {
        /// By what the loads are multiplied.
        load_factor: f64,
        /// The smallest factor of the reversed loads, below 0, if there is one.
        reversed_load_factor: Option<f64>,
    },
}

/// A part of a steady vibration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Vibration {
    /// Cycles per time.
    pub frequency: f64,
    /// `real` or `imaginary`.
    pub part: &'static str,
}

impl Mode {
    /// The number that tells one mode from another.
    pub fn value(self) -> f64 {
        match self {
            Mode::Vibration { frequency, .. } => frequency,
            Mode::Buckling { load_factor, .. } => load_factor,
        }
    }

    /// What that is, in words.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Vibration { .. } => "frequency",
            Mode::Buckling { .. } => "load factor",
        }
    }

    /// What it measures.
    pub fn quantity(self) -> Quantity {
        match self {
            Mode::Vibration { .. } => Quantity::Frequency,
            Mode::Buckling { .. } => Quantity::Unlabelled,
        }
    }

    /// What the size of its shape means.
    pub fn note(self) -> &'static str {
        match self {
            Mode::Vibration { .. } => "shapes have unit modal mass: their size means nothing",
            Mode::Buckling { .. } => "the largest displacement of a shape is about 1: its size means nothing",
        }
    }

    /// What reversed loads do.
    pub fn of_reversed(self) -> Option<String> {
        match self {
            Mode::Buckling { reversed_load_factor: Some(factor), .. } => {
                Some(format!("reversed loads buckle it too, at {} times these", engineering(-factor)))
            }
            _ => None,
        }
    }
}
