//! Assembly: from element blocks to the global matrix and right-hand side.
//!
//! Each strategy has its own file. What they share is how they see a mesh, and how they add a block to the matrix.

pub mod addition;
pub mod atomic;
pub mod by_element;
pub mod by_warp;
pub mod geometric;
pub mod incompatible;
pub mod mass;
pub mod moments;
pub mod ppni;
pub mod row_group;
pub mod row_owner;
pub mod rows;
pub mod rule;
pub mod slanted;
pub mod supports;
pub mod two_kernels;
pub mod warp;

use crate::element::{Element, Point, one_by_one};
use crate::form::{Form, size};
use crate::real::Real;
use crate::setup::lists::range;
use crate::sparse::Entries;
use crate::sparse::entries::RowEntries;
use core::ops::Range;
use cuda_std::prelude::*;

/// Calls `$callback! { $arguments row_owner RowOwner, .. }` with every assembly strategy, by its name and its type: the
/// only list of them.
#[macro_export]
macro_rules! for_each_strategy {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)*
            row_owner RowOwner,
            by_element ByElement,
            atomic Atomic,
            by_warp4 ByWarp4,
            by_warp8 ByWarp8,
            by_warp4_shared ByWarp4Shared,
            by_warp4_atomic ByWarp4Atomic,
            ppni4 Ppni4,
            ppni8 Ppni8,
            two_kernels TwoKernels
        }
    };
}

/// The cells of one element type, and for each node the cells around it. Nodes are in the solver's numbering, in which
/// node and block row are the same.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MeshView {
    /// Node coordinates, `[n_nodes]`.
    pub coords: View<[f64; 3]>,
    /// Nodes of each cell, `[n_cells][N]`.
    pub nodes: View<u32>,
    /// Material of each cell, `[n_cells]`.
    pub material: View<u32>,
    /// Constants of each material, [`Form::Stored`] of the form that the kernel is for.
    pub constants: View<f64>,
    /// Thickness of a plane body; 1 in three dimensions, and of bodies of revolution.
    pub thickness: f64,
    /// Start of each node's list of cells, `[n_nodes + 1]`.
    pub around: View<u64>,
    /// Cells around each node, ascending, `[around[n_nodes]]`.
    pub cells: View<u32>,
    /// 1 for the cells of an element of [reduced integration](Element::REDUCED), else 0.
    pub reduced: u32,
}

impl MeshView {
    /// The rule of the cells' stiffness: known to compilers where there is one alone.
    #[inline(always)]
    pub fn rule<E: Element>(self) -> &'static [Point] {
        if E::REDUCED.is_some() && self.reduced != 0 { E::SAMPLED } else { E::QUADRATURE }
    }

    /// The places in `cells` of the cells around a node.
    #[inline(always)]
    pub unsafe fn pairs(self, node: usize) -> Range<usize> {
        range(self.around, node)
    }

    /// Global nodes of a cell.
    #[inline(always)]
    pub unsafe fn cell_nodes<E: Element>(self, cell: usize) -> E::Nodal<usize> {
        E::nodal(|b| self.nodes.at(cell * E::N + b) as usize)
    }

    /// Coordinates of a cell's nodes relative to its first: differences in f64, so that single precision loses nothing
    /// to a mesh that lies far from the origin.
    #[inline(always)]
    pub unsafe fn cell_coords<E: Element, T: Real>(self, nodes: E::Nodal<usize>) -> E::Nodal<[T; 3]> {
        let origin = self.origin::<E>(nodes[0]);
        E::nodal(|b| self.relative(nodes[b], origin))
    }

    /// What coordinates of a cell are relative to: its first node. Those of a body of revolution keep their radius.
    #[inline(always)]
    pub unsafe fn origin<E: Element>(self, first: usize) -> [f64; 3] {
        let mut origin = self.coords.at(first);
        if E::REVOLVED {
            origin[0] = 0.0;
        }
        origin
    }

    /// Nodes of a cell and their coordinates relative to the first, for kernels that run once in a solution.
    #[inline(always)]
    pub unsafe fn gather<E: Element, T: Real>(self, cell: usize) -> (E::Nodal<usize>, E::Nodal<[T; 3]>) {
        let nodes: E::Nodal<usize> = one_by_one(E::N, |b| self.nodes.at(cell * E::N + b) as usize);
        let origin = self.origin::<E>(nodes[0]);
        (nodes, one_by_one(E::N, |b| self.relative(nodes[b], origin)))
    }

    /// Coordinates of a node relative to a point: the difference is taken in f64.
    #[inline(always)]
    pub unsafe fn relative<T: Real>(self, node: usize, origin: [f64; 3]) -> [T; 3] {
        let x = self.coords.at(node);
        core::array::from_fn(|i| T::from_f64(x[i] - origin[i]))
    }

    /// Constants of a cell's material times the thickness.
    #[inline(always)]
    pub unsafe fn cell_stiffness<P: Form, T: Real>(self, cell: usize) -> P::Constants<T> {
        P::scaled(self.cell_constants::<P, T>(cell), T::from_f64(self.thickness))
    }

    /// Constants of a material times the thickness.
    #[inline(always)]
    pub unsafe fn material_stiffness<P: Form, T: Real>(self, material: usize) -> P::Constants<T> {
        let stored = self.constants.reinterpret::<P::Stored>().at(material);
        P::scaled(P::constants(stored), T::from_f64(self.thickness))
    }

    /// Constants of a cell's material.
    #[inline(always)]
    pub unsafe fn cell_constants<P: Form, T: Real>(self, cell: usize) -> P::Constants<T> {
        P::constants(self.constants.reinterpret::<P::Stored>().at(self.material.at(cell) as usize))
    }
}

/// Where blocks of element stiffness are added.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Destination<T> {
    /// The position of each cell's node b in the row of its node a, `[n_cells][N][N]`.
    pub slots: View<u16>,
    /// Where the matrix keeps its entries.
    pub entries: Entries,
    /// K's values, as `entries` says: zero, or holding what has been added before.
    pub values: ViewMut<T>,
}

impl<T: Real> Destination<T> {
    /// The places of entries (0.., 0) of block (a, b) of a cell's stiffness; `row` are those of the row of node a.
    #[inline(always)]
    pub unsafe fn start<E: Element>(self, row: RowEntries, [cell, a, b]: [usize; 3]) -> [usize; 3] {
        row.block(self.slots.at((cell * E::N + a) * E::N + b) as usize)
    }

    /// Adds blocks of stiffness, from the sums over their quadrature points, by additions that are not atomic.
    ///
    /// All values are read before any is written: a compiler keeps loads behind the stores before them, and each would
    /// be waited for on its own. `starts` are what [`Destination::start`] says of different blocks, which nobody else
    /// touches at the same time.
    #[inline(always)]
    pub unsafe fn add<E: Element, P: Form, const K: usize>(
        self,
        starts: [[usize; 3]; K],
        products: [P::Product<T>; K],
        constants: P::Constants<T>,
    ) {
        let place = |k: usize, i: usize, j: usize| starts[k][i] + j * self.entries.column;
        let mut sums = [[[T::ZERO; 3]; 3]; K];
        for k in 0..K {
            sums[k] = P::block::<E, T>(products[k], constants);
            for j in 0..size::<E, P>() {
                for i in 0..size::<E, P>() {
                    sums[k][i][j] += self.values.at(place(k, i, j));
                }
            }
        }
        for k in 0..K {
            for j in 0..size::<E, P>() {
                for i in 0..size::<E, P>() {
                    self.values.set(place(k, i, j), sums[k][i][j]);
                }
            }
        }
    }

    /// As [`Destination::add`], of one block by atomic additions, as others may at the same time.
    #[inline(always)]
    pub unsafe fn accumulate<E: Element, P: Form>(
        self,
        start: [usize; 3],
        product: P::Product<T>,
        constants: P::Constants<T>,
    ) {
        let block = P::block::<E, T>(product, constants);
        for j in 0..size::<E, P>() {
            for i in 0..size::<E, P>() {
                cuda_std::atomic::accumulate(self.values, start[i] + j * self.entries.column, block[i][j]);
            }
        }
    }
}

/// Cells of one colour: no two of them share a node, so that they can add to a matrix at the same time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Color {
    /// The cells of all colours, colour by colour.
    pub cells: View<u32>,
    /// Where this colour starts.
    pub first: usize,
    /// How many cells it has.
    pub len: usize,
}

impl Color {
    /// Cell `i` of the colour.
    #[inline(always)]
    pub unsafe fn cell(self, i: usize) -> usize {
        self.cells.at(self.first + i) as usize
    }
}

/// `v[a]` for an index known only at run time, by selection: indexing would put the array in local memory.
#[inline(always)]
pub fn select<E: Element, X: Copy>(v: &E::Nodal<X>, a: usize) -> X {
    let mut chosen = v[0];
    for b in 1..E::N {
        if a == b {
            chosen = v[b];
        }
    }
    chosen
}
