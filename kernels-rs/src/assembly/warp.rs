//! What the strategies of a warp per element share: how K_e is divided among the lanes, and how each adds its part.
//!
//! Of an element of eight nodes a lane has two blocks (18 entries): `M_ab = sum_q w_q |J_q| g_a g_b^T` for one node and
//! two others. With 4 threads per row (WARP fig. 2) the one is the row a = lane / 4 and the two are the columns b = 2
//! (lane % 4) and b + 1; with 8 threads per row (WARP fig. 6) the one is the column lane % 8 and the two are the rows 2
//! (lane / 8) and the next.

use super::{Destination, MeshView};
use crate::element::Element;
use crate::form::Elasticity;
use crate::material::Lame;
use crate::real::{Real, add_outer};
use cuda_std::prelude::*;

/// Elements that a warp can divide like this: eight nodes and eight points in three dimensions.
#[macro_export]
macro_rules! for_each_warp_element {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Hex8 }
    };
}

/// Lanes of a warp.
pub const LANES: usize = 32;
/// Warps of a block, each with an element of its own.
pub const WARPS: usize = 8;
/// Threads of a block.
pub const BLOCK: usize = WARPS * LANES;
/// Nodes of an element, and quadrature points.
pub const NODES: usize = 8;

/// Refuses, at compile time, elements that do not divide among 32 lanes as above.
pub const fn check<E: Element>() {
    assert!(E::N == NODES && E::QUADRATURE.len() == NODES && E::DIM == 3, "a warp takes eight nodes and eight points");
}

/// The two blocks of a lane, `M` of one node with two others; transposed where the one is a column.
pub struct Share<T: Real, const PER_ROW: usize> {
    /// The node that both blocks have.
    pub one: usize,
    /// The first of the two others; the second follows it.
    pub two: usize,
    products: [[[T; 3]; 3]; 2],
}

impl<T: Real, const PER_ROW: usize> Share<T, PER_ROW> {
    /// Whether the node that both blocks have is their row.
    const BY_ROW: bool = PER_ROW == 4;

    /// That of a lane, zero.
    #[inline(always)]
    pub fn new(lane: usize) -> Self {
        let (one, two) = if Self::BY_ROW { (lane / 4, lane % 4 * 2) } else { (lane % 8, lane / 8 * 2) };
        Share { one, two, products: [[[T::ZERO; 3]; 3]; 2] }
    }

    /// Adds a point whose gradients `[8][3]` and weight `w |J|` are in shared memory.
    #[inline(always)]
    pub unsafe fn accumulate_shared(&mut self, gradients: *const T, weight: T) {
        let gradient = |b: usize| core::array::from_fn(|i| *gradients.add(3 * b + i));
        let one: [T; 3] = gradient(self.one);
        let (one, two) = (one.map(|g| weight * g), [gradient(self.two), gradient(self.two + 1)]);
        add_outer(3, &mut self.products[0], one, two[0]);
        add_outer(3, &mut self.products[1], one, two[1]);
    }

    /// Where its blocks go: asked for before the integration, which hides how long the answer takes.
    #[inline(always)]
    pub unsafe fn starts<E: Element>(&self, cell: usize, mesh: MeshView, to: Destination<T>) -> [[usize; 3]; 2] {
        let row = |a: usize| to.entries.row(mesh.nodes.at(cell * NODES + a) as usize, 3);
        if Self::BY_ROW {
            let row = row(self.one);
            [0, 1].map(|k| to.start::<E>(row, [cell, self.one, self.two + k]))
        } else {
            [0, 1].map(|k| to.start::<E>(row(self.two + k), [cell, self.two + k, self.one]))
        }
    }

    /// Adds both blocks to the matrix, from [`Share::starts`] on. Nobody else touches the rows of the cell at the same
    /// time.
    #[inline(always)]
    pub unsafe fn add<E: Element>(self, starts: [[usize; 3]; 2], to: Destination<T>, lame: Lame<T>) {
        let products = if Self::BY_ROW { self.products } else { self.products.map(transposed) };
        to.add::<E, Elasticity, 2>(starts, products, lame);
    }
}

#[inline(always)]
fn transposed<T: Real>(m: [[T; 3]; 3]) -> [[T; 3]; 3] {
    core::array::from_fn(|i| core::array::from_fn(|j| m[j][i]))
}

/// This warp's number in the grid and in its block, and this thread's lane.
#[inline(always)]
pub fn place() -> (usize, usize, usize) {
    let t = thread::thread_idx_x() as usize;
    let warp = t / LANES;
    (thread::block_idx_x() as usize * WARPS + warp, warp, t % LANES)
}

/// Coordinates of node `b` of a cell relative to its first, in the precision of the matrix.
#[inline(always)]
pub unsafe fn coords<T: Real>(mesh: MeshView, cell: usize, b: usize) -> [T; 3] {
    let origin = mesh.coords.at(mesh.nodes.at(cell * NODES) as usize);
    mesh.relative(mesh.nodes.at(cell * NODES + b) as usize, origin)
}
