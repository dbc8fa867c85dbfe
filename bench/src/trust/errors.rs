//! How far a solution is from its [`Reference`], part by part and material by material.

use super::extended::Extended;
use super::reference::{Part, Reference};
use serde::Serialize;
use std::collections::BTreeMap;
use warpfem::model::Model;
use warpfem::pipeline::Solution;
use warpfem::result::Field;

/// Relative errors, each the largest over parts, or over the materials of each part.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Errors {
    /// `||u - u*||_K / ||w*||_K`.
    #[serde(rename = "energy_error")]
    pub energy: f64,
    /// The same of the exact solution, written in doubles as the displacements are.
    pub rounding: f64,
    /// `max |u - u*|` relative to the largest displacement without the part's rigid motion. Nothing is taken off the
    /// difference, so that an error of the motion counts too.
    #[serde(rename = "deformation_error")]
    pub deformation: f64,
    /// Of von Mises stresses at element centres, relative to the largest in the same material of the same part.
    #[serde(rename = "von_mises_error")]
    pub von_mises: f64,
}

impl Errors {
    /// Those of a solution. A part at rest, or moved without strain, is to be exactly that: its errors are 0 or 1.
    pub fn of(solution: &Solution, model: &Model, reference: &Reference) -> Errors {
        let exact = reference.displacement();
        let computed = solution.unknown(reference.components);
        let computed: Vec<&[f64]> = computed.chunks_exact(reference.components).collect();
        let computed = reference.numbering.gather(&computed).concat();
        let off = |u: &[f64]| exact.iter().zip(u).map(|(e, u)| Extended::from(*u) - *e).collect::<Vec<_>>();
        let rounded: Vec<f64> = exact.iter().map(|u| u.rounded()).collect();
        let (error, of_rounding) = (off(&computed), off(&rounded));
        let (forces, of_forces) = (reference.stiffness.product(&error), reference.stiffness.product(&of_rounding));
        let mut errors = Errors::default();
        let mut include = |largest: fn(&mut Errors) -> &mut f64, value: f64| {
            let largest = largest(&mut errors);
            // What is no number is worse than any.
            *largest = if value.is_nan() { f64::INFINITY } else { largest.max(value) };
        };
        for part in reference.parts.iter().filter(|part| part.energy > 0.0) {
            include(|errors| &mut errors.energy, part.norm(&error, &forces) / part.energy);
            include(|errors| &mut errors.rounding, part.norm(&of_rounding, &of_forces) / part.energy);
            include(|errors| &mut errors.deformation, part.largest_node(&error) / part.deformation);
        }
        for (largest, difference) in stresses(solution, model, reference).values() {
            let relative = match *largest > 0.0 {
                true => difference / largest,
                false if *difference == 0.0 => 0.0,
                false => 1.0,
            };
            include(|errors| &mut errors.von_mises, relative);
        }
        errors
    }
}

/// For each part and material the largest stress of the reference, and the largest difference.
fn stresses(solution: &Solution, model: &Model, reference: &Reference) -> BTreeMap<(usize, u32), (f64, f64)> {
    let computed = solution.step.field(solution.step.physics.words().centres).map_or(vec![], Field::magnitudes);
    let mut part_of = vec![0; reference.coords.len()];
    for (label, part) in reference.parts.iter().enumerate() {
        part.nodes.iter().for_each(|&node| part_of[node] = label);
    }
    let mut found = BTreeMap::new();
    for (block, cells) in model.mesh.solids() {
        for (i, &material) in model.cell_material[block].iter().enumerate() {
            let node = reference.numbering.to_solver[cells.cell(i)[0] as usize];
            let part = part_of[node as usize];
            let (exact, value) = (reference.intensity[block][i], computed[block][i]);
            let is_strained = reference.parts[part].energy > 0.0;
            let (largest, difference): &mut (f64, f64) = found.entry((part, material)).or_default();
            *largest = largest.max(if is_strained { exact } else { 0.0 });
            let off = (value - exact).abs();
            *difference = if off.is_nan() { f64::INFINITY } else { difference.max(off) };
        }
    }
    found
}

impl Part {
    /// The largest magnitude of a node's vector.
    fn largest_node(&self, u: &[Extended]) -> f64 {
        let components = self.modes.components();
        let size = |&node: &usize| (0..components).map(|i| u[node * components + i].rounded().powi(2)).sum::<f64>();
        let largest = |largest: f64, size: f64| if size.is_nan() { f64::INFINITY } else { largest.max(size) };
        self.nodes.iter().map(size).fold(0.0, largest).sqrt()
    }
}
