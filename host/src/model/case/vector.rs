//! Vectors and points of the case file: three components, or two in a plane problem; and one number or several.

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;
use toml::Spanned;

use super::Case;
use super::scale::NUMBERS;
use crate::model::{CaseError, Checked, Place};

/// `[x, y, z]`, or `[x, y]`; how many there may be is for [`Case`] to check.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub struct Vector(Vec<f64>);

impl From<[f64; 3]> for Vector {
    fn from(components: [f64; 3]) -> Vector {
        Vector(components.to_vec())
    }
}

impl Vector {
    /// Its components; 0 where there are none.
    pub fn xyz(&self) -> [f64; 3] {
        self.with_z(0.0)
    }

    /// Its components, the third one `z` if it was left out.
    pub fn with_z(&self, z: f64) -> [f64; 3] {
        let at = |c: usize| self.0.get(c).copied();
        [at(0).unwrap_or(0.0), at(1).unwrap_or(0.0), at(2).unwrap_or(z)]
    }
}

/// `210e9` or `[12e9, 0.9e9, 0.6e9]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a list of numbers")
    }

    fn visit_f64<E>(self, number: f64) -> Result<Numbers, E> {
        Ok(Numbers(vec![number]))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Numbers, E> {
        self.visit_f64(number as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = seq.next_element()? {
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }
}

impl Case {
    /// Checks a point: finite, and of as many components as there are coordinates; in a plane problem, and in one that
    /// may prove to be, a third one may be there too.
    pub(in crate::model) fn check_point(&self, key: &str, point: &Spanned<Vector>) -> Checked {
        self.check_point_in(self.dim().unwrap_or(2), key, point)
    }

    /// The same in a space of two or three dimensions.
    pub(super) fn check_point_in(&self, dim: usize, key: &str, point: &Spanned<Vector>) -> Checked {
        let components = &point.get_ref().0;
        match components.len() == dim || components.len() == 3 {
            true => self.check_finite(key, point.span(), components),
            false => Err(self.length_error(point.span(), components.len(), dim)),
        }
    }

    /// Checks a vector: as a point, and in a plane problem that it lies in the plane.
    pub(in crate::model) fn check_vector(&self, key: &str, vector: &Spanned<Vector>) -> Checked {
        self.check_point(key, vector)?;
        self.check_scale(key, vector.span(), &vector.get_ref().0, &NUMBERS)?;
        match self.dim() == Some(2) && vector.get_ref().xyz()[2] != 0.0 {
            true => {
                let message = format!("`{key}` points out of the plane of this {} problem", self.analysis().name());
                Err(self.error_at(vector.span(), message, "leave the third component out, or make it 0"))
            }
            false => Ok(()),
        }
    }

    /// The error for a list that has not as many numbers as there are coordinates.
    pub(super) fn length_error(&self, place: Place, found: usize, dim: usize) -> Box<CaseError> {
        let wanted = if dim == 2 { "two numbers `[x, y]`" } else { "three numbers `[x, y, z]`" };
        let values = if found == 1 { "value" } else { "values" };
        let help = match found {
            2 => {
                "a component that is zero is written too; a plane problem is [analysis] kind = \"plane_stress\" or \
                 \"plane_strain\""
            }
            n if n > dim => "numbers have a decimal point, and commas stand between them alone",
            _ => "a component that is zero is written too",
        };
        self.error_at(place, format!("this must be {wanted}, not {found} {values}"), help)
    }
}
