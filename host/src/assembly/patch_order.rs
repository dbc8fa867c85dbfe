//! Numbers of nodes where there is no matrix: those of a [patch](super::patches) lie together, as its block of threads reads
//! and writes them.

use crate::element::ElementKind;
use crate::mesh::{Mesh, middle, ordering};
use kernels_rs::matrix_free::{FixedCell, LinearTet4, SerendipityHex20, StraightTet10, TrilinearHex8};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Cells of the patches of a kind, where memory leaves them so many.
fn usual_size(kind: ElementKind) -> usize {
    match kind {
        ElementKind::Tet4 => LinearTet4::CELLS,
        ElementKind::Tet10 => StraightTet10::CELLS,
        ElementKind::Hex8 => TrilinearHex8::CELLS,
        ElementKind::Hex20 => SerendipityHex20::CELLS,
        _ => 64,
    }
}

/// The nodes of a mesh in an order in which those of a patch lie together, as its block of threads reads and writes them:
/// `order[new] = old`, `[n_nodes]`.
pub fn node_order(mesh: &Mesh) -> Vec<u32> {
    let n_nodes = mesh.coords.len();
    // The first patch of each node and the last, and how many cells it has in the first, corners before others.
    let (mut first, mut last, mut count) = (vec![u32::MAX; n_nodes], vec![0; n_nodes], vec![0_u32; n_nodes]);
    let (lattice, mut patch) = (ordering::lattice(&mesh.coords), 0);
    for (_, cells) in mesh.solids() {
        let (n, n_corners) = (cells.kind.info().n_nodes, cells.kind.info().n_corners);
        let key = |(i, cell): (usize, &[u32])| {
            (lattice.key(middle(cell.iter().map(|node| mesh.coords[*node as usize]))), i as u32)
        };
        let mut along: Vec<(u64, u32)> = cells.nodes.par_chunks_exact(n).enumerate().map(key).collect();
        along.par_sort_unstable();
        for of_patch in along.chunks(usual_size(cells.kind)) {
            for (b, node) in of_patch.iter().flat_map(|(_, cell)| cells.cell(*cell as usize).iter().enumerate()) {
                let node = *node as usize;
                (first[node], last[node]) = (first[node].min(patch), patch);
                if first[node] == patch {
                    count[node] += if b < n_corners { 1 << 16 } else { 1 };
                }
            }
            patch += 1;
        }
    }
    let mut order: Vec<u32> = (0..n_nodes as u32).collect();
    let key = |node: usize| (first[node], first[node] != last[node], Reverse(count[node]));
    order.par_sort_by_key(|node| key(*node as usize));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Tet10};
    use crate::mesh::generate::generate_box;

    #[test]
    fn nodes_of_a_patch_lie_together() {
        for kind in [Hex8, Tet10] {
            let mesh = generate_box(kind, [1.0; 3], [8; 3]).unwrap();
            let order = node_order(&mesh);
            let mut place = vec![usize::MAX; order.len()];
            order.iter().enumerate().for_each(|(new, old)| place[*old as usize] = new);
            assert!(place.iter().all(|new| *new < order.len()), "not a permutation");
            // Most nodes of a cell are near each other.
            let cells = &mesh.cells[0];
            let is_near = |cell: usize| {
                let nodes = || cells.cell(cell).iter().map(|node| place[*node as usize]);
                let first = nodes().min().unwrap_or(0);
                2 * nodes().filter(|new| new - first < 1024).count() >= nodes().count()
            };
            assert!((0..cells.len()).all(is_near));
        }
    }
}
