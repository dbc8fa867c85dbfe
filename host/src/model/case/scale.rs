//! Magnitudes that can be computed with.
//!
//! Vectors are in double precision, which ends at 1e-308 and 1e308, and the inverse of the stiffness matrix's diagonal,
//! by which Jacobi preconditions, is held in single precision: 1e-38 to 3e38.
//!
//! | magnitude | range | because |
//! | --- | --- | --- |
//! | moduli, conductivities, densities, loads, prescribed values | 1e-30 to 1e30 | a load of density x gravity x volume is at least 1e-123 and at most 1e105; its square over a stiffness, by a residual of 1e-16, stays between 1e-300 and 1e300 |
//! | lengths: a mesh's extent, a thickness | 1e-15 to 1e15 | volumes of elements of a millionth of that are 1e-63, and their squares 1e-126 |
//! | stiffnesses: modulus x extent, in the plane modulus x thickness | 1e-30 to 1e30 | entries of the diagonal are within 1e8 of that either way: elements of a millionth of the extent, slender by 100 |
//!
//! Every system of units that engineers use is far inside: steel on a mesh of 1 nm has a stiffness of 200 N/m in SI and
//! 2e-7 in N and nm, and a dielectric of 1 nm 1e-20 F in SI.

use std::ops::RangeInclusive;

use super::Case;
use crate::model::{Checked, Place};

/// Moduli, densities, loads.
pub(super) const NUMBERS: RangeInclusive<f64> = 1e-30..=1e30;
/// What a modulus and a length make.
const STIFFNESSES: RangeInclusive<f64> = 1e-30..=1e30;

impl Case {
    /// Refuses numbers that are too large or too small to compute with; 0 is neither.
    pub(super) fn check_scale(&self, key: &str, place: Place, values: &[f64], range: &RangeInclusive<f64>) -> Checked {
        let Some(value) = values.iter().find(|value| **value != 0.0 && !range.contains(&value.abs())) else {
            return Ok(());
        };
        let size = if value.abs() < *range.start() { "small" } else { "large" };
        let message = format!("`{key}` is too {size} to compute with: {value:e}");
        Err(self.error_at(place, message, other_units(range)))
    }

    /// Refuses moduli that make stiffnesses too large or too small to compute with, on a mesh of this longest side.
    pub(in crate::model) fn check_stiffness(&self, dim: usize, longest: f64) -> Checked {
        let length = if dim == 2 { self.thickness() } else { longest };
        let key = self.analysis().keys().material[0][0];
        for moduli in self.tables.material.iter().filter_map(|table| table.get_ref().numbers(key).as_ref()) {
            for modulus in &moduli.get_ref().0 {
                let stiffness = modulus * length;
                if STIFFNESSES.contains(&stiffness) {
                    continue;
                }
                let of = if dim == 2 { "a thickness" } else { "a mesh" };
                let message = format!(
                    "`{key}` = {:e} and {of} of {length:e} make stiffnesses that cannot be computed with: {stiffness:e}",
                    modulus
                );
                return Err(self.error_at(moduli.span(), message, other_units(&STIFFNESSES)));
            }
        }
        Ok(())
    }
}

fn other_units(range: &RangeInclusive<f64>) -> String {
    format!("choose other units, in which it lies between {:e} and {:e}", range.start(), range.end())
}
