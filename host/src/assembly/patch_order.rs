//! Numbers of nodes where there is no matrix: those of a [patch](super::patches) lie together, as its block of threads reads
//! and writes them.

use crate::device::Buffer;
use crate::element::ElementKind;
use crate::linalg::Space;
use crate::mesh::{Mesh, ordering};
use crate::result::Result;
use kernels_rs::matrix_free::{FixedCell, LinearTet4, SerendipityHex20, StraightTet10, TrilinearHex8};
use kernels_rs::setup::patches::{Along, CELL_BITS, CellKeys, CountInFirst, ORDER_BITS, OrderKeys, TouchNodes};

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

/// The nodes of a mesh in an order in which those of a patch lie together: `order[new] = old`, `[n_nodes]`. `cells` are the
/// nodes of the cells by element type, in the mesh's numbering, as its coordinates.
pub fn node_order(
    space: &Space,
    mesh: &Mesh,
    coords: &Buffer<[f64; 3]>,
    cells: &[(ElementKind, &Buffer<u32>)],
) -> Result<Buffer<u32>> {
    let (lattice, n_nodes, mut first) = (ordering::lattice(&mesh.coords), coords.len(), 0);
    let mut along = Vec::new();
    for (kind, nodes) in cells {
        let (n, size) = (kind.info().n_nodes, usual_size(*kind));
        let n_cells = nodes.len() / n;
        let mut keys = space.zeros(n_cells)?;
        let kernel = CellKeys { lattice, n, nodes: nodes.view(), coords: coords.view(), keys: keys.view_mut() };
        // SAFETY: here and below cells and nodes of this mesh, with an entry for each, which live until the sort or `finish`.
        unsafe { space.run(n_cells, kernel) }?;
        along.push((*kind, *nodes, first, space.sort_order(&keys, CELL_BITS)?));
        first += n_cells.div_ceil(size) as u32;
    }
    let (most, mut backwards, mut last, mut counts) =
        (first, space.zeros(n_nodes)?, space.zeros(n_nodes)?, space.zeros(n_nodes)?);
    let views = along.iter().map(|(kind, nodes, first, cells)| {
        let (info, size) = (kind.info(), usual_size(*kind));
        let (n, n_corners) = (info.n_nodes, info.n_corners);
        (nodes.len(), Along { n, n_corners, size, first: *first, nodes: nodes.view(), cells: cells.view() })
    });
    let views: Vec<(usize, Along)> = views.collect();
    for (n, of) in &views {
        let (backwards, last) = (backwards.view_mut(), last.view_mut());
        // SAFETY: as above.
        unsafe { space.run(*n, TouchNodes { of: *of, most, backwards, last }) }?;
    }
    for (n, of) in &views {
        let (backwards, counts) = (backwards.view(), counts.view_mut());
        // SAFETY: as above.
        unsafe { space.run(*n, CountInFirst { of: *of, most, backwards, counts }) }?;
    }
    let mut keys = space.zeros(n_nodes)?;
    let (backwards, last, counts) = (backwards.view(), last.view(), counts.view());
    // SAFETY: as above.
    unsafe { space.run(n_nodes, OrderKeys { most, backwards, last, counts, keys: keys.view_mut() }) }?;
    space.sort_order(&keys, ORDER_BITS + u32::BITS - most.leading_zeros())
}
