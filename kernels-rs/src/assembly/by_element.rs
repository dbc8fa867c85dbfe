//! Assembly by element (WARP sec. 3.4, alg. 3): a thread per element computes its whole stiffness and then adds it to
//! the matrix; a launch takes the elements of one colour. The baseline that WARP compares its strategies with.
//!
//! `K_e = sum_q w_q |J_q| B^T D B`, kept as `M_ab = sum_q w_q |J_q| g_a g_b^T` until it is added.

use super::{Color, Destination, MeshView};
use crate::element::*;
use crate::for_each_paper_element;
use crate::form::Elasticity;
use crate::real::{Real, add_outer};
use cuda_std::prelude::*;

/// Whether loops are unrolled: of quadratic elements K_e lies in local memory all the same.
const fn is_small<E: Element>() -> bool {
    E::N == E::DOMAIN.corners().len()
}

/// Computes: adds the stiffness of cell `i` of a colour.
///
/// Parameters: `to`, the matrix, zero or holding what other colours and element types have added. Thread mapping: an
/// item per cell of the colour. Memory moved: per cell N nodes, N coordinates (24 B), N N slots (2 B), and DIM DIM N N
/// values read and written. K_e is more than registers hold (576 values of hex8), so it lies in local memory, and every
/// quadrature point reads and writes it once more: WARP measures 55 % of its traffic there. hex20 in f64 keeps 29 kB a
/// thread. Operations per point, in three dimensions: 18 N for Jacobian and gradients, 9 N N for the blocks.
///
/// # Safety
/// See the crate's section on safety; no two cells of the colour share a node.
#[kernel(items, E = for_each_paper_element!, T = [f32, f64])]
pub unsafe fn by_element<E: Element, T: Real>(i: usize, color: Color, mesh: MeshView, to: Destination<T>) {
    let cell = color.cell(i);
    let nodes = mesh.cell_nodes::<E>(cell);
    let x = mesh.cell_coords::<E, T>(nodes);
    let mut ke = E::nodal(|_| E::nodal(|_| [[T::ZERO; 3]; 3]));
    in_steps!(is_small::<E>(), (xi, weight) in E::QUADRATURE, {
        let at = gradients::<E, T>(&x, xi);
        let w = T::from_f64(weight) * at.det_j;
        in_steps!(is_small::<E>(), a in 0..E::N, {
            let ga = at.dn_dx[a].map(|g| w * g);
            in_steps!(is_small::<E>(), b in 0..E::N, {
                add_outer(E::DIM, &mut ke[a][b], ga, at.dn_dx[b]);
            });
        });
    });
    let lame = mesh.cell_stiffness::<Elasticity, T>(cell);
    in_steps!(is_small::<E>(), a in 0..E::N, {
        let row = to.entries.row(nodes[a], E::DIM);
        in_steps!(is_small::<E>(), b in 0..E::N, {
            to.add::<E, Elasticity, 1>([to.start::<E>(row, [cell, a, b])], [ke[a][b]], lame);
        });
    });
}
