//! Assembly by atomic additions: no colours, one launch. The order of a sum is the order of arrival, so the last bits
//! of the matrix differ from run to run.
//!
//! `K_ab = sum_e sum_q w_q |J_q| (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I)`, in conduction `k g_a . g_b`

use super::rows::row_of_products;
use super::{Destination, MeshView};
use crate::element::*;
use crate::for_each_paper_element;
use crate::form::{Conduction, Elasticity, Form, size};
use crate::real::Real;
use cuda_std::prelude::*;

/// Neighbouring cells that neighbouring threads take: a warp's.
const CELLS: usize = 32;

/// Items of a launch over `n_cells` cells of `n` nodes.
pub fn n_items(n_cells: usize, n: usize) -> usize {
    n_cells.div_ceil(CELLS) * CELLS * n
}

/// Computes: adds one row of blocks of a cell's stiffness.
///
/// Parameters: `to`, the matrix, zero or holding what other element types have added. Thread mapping: an item per pair
/// of cell and local node a, [`n_items`] in all. The lanes of a warp take the same a of 32 consecutive cells: in a mesh
/// whose cells are numbered along a direction, as generated ones are, their rows follow one another, and so do the
/// entries that they add to in a format of slices; and a is the same for the whole warp. Memory moved: per item N
/// nodes, N coordinates (through the cache) and N slots (2 B); N blocks added to, by reductions in the second-level
/// cache, whose results nobody waits for. Operations: see [`super::rows`].
#[kernel(items, E = for_each_paper_element!, P = [Elasticity, Conduction], T = [f32, f64])]
pub unsafe fn atomic<E: Element, P: Form, T: Real>(i: usize, n_cells: usize, mesh: MeshView, to: Destination<T>) {
    let (cell, a) = (i / (CELLS * E::N) * CELLS + i % CELLS, i / CELLS % E::N);
    if cell >= n_cells {
        return;
    }
    let nodes = mesh.cell_nodes::<E>(cell);
    let x = mesh.cell_coords::<E, T>(nodes);
    let constants = mesh.cell_stiffness::<P, T>(cell);
    let row = to.entries.row(mesh.nodes.at(cell * E::N + a) as usize, size::<E, P>());
    row_of_products::<E, P, T>(&x, a, |b, product| {
        // A cell of the mesh and two of its nodes; this launch touches the matrix by atomics alone.
        to.accumulate::<E, P>(to.start::<E>(row, [cell, a, b]), product, constants)
    });
}
