//! The results as every writer takes them: one list of fields by name.

use crate::mesh::Mesh;
use crate::model::{Quantity, SAFETY_FACTOR};
use crate::pipeline::{Potential, Solution};
use crate::stress::{AtNodes, Stresses};
use bytemuck::{NoUninit, cast_slice};
use std::io;

/// Results on a mesh.
///
/// The outer index of cell data is the block, in the order of [`Mesh::cells`]; a block that is not of the mesh's
/// highest dimension has an empty list.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    /// All but the material; what was solved for comes first.
    pub list: Vec<Field<'a>>,
    /// The von Mises stress, or the gradient's magnitude, `[n_nodes]`.
    pub sizes: &'a [f64],
    /// Material index, `[n_blocks][n_cells]`.
    pub material: &'a [Vec<u32>],
}

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

fn at_nodes<'a, T: NoUninit>(
    name: &'static str,
    quantity: Quantity,
    components: &'static [&'static str],
    values: &'a [T],
) -> Field<'a> {
    Field { name, quantity, components, values: Values::Nodes(cast_slice(values)) }
}

fn at_centres<'a, T: NoUninit>(
    name: &'static str,
    quantity: Quantity,
    components: &'static [&'static str],
    values: &'a [Vec<T>],
) -> Field<'a> {
    let blocks = values.iter().map(|block| cast_slice(block)).collect();
    Field { name, quantity, components, values: Values::Cells(blocks) }
}

impl<'a> Fields<'a> {
    /// Those of a solution, with the materials of its cells.
    pub fn of(solution: &'a Solution, material: &'a [Vec<u32>]) -> Fields<'a> {
        match &solution.potential {
            Some(found) => Fields::potential(found, material),
            None => {
                let (displacement, reaction_force) = (&solution.displacement, &solution.reaction_force);
                let (stresses, nodal, safety) = (&solution.stresses, &solution.nodal, &solution.safety_factor);
                Fields::elastic(displacement, reaction_force, stresses, nodal, safety, material)
            }
        }
    }

    /// Those of elasticity.
    pub(super) fn elastic(
        displacement: &'a [[f64; 3]],
        reaction_force: &'a [[f64; 3]],
        stresses: &'a Stresses,
        nodal: &'a AtNodes<6>,
        safety_factor: &'a [f64],
        material: &'a [Vec<u32>],
    ) -> Fields<'a> {
        use Quantity::{Force, Length, Stress, Unlabelled};
        let mut list = vec![
            at_nodes("displacement", Length, VECTOR, displacement),
            at_nodes("reaction_force", Force, VECTOR, reaction_force),
            at_nodes("stress_nodal", Stress, TENSOR, &nodal.values),
            at_nodes("von_mises_nodal", Stress, &[], &nodal.sizes),
            at_nodes(SAFETY_FACTOR, Unlabelled, &[], safety_factor),
            at_centres("stress", Stress, TENSOR, &stresses.stress),
            at_centres("von_mises", Stress, &[], &stresses.von_mises),
        ];
        // There are no safety factors without a yield strength.
        list.retain(|field| field.name != SAFETY_FACTOR || !safety_factor.is_empty());
        Fields { list, sizes: &nodal.sizes, material }
    }

    /// Those of a potential.
    pub(super) fn potential(found: &'a Potential, material: &'a [Vec<u32>]) -> Fields<'a> {
        let list = vec![
            at_nodes("potential", Quantity::Unlabelled, &[], &found.values),
            at_nodes("gradient_nodal", Quantity::Unlabelled, VECTOR, &found.nodal.values),
            at_centres("gradient", Quantity::Unlabelled, VECTOR, &found.gradient),
        ];
        Fields { list, sizes: &found.nodal.sizes, material }
    }

    /// Whether every list is as long as the mesh asks; `InvalidInput` names the first that is not.
    pub fn check(&self, mesh: &Mesh) -> io::Result<()> {
        let per_cell = |name: &str, lengths: Vec<usize>| {
            expect(name, lengths.len(), mesh.cells.len())?;
            mesh.solids().try_for_each(|(block, cells)| expect(name, lengths[block], cells.len()))
        };
        for field in &self.list {
            match &field.values {
                Values::Nodes(values) => expect(field.name, values.len() / field.width(), mesh.coords.len())?,
                Values::Cells(blocks) => {
                    per_cell(field.name, blocks.iter().map(|block| block.len() / field.width()).collect())?;
                }
            }
        }
        expect("size at the nodes", self.sizes.len(), mesh.coords.len())?;
        per_cell("material", self.material.iter().map(Vec::len).collect())
    }

    /// Values at the nodes, `[n_nodes][components]`, flat, if there are any of this name.
    pub(super) fn at_nodes(&self, name: &str) -> Option<&'a [f64]> {
        match self.list.iter().find(|field| field.name == name)?.values {
            Values::Nodes(values) => Some(values),
            Values::Cells(_) => None,
        }
    }

    /// The displacements, `[n_nodes]`, if that is what was solved for.
    pub(super) fn displacement(&self) -> Option<&'a [[f64; 3]]> {
        self.at_nodes("displacement").map(|values| values.as_chunks().0)
    }

    /// What pictures are coloured by, `[n_nodes]`: the von Mises stress, or the potential.
    pub(super) fn usual(&self) -> &'a [f64] {
        self.at_nodes("potential").unwrap_or(self.sizes)
    }

    /// Whether what was solved for is zero everywhere, so that there is nothing to see.
    pub fn is_zero(&self) -> bool {
        self.at_nodes(self.list[0].name).is_some_and(|values| values.iter().all(|value| *value == 0.0))
    }
}

fn expect(name: &str, have: usize, want: usize) -> io::Result<()> {
    match have == want {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} has {have} values, not {want}"))),
    }
}
