//! Assembly by warp with partly parallel numerical integration (WARP sec. 4.3): the Jacobians, their inverses and
//! determinants, and the gradients of all quadrature points at once, then a loop over the points that only multiplies.
//!
//! `M_ab = sum_q w_q |J_q| g_a g_b^T` with `g_b = J_q^-T dN_b/dxi`, and `K_ab = lambda M + mu M^T + mu tr(M) I`
//!
//! | WARP | here |
//! | --- | --- |
//! | Jacobian by warp shuffle (listing 1) | `point_jacobian` |
//! | determinants and inverses of all points | `gradients_of_all_points` |
//! | B^T D B, point after point | [`Share::accumulate_shared`] |

use super::warp::{self, NODES, Share, WARPS};
use super::{Color, Destination, MeshView};
use crate::element::*;
use crate::for_each_warp_element;
use crate::form::Elasticity;
use crate::real::{Real, add_outer};
use crate::reduce::FULL_WARP;
use cuda_std::prelude::*;
use cuda_std::warp::{sync_warp, warp_shuffle_xor};

/// Words of shared memory of a warp: gradients `[8 points][8 nodes][3]`, then `w |J|` of the points.
const WORDS: usize = 3 * NODES * NODES + NODES;

/// Computes: adds the stiffness of a cell of a colour.
///
/// Parameters: `slopes [Q][3][N]`, `dN_b/dxi_j`; `to`, the matrix, zero or holding what has been added before.
/// Thread mapping: a warp per cell, [`WARPS`] a block. Four lanes share a quadrature point, with two nodes each: they
/// sum the Jacobian by two steps of shuffles, and then each has it whole, inverts it, and leaves the gradients of its
/// nodes in shared memory. In the loop over the points a lane has the two blocks that [`Share`] says.
/// Memory moved: per cell N nodes, N coordinates (24 B), N N slots (2 B), and 576 values read and written. Operations
/// per lane: 18 and 18 shuffled sums for the Jacobian, an inverse, 18 for gradients, 21 per point, 60 for the material.
/// Shared memory: 200 values per warp.
///
/// # Safety
/// See the crate's section on safety; no two cells of the colour share a node.
#[kernel(launch_bounds(256, 2), E = for_each_warp_element!, T = [f32, f64], P = [4, 8])]
pub unsafe fn ppni<E: Element, T: Real, const P: usize>(
    color: Color,
    slopes: View<T>,
    mesh: MeshView,
    to: Destination<T>,
) {
    const { warp::check::<E>() };
    let shared = shared_array![T; 1600];
    let (i, warp, lane) = warp::place();
    if i >= color.len {
        return;
    }
    let cell = color.cell(i);
    let gradients = shared.add(warp * WORDS);
    let weights = gradients.add(3 * NODES * NODES);
    let mut share = Share::<T, P>::new(lane);
    let (starts, lame) = (share.starts::<E>(cell, mesh, to), mesh.cell_stiffness::<Elasticity, T>(cell));
    gradients_of_all_points::<E, T>(lane, slopes, mesh, cell, gradients);
    sync_warp(FULL_WARP);
    // A count that the compiler does not know: eight copies of the body would want more registers than there are.
    for q in 0..slopes.len() / (3 * NODES) {
        share.accumulate_shared(gradients.add(3 * NODES * q), *weights.add(q));
    }
    share.add::<E>(starts, to, lame);
}

/// Leaves gradients and weights of all points in shared memory, from `gradients` on.
#[inline(always)]
unsafe fn gradients_of_all_points<E: Element, T: Real>(
    lane: usize,
    slopes: View<T>,
    mesh: MeshView,
    cell: usize,
    gradients: *mut T,
) {
    let (q, first) = (lane / 4, lane % 4 * 2);
    let slope = |b: usize| core::array::from_fn(|j| slopes.at((3 * q + j) * NODES + b));
    let dn: [[T; 3]; 2] = [slope(first), slope(first + 1)];
    let x = [warp::coords(mesh, cell, first), warp::coords(mesh, cell, first + 1)];
    let (inverse, det_j) = invert(3, point_jacobian(x, dn));
    for k in 0..2 {
        let g = transform(3, inverse, dn[k]);
        for i in 0..3 {
            *gradients.add((q * NODES + first + k) * 3 + i) = g[i];
        }
    }
    if first == 0 {
        *gradients.add(3 * NODES * NODES + q) = T::from_f64(E::QUADRATURE[q].1) * det_j;
    }
}

/// `J = sum_b x_b (dN_b/dxi)^T` over the nodes of the four lanes of a point, two each; all four receive it.
#[inline(always)]
unsafe fn point_jacobian<T: Real>(x: [[T; 3]; 2], dn: [[T; 3]; 2]) -> [[T; 3]; 3] {
    let mut jac = [[T::ZERO; 3]; 3];
    add_outer(3, &mut jac, x[0], dn[0]);
    add_outer(3, &mut jac, x[1], dn[1]);
    for entry in jac.as_flattened_mut() {
        for delta in [1, 2] {
            *entry += warp_shuffle_xor(FULL_WARP, *entry, delta, 4).0;
        }
    }
    jac
}

const _: () = assert!(WARPS * WORDS == 1600, "the length of the shared array");
