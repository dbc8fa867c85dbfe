//! Row-owner assembly: a thread owns a node and adds, cell by cell, what the cells around it contribute to its rows.
//! No colours, no atomics, and the order of every sum is fixed, so the result has the same bits on every run.
//!
//! `K_ab = sum_e sum_q w_q |J_q| (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I)`

use super::{MeshView, select};
use crate::element::*;
use crate::for_each_element;
use crate::material::{add_stiffness_block, strain, stress, traction};
use crate::real::Real;
use crate::sparse::Entries;
use cuda_std::prelude::*;

/// A cell around the node that a thread owns.
struct Incident<E: Element, T: Real> {
    cell: usize,
    nodes: E::Nodal<usize>,
    /// Local number of the owned node.
    a: usize,
    /// Coordinates of the cell's nodes relative to its first.
    x: E::Nodal<[T; 3]>,
}

/// Reads entry `pair` of the list of cells around node `row`.
#[inline(always)]
unsafe fn incident<E: Element, T: Real>(mesh: MeshView, row: usize, pair: usize) -> Incident<E, T> {
    let cell = mesh.cells.at(pair) as usize;
    let nodes = mesh.cell_nodes::<E>(cell);
    let mut a = 0;
    for b in 1..E::N {
        if nodes[b] == row {
            a = b;
        }
    }
    Incident { cell, nodes, a, x: mesh.cell_coords::<E, T>(nodes) }
}

/// Computes: adds to block row `row` of K the stiffness of the cells around node `row`.
///
/// Parameters: `slots [around[n_nodes]][N]`, the position in the row of each node of each cell around it;
/// `values` as `entries` says, zero or holding what other element types have added.
/// Thread mapping: an item per node.
/// Memory moved: per pair of node and cell N slots (2 B), N nodes and N coordinates (through the cache); each value of
/// the row is read and written once per cell that shares its edge. Operations: N (42 + gradients) per pair and point.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, E = for_each_element!, T = [f32, f64])]
pub unsafe fn stiffness<E: Element, T: Real>(
    row: usize,
    mesh: MeshView,
    slots: View<u16>,
    entries: Entries,
    values: ViewMut<T>,
) {
    let places = entries.row::<3>(row);
    for pair in mesh.around.at(row) as usize..mesh.around.at(row + 1) as usize {
        let Incident { cell, a, x, .. } = incident::<E, T>(mesh, row, pair);
        let lame = mesh.cell_lame::<T>(cell);
        let mut blocks = E::nodal(|_| [[T::ZERO; 3]; 3]);
        for &(xi, weight) in E::QUADRATURE {
            let at = gradients::<E, T>(&x, xi);
            let ga = select::<E, _>(&at.dn_dx, a);
            let w = T::from_f64(weight) * at.det_j;
            for b in 0..E::N {
                add_stiffness_block(&mut blocks[b], ga, at.dn_dx[b], lame, w);
            }
        }
        for b in 0..E::N {
            let start = places.block(slots.at(pair * E::N + b) as usize);
            for j in 0..3 {
                for i in 0..3 {
                    values.add(start[i] + j * entries.column, blocks[b][i][j]);
                }
            }
        }
    }
}

/// Computes: adds to `f [n_nodes][3]` the consistent load of a body force, `f_a += sum_e force int N_a dV`.
///
/// Parameters: `force [n_materials]`, force per volume. Thread mapping: an item per node.
/// Memory moved: as [`stiffness`] without slots and matrix.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, E = for_each_element!)]
pub unsafe fn body_force<E: Element>(row: usize, mesh: MeshView, force: View<[f64; 3]>, f: ViewMut<f64>) {
    let mut sum = [0.0; 3];
    for pair in mesh.around.at(row) as usize..mesh.around.at(row + 1) as usize {
        let Incident { cell, a, x, .. } = incident::<E, f64>(mesh, row, pair);
        let mut share = 0.0;
        for &(xi, weight) in E::QUADRATURE {
            share += weight * gradients::<E, f64>(&x, xi).det_j * select::<E, _>(&E::shape(xi), a);
        }
        let force = force.at(mesh.material.at(cell) as usize);
        for i in 0..3 {
            sum[i] += share * force[i];
        }
    }
    for i in 0..3 {
        f.add(3 * row + i, sum[i]);
    }
}

/// Computes: adds to `f [n_nodes][3]` the internal forces of displacements `u [n_nodes][3]`,
/// `f_a += sum_e int sigma(u) g_a dV`, which is `K u` without the matrix and before supports.
///
/// Thread mapping: an item per node. Memory moved: as [`body_force`], and u.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, E = for_each_element!)]
pub unsafe fn internal_force<E: Element>(row: usize, mesh: MeshView, u: View<f64>, f: ViewMut<f64>) {
    let mut sum = [0.0; 3];
    for pair in mesh.around.at(row) as usize..mesh.around.at(row + 1) as usize {
        let Incident { cell, nodes, a, x } = incident::<E, f64>(mesh, row, pair);
        let lame = mesh.cell_lame::<f64>(cell);
        for &(xi, weight) in E::QUADRATURE {
            let at = gradients::<E, f64>(&x, xi);
            let sigma = stress(strain(crate::stress::displacement_gradient::<E>(nodes, &at.dn_dx, u)), lame);
            let force = traction(sigma, select::<E, _>(&at.dn_dx, a));
            for i in 0..3 {
                sum[i] += weight * at.det_j * force[i];
            }
        }
    }
    for i in 0..3 {
        f.add(3 * row + i, sum[i]);
    }
}
