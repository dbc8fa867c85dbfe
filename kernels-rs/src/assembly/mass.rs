//! The consistent mass matrix, `M_ab = sum_e int rho N_a N_b dV I` (Zienkiewicz and Taylor, sec. 16.2): first the mass of
//! each quadrature point, once for all nodes of its cell, then the rows.

use super::rule::Rule;
use super::{Destination, MeshView};
use crate::real::fma;
use cuda_std::prelude::*;

/// Computes: `masses [n_cells][Q]`, the masses of quadrature points, `rho w |J|` times the thickness or `2 pi r`.
///
/// Parameters: `density [n_materials]`, rho. Thread mapping: an item per point of a cell. Memory moved: N nodes and N
/// coordinates (through the cache); 8 B written. Operations: 12 N.
#[kernel(items)]
pub unsafe fn mass_at_points(item: usize, rule: Rule, mesh: MeshView, density: View<f64>, masses: ViewMut<f64>) {
    let (cell, q) = (item / rule.weights.len(), item % rule.weights.len());
    let (_, volume) = rule.volume(mesh, cell, q);
    masses.set(item, density.at(mesh.material.at(cell) as usize) * volume);
}

/// Computes: adds to block row `node` of M the mass of the cells around the node.
///
/// Parameters: `masses [n_cells][Q]`, those of the points; `along`, by which blocks are multiplied, the identity of a mass; `to`, the
/// matrix, zero or holding what other element types have
/// added. Thread mapping: an item per node. Memory moved: per pair of node and cell Q masses, N nodes and N slots (2 B), and
/// the rule (through the cache); what is not 0 of a block is read and written once per cell that shares its edge.
/// Operations per pair: 3 Q N.
#[kernel(items)]
pub unsafe fn mass(
    node: usize,
    rule: Rule,
    mesh: MeshView,
    masses: View<f64>,
    along: [[f64; 3]; 3],
    to: Destination<f64>,
) {
    let (n, n_points) = (rule.size, rule.weights.len());
    for pair in mesh.pairs(node) {
        let cell = mesh.cells.at(pair) as usize;
        let a = rule.local_number(mesh, cell, node);
        for b in 0..n {
            let mut sum = 0.0;
            for q in 0..n_points {
                // The product of a and b first: then M is symmetric to the last bit.
                let both = rule.shape.at(q * n + a) * rule.shape.at(q * n + b);
                sum = fma(masses.at(cell * n_points + q), both, sum);
            }
            let slot = to.slots.at((cell * n + a) * n + b) as usize;
            for i in 0..to.entries.size {
                for j in 0..to.entries.size {
                    if along[i][j] != 0.0 {
                        to.values.add(to.entries.at(node, slot, i, j), sum * along[i][j]);
                    }
                }
            }
        }
    }
}
