//! Results inside elements: strain and stress (DSM eq. 3, `sigma = D B u`), or a potential's gradient and flux, at any
//! points; and the strain energy of cells.

use crate::assembly::MeshView;
use crate::eigenstrain::Eigenstrain;
use crate::element::*;
use crate::for_each_body;
use crate::form::{Constitutive, Form, General, Scalar, size};
use crate::real::{add_outer, fma};
use cuda_std::prelude::*;

/// Displacements of a mesh, or a potential.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Displacements {
    /// Of the nodes, `[n_nodes][size]`.
    pub nodal: View<f64>,
    /// The amplitudes of the cells' [incompatible modes](Incompatible), `[n_cells]`; empty if they have none.
    pub modes: View<[[f64; 3]; 3]>,
}

impl Displacements {
    /// Of cells without modes, or what their nodes alone make of them.
    #[inline(always)]
    pub const fn of_nodes(nodal: View<f64>) -> Self {
        Displacements { nodal, modes: View::from_slice(&[]) }
    }
}

/// How a cell is deformed at a point, or how its potential varies.
#[derive(Clone, Copy)]
pub struct Deformation {
    /// Displacement gradient `h[i][j] = du_i/dx_j`; of a potential the first row. In a body of revolution the third
    /// column is `u_i / r`.
    pub h: [[f64; 3]; 3],
    /// From the reference element to space.
    pub mapping: Mapping<f64>,
}

/// Evaluates [`Deformation`] at `xi`: `h = (sum_b (u_b - u_0) (dN_b/dxi)^T) J^-1`, which needs no gradient in space. The
/// differences keep a translation of the cell out of rounding errors.
///
/// Parameters: the `cell` and its `nodes`, at `x`.
#[inline(always)]
pub unsafe fn deformation<E: Element, P: Form>(
    cell: usize,
    nodes: &E::Nodal<usize>,
    x: &E::Nodal<[f64; 3]>,
    xi: [f64; 3],
    Displacements { nodal: u, modes }: Displacements,
) -> Deformation {
    let (mut jac, mut slope, mut first, mut more) = ([[0.0; 3]; 3], [[0.0; 3]; 3], [0.0; 3], [0.0; 3]);
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
            if const { E::REVOLVED } {
                more[i] = fma(ub, E::shape(b, xi), more[i]);
            }
        }
    });
    let mapping = Mapping::of_jacobian::<E>(jac, radius::<E, f64>(|b| x[b][0], xi));
    let mut h = slope.map(|row| transform(E::DIM, mapping.inverse, row));
    if const { E::REVOLVED } {
        for i in 0..size::<E, P>() {
            h[i][2] = (first[i] + more[i]) * mapping.per_radius;
        }
    }
    if const { E::WITH_MODES.is_some() } && !modes.is_empty() {
        let gradients = mode_gradients::<E>(&Mapping::at::<E>(x, E::CENTROID), mapping.det_j, xi);
        let amplitudes = modes.at(cell);
        for m in 0..E::DIM {
            add_outer(E::DIM, &mut h, amplitudes[m], gradients[m]);
        }
    }
    Deformation { h, mapping }
}

/// Where [`sample`] writes; nothing of what is not asked for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sampled<S> {
    /// Strains, the thermal part included, or gradients of a potential, `[n_cells][n_points]`.
    pub strain: ViewMut<S>,
    /// Stresses, or gradients times C, `[n_cells][n_points]`.
    pub stress: ViewMut<S>,
    /// `sum 1/2 w |J| sigma : (eps - eps_th)` over the points, the strain energy if they are a rule, `[n_cells]`.
    pub energy: ViewMut<f64>,
}

/// Computes: strain and stress of a cell at points of its reference element, and its strain energy.
///
/// Parameters: `points [n_points]`, reference coordinates and weight; `eigen`, strains that make no stress; `u`. Thread mapping: an item per
/// cell. Memory moved: N nodes (4 B), coordinates and displacements (through the cache), 21 constants or 6; 48 B or 24
/// written for each strain and stress.
#[kernel(items, E = for_each_body!, P = [General, Scalar])]
pub unsafe fn sample<E: Element, P: Constitutive>(
    cell: usize,
    mesh: MeshView,
    points: View<[f64; 4]>,
    eigen: Eigenstrain,
    u: Displacements,
    out: Sampled<<P as Constitutive>::Strain>,
) {
    let (nodes, x) = mesh.gather::<E, f64>(cell);
    let constants = mesh.cell_constants::<P, f64>(cell);
    let mut energy = 0.0;
    for k in 0..points.len() {
        let [xi, eta, zeta, weight] = points.at(k);
        let Deformation { h, mapping } = deformation::<E, P>(cell, &nodes, &x, [xi, eta, zeta], u);
        let strain = P::strain::<E>(h);
        let elastic = eigen.elastic::<E, P>(mesh, cell, &nodes, [xi, eta, zeta], strain);
        let stress = P::stress(elastic, constants);
        energy += 0.5 * mesh.thickness * weight * mapping.det_j * P::product(stress, elastic);
        if !out.strain.is_empty() {
            out.strain.set(cell * points.len() + k, strain);
        }
        if !out.stress.is_empty() {
            out.stress.set(cell * points.len() + k, stress);
        }
    }
    if !out.energy.is_empty() {
        out.energy.set(cell, energy);
    }
}
