//! Stress recovery: `sigma = D B u` (DSM eq. 3), von Mises stress, and strain energy, cell by cell; gradients of
//! potentials.

use crate::assembly::MeshView;
use crate::element::*;
use crate::for_each_element;
use crate::material::{Lame, double_dot, strain, stress, von_mises};
use crate::physics::{Conduction, Elasticity, Physics, size};
use crate::real::{add_outer, fma};
use cuda_std::prelude::*;

/// How a cell is deformed at a point, or how its potential varies.
#[derive(Clone, Copy)]
pub struct Deformation {
    /// Displacement gradient `h[i][j] = du_i/dx_j`; of a potential the first row.
    pub h: [[f64; 3]; 3],
    /// `J^-T`.
    pub inverse: [[f64; 3]; 3],
    /// `det J`.
    pub det_j: f64,
}

/// Evaluates [`Deformation`] at `xi`: `h = (sum_b (u_b - u_0) (dN_b/dxi)^T) J^-1`, which needs no gradient in space. The
/// differences keep a translation of the cell out of rounding errors.
///
/// Parameters: the cell's `nodes`; `u [n_nodes][size]`.
#[inline(always)]
pub unsafe fn deformation<E: Element, P: Physics>(
    nodes: &E::Nodal<usize>,
    x: &E::Nodal<[f64; 3]>,
    xi: [f64; 3],
    u: View<f64>,
) -> Deformation {
    let (mut jac, mut slope, mut first) = ([[0.0; 3]; 3], [[0.0; 3]; 3], [0.0; 3]);
    for i in 0..size::<E, P>() {
        first[i] = u.at(size::<E, P>() * nodes[0] + i);
    }
    in_steps!(false, b in 0..E::N, {
        let dn = E::shape_gradient(b, xi);
        add_outer(E::DIM, &mut jac, x[b], dn);
        for i in 0..size::<E, P>() {
            let ub = u.at(size::<E, P>() * nodes[b] + i) - first[i];
            for j in 0..E::DIM {
                slope[i][j] = fma(ub, dn[j], slope[i][j]);
            }
        }
    });
    let (inverse, det_j) = invert(E::DIM, jac);
    Deformation { h: slope.map(|row| transform(E::DIM, inverse, row)), inverse, det_j }
}

/// The stress of a displacement gradient; in a plane body that across the plane is `across` times its dilatation.
#[inline(always)]
pub fn stress_at(dim: usize, h: [[f64; 3]; 3], lame: Lame<f64>, across: f64) -> [f64; 6] {
    let eps = strain(h);
    let mut sigma = stress(eps, lame);
    if dim == 2 {
        sigma[2] = across * (eps[0] + eps[1]);
    }
    sigma
}

/// Quadrature point `q`; behind the last one the centroid, of no weight, where output is evaluated: one copy of the code
/// serves both.
#[inline(always)]
fn point_or_centroid<E: Element>(q: usize) -> Point {
    if q < E::QUADRATURE.len() { E::QUADRATURE[q] } else { (E::CENTROID, 0.0) }
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
/// Parameters: `across [n_materials]`, in a plane body the stress across the plane per `eps_xx + eps_yy`: lambda in
/// plane strain, 0 in plane stress; `u [n_nodes][DIM]`. Thread mapping: an item per cell.
/// Memory moved: N nodes (4 B), coordinates and displacements (through the cache), 64 B written.
#[kernel(items, E = for_each_element!)]
pub unsafe fn recover<E: Element>(cell: usize, mesh: MeshView, across: View<f64>, u: View<f64>, out: StressOut) {
    let (nodes, x) = mesh.gather::<E, f64>(cell);
    let lame = mesh.cell_constants::<Elasticity, f64>(cell);
    let across = across.at(mesh.material.at(cell) as usize);
    let (mut sigma, mut energy) = ([0.0; 6], 0.0);
    in_steps!(false, q in 0..E::QUADRATURE.len() + 1, {
        let (xi, weight) = point_or_centroid::<E>(q);
        let at = deformation::<E, Elasticity>(&nodes, &x, xi, u);
        let eps = strain(at.h);
        energy += 0.5 * mesh.thickness * weight * at.det_j * double_dot(stress(eps, lame), eps);
        sigma = stress_at(E::DIM, at.h, lame, across);
    });
    out.stress.set(cell, sigma);
    out.von_mises.set(cell, von_mises(sigma));
    out.energy.set(cell, energy);
}

/// Computes: the gradient of a potential at a cell's centroid, and the cell's `1/2 int k |grad u|^2 dV`.
///
/// Parameters: `u [n_nodes]`; `gradient, energy [n_cells]`. Thread mapping: an item per cell.
/// Memory moved: N nodes (4 B), coordinates and potentials (through the cache), 32 B written.
#[kernel(items, E = for_each_element!)]
pub unsafe fn potential_gradient<E: Element>(
    cell: usize,
    mesh: MeshView,
    u: View<f64>,
    gradient: ViewMut<[f64; 3]>,
    energy: ViewMut<f64>,
) {
    let (nodes, x) = mesh.gather::<E, f64>(cell);
    let conductivity = mesh.constants.at(mesh.material.at(cell) as usize)[0];
    let (mut last, mut sum) = ([0.0; 3], 0.0);
    in_steps!(false, q in 0..E::QUADRATURE.len() + 1, {
        let (xi, weight) = point_or_centroid::<E>(q);
        let at = deformation::<E, Conduction>(&nodes, &x, xi, u);
        let [g, ..] = at.h;
        sum += weight * at.det_j * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        last = g;
    });
    gradient.set(cell, last);
    energy.set(cell, 0.5 * mesh.thickness * conductivity * sum);
}
