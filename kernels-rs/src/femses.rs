//! FEMSES, finite elements by single element solutions (FEMSES sec. 4.3, after Fernandez et al.): an iteration for
//! `K u = f` on the element matrices themselves, without K.
//!
//! | equation | here |
//! | --- | --- |
//! | element matrices `A^e` | [`femses_matrices`] |
//! | `w_i = sum_e A_rr^e` (4.4) | [`femses_weights`], [`femses_inverse`] |
//! | `u_r^e = (b_r^e - sum_(s != r) A_rs^e u_s) / A_rr^e` (4.2), `u_i = sum_e A_rr^e / w_i u_r^e` (4.3) | [`femses_scatter`] and [`femses_update`] as there, by atomics; [`femses_gather`] |
//!
//! Put (4.2) into (4.3): `A_rr^e` cancels, and what is left is Jacobi's iteration for the assembled matrix, as w is K's
//! diagonal,
//!
//! ```text
//! u_i = 1/w_i (f_i - sum_e sum_(s != r) A_rs^e u_s) = u_i + 1/w_i (f - K u)_i
//! ```
//!
//! The last form is a step of a polynomial in `D^-1 K` with a, b, c = 1, 0, 1 (see [`crate::precond`]): so
//! [`femses_gather`] takes steps of any such polynomial, which is how Chebyshev's accelerates it.
//!
//! Nodes whose value is prescribed have a 0 for `1/w_i`: their rows are left out, and their columns by the 0 that
//! vectors have there. The unknown is the potential less what is prescribed, as in the assembled system. The thesis
//! starts from 0 by its comment and from 1 by its code (listing 4.2); here it is 0.

use crate::assembly::MeshView;
use crate::assembly::rows::row_of_products;
use crate::element::*;
use crate::for_each_paper_element;
use crate::form::{Conduction, Form};
use crate::precond::Step;
use crate::real::{Real, fma};
use crate::reduce::{Reduction, sum_over_grid};
use crate::setup::lists::range;
use cuda_std::prelude::*;

/// The matrices of the cells of one element type, of N nodes, and which nodes they are of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Elements<T: DeviceCopy> {
    /// Lower triangles, `[N (N + 1) / 2][n_cells]`: neighbouring threads read neighbouring words.
    pub matrices: View<T>,
    /// Number of cells.
    pub n_cells: usize,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: View<u32>,
    /// Start of each node's list of cells, `[n_nodes + 1]`.
    pub around: View<u64>,
    /// Cells around each node, ascending.
    pub cells: View<u32>,
}

/// The place of entry (a, b) of a symmetric matrix among those of its lower triangle.
#[inline(always)]
fn packed(a: usize, b: usize) -> usize {
    let (i, j) = if a < b { (b, a) } else { (a, b) };
    i * (i + 1) / 2 + j
}

/// Values of the lower triangle of an element of `n` nodes.
pub const fn n_packed(n: usize) -> usize {
    n * (n + 1) / 2
}

impl<T: Real> Elements<T> {
    /// Entry (a, b) of a cell's matrix.
    #[inline(always)]
    unsafe fn entry(self, cell: usize, a: usize, b: usize) -> T {
        self.matrices.at(packed(a, b) * self.n_cells + cell)
    }

    /// Nodes of a cell.
    #[inline(always)]
    unsafe fn nodes_of<const N: usize>(self, cell: usize) -> [usize; N] {
        core::array::from_fn(|b| self.nodes.at(cell * N + b) as usize)
    }

    /// Hands the cells around a node to `visit(cell, its nodes, the node's number among them)`.
    #[inline(always)]
    unsafe fn around<const N: usize>(self, row: usize, mut visit: impl FnMut(usize, [usize; N], usize)) {
        for pair in range(self.around, row) {
            let cell = self.cells.at(pair) as usize;
            let nodes = self.nodes_of::<N>(cell);
            visit(cell, nodes, local_number(&nodes, N, row));
        }
    }

    /// Row `row` of `sum_e A^e x`.
    #[inline(always)]
    unsafe fn product<const N: usize>(self, row: usize, x: View<T>) -> T {
        let mut sum = T::ZERO;
        self.around::<N>(row, |cell, nodes, a| {
            for b in 0..N {
                sum = fma(self.entry(cell, a, b), x.at(nodes[b]), sum);
            }
        });
        sum
    }

    /// Takes a step in row `row`, which no other thread has; returns the square of the residual before it.
    #[inline(always)]
    pub unsafe fn step<const N: usize>(self, row: usize, u: View<T>, step: Step<T>) -> f64 {
        let is_free = step.inverse.at(row) != T::ZERO;
        let product = if is_free { self.product::<N>(row, u) } else { T::ZERO };
        step.update(row, u.at(row), product);
        let residual = if is_free { (step.r.at(row) - product).to_f64() } else { 0.0 };
        residual * residual
    }
}

/// Computes: row `i / n_cells` of the matrix of cell `i % n_cells`, as far as the diagonal.
///
/// Parameters: `matrices [N (N + 1) / 2][n_cells]`. Thread mapping: an item per local node and cell, neighbouring items
/// neighbouring cells. The index of a thesis' kernel is `blockDim.x * blockDim.x + threadIdx.x` (listing 4.1), for
/// `blockIdx.x * blockDim.x`: it computes a block's worth of cells, whatever the grid. Memory moved: per item N nodes
/// and N coordinates (through the cache), and at most N values written. Operations: see [`crate::assembly::rows`].
#[kernel(items, E = for_each_paper_element!, T = [f32, f64])]
pub unsafe fn femses_matrices<E: Element, T: Real>(i: usize, n_cells: usize, mesh: MeshView, matrices: ViewMut<T>) {
    let (a, cell) = (i / n_cells, i % n_cells);
    let x = mesh.cell_coords::<E, T>(mesh.cell_nodes::<E>(cell));
    let conductivity = mesh.cell_stiffness::<Conduction, T>(cell);
    row_of_products::<E, Conduction, T>(&x, a, |b, product| {
        if b <= a {
            let value = Conduction::block::<E, T>(product, conductivity)[0][0];
            // The place of entry (a, b) of this cell, which this item owns.
            matrices.set(packed(a, b) * n_cells + cell, value);
        }
    });
}

/// Computes: adds to `w_i` the diagonal entries of the cells around node i: the same sum every time, which the thesis
/// forms by atomics.
///
/// Parameters: `w [n_nodes]`. Thread mapping: an item per node. Memory moved: per pair of node and cell N + 1 indices
/// and a value.
#[kernel(items, N = [3, 4, 6, 8, 10, 20], T = [f32, f64])]
pub unsafe fn femses_weights<const N: usize, T: Real>(row: usize, elements: Elements<T>, w: ViewMut<T>) {
    let mut sum = T::ZERO;
    elements.around::<N>(row, |cell, _, a| {
        sum += elements.entry(cell, a, a);
    });
    w.add(row, sum);
}

/// Computes: `inverse_i = 1 / w_i`; 0 where the value is prescribed, and of nodes without cells.
///
/// Parameters: `fixed` as of supports, `w, inverse [n_nodes]`. Thread mapping: an item per node. Memory moved: two
/// words and a byte per node.
#[kernel(items, T = [f32, f64])]
pub unsafe fn femses_inverse<T: Real>(i: usize, fixed: View<u8>, w: View<T>, inverse: ViewMut<T>) {
    let w = w.at(i);
    inverse.set(i, if fixed.at(i) != 0 || w == T::ZERO { T::ZERO } else { T::ONE / w });
}

/// Computes: `y = K x` over the cells of one type, or with a `sign` of -1 and an f `y = f - K x`; added to what y holds
/// if `adds` is not 0. Rows without unknowns are 0.
///
/// Parameters: `inverse, x, y [n_nodes]`, `f` as well or empty, `sign` 1 or -1; x is 0 where `inverse` is. Thread
/// mapping: an item per node. Memory moved: as [`femses_gather`], with x, y, D^-1 and f, if they are read, for vectors.
#[kernel(items, N = [3, 4, 6, 8, 10, 20], T = [f32, f64])]
pub unsafe fn femses_product<const N: usize, T: Real>(
    row: usize,
    elements: Elements<T>,
    inverse: View<T>,
    x: View<T>,
    sign: T,
    f: View<T>,
    adds: u32,
    y: ViewMut<T>,
) {
    let mut sum = T::ZERO;
    if inverse.at(row) != T::ZERO {
        sum = sign * elements.product::<N>(row, x);
        if !f.is_empty() {
            sum += f.at(row);
        }
        if adds != 0 {
            sum += y.at(row);
        }
    }
    y.set(row, sum);
}

/// Computes: a step from u, `u_new = a u + b u_old + c D^-1 (f - K u)` (FEMSES: 1, 0, 1), and
/// `scalars[out[0]] = ||f - K u||^2`.
///
/// Parameters: `u [n_nodes]`; the step's `r` is f, its `inverse` [`femses_inverse`]'s, its `previous` u_old, which
/// becomes u_new. Thread mapping: a grid-stride loop over nodes, blocks of [`crate::reduce::BLOCK`]: each sum has one
/// owner and a fixed order. Memory moved: each cell's matrix, nodes and places in lists once, the second to N-th time
/// through the cache; around, u, f, D^-1, u_new, and u_old if b is not 0. On a square of tri3 (two cells a node) in f64
/// 96 B of matrices, 24 of nodes, 24 of lists, 8 of around and 32 of vectors: 184 B a node, in f32 120. The assembled
/// matrix and its vectors are 116 and 72. Operations: 2 N a pair of node and cell, 36 a node there.
#[kernel(N = [3, 4, 6, 8, 10, 20], T = [f32, f64])]
pub unsafe fn femses_gather<const N: usize, T: Real>(
    n_rows: usize,
    elements: Elements<T>,
    u: View<T>,
    step: Step<T>,
    to: Reduction,
) {
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut row = thread::index_1d() as usize;
    let mut sum = 0.0;
    while row < n_rows {
        sum += elements.step::<N>(row, u, step);
        row += stride;
    }
    sum_over_grid([sum], to);
}

/// Computes: adds to `sums_i` the local solutions of a cell times their weights,
/// `A_rr^e u_r^e = -sum_(s != r) A_rs^e u_s`; f is added where they are put together.
///
/// Parameters: `u, sums [n_nodes]`. Thread mapping: an item per cell, blocks of any size. The thesis keeps all `u_r^e`
/// and adds them up in a second kernel (listings 4.3, 4.4); they need not leave their thread.
/// Memory moved: per cell its matrix and N nodes, and N sums added to, by reductions in the second-level cache; u
/// through the cache. On a square of tri3 in f64 96 B of matrices, 24 of nodes and 8 of u a node, and 6 additions.
/// Operations: 2 N (N - 1) per cell, and N additions.
#[kernel(items, N = [3, 4, 6, 8, 10, 20], T = [f32, f64])]
pub unsafe fn femses_scatter<const N: usize, T: Real>(
    cell: usize,
    elements: Elements<T>,
    u: View<T>,
    sums: ViewMut<T>,
) {
    let nodes = elements.nodes_of::<N>(cell);
    let u: [T; N] = core::array::from_fn(|s| u.at(nodes[s]));
    for r in 0..N {
        let mut solved = T::ZERO;
        for s in 0..N {
            if s != r {
                solved -= elements.entry(cell, r, s) * u[s];
            }
        }
        atomic::accumulate(sums, nodes[r], solved);
    }
}

/// Computes: `u_new_i = (f_i + sums_i) / w_i`, `r_i = (f - K u)_i = w_i (u_new_i - u_i)`, and `sums_i = 0` for the next
/// iteration.
///
/// Parameters: `f, inverse, u, sums, next, r [n_nodes]`; next is u_new. Thread mapping: an item per node, blocks of any
/// size. Memory moved: seven words per node; the norm of r is another launch, as in the thesis.
#[kernel(items, T = [f32, f64])]
pub unsafe fn femses_update<T: Real>(
    i: usize,
    f: View<T>,
    inverse: View<T>,
    u: View<T>,
    sums: ViewMut<T>,
    next: ViewMut<T>,
    r: ViewMut<T>,
) {
    let (inverse, u) = (inverse.at(i), u.at(i));
    let (mut updated, mut residual) = (u, T::ZERO);
    if inverse != T::ZERO {
        updated = inverse * (f.at(i) + sums.at(i));
        residual = (updated - u) / inverse;
    }
    sums.set(i, T::ZERO);
    next.set(i, updated);
    r.set(i, residual);
}
