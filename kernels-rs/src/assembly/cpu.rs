//! Internal forces as a CPU sums them up: each cell once, not once for each of its nodes. A node's sum is formed in the
//! kernel's order, so the bits are its.

use super::MeshView;
use super::row_owner::internal_force;
use crate::element::*;
use crate::physics::{Physics, size};
use crate::stress::deformation;
use cuda_std::prelude::*;
use std::ops::Range;

/// The items of [`internal_force`] in a range.
///
/// # Safety
/// As that kernel.
pub unsafe fn internal_forces<E: Element, P: Physics>(
    items: Range<usize>,
    mesh: MeshView,
    nodes: View<u32>,
    u: View<f64>,
    f: ViewMut<f64>,
) {
    if !nodes.is_empty() {
        // Chosen nodes are few, and share few cells.
        // SAFETY: the caller's promise.
        return items.for_each(|item| unsafe { internal_force::<E, P>(item, mesh, nodes, u, f) });
    }
    // SAFETY: the lists live, and nobody writes them.
    let mut cells = unsafe {
        let pairs = mesh.around.at(items.start) as usize..mesh.around.at(items.end) as usize;
        mesh.cells.slice(pairs).to_vec()
    };
    cells.sort_unstable();
    cells.dedup();
    let mut sums = vec![[0.0; 3]; items.len()];
    for cell in cells {
        // SAFETY: a cell of the mesh and its nodes.
        unsafe { add_cell::<E, P>(cell as usize, items.start, mesh, u, &mut sums) };
    }
    for (node, sum) in items.zip(sums) {
        for i in 0..size::<E, P>() {
            // SAFETY: an entry of f, which only this range writes.
            unsafe { f.add(size::<E, P>() * node + i, sum[i]) };
        }
    }
}

/// Adds the forces of a cell to those of its nodes whose sums are there, from node `start` on.
///
/// # Safety
/// `cell` is a cell of the mesh, which u belongs to.
unsafe fn add_cell<E: Element, P: Physics>(
    cell: usize,
    start: usize,
    mesh: MeshView,
    u: View<f64>,
    sums: &mut [[f64; 3]],
) {
    // SAFETY: the caller's promise.
    let (nodes, constants) = unsafe { (mesh.cell_nodes::<E>(cell), mesh.cell_constants::<P, f64>(cell)) };
    // SAFETY: nodes of the mesh.
    let x = unsafe { mesh.cell_coords::<E, f64>(nodes) };
    for &(xi, weight) in E::QUADRATURE {
        // SAFETY: as above.
        let at = unsafe { deformation::<E, P>(nodes, &x, xi, u) };
        for a in 0..E::N {
            let Some(sum) = nodes[a].checked_sub(start).and_then(|place| sums.get_mut(place)) else { continue };
            let force = P::flux(at.h, constants, transform(E::DIM, at.inverse, E::shape_gradient(a, xi)));
            for i in 0..size::<E, P>() {
                sum[i] += mesh.thickness * weight * at.det_j * force[i];
            }
        }
    }
}
