//! Whether the elements at a place are small enough for the stress there, where they are of second order.
//!
//! A second-order element has a stress that is linear within it. Where the exact one is curved, the means at the nodes,
//! interpolated to the middle of an element, are another stress than the element's own there: their difference, as a
//! part of the largest stress, is [`unresolved`]. On plates with a hole the largest stress was off by four to six times
//! that: by 16 % where it is 0.028, 8 % at 0.014, 4 % at 0.008, 0.1 % at 0.002.

use crate::mesh::Cells;
use crate::model::Model;
use crate::result::Step;
use kernels_rs::material::von_mises;

/// Above this the largest stress is more than some 5 % off.
pub const COARSE: f64 = 0.012;
/// By how many times that part the largest stress was off.
pub const ERROR: f64 = 5.0;

/// How far the stress of the elements at a node is from linear, as a part of the node's von Mises stress: the largest
/// of them. 0 of elements of first order, and where elements of several materials meet.
pub fn unresolved(model: &Model, node: usize, step: &Step) -> f64 {
    let (nodal, sizes) = (step.vectors::<6>("stress_nodal"), step.nodes("von_mises_nodal"));
    let centres = step.lists("stress");
    let mut largest: f64 = 0.0;
    let mut materials = Vec::new();
    for (block, cells) in model.mesh.solids() {
        let around = (0..cells.len()).filter(|&i| cells.cell(i).contains(&(node as u32)));
        for i in around {
            materials.push(model.cell_material[block][i]);
            if cells.kind.info().is_quadratic() {
                let means = at_middle(cells, i, nodal);
                let own = &centres[block][6 * i..6 * i + 6];
                let difference = std::array::from_fn(|k| means[k] - own[k]);
                largest = largest.max(von_mises(difference) / sizes[node]);
            }
        }
    }
    let is_one = materials.iter().all(|material| *material == materials[0]);
    if is_one && largest.is_finite() { largest } else { 0.0 }
}

/// The means at the nodes of an element, interpolated to its middle.
fn at_middle(cells: &Cells, i: usize, values: &[[f64; 6]]) -> [f64; 6] {
    let (info, shape) = (cells.kind.info(), &cells.kind.info().shape);
    let xi = info.domain.centroid();
    let shares = cells.cell(i).iter().enumerate().map(|(b, &node)| ((shape.value)(b, xi), values[node as usize]));
    shares.fold([0.0; 6], |sum, (share, value)| std::array::from_fn(|k| sum[k] + share * value[k]))
}
