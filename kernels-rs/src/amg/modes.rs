//! The modes that cost no energy, level by level, and an orthonormal basis of them on each aggregate: the columns of
//! the tentative prolongator (Vanek, Mandel, Brezina 1996, sec. 3).
//!
//! With B the modes at an aggregate's nodes, `B = Q R`: Q is the aggregate's part of the prolongator, and R the modes
//! at the aggregate on the next level. R is found as the Cholesky factor of `B^T B`. That takes the square of B's
//! condition, which is of the order of a body's length over an aggregate's, so that double precision has digits to
//! spare; `Q R = B` holds to rounding in any case. A column that depends on those before it, as on an aggregate of few
//! nodes, is left out: in Q and in its row of R it is zero.

use super::pattern::Lists;
use crate::parts::rigid_motion;
use crate::real::fma;
use crate::sparse::PatternView;
use core::ops::Range;
use cuda_std::prelude::*;

/// A column of which less than this part of its square is left is taken to depend on those before it.
const LEFT: f64 = 1e-12;

/// A point that rotations are about.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Centre {
    /// Its coordinates.
    pub x: [f64; 3],
}

/// Computes: the modes at the nodes of a mesh: of a potential the constant; of a plane body two translations and a
/// rotation; of a body in space three translations and the rotations about z, x and y. They are 0 in supported
/// components.
///
/// Parameters: `coords [n]`; `free [n]`, see [`super::strength::Couplings`]; `size`, components of a node;
/// `modes [n][size][n_modes]`. Thread mapping: an item per node. Memory moved: 25 B per node and the modes.
#[kernel(items)]
pub unsafe fn rigid_modes(
    node: usize,
    about: Centre,
    size: usize,
    coords: View<[f64; 3]>,
    free: View<u8>,
    modes: ViewMut<f64>,
) {
    let (x, mask, n_modes) = (coords.at(node), free.at(node), size * (size + 1) / 2);
    let y = core::array::from_fn(|i| x[i] - about.x[i]);
    for i in 0..size {
        let is_free = mask >> i & 1 == 1;
        for mode in 0..n_modes {
            let value = if is_free { rigid_motion(size, mode, i, y) } else { 0.0 };
            modes.set((node * size + i) * n_modes + mode, value);
        }
    }
}

/// Computes: the mean of the coordinates of an aggregate's nodes.
///
/// Parameters: `members`, the nodes of each aggregate; `coords [n]`; `centroids [n_aggregates]`. Thread mapping: an
/// item per aggregate. Memory moved: 28 B per node, 24 B per aggregate.
#[kernel(items)]
pub unsafe fn centroids(aggregate: usize, members: Lists, coords: View<[f64; 3]>, centroids: ViewMut<[f64; 3]>) {
    let Range { start, end } = members.range(aggregate);
    let mut sum = [0.0; 3];
    for place in start..end {
        let x = coords.at(members.rows.at(place) as usize);
        for c in 0..3 {
            sum[c] += x[c];
        }
    }
    let over = 1.0 / (end - start).max(1) as f64;
    centroids.set(aggregate, [sum[0] * over, sum[1] * over, sum[2] * over]);
}

/// Computes: an entry of the upper triangle of `B^T B` of an aggregate, 0 below.
///
/// Parameters: `members`, the nodes of each aggregate; `modes [n][size][n_modes]`;
/// `products [n_aggregates][n_modes][n_modes]`.
/// Thread mapping: an item per entry. Memory moved: the modes, through the cache, and the products.
#[kernel(items)]
pub unsafe fn mode_products(
    item: usize,
    size: usize,
    n_modes: usize,
    members: Lists,
    modes: View<f64>,
    products: ViewMut<f64>,
) {
    let (a, c) = (item / n_modes % n_modes, item % n_modes);
    let places = members.range(item / (n_modes * n_modes));
    let mut sum = 0.0;
    if a <= c {
        for place in places {
            let node = members.rows.at(place) as usize;
            for i in 0..size {
                let row = (node * size + i) * n_modes;
                sum = fma(modes.at(row + a), modes.at(row + c), sum);
            }
        }
    }
    products.set(item, sum);
}

/// Computes: R of each aggregate in the place of its products, column by column; see the module.
///
/// Parameters: `products [n_aggregates][n_modes][n_modes]`. Thread mapping: an item per aggregate. Memory moved: the
/// products, read and written.
#[kernel(items)]
pub unsafe fn factorise_products(aggregate: usize, n_modes: usize, products: ViewMut<f64>) {
    let place = |row: usize, column: usize| (aggregate * n_modes + row) * n_modes + column;
    for column in 0..n_modes {
        let all = products.at(place(column, column));
        let mut left = all;
        for row in 0..column {
            let diagonal = products.at(place(row, row));
            let mut value = products.at(place(row, column));
            for m in 0..row {
                value = fma(-products.at(place(m, row)), products.at(place(m, column)), value);
            }
            value = if diagonal > 0.0 { value / diagonal } else { 0.0 };
            products.set(place(row, column), value);
            left = fma(-value, value, left);
        }
        products.set(place(column, column), if left > LEFT * all { left.sqrt() } else { 0.0 });
    }
}

/// Computes: the row of Q of a node's component, `Q = B R^-1`.
///
/// Parameters: `aggregates`, of each node its aggregate or nothing; `modes [n][size][n_modes]`; `factors`, R, see
/// [`factorise_products`]; `values [n_blocks][n_modes][size]`. Thread mapping: an item per component of a node.
/// Memory moved: the modes and the values once, R through the cache.
#[kernel(items)]
pub unsafe fn orthonormal_modes(
    item: usize,
    size: usize,
    n_modes: usize,
    aggregates: PatternView,
    modes: View<f64>,
    factors: View<f64>,
    values: ViewMut<f64>,
) {
    let (node, i) = (item / size, item % size);
    let (block, width) = aggregates.row(node);
    if width == 0 {
        return;
    }
    let factor = aggregates.columns.at(block) as usize * n_modes * n_modes;
    for column in 0..n_modes {
        let diagonal = factors.at(factor + column * n_modes + column);
        let mut value = modes.at(item * n_modes + column);
        for m in 0..column {
            let before = values.at((block * n_modes + m) * size + i);
            value = fma(-before, factors.at(factor + m * n_modes + column), value);
        }
        values.set((block * n_modes + column) * size + i, if diagonal > 0.0 { value / diagonal } else { 0.0 });
    }
}
