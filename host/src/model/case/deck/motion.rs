//! What a step of the motion under loads asks for.

use crate::model::Excitation;

/// What a step asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    pub excitation: Excitation,
    /// Ratios of modes, by the first and the last; or Rayleigh's factors.
    pub ratios: Vec<([usize; 2], f64)>,
    pub rayleigh: Option<[f64; 2]>,
    /// The amplitude that its loads have, if there are some.
    pub amplitude: Option<Option<String>>,
}
