//! Assembly by two kernels (WARP sec. 4.4): the first leaves the geometry of all quadrature points of a colour's
//! elements in memory, the second sums stiffness from it, a block of threads per element and a thread per entry of K_e.
//!
//! `M_ab = sum_q w_q |J_q| g_a g_b^T` with `g_b = J_q^-T dN_b/dxi`, and `K_ab = lambda M + mu M^T + mu tr(M) I`
//!
//! | WARP | here |
//! | --- | --- |
//! | kernel 1: inverse of the Jacobian and determinant at all Gauss points | [`geometry`] |
//! | kernel 2: 576 threads per element, one per entry, row by row | [`by_entry`] |

use super::{Color, Destination, MeshView};
use crate::element::*;
use crate::for_each_warp_element;
use crate::form::Elasticity;
use crate::real::{Real, dot3, fma};
use cuda_std::prelude::*;

/// Values that describe a quadrature point: `J^-T` row by row, and `w |J|`.
pub const GEOMETRY: usize = 10;
/// Threads of a block of [`by_entry`]: the entries of K_e.
pub const ENTRIES: usize = 576;
/// Rows of K_e.
const ROWS: usize = 24;
/// Quadrature points.
const POINTS: usize = 8;

/// Computes: `J^-T` and `w |J|` at a quadrature point of a cell of a colour.
///
/// Parameters: `out [color.len][GEOMETRY][Q]`. Thread mapping: an item per pair of cell and point, a cell's points side
/// by side. Memory moved: per cell N nodes and N coordinates (24 B), once from memory and Q times through the cache; 10
/// Q values written. Operations per point: 9 N and an inverse.
#[kernel(items, E = for_each_warp_element!, T = [f32, f64])]
pub unsafe fn geometry<E: Element, T: Real>(i: usize, color: Color, mesh: MeshView, out: ViewMut<T>) {
    let n_points = E::QUADRATURE.len();
    let (k, q) = (i / n_points, i % n_points);
    let nodes = mesh.cell_nodes::<E>(color.cell(k));
    let x = mesh.cell_coords::<E, T>(nodes);
    let (xi, weight) = E::QUADRATURE[q];
    let xi = xi.map(T::from_f64);
    let (inverse, det_j) = invert(E::DIM, jacobian::<E, T>(&x, |b| E::shape_gradient(b, xi)));
    let at = |word: usize| (k * GEOMETRY + word) * n_points + q;
    for i in 0..3 {
        for j in 0..3 {
            out.set(at(3 * i + j), inverse[i][j]);
        }
    }
    out.set(at(9), T::from_f64(weight) * det_j);
}

/// Computes: adds the stiffness of a cell of a colour, from what [`geometry`] has left.
///
/// Parameters: `slopes [Q][3][N]`, `dN_b/dxi_j`; `geometry [color.len][GEOMETRY][Q]`; `to`, the matrix. Thread mapping:
/// a block of [`ENTRIES`] threads per cell, a thread per entry of K_e, row by row, so that neighbouring threads add to
/// neighbouring columns. 192 of them first make the gradients at all points; then each sums its entry of M over the
/// points; then each makes its entry of K_e of the nine of its block, which its neighbours have left in shared memory.
/// Memory moved: per cell 80 values of geometry, N nodes, N N slots (2 B), and 576 values read and written. Operations:
/// 9 per point and gradient, one per point and entry of M. Shared memory: 960 values; 2 barriers.
///
/// # Safety
/// See the crate's section on safety; a block per cell of the colour, and no two of its cells share a node.
#[kernel(launch_bounds(576, 2), E = for_each_warp_element!, T = [f32, f64])]
pub unsafe fn by_entry<E: Element, T: Real>(
    color: Color,
    slopes: View<T>,
    geometry: View<T>,
    mesh: MeshView,
    to: Destination<T>,
) {
    const { assert!(E::N * E::DIM == ROWS && E::QUADRATURE.len() == POINTS) };
    let gradients = shared_array![T; 960];
    let weighted = gradients.add(POINTS * ROWS);
    let products = weighted.add(POINTS * ROWS);
    let (k, t) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    let cell = color.cell(k);
    let (row, column) = (t / ROWS, t % ROWS);
    let ((a, i), (b, j)) = ((row / 3, row % 3), (column / 3, column % 3));
    // Places take two loads one after the other: they are asked for first.
    let slot = to.slots.at((cell * E::N + a) * E::N + b) as usize;
    let place = to.entries.at(mesh.nodes.at(cell * E::N + a) as usize, slot, i, j);
    if t < POINTS * ROWS {
        let (q, b, i) = (t / ROWS, t % ROWS / 3, t % 3);
        let of_point = |word: usize| geometry.at((k * GEOMETRY + word) * POINTS + q);
        let dn = core::array::from_fn(|j| slopes.at((3 * q + j) * E::N + b));
        let g = dot3(core::array::from_fn(|j| of_point(3 * i + j)), dn);
        *gradients.add(t) = g;
        *weighted.add(t) = of_point(9) * g;
    }
    thread::sync_threads();
    let mut m = T::ZERO;
    for q in 0..POINTS {
        m = fma(*weighted.add(q * ROWS + row), *gradients.add(q * ROWS + column), m);
    }
    let before = to.values.at(place);
    *products.add(t) = m;
    thread::sync_threads();
    let product = |i: usize, j: usize| *products.add((3 * a + i) * ROWS + 3 * b + j);
    let lame = mesh.cell_stiffness::<Elasticity, T>(cell);
    let mut value = fma(lame.lambda, m, lame.mu * product(j, i));
    if i == j {
        value = fma(lame.mu, product(0, 0) + product(1, 1) + product(2, 2), value);
    }
    to.values.set(place, before + value);
}
