//! Stress and gradients at the nodes: evaluated where they are most accurate, extended to the nodes, averaged there.
//!
//! `sigma_a = 1/n sum_e sum_k M_a(xi_k) sigma_e(xi_k)`, over the `n` cells around node a of one material, with `xi_k`
//! the points of [`Element::SAMPLED`] (Barlow 1976) and `M_a` the linear functions through them (Hinton and Campbell
//! 1974).

use crate::assembly::MeshView;
use crate::element::*;
use crate::for_each_element;
use crate::material::von_mises;
use crate::physics::{Conduction, Elasticity};
use crate::setup::lists::bisect;
use crate::stress::{deformation, stress_at};
use cuda_std::prelude::*;

/// Where the values of one material at a node are summed: the node's own slot for the first material there, a slot
/// behind those of all nodes for every other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slots {
    /// Number of nodes.
    pub n_nodes: usize,
    /// The first material at each node, `[n_nodes]`; nothing if there is but one material.
    pub first: View<u32>,
    /// Nodes with their other materials, ascending: `node << 32 | material`.
    pub others: View<u64>,
}

impl Slots {
    /// That of a node in a cell of a material.
    #[inline(always)]
    unsafe fn of(self, node: usize, material: u32) -> usize {
        if self.first.is_empty() || self.first.at(node) == material {
            return node;
        }
        let key = (node as u64) << 32 | material as u64;
        self.n_nodes + bisect(0, self.others.len(), |place| self.others.at(place) < key)
    }
}

/// Computes: the stresses at a cell's sampled points.
///
/// Parameters: `across`, as of [`crate::stress::recover`]; `u [n_nodes][DIM]`; `to [n_cells][n_sampled]`.
/// Thread mapping: an item per cell. Memory moved: nodes, coordinates and displacements (through the cache), 48 B
/// written per point.
#[kernel(items, E = for_each_element!)]
pub unsafe fn sample_stress<E: Element>(
    cell: usize,
    mesh: MeshView,
    across: View<f64>,
    u: View<f64>,
    to: ViewMut<[f64; 6]>,
) {
    let (nodes, x) = mesh.gather::<E, f64>(cell);
    let lame = mesh.cell_constants::<Elasticity, f64>(cell);
    let across = across.at(mesh.material.at(cell) as usize);
    in_steps!(false, k in 0..E::SAMPLED.len(), {
        let h = deformation::<E, Elasticity>(&nodes, &x, E::SAMPLED[k].0, u).h;
        to.set(cell * E::SAMPLED.len() + k, stress_at(E::DIM, h, lame, across));
    });
}

/// Computes: the gradients of a potential at a cell's sampled points.
///
/// Parameters: `u [n_nodes]`; `to [n_cells][n_sampled]`. Thread mapping: an item per cell.
/// Memory moved: nodes, coordinates and potentials (through the cache), 24 B written per point.
#[kernel(items, E = for_each_element!)]
pub unsafe fn sample_gradient<E: Element>(cell: usize, mesh: MeshView, u: View<f64>, to: ViewMut<[f64; 3]>) {
    let (nodes, x) = mesh.gather::<E, f64>(cell);
    in_steps!(false, k in 0..E::SAMPLED.len(), {
        let gradient = deformation::<E, Conduction>(&nodes, &x, E::SAMPLED[k].0, u).h[0];
        to.set(cell * E::SAMPLED.len() + k, gradient);
    });
}

/// Computes: adds to a node's sums what the cells around it have there, and to its counts how many these are.
///
/// Parameters: `n` nodes of a cell; `sampled [n_cells][n_sampled]`; `extended [n][n_sampled]`, what each point has in the
/// value at each node; `sums, counts [n_slots]`. Thread mapping: an item per node, which owns its slots.
/// Memory moved: per pair of node and cell its nodes, and 8 K B for each point.
#[kernel(items, K = [3, 6])]
pub unsafe fn sum_at_node<const K: usize>(
    node: usize,
    mesh: MeshView,
    n: usize,
    slots: Slots,
    sampled: View<[f64; K]>,
    extended: View<f64>,
    sums: ViewMut<[f64; K]>,
    counts: ViewMut<u32>,
) where
    [f64; K]: DeviceCopy,
{
    let n_sampled = extended.len() / n;
    for pair in mesh.pairs(node) {
        let cell = mesh.cells.at(pair) as usize;
        let mut a = 0;
        for b in 1..n {
            if mesh.nodes.at(cell * n + b) as usize == node {
                a = b;
            }
        }
        let mut value = [0.0; K];
        for k in 0..n_sampled {
            let (share, at_point) = (extended.at(a * n_sampled + k), sampled.at(cell * n_sampled + k));
            for i in 0..K {
                value[i] += share * at_point[i];
            }
        }
        let slot = slots.of(node, mesh.material.at(cell));
        let mut sum = sums.at(slot);
        for i in 0..K {
            sum[i] += value[i];
        }
        sums.set(slot, sum);
        counts.set(slot, counts.at(slot) + 1);
    }
}

/// Computes: the mean in the place of a slot's sum, and its size: of a stress the von Mises stress, of a gradient its
/// magnitude.
///
/// Parameters: `counts, sums, sizes [n_slots]`. Thread mapping: an item per slot. Memory moved: 16 K + 12 B.
#[kernel(items, K = [3, 6])]
pub unsafe fn finish_nodal<const K: usize>(slot: usize, counts: View<u32>, sums: ViewMut<[f64; K]>, sizes: ViewMut<f64>)
where
    [f64; K]: DeviceCopy,
{
    let (count, mut mean) = (counts.at(slot), sums.at(slot));
    for i in 0..K {
        mean[i] /= if count == 0 { 1.0 } else { count as f64 };
    }
    sums.set(slot, mean);
    let size = if K == 6 {
        von_mises([mean[0], mean[1], mean[2], mean[3 % K], mean[4 % K], mean[5 % K]])
    } else {
        (mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]).sqrt()
    };
    sizes.set(slot, size);
}
