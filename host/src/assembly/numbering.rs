//! The solver's numbering of nodes: an order in which neighbours are close, sorted by degree within windows.
//!
//! DSM sorts all rows by degree (ELL-WARP, sec. II.D), which takes neighbours far apart. Sorting within windows keeps
//! most of both: rows of one slice have nearly the same length, and stay near what they read.

use crate::mesh::{Mesh, ordering};
use crate::parallel::{self, PART};
use crate::result::choices::Ordering;
use crate::sparse::Sparsity;

impl Ordering {
    /// What `auto` stands for: as nodes come where they come in an order with close neighbours, as those of generated boxes
    /// do, and along a Hilbert curve otherwise.
    pub fn auto(mesh: &Mesh) -> Ordering {
        let mut distance = 0.0;
        let mut pairs = 0.0;
        for (_, cells) in mesh.solids() {
            let n = cells.kind.info().n_nodes;
            for cell in cells.nodes.chunks_exact(n).step_by(1 + cells.len() / 10_000) {
                let (low, high) =
                    cell.iter().fold((u32::MAX, 0), |(low, high), node| (low.min(*node), high.max(*node)));
                distance += f64::from(high - low);
                pairs += 1.0;
            }
        }
        // Lexicographic numbering of a cube of n nodes has a bandwidth of n^(2/3), of a square n^(1/2).
        let layer = if mesh.dim() == 2 { 1.0 / 2.0 } else { 2.0 / 3.0 };
        let lexicographic = 4.0 * (mesh.coords.len() as f64).powf(layer);
        if distance <= pairs * lexicographic { Ordering::Mesh } else { Ordering::Hilbert }
    }

    /// The mesh's nodes in this order, computed on the host: `order[new] = old`, `[n_nodes]`.
    ///
    /// `neighbours` are those of each node, in the mesh's numbering ([`neighbours`](super::symbolic::neighbours)); only
    /// the reverse Cuthill-McKee order looks at them.
    pub fn order(self, mesh: &Mesh, neighbours: &Sparsity) -> Vec<u32> {
        match self {
            Ordering::Mesh => (0..mesh.coords.len() as u32).collect(),
            Ordering::Hilbert => ordering::hilbert(&mesh.coords),
            Ordering::ReverseCuthillMckee => {
                ordering::reverse_cuthill_mckee(&neighbours.row_start, &neighbours.columns)
            }
        }
    }
}

/// Nodes per window of the sort by degree.
pub const DEGREE_WINDOW: usize = 1024;

/// A permutation of the nodes, both ways; on the host, or else on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering<A = Vec<u32>> {
    /// The mesh's number of each of the solver's nodes.
    pub to_mesh: A,
    /// The solver's number of each of the mesh's nodes.
    pub to_solver: A,
}

impl Numbering {
    /// Sorts each window of `window` nodes of an order (`order[new] = old`) by falling `degree` (of the mesh's nodes),
    /// keeping the order of equals.
    pub fn new(order: Vec<u32>, window: usize, degree: impl Fn(u32) -> u32 + Sync) -> Self {
        let mut to_mesh = order;
        parallel::map_chunks(&mut to_mesh, window.max(1), &|_, window| {
            window.sort_by_key(|node| std::cmp::Reverse(degree(*node)));
        });
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
    pub fn gather<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        parallel::map_items(&self.to_mesh, &|node| values[*node as usize])
    }

    /// The first `dim` components of vectors per node, from the mesh's order to the solver's, `[n][dim]` flat.
    pub fn gather_components(&self, values: &[[f64; 3]], dim: usize) -> Vec<f64> {
        let mut gathered = vec![0.0; dim * self.to_mesh.len()];
        parallel::map_chunks(&mut gathered, dim * PART, &|first, part| {
            let nodes = &self.to_mesh[first / dim..];
            part.chunks_exact_mut(dim)
                .zip(nodes)
                .for_each(|(to, node)| to.copy_from_slice(&values[*node as usize][..dim]));
        });
        gathered
    }

    /// Adds forces on nodes of the mesh to vectors per node in the solver's order, `[n][dim]` flat.
    pub fn add_forces(&self, sums: &mut [f64], dim: usize, forces: impl IntoIterator<Item = (u32, [f64; 3])>) {
        for (node, force) in forces {
            let row = dim * self.to_solver[node as usize] as usize;
            sums[row..row + dim].iter_mut().zip(force).for_each(|(sum, f)| *sum += f);
        }
    }

    /// Values per node, from the solver's order to the mesh's.
    pub fn to_mesh_order<T: Copy + Send + Sync>(&self, values: &[T]) -> Vec<T> {
        parallel::map_items(&self.to_solver, &|node| values[*node as usize])
    }

    /// Vectors per node, from the solver's order (`[n][dim]`, flat) to the mesh's; components past `dim` are 0.
    pub fn scatter(&self, values: &[f64], dim: usize) -> Vec<[f64; 3]> {
        let component = |node: usize, i: usize| if i < dim { values[dim * node + i] } else { 0.0 };
        parallel::map_items(&self.to_solver, &|node| core::array::from_fn(|i| component(*node as usize, i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::symbolic::neighbours;
    use crate::element::ElementKind::Tet4;
    use crate::mesh::generate::generate_box;

    #[test]
    fn every_order_is_a_permutation_that_keeps_neighbours_close() {
        // A beam whose nodes are numbered along its length first, the farthest apart that a box can have them.
        let mesh = generate_box(Tet4, [20.0, 1.0, 1.0], [60, 3, 3]).unwrap();
        let neighbours = neighbours(&mesh, &[]);
        let mean_distance = |order: &[u32]| {
            let mut sorted = order.to_vec();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..mesh.coords.len() as u32));
            let numbering = Numbering::new(order.to_vec(), 1, |_| 0);
            let distance = |node: usize| {
                let at = numbering.to_solver[node];
                let others = neighbours.row(node).iter();
                others.map(|other| u64::from(numbering.to_solver[*other as usize].abs_diff(at))).sum::<u64>()
            };
            (0..mesh.coords.len()).map(distance).sum::<u64>() as f64 / neighbours.n_blocks() as f64
        };
        let [as_it_is, hilbert, rcm] = Ordering::ALL.map(|order| mean_distance(&order.order(&mesh, &neighbours)));
        assert!(hilbert < 0.5 * as_it_is && rcm < 0.5 * as_it_is, "{as_it_is} {hilbert} {rcm}");
    }

    #[test]
    fn windows_are_sorted_by_degree_and_equals_keep_their_order() {
        let degree = |node: u32| [3, 5, 5, 1, 2, 9, 2][node as usize];
        let numbering = Numbering::new(vec![6, 2, 0, 1, 3, 4, 5], 4, degree);
        assert_eq!(numbering.to_mesh, [2, 1, 0, 6, 5, 4, 3]);
        assert_eq!(numbering.gather(&numbering.to_solver), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(numbering.to_mesh_order(&numbering.to_mesh), [0, 1, 2, 3, 4, 5, 6]);
    }
}
