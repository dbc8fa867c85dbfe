//! Loads per volume: what a node has of the integrals `int N_a w (1, x) dV`, from which the consistent forces of weight,
//! sources and rotation follow, as these are linear in the place.

use super::MeshView;
use super::rule::Rule;
use cuda_std::prelude::*;

/// Computes: adds to `out [n_nodes]` a node's `int N_a w (1, x, y, z) dV` over the cells around it.
///
/// Parameters: `density [n_materials]`, w. Thread mapping: an item per node. Memory moved: per pair of node and cell N
/// nodes and N coordinates (through the cache); 32 B read and written. Operations per pair: Q N times 12.
#[kernel(items)]
pub unsafe fn node_moments(node: usize, rule: Rule, mesh: MeshView, density: View<f64>, out: ViewMut<[f64; 4]>) {
    let mut sum = out.at(node);
    for pair in mesh.pairs(node) {
        let cell = mesh.cells.at(pair) as usize;
        let (a, weight) = (rule.local_number(mesh, cell, node), density.at(mesh.material.at(cell) as usize));
        for q in 0..rule.weights.len() {
            let (place, volume) = rule.volume(mesh, cell, q);
            let share = weight * volume * rule.shape.at(q * rule.size + a);
            for i in 0..4 {
                sum[i] += if i == 0 { share } else { share * place[i - 1] };
            }
        }
    }
    out.set(node, sum);
}
