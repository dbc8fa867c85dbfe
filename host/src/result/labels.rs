//! What numbers measure, and `[analysis] units`: what the numbers of a case are labelled with. Numbers are never converted.

use super::choices::choices;

choices! {
    /// A system of units.
    Units:
    /// Metre, newton, pascal.
    Si = "SI",
    /// Millimetre, newton, megapascal.
    MmNS = "mm-N-s",
    /// Inch, pound-force, pound-force per square inch.
    InLbfS = "in-lbf-s",
}

/// What a number measures, in the order of each system's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Coordinates and displacements.
    Length,
    /// Loads and reactions.
    Force,
    /// Stresses and moduli.
    Stress,
    /// Work.
    Energy,
    /// Of a body.
    Volume,
    /// Of a body.
    Mass,
    /// Mass per volume.
    Density,
    /// Gravity.
    Acceleration,
    /// Force times distance.
    Moment,
    /// Cycles per time.
    Frequency,
    /// Seconds.
    Time,
    /// The number of something in a list.
    Index,
    /// Ratios, and potentials, which may be anything.
    Unlabelled,
}

impl Units {
    /// The unit of a quantity, if it has one.
    pub fn label(self, quantity: Quantity) -> Option<&'static str> {
        let units = match self {
            Units::Si => ["m", "N", "Pa", "J", "m^3", "kg", "kg/m^3", "m/s^2", "N m", "Hz", "s"],
            Units::MmNS => ["mm", "N", "MPa", "N mm", "mm^3", "t", "t/mm^3", "mm/s^2", "N mm", "Hz", "s"],
            Units::InLbfS => {
                ["in", "lbf", "psi", "lbf in", "in^3", "lbf s^2/in", "lbf s^2/in^4", "in/s^2", "lbf in", "Hz", "s"]
            }
        };
        units.get(quantity as usize).copied()
    }
}

/// A number with its unit behind it, if there is one.
pub fn with_unit(value: String, units: Option<Units>, quantity: Quantity) -> String {
    match units.and_then(|units| units.label(quantity)) {
        Some(unit) => format!("{value} {unit}"),
        None => value,
    }
}

/// A frequency in words: `120.4 Hz`, or `120.4 per time`.
pub fn frequency(value: f64, units: Option<Units>) -> String {
    let unit = units.and_then(|units| units.label(Quantity::Frequency)).unwrap_or("per time");
    format!("{} {unit}", warpfem_text::engineering(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_stress_is_force_per_area() {
        for units in Units::ALL {
            assert_eq!(Units::from_name(units.name()), Some(units));
            assert!(units.label(Quantity::Length).is_some() && units.label(Quantity::Unlabelled).is_none());
        }
        assert_eq!(Units::MmNS.label(Quantity::Stress), Some("MPa"));
        assert_eq!(Units::from_name("mm"), None);
    }
}
