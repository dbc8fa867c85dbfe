//! Results at points: probes, and the smallest safety factor.

use serde::Serialize;

use crate::mesh::Mesh;
use crate::model::{Quantity, Units, with_unit};
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeResult {
    /// The probe's name.
    pub name: String,
    /// Where it is.
    pub at: [f64; 3],
    /// What was found there.
    #[serde(flatten)]
    pub found: PointValues,
}

/// What was found at a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PointValues {
    /// Of elasticity.
    Elastic {
        /// The displacement.
        displacement: [f64; 3],
        /// The stress xx, yy, zz, xy, yz, xz, interpolated between nodes.
        stress: [f64; 6],
        /// Its von Mises stress.
        von_mises: f64,
    },
    /// Of a potential.
    Potential {
        /// Its value.
        potential: f64,
        /// Its gradient, interpolated between nodes.
        gradient: [f64; 3],
    },
}

impl ProbeResult {
    /// The results in words, the name apart, with units if there are any.
    pub fn in_words(&self, units: Option<Units>) -> String {
        let found = match self.found {
            PointValues::Elastic { displacement, von_mises, .. } => {
                let displacement = with_unit(vector(displacement), units, Quantity::Length);
                let von_mises = with_unit(engineering(von_mises), units, Quantity::Stress);
                format!("displacement {displacement}, von Mises {von_mises}")
            }
            PointValues::Potential { potential, gradient } => {
                format!("potential {}, gradient {}", engineering(potential), vector(gradient))
            }
        };
        format!("at {}: {found}", vector(self.at))
    }
}
