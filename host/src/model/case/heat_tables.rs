//! The tables of heat and other potentials, as `tables.rs` has others.

use serde::Deserialize;
use toml::Spanned;

use super::names_list::Names;
use super::vector::Numbers;

/// Points of a function of time: time and factor.
pub type Points = Vec<[f64; 2]>;

/// `[time]`: exactly one of `step`, `tolerance`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeTable {
    /// When it begins; 0 but in a deck.
    #[serde(skip)]
    pub start: f64,
    /// Of a deck: whether the temperatures at first are those at the end of the step before.
    #[serde(skip)]
    pub goes_on: bool,
    /// When it ends.
    pub end: Spanned<f64>,
    /// The length of steps.
    pub step: Option<Spanned<f64>>,
    /// Or how much a step may be off, in degrees.
    pub tolerance: Option<Spanned<f64>>,
    /// `bdf2` or `backward_euler`.
    pub scheme: Option<Spanned<String>>,
    /// At how many times results are written.
    pub outputs: Option<Spanned<u64>>,
    /// Or at which.
    pub times: Option<Spanned<Numbers>>,
    /// The temperature at first, but where `on` says another.
    pub initial: Option<Spanned<f64>>,
    #[serde(default)]
    pub on: Vec<TemperatureOnTable>,
    /// Of nodes by their tags, which a deck has.
    #[serde(skip)]
    pub nodal: Vec<(u64, f64)>,
}

/// One `[[flux]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Flow per area into the body. In a plane problem the area is the length of the edge times the thickness.
    pub value: Spanned<f64>,
    /// What the value is multiplied by over time.
    pub amplitude: Option<Spanned<Points>>,
}

/// One `[[convection]]`: the flow into the body is `coefficient (ambient - T)` per area.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvectionTable {
    /// What results call it; the groups' names if left out.
    pub name: Option<Spanned<String>>,
    pub on: Spanned<Names>,
    /// Flow per area and difference of temperature.
    pub coefficient: Spanned<f64>,
    /// The temperature of what flows past.
    pub ambient: Spanned<f64>,
    /// What that is multiplied by over time.
    pub amplitude: Option<Spanned<Points>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceTable {
    /// What load cases call it.
    pub name: Option<Spanned<String>>,
    /// Groups of bodies; everything if left out.
    pub on: Option<Spanned<Names>>,
    /// What is produced per volume.
    pub value: Spanned<f64>,
    /// What the value is multiplied by over time.
    pub amplitude: Option<Spanned<Points>>,
}

/// One `[[temperature.on]]`; of several on one place the last counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemperatureOnTable {
    /// Groups of bodies, which have it throughout, or others, whose nodes have it.
    pub on: Spanned<Names>,
    pub value: Spanned<f64>,
}
