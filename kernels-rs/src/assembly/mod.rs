//! Assembly: from element blocks to the global matrix and right-hand side.
//!
//! Each strategy has its own file. What they share is how they see a mesh.

pub mod row_group;
pub mod row_owner;
pub mod supports;

use crate::element::Element;
use crate::material::Lame;
use crate::real::Real;
use cuda_std::prelude::*;

/// Calls `$callback! { $arguments row_owner, .. }` with every assembly strategy: the only list of them.
#[macro_export]
macro_rules! for_each_strategy {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* row_owner }
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
    /// Lame's parameters of each material, `[n_materials]` as (lambda, mu); in plane stress lambda is
    /// `2 lambda mu / (lambda + 2 mu)`.
    pub lame: View<[f64; 2]>,
    /// Thickness of a plane body; 1 in three dimensions.
    pub thickness: f64,
    /// Start of each node's list of cells, `[n_nodes + 1]`.
    pub around: View<u64>,
    /// Cells around each node, ascending, `[around[n_nodes]]`.
    pub cells: View<u32>,
}

impl MeshView {
    /// Global nodes of a cell.
    ///
    /// # Safety
    /// `cell` is a cell of the mesh.
    #[inline(always)]
    pub unsafe fn cell_nodes<E: Element>(self, cell: usize) -> E::Nodal<usize> {
        E::nodal(|b| {
            // SAFETY: `cell` is valid by contract and b < N.
            unsafe { self.nodes.at(cell * E::N + b) as usize }
        })
    }

    /// Coordinates of a cell's nodes relative to its first: differences in f64, so that single precision loses nothing
    /// to a mesh that lies far from the origin.
    ///
    /// # Safety
    /// `nodes` are nodes of the mesh.
    #[inline(always)]
    pub unsafe fn cell_coords<E: Element, T: Real>(self, nodes: E::Nodal<usize>) -> E::Nodal<[T; 3]> {
        // SAFETY: `nodes` are valid by contract.
        let origin = unsafe { self.coords.at(nodes[0]) };
        E::nodal(|b| {
            // SAFETY: as above.
            let x = unsafe { self.coords.at(nodes[b]) };
            core::array::from_fn(|i| T::from_f64(x[i] - origin[i]))
        })
    }

    /// Lame's parameters of a cell's material.
    ///
    /// # Safety
    /// `cell` is a cell of the mesh.
    #[inline(always)]
    pub unsafe fn cell_lame<T: Real>(self, cell: usize) -> Lame<T> {
        // SAFETY: `cell` is valid by contract, its material by construction of the view.
        let [lambda, mu] = unsafe { self.lame.at(self.material.at(cell) as usize) };
        Lame { lambda: T::from_f64(lambda), mu: T::from_f64(mu) }
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
