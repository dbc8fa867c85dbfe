//! Row-owner assembly: a thread owns a node and adds, cell by cell, what the cells around it contribute to its rows.
//! No colours, no atomics, and the order of every sum is fixed, so the result has the same bits on every run.
//!
//! `K_ab = sum_e sum_q w_q |J_q| (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I)`, in conduction `k g_a . g_b`

use super::MeshView;
#[cfg(not(target_arch = "nvptx64"))]
use super::{Destination, rows::row_of_products};
use crate::eigenstrain::Eigenstrain;
use crate::element::*;
use crate::for_each_body;
#[cfg(not(target_arch = "nvptx64"))]
use crate::for_each_element;
#[cfg(not(target_arch = "nvptx64"))]
use crate::form::{Conduction, Elasticity};
use crate::form::{Constitutive, Form, General, Scalar, size};
use crate::real::Real;
use crate::stress::{Deformation, Displacements, deformation};
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
    let (nodes, x) = mesh.gather::<E, T>(cell);
    Incident { cell, nodes, a: local_number(&nodes, E::N, row), x }
}

/// Computes: adds to block row `row` of K the stiffness of the cells around node `row`.
///
/// Parameters: `to`, the matrix, zero or holding what other element types have added.
/// Thread mapping: an item per node, on the CPU alone: GPUs have [`super::row_group`]. Rows without blocks are left out.
/// Memory moved: per pair of node and cell N slots (2 B), N nodes and N coordinates (through the cache); each value of
/// the row is read and written once per cell that shares its edge. Operations per pair: see [`super::rows`].
#[cfg(not(target_arch = "nvptx64"))]
#[kernel(items, E = for_each_element!, P = [Elasticity, Conduction], T = [f32, f64])]
pub unsafe fn stiffness<E: Element, P: Form, T: Real>(row: usize, mesh: MeshView, to: Destination<T>) {
    if to.entries.pattern.row(row).1 == 0 {
        return;
    }
    let places = to.entries.row(row, size::<E, P>());
    for pair in mesh.pairs(row) {
        let Incident { cell, a, x, .. } = incident::<E, T>(mesh, row, pair);
        let constants = mesh.cell_stiffness::<P, T>(cell);
        // The slots of this cell are places in this row, which this thread owns.
        let add = |b, product| to.add::<E, P, 1>([to.start::<E>(places, [cell, a, b])], [product], constants);
        if const { E::REDUCED.is_some() } && mesh.reduced != 0 {
            row_of_products::<Reduced<E>, P, T>(&x, a, add);
        } else {
            row_of_products::<E, P, T>(&x, a, add);
        }
    }
}

/// Computes: as [`stiffness`], from all constants of a material, and of bodies of revolution.
///
/// Parameters, thread mapping, memory moved: as there.
#[cfg(not(target_arch = "nvptx64"))]
#[kernel(items, E = for_each_body!, P = [General, Scalar], T = [f64])]
pub unsafe fn general_stiffness<E: Element, P: Form, T: Real>(row: usize, mesh: MeshView, to: Destination<T>) {
    stiffness::<E, P, T>(row, mesh, to);
}

/// Computes: adds to `f [n_nodes][size]` the internal forces of displacements `u`,
/// `f_a += sum_e int sigma(u) g_a dV`, in conduction `sum_e int k grad u . g_a dV`, which is `K u` without the matrix
/// and before supports; with thermal strains `sigma = D (eps(u) - eps_th)`.
///
/// Parameters: `eigen`, the thermal strains; `nodes`, those whose forces are asked for, or nothing for all. Thread mapping: an item per such node; a
/// CPU takes the cells around a range of nodes. Memory moved: as [`stiffness`] without slots and matrix, and u.
#[kernel(items, cpu = internal_forces, E = for_each_body!, P = [General, Scalar])]
pub unsafe fn internal_force<E: Element, P: Constitutive>(
    item: usize,
    mesh: MeshView,
    eigen: Eigenstrain,
    nodes: View<u32>,
    u: Displacements,
    f: ViewMut<f64>,
) {
    let row = if nodes.is_empty() { item } else { nodes.at(item) as usize };
    let mut sum = [0.0; 3];
    for pair in mesh.pairs(row) {
        let Incident { cell, nodes, a, x } = incident::<E, f64>(mesh, row, pair);
        let constants = mesh.cell_constants::<P, f64>(cell);
        in_steps!(false, (xi, weight) in mesh.rule::<E>(), {
            let Deformation { h, mapping } = deformation::<E, P>(cell, &nodes, &x, xi, u);
            let strain = eigen.elastic::<E, P>(mesh, cell, &nodes, xi, P::strain::<E>(h));
            let stress = P::stress(strain, constants);
            add_force::<E, P>(&mut sum, a, xi, &mapping, mesh.thickness * weight, stress);
        });
    }
    for i in 0..size::<E, P>() {
        f.add(size::<E, P>() * row + i, sum[i]);
    }
}

/// Adds what a point of this weight gives to the internal force of node a.
#[inline(always)]
fn add_force<E: Element, P: Constitutive>(
    sum: &mut [f64; 3],
    a: usize,
    xi: [f64; 3],
    at: &Mapping<f64>,
    weight: f64,
    stress: P::Strain,
) {
    let force = P::force::<E>(stress, at.gradient::<E>(a, xi));
    for i in 0..size::<E, P>() {
        sum[i] += weight * at.det_j * force[i];
    }
}

/// The items of [`internal_force`] in a range: each cell once, not once for each of its nodes. A node's sum is formed in the
/// kernel's order, so the bits are its.
#[cfg(not(target_arch = "nvptx64"))]
unsafe fn internal_forces<E: Element, P: Constitutive>(
    items: std::ops::Range<usize>,
    mesh: MeshView,
    eigen: Eigenstrain,
    nodes: View<u32>,
    u: Displacements,
    f: ViewMut<f64>,
) {
    if !nodes.is_empty() {
        // Chosen nodes are few, and share few cells.
        return items.for_each(|item| internal_force::<E, P>(item, mesh, eigen, nodes, u, f));
    }
    let mut cells = {
        let pairs = mesh.around.at(items.start) as usize..mesh.around.at(items.end) as usize;
        mesh.cells.slice(pairs).to_vec()
    };
    cells.sort_unstable();
    cells.dedup();
    let mut sums = vec![[0.0; 3]; items.len()];
    for cell in cells {
        add_cell::<E, P>(cell as usize, items.start, mesh, eigen, u, &mut sums);
    }
    for (node, sum) in items.zip(sums) {
        for i in 0..size::<E, P>() {
            // An entry of f, which only this range writes.
            f.add(size::<E, P>() * node + i, sum[i]);
        }
    }
}

/// Adds the forces of a cell to those of its nodes whose sums are there, from node `start` on.
#[cfg(not(target_arch = "nvptx64"))]
unsafe fn add_cell<E: Element, P: Constitutive>(
    cell: usize,
    start: usize,
    mesh: MeshView,
    eigen: Eigenstrain,
    u: Displacements,
    sums: &mut [[f64; 3]],
) {
    let (nodes, x) = mesh.gather::<E, f64>(cell);
    let constants = mesh.cell_constants::<P, f64>(cell);
    for &(xi, weight) in mesh.rule::<E>() {
        let Deformation { h, mapping } = deformation::<E, P>(cell, &nodes, &x, xi, u);
        let strain = eigen.elastic::<E, P>(mesh, cell, &nodes, xi, P::strain::<E>(h));
        let stress = P::stress(strain, constants);
        for a in 0..E::N {
            let Some(sum) = nodes[a].checked_sub(start).and_then(|place| sums.get_mut(place)) else { continue };
            add_force::<E, P>(sum, a, xi, &mapping, mesh.thickness * weight, stress);
        }
    }
}
