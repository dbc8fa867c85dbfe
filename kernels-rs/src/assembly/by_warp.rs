//! Assembly by warp (WARP sec. 4.1 and 4.2, alg. 4): a warp per element goes through the quadrature points one after
//! the other, its lanes together.
//!
//! `M_ab = sum_q w_q |J_q| g_a g_b^T` with `g_b = J_q^-T dN_b/dxi`, and `K_ab = lambda M + mu M^T + mu tr(M) I`
//!
//! | WARP, algorithm 4 | here |
//! | --- | --- |
//! | 6: Jacobian, by shuffles, shared memory or atomics (table 1) | [`Shuffles`], [`Sums`], [`Atomics`] |
//! | 9, 12: determinant and inverse | `inverse_entry` |
//! | 15: gradients in space | `point` |
//! | 17: entries of K_e | [`Share::accumulate_shared`] |

use super::warp::{self, NODES, Share, WARPS};
use super::{Color, Destination, MeshView};
use crate::element::*;
use crate::for_each_warp_element;
use crate::form::Elasticity;
use crate::real::{Real, dot3, fma};
use crate::reduce::FULL_WARP;
use cuda_std::prelude::*;
use cuda_std::warp::{sync_warp, warp_shuffle_idx, warp_shuffle_xor};

/// Words of shared memory of a warp: Jacobian, inverse, gradients `[8][3]`, coordinates `[8][3]`.
const WORDS: usize = 9 + 9 + 24 + 24;

/// Computes: adds the stiffness of a cell of a colour.
///
/// Parameters: `slopes [Q][3][N]`, `dN_b/dxi_j`; `to`, the matrix, zero or holding what has been added before. Thread
/// mapping: a warp per cell, [`WARPS`] a block. Per quadrature point 24 lanes multiply and sum the Jacobian, a column
/// for each eight of them; nine lanes have an entry of its inverse each, 24 a component of a node's gradient each; then
/// every lane adds to the two blocks that [`Share`] says. Memory moved: per cell N nodes, N coordinates (24 B), N N
/// slots (2 B), and 576 values read and written. Operations per lane and point: 3 products with 9 shuffled sums, about
/// 30 for inverse and gradient, 21 for the blocks. Shared memory: 66 values per warp; 3 waits per point.
///
/// # Safety
/// See the crate's section on safety; no two cells of the colour share a node.
#[kernel(launch_bounds(256, 2), E = for_each_warp_element!, T = [f32, f64], P = [4, 8])]
pub unsafe fn by_warp<E: Element, T: Real, const P: usize>(
    color: Color,
    slopes: View<T>,
    mesh: MeshView,
    to: Destination<T>,
) {
    cell_stiffness::<E, T, Shuffles, P>(color, slopes, mesh, to);
}

/// Computes: as [`by_warp`] with 4 threads per row, the Jacobian by another way: WARP's table 1.
///
/// Parameters, thread mapping and memory moved as there.
///
/// # Safety
/// As [`by_warp`].
#[kernel(launch_bounds(256, 2), E = for_each_warp_element!, T = [f32, f64], J = [Sums, Atomics])]
pub unsafe fn by_warp4_via<E: Element, T: Real, J: Jacobian>(
    color: Color,
    slopes: View<T>,
    mesh: MeshView,
    to: Destination<T>,
) {
    cell_stiffness::<E, T, J, 4>(color, slopes, mesh, to);
}

/// A warp's shared memory.
#[derive(Clone, Copy)]
pub struct Shared<T> {
    jac: *mut T,
    inverse: *mut T,
    gradients: *mut T,
    coords: *mut T,
}

/// What a lane knows of its cell.
#[derive(Clone, Copy)]
pub struct Lane<T> {
    lane: usize,
    /// Its node, lane % 8.
    b: usize,
    /// The node's coordinates.
    x: [T; 3],
}

/// How a warp sums the Jacobian `J_ij = sum_b x_b[i] dN_b/dxi_j`.
pub trait Jacobian: 'static {
    /// Leaves it in shared memory, `jac [3][3]`; `dn` is the slope of the lane's node.
    ///
    /// # Safety
    /// All lanes of the warp call it; `shared` is theirs.
    unsafe fn sum<T: Real>(me: Lane<T>, shared: Shared<T>, slopes: View<T>, q: usize, dn: [T; 3]);
}

/// Among eight lanes by shuffles: three passes of three steps.
pub struct Shuffles;
/// By nine lanes, an entry each, from the coordinates in shared memory.
pub struct Sums;
/// By atomic additions to shared memory, whose order is that of arrival.
pub struct Atomics;

impl Jacobian for Shuffles {
    #[inline(always)]
    unsafe fn sum<T: Real>(me: Lane<T>, shared: Shared<T>, _: View<T>, _: usize, dn: [T; 3]) {
        let own = column(me.lane, dn);
        for i in 0..3 {
            let mut sum = own * me.x[i];
            for delta in [4, 2, 1] {
                sum += warp_shuffle_xor(FULL_WARP, sum, delta, 8).0;
            }
            if me.b == 0 && me.lane < 24 {
                *shared.jac.add(3 * i + me.lane / 8) = sum;
            }
        }
    }
}

impl Jacobian for Sums {
    #[inline(always)]
    unsafe fn sum<T: Real>(me: Lane<T>, shared: Shared<T>, slopes: View<T>, q: usize, _: [T; 3]) {
        if me.lane < 9 {
            let (i, j) = (me.lane / 3, me.lane % 3);
            let mut sum = T::ZERO;
            for b in 0..NODES {
                sum = fma(*shared.coords.add(3 * b + i), slopes.at((3 * q + j) * NODES + b), sum);
            }
            *shared.jac.add(me.lane) = sum;
        }
    }
}

impl Jacobian for Atomics {
    #[inline(always)]
    unsafe fn sum<T: Real>(me: Lane<T>, shared: Shared<T>, _: View<T>, _: usize, dn: [T; 3]) {
        if me.lane < 9 {
            *shared.jac.add(me.lane) = T::ZERO;
        }
        sync_warp(FULL_WARP);
        if me.lane < 24 {
            let own = column(me.lane, dn);
            for i in 0..3 {
                atomic::accumulate_shared(shared.jac.add(3 * i + me.lane / 8), own * me.x[i]);
            }
        }
    }
}

/// The slope along the direction that a lane sums: `dn[lane / 8]`, by selection.
#[inline(always)]
fn column<T: Real>(lane: usize, dn: [T; 3]) -> T {
    if lane < 8 {
        dn[0]
    } else if lane < 16 {
        dn[1]
    } else {
        dn[2]
    }
}

/// The kernels' body.
#[inline(always)]
unsafe fn cell_stiffness<E: Element, T: Real, J: Jacobian, const P: usize>(
    color: Color,
    slopes: View<T>,
    mesh: MeshView,
    to: Destination<T>,
) {
    const { warp::check::<E>() };
    let block = shared_array![T; 528];
    let (i, warp, lane) = warp::place();
    if i >= color.len {
        return;
    }
    let cell = color.cell(i);
    let jac = block.add(warp * WORDS);
    let shared = Shared { jac, inverse: jac.add(9), gradients: jac.add(18), coords: jac.add(42) };
    let b = lane % NODES;
    let me = Lane { lane, b, x: warp::coords(mesh, cell, b) };
    if lane < NODES {
        for i in 0..3 {
            *shared.coords.add(3 * b + i) = me.x[i];
        }
    }
    sync_warp(FULL_WARP);
    let mut share = Share::<T, P>::new(lane);
    let (starts, lame) = (share.starts::<E>(cell, mesh, to), mesh.cell_stiffness::<Elasticity, T>(cell));
    // A count that the compiler does not know: eight copies of the body would want more registers than there are.
    for q in 0..slopes.len() / (3 * NODES) {
        let det_j = point::<T, J>(me, shared, slopes, q);
        share.accumulate_shared(shared.gradients, T::from_f64(E::QUADRATURE[q].1) * det_j);
    }
    share.add::<E>(starts, to, lame);
}

/// Leaves the gradients at point `q` in shared memory; gives `|J|`.
///
/// Each part of shared memory is written again only after another wait has come since its last reading: no lane
/// is a whole point ahead of another.
#[inline(always)]
unsafe fn point<T: Real, J: Jacobian>(me: Lane<T>, shared: Shared<T>, slopes: View<T>, q: usize) -> T {
    let dn = core::array::from_fn(|j| slopes.at((3 * q + j) * NODES + me.b));
    J::sum(me, shared, slopes, q, dn);
    sync_warp(FULL_WARP);
    let (entry, det_j) = inverse_entry(me.lane, shared.jac);
    if me.lane < 9 {
        *shared.inverse.add(me.lane) = entry;
    }
    sync_warp(FULL_WARP);
    if me.lane < 24 {
        let i = me.lane / 8;
        let row = core::array::from_fn(|j| *shared.inverse.add(3 * i + j));
        *shared.gradients.add(3 * me.b + i) = dot3(row, dn);
    }
    sync_warp(FULL_WARP);
    det_j
}

/// Entry `lane` of `J^-T`, row by row, for the first nine lanes; `|J|` for all.
#[inline(always)]
unsafe fn inverse_entry<T: Real>(lane: usize, jac: *const T) -> (T, T) {
    let (r, c) = (if lane < 9 { lane / 3 } else { 0 }, lane % 3);
    let next = |i: usize| if i == 2 { 0 } else { i + 1 };
    let at = |i: usize, j: usize| *jac.add(3 * i + j);
    let (r1, c1) = (next(r), next(c));
    let (r2, c2) = (next(r1), next(c1));
    let cofactor = at(r1, c1) * at(r2, c2) - at(r1, c2) * at(r2, c1);
    let term = at(r, c) * cofactor;
    let of_lane = |lane: u32| warp_shuffle_idx(FULL_WARP, term, lane, 32).0;
    let det_j = of_lane(0) + of_lane(1) + of_lane(2);
    (cofactor / det_j, det_j)
}

const _: () = assert!(WARPS * WORDS == 528, "the length of the shared array");
