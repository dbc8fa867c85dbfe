//! What steps of motion under loads and of heat ask for.

use crate::io::inp::Place;
use crate::model::Excitation;

/// What a step of motion asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    pub excitation: Excitation,
    /// Ratios of modes, by the first and the last; or Rayleigh's factors.
    pub ratios: Vec<([usize; 2], f64)>,
    pub rayleigh: Option<[f64; 2]>,
    pub bases: Vec<Base>,
}

/// A motion of all supports along a component.
#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    /// From 0.
    pub component: u8,
    pub amplitude: String,
    /// By what the amplitude is multiplied.
    pub scale: f64,
    /// Whether it is the acceleration that is given.
    pub accelerates: bool,
    pub place: Place,
}

/// What a step of heat asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Whether it asks for stress, too.
    pub is_stressed: bool,
    /// How it goes through time; none if it is steady.
    pub increments: Option<Increments>,
}

/// How a step goes through time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Increments {
    /// By increments of this length.
    Direct(f64),
    /// As the program chooses.
    Chosen,
}

/// An element and its face; without one its volume.
pub type Heated = (u64, Option<usize>);
