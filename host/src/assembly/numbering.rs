//! The solver's numbering of nodes: an order in which neighbours are close, sorted by degree within windows.
//!
//! DSM sorts all rows by degree (ELL-WARP, sec. II.D), which takes neighbours far apart. Sorting within windows keeps
//! most of both: rows of one slice have nearly the same length, and stay near what they read.

use crate::mesh::{Mesh, ordering};
use rayon::prelude::*;

/// The order before the sort by degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ordering {
    /// As in the mesh.
    Mesh,
    /// Along a Hilbert curve.
    #[default]
    Hilbert,
}

impl Ordering {
    /// The mesh's nodes in this order.
    pub fn permutation(self, mesh: &Mesh) -> Vec<u32> {
        match self {
            Ordering::Mesh => (0..mesh.coords.len() as u32).collect(),
            Ordering::Hilbert => ordering::hilbert(&mesh.coords),
        }
    }
}

/// Nodes per window of the sort by degree.
pub const DEGREE_WINDOW: usize = 1024;

/// A permutation of the nodes, both ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// The mesh's number of each of the solver's nodes.
    pub to_mesh: Vec<u32>,
    /// The solver's number of each of the mesh's nodes.
    pub to_solver: Vec<u32>,
}

impl Numbering {
    /// Orders nodes, then sorts each window of `window` by falling `degree` (of the mesh's nodes), keeping the order of equals.
    pub fn new(mesh: &Mesh, order: Ordering, window: usize, degree: impl Fn(u32) -> u32 + Sync) -> Self {
        let mut to_mesh = order.permutation(mesh);
        let windows = to_mesh.par_chunks_mut(window.max(1));
        windows.for_each(|window| window.sort_by_key(|node| std::cmp::Reverse(degree(*node))));
        let mut to_solver = vec![0; to_mesh.len()];
        for (solver, node) in to_mesh.iter().enumerate() {
            to_solver[*node as usize] = solver as u32;
        }
        Numbering { to_mesh, to_solver }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.to_mesh.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.to_mesh.is_empty()
    }

    /// Values per node, from the mesh's order to the solver's.
    pub fn gather<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.to_mesh.iter().map(|node| values[*node as usize]).collect()
    }

    /// Vectors per node, from the solver's order (`[n][3]`, flat) to the mesh's.
    pub fn scatter(&self, values: &[f64]) -> Vec<[f64; 3]> {
        let vector = |solver: &u32| core::array::from_fn(|i| values[3 * *solver as usize + i]);
        self.to_solver.iter().map(vector).collect()
    }
}
