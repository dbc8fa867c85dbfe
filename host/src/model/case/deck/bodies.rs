//! Forces on the volume: gravity and rotation.

use crate::io::inp::Place;
use crate::model::Rotation;

/// A force on the volume of some elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// The set, or the element's tag.
    pub elements: Vec<u64>,
    pub acts: Acts,
    /// What the card says that it acts along.
    pub direction: [f64; 3],
    pub place: Place,
    /// The step that it is of.
    pub step: usize,
    /// As of [`Given`](super::steps::Given).
    pub amplitude: Option<String>,
}

/// How it acts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Acts {
    /// An acceleration.
    Gravity([f64; 3]),
    /// Away from an axis.
    Centrifugal(Rotation),
}

impl Acts {
    /// Force per mass at a place.
    pub fn at(&self, x: [f64; 3]) -> [f64; 3] {
        match self {
            Acts::Gravity(acceleration) => *acceleration,
            Acts::Centrifugal(rotation) => rotation.force(1.0, x),
        }
    }
}
