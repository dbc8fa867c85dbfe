//! Stress recovery: `sigma = D B u` (DSM eq. 3), von Mises stress, and strain energy, cell by cell.

use crate::assembly::MeshView;
use crate::element::*;
use crate::for_each_element;
use crate::material::{double_dot, strain, stress, von_mises};
use crate::real::fma;
use cuda_std::prelude::*;

/// Displacement gradient `h[i][j] = du_i/dx_j` of a cell from its nodes' displacements.
///
/// # Safety
/// `nodes` are nodes of the mesh that `u [n_nodes][3]` belongs to.
#[inline(always)]
pub unsafe fn displacement_gradient<E: Element>(
    nodes: E::Nodal<usize>,
    dn_dx: &E::Nodal<[f64; 3]>,
    u: View<f64>,
) -> [[f64; 3]; 3] {
    let mut h = [[0.0; 3]; 3];
    for b in 0..E::N {
        for i in 0..3 {
            let ui = u.at(3 * nodes[b] + i);
            for j in 0..3 {
                h[i][j] = fma(ui, dn_dx[b][j], h[i][j]);
            }
        }
    }
    h
}

/// Where [`recover`] writes, one entry per cell.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StressOut {
    /// Stress at the centroid, Voigt order, `[n_cells]`.
    pub stress: ViewMut<[f64; 6]>,
    /// Its von Mises stress, `[n_cells]`.
    pub von_mises: ViewMut<f64>,
    /// Strain energy of the cell, `1/2 int sigma : eps dV`, `[n_cells]`.
    pub energy: ViewMut<f64>,
}

/// Computes: stress, von Mises stress and strain energy of a cell.
///
/// Parameters: `u [n_nodes][3]`. Thread mapping: an item per cell.
/// Memory moved: N nodes (4 B), coordinates and displacements (through the cache), 64 B written.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, E = for_each_element!)]
pub unsafe fn recover<E: Element>(cell: usize, mesh: MeshView, u: View<f64>, out: StressOut) {
    let nodes = mesh.cell_nodes::<E>(cell);
    let x = mesh.cell_coords::<E, f64>(nodes);
    let lame = mesh.cell_lame::<f64>(cell);
    let at = gradients::<E, f64>(&x, E::CENTROID);
    let sigma = stress(strain(displacement_gradient::<E>(nodes, &at.dn_dx, u)), lame);
    let mut energy = 0.0;
    for &(xi, weight) in E::QUADRATURE {
        let at = gradients::<E, f64>(&x, xi);
        let eps = strain(displacement_gradient::<E>(nodes, &at.dn_dx, u));
        energy += 0.5 * weight * at.det_j * double_dot(stress(eps, lame), eps);
    }
    out.stress.set(cell, sigma);
    out.von_mises.set(cell, von_mises(sigma));
    out.energy.set(cell, energy);
}
