//! The results as every writer takes them: one list of fields by name.

use super::{Fields, Solved};
use crate::model::Quantity;
use crate::model::SAFETY_FACTOR;

/// A result.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    /// Its name in `[output] fields` and in files.
    pub name: &'static str,
    /// What it measures.
    pub quantity: Quantity,
    /// Names of the components; empty for a scalar.
    pub components: &'static [&'static str],
    /// Its values.
    pub values: Values<'a>,
}

/// Values of a field, `[n][components]`, flat.
#[derive(Debug, Clone)]
pub enum Values<'a> {
    /// At the nodes.
    Nodes(&'a [f64]),
    /// At the centres of the elements, by block of the mesh.
    Cells(Vec<&'a [f64]>),
}

impl Field<'_> {
    /// Numbers of a node or an element.
    pub fn width(&self) -> usize {
        self.components.len().max(1)
    }
}

const VECTOR: &[&str] = &["x", "y", "z"];
const TENSOR: &[&str] = &["xx", "yy", "zz", "xy", "yz", "xz"];

impl<'a> Fields<'a> {
    /// All fields but the material.
    pub fn list(&self) -> Vec<Field<'a>> {
        use Quantity::{Force, Length, Stress, Unlabelled};
        let at_nodes =
            |name, quantity, components, values| Field { name, quantity, components, values: Values::Nodes(values) };
        let mut list = match self.solved {
            Solved::Elastic { displacement, reaction_force, von_mises, stress, nodal, safety_factor } => vec![
                at_nodes("displacement", Length, VECTOR, displacement.as_flattened()),
                at_nodes("reaction_force", Force, VECTOR, reaction_force.as_flattened()),
                at_nodes("stress_nodal", Stress, TENSOR, nodal.values.as_flattened()),
                at_nodes("von_mises_nodal", Stress, &[], &nodal.sizes),
                at_nodes(SAFETY_FACTOR, Unlabelled, &[], safety_factor),
                Field { name: "stress", quantity: Stress, components: TENSOR, values: flat(stress) },
                Field { name: "von_mises", quantity: Stress, components: &[], values: scalars(von_mises) },
            ],
            Solved::Potential { potential, gradient, nodal, .. } => vec![
                at_nodes("potential", Unlabelled, &[], potential),
                at_nodes("gradient_nodal", Unlabelled, VECTOR, nodal.values.as_flattened()),
                Field { name: "gradient", quantity: Unlabelled, components: VECTOR, values: flat(gradient) },
            ],
        };
        // There are no safety factors without a yield strength.
        list.retain(|field| field.name != SAFETY_FACTOR || !matches!(field.values, Values::Nodes([])));
        list
    }
}

fn flat<const K: usize>(blocks: &[Vec<[f64; K]>]) -> Values<'_> {
    Values::Cells(blocks.iter().map(|block| block.as_flattened()).collect())
}

fn scalars(blocks: &[Vec<f64>]) -> Values<'_> {
    Values::Cells(blocks.iter().map(Vec::as_slice).collect())
}
