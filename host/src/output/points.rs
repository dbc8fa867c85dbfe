//! Results at points: probes, and the smallest safety factor.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::mesh::Mesh;
use crate::result::{Quantity, Units, with_unit};
use warpfem_text::{engineering, vector};

/// The smallest safety factor, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SafetyFactor {
    /// Yield strength over von Mises stress at the node; infinite if nothing is stressed.
    pub value: f64,
    /// Coordinates of the first node that has it.
    pub at: [f64; 3],
    /// Its tag.
    pub node: u64,
    /// Whether the mesh is too coarse for it, so that it is too high: a warning says so.
    pub too_high: bool,
}

impl SafetyFactor {
    /// The smallest of `factors`, `[n_nodes]`, at the nodes that are to count; none if there are none.
    pub fn of(mesh: &Mesh, factors: &[f64], too_high: bool, counts: impl Fn(usize) -> bool) -> Option<SafetyFactor> {
        let counted = factors.iter().enumerate().filter(|(node, _)| counts(*node));
        let (node, &value) = counted.min_by(|a, b| a.1.total_cmp(b.1))?;
        Some(SafetyFactor { value, at: mesh.coords[node], node: mesh.node_tags[node], too_high })
    }

    /// What must be said beside the value.
    pub fn doubt(&self) -> &'static str {
        if self.too_high { "; too high, as the mesh is too coarse" } else { "" }
    }
}

/// The results at a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeResult {
    /// The probe's name.
    pub name: String,
    /// Where it is.
    pub at: [f64; 3],
    /// What was found there, interpolated between nodes.
    pub values: Vec<PointValue>,
}

/// A field at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointValue {
    /// The summary's key.
    pub key: String,
    /// What it is called.
    pub title: String,
    /// What it measures.
    pub unit: Quantity,
    /// Names of the components; empty for a scalar.
    pub components: &'static [&'static str],
    /// The components, or the scalar.
    pub values: Vec<f64>,
}

impl PointValue {
    /// The numbers in words.
    pub fn in_words(&self) -> String {
        match self.values[..] {
            [x, y, z] => vector([x, y, z]),
            _ => self.values.iter().map(|value| engineering(*value)).collect::<Vec<_>>().join(", "),
        }
    }

    /// The title, with the components where these are not those of a vector.
    pub fn heading(&self) -> String {
        if self.is_short() { self.title.clone() } else { format!("{} {}", self.title, self.components.join(", ")) }
    }

    /// Whether it is a number or a vector.
    pub fn is_short(&self) -> bool {
        self.values.len() <= 3
    }
}

impl ProbeResult {
    /// Its values, those that are short first.
    pub fn by_length(&self) -> impl Iterator<Item = &PointValue> {
        let of = |short: bool| self.values.iter().filter(move |value| value.is_short() == short);
        of(true).chain(of(false))
    }

    /// The results in words, the name apart, with units if there are any.
    pub fn in_words(&self, units: Option<Units>) -> String {
        let said = |value: &PointValue| format!("{} {}", value.title, with_unit(value.in_words(), units, value.unit));
        let values: Vec<String> = self.values.iter().filter(|value| value.is_short()).map(said).collect();
        format!("at {}: {}", vector(self.at), values.join(", "))
    }
}

impl Serialize for ProbeResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("at", &self.at)?;
        self.values.iter().try_for_each(|value| match value.values[..] {
            [number] => map.serialize_entry(&value.key, &number),
            _ => map.serialize_entry(&value.key, &value.values),
        })?;
        map.end()
    }
}
