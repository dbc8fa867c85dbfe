//! The geometric stiffness of a body under stress, `G_ab = sum_e int grad N_a . sigma grad N_b dV I` (Zienkiewicz and Taylor,
//! vol. 2, sec. 10.4): first the stress of each quadrature point in the axes of the reference element, once for all nodes of
//! its cell, then the rows. In a body of revolution a ring is stretched as it widens: `int sigma_t N_a N_b / r^2 dV` along r.

use super::rule::Rule;
use super::{Destination, MeshView};
use crate::real::fma;
use cuda_std::prelude::*;

/// Which of the six stresses, in the order xx, yy, zz, xy, yz, xz, is in a row and a column.
const PLACE: [[usize; 3]; 3] = [[0, 3, 5], [3, 1, 4], [5, 4, 2]];

/// Computes: `pulls [n_cells][Q]`, of each quadrature point `w |J| J^-1 sigma J^-T` in six values, and `w |J| sigma_t / r^2`.
///
/// Parameters: `stress [n_cells][Q]`; `factor`, by which they are multiplied. Thread mapping: an item per point of a cell.
/// Memory moved: N nodes and N coordinates (through the cache); 48 B read, 56 B written. Operations: 12 N + 70.
#[kernel(items)]
pub unsafe fn pulls_at_points(
    item: usize,
    rule: Rule,
    mesh: MeshView,
    factor: f64,
    stress: View<[f64; 6]>,
    pulls: ViewMut<[f64; 7]>,
) {
    let (cell, q) = (item / rule.weights.len(), item % rule.weights.len());
    let (place, inverse, volume) = rule.mapping(mesh, cell, q);
    let (stress, share, mut pull) = (stress.at(item), factor * volume, [0.0; 7]);
    for j in 0..3 {
        for k in j..3 {
            let mut sum = 0.0;
            for i in 0..rule.dim {
                for l in 0..rule.dim {
                    sum = fma(inverse[i][j] * stress[PLACE[i][l]], inverse[l][k], sum);
                }
            }
            pull[PLACE[j][k]] = share * sum;
        }
    }
    if rule.revolved == 1 {
        pull[6] = share * stress[2] / (place[0] * place[0]);
    }
    pulls.set(item, pull);
}

/// Computes: adds to block row `node` of G the cells around the node.
///
/// Parameters: `pulls [n_cells][Q]`, those of the points; `to`, the matrix, zero or holding what other element types have
/// added. Thread mapping: an item per node. Memory moved: per pair of node and cell 7 Q values, N nodes and N slots (2 B), and
/// the rule (through the cache); each diagonal of a block is read and written once per cell that shares its edge. Operations
/// per pair: 26 Q N.
#[kernel(items)]
pub unsafe fn geometric(node: usize, rule: Rule, mesh: MeshView, pulls: View<[f64; 7]>, to: Destination<f64>) {
    let (n, n_points) = (rule.size, rule.weights.len());
    for pair in mesh.pairs(node) {
        let cell = mesh.cells.at(pair) as usize;
        let a = rule.local_number(mesh, cell, node);
        for b in 0..n {
            // Of a pair the lower first: then G is symmetric to the last bit.
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let (mut sum, mut around) = (0.0, 0.0);
            for q in 0..n_points {
                let pull = pulls.at(cell * n_points + q);
                let (g, h) = (rule.slopes.at(q * n + low), rule.slopes.at(q * n + high));
                for j in 0..3 {
                    for k in 0..3 {
                        sum = fma(g[j] * pull[PLACE[j][k]], h[k], sum);
                    }
                }
                around = fma(rule.shape.at(q * n + low) * rule.shape.at(q * n + high), pull[6], around);
            }
            let slot = to.slots.at((cell * n + a) * n + b) as usize;
            for i in 0..to.entries.size {
                to.values.add(to.entries.at(node, slot, i, i), if i == 0 { sum + around } else { sum });
            }
        }
    }
}
