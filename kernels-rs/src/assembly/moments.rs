//! Loads per volume: what a node has of the integrals `int N_a w (1, x) dV`, from which the consistent forces of weight,
//! sources and rotation follow, as these are linear in the place.

use super::MeshView;
use crate::element::invert;
use crate::real::{add_outer, fma};
use cuda_std::prelude::*;

/// An element's rule in tables, so that one kernel serves all elements.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rule {
    /// Nodes of a cell, N.
    pub size: usize,
    /// Number of coordinates: 2 or 3.
    pub dim: usize,
    /// 1 for bodies of revolution.
    pub revolved: u32,
    /// Weight of each point, `[Q]`.
    pub weights: View<f64>,
    /// `N_b`, `[Q][N]`.
    pub shape: View<f64>,
    /// `dN_b/dxi`, `[Q][N]`.
    pub slopes: View<[f64; 3]>,
}

/// Computes: adds to `out [n_nodes]` a node's `int N_a w (1, x, y, z) dV` over the cells around it.
///
/// Parameters: `density [n_materials]`, w. Thread mapping: an item per node. Memory moved: per pair of node and cell N
/// nodes and N coordinates (through the cache); 32 B read and written. Operations per pair: Q N times 12.
#[kernel(items)]
pub unsafe fn node_moments(node: usize, rule: Rule, mesh: MeshView, density: View<f64>, out: ViewMut<[f64; 4]>) {
    let mut sum = out.at(node);
    for pair in mesh.pairs(node) {
        let cell = mesh.cells.at(pair) as usize;
        let corner = |b: usize| mesh.coords.at(mesh.nodes.at(cell * rule.size + b) as usize);
        let (origin, weight) = (corner(0), mesh.thickness * density.at(mesh.material.at(cell) as usize));
        for q in 0..rule.weights.len() {
            let (mut jac, mut place, mut own) = ([[0.0; 3]; 3], [0.0; 3], 0.0);
            for b in 0..rule.size {
                let (x, k) = (corner(b), q * rule.size + b);
                let from: [f64; 3] = core::array::from_fn(|i| x[i] - origin[i]);
                add_outer(3, &mut jac, from, rule.slopes.at(k));
                let shape = rule.shape.at(k);
                for i in 0..3 {
                    place[i] = fma(shape, x[i], place[i]);
                }
                if mesh.nodes.at(cell * rule.size + b) as usize == node {
                    own = shape;
                }
            }
            let (_, det_j) = if rule.dim == 2 { invert(2, jac) } else { invert(3, jac) };
            let around = if rule.revolved == 1 { 2.0 * core::f64::consts::PI * place[0] } else { 1.0 };
            let share = weight * rule.weights.at(q) * det_j * around * own;
            for i in 0..4 {
                sum[i] += if i == 0 { share } else { share * place[i - 1] };
            }
        }
    }
    out.set(node, sum);
}
