//! Whether the solids fill space once: degenerate elements, orientation, and meshes that overlap themselves.
//!
//! An element whose Jacobian is negative throughout is turned round. If its nodes were only listed the other way round, the
//! mesh is then sound; if a node is misplaced, the turned element lies on the same side of a shared face as its neighbour.
//! With all elements positive that shows in the connectivity alone: the two run round the face in the same sense.

use rayon::prelude::*;

use super::faces::{FaceUse, for_each_face};
use super::{Cells, Mesh, MeshError};
use crate::element::ElementKind::{self, Hex8, Tet4};

/// Below this, a Jacobian against the cube (in the plane, the square) of the root-mean-square edge is rounding.
const FLAT: f64 = 1e-12;

/// At each corner the three (two) neighbours along edges, in right-handed order.
const TET: &[[usize; 4]] = &[[0, 1, 2, 3]];
const TRI: &[[usize; 4]] = &[[0, 1, 2, 2]];
const QUAD: &[[usize; 4]] = &[[0, 1, 3, 3], [1, 2, 0, 0], [2, 3, 1, 1], [3, 0, 2, 2]];
const HEX: &[[usize; 4]] =
    &[[0, 1, 3, 4], [1, 2, 0, 5], [2, 3, 1, 6], [3, 0, 2, 7], [4, 7, 5, 0], [5, 4, 6, 1], [6, 5, 7, 2], [7, 6, 4, 3]];

/// Corners, and the neighbours of each, at which an element's Jacobian is looked at.
pub(super) fn corners(kind: ElementKind) -> &'static [[usize; 4]] {
    match kind {
        Tet4 => TET,
        Hex8 => HEX,
        ElementKind::Quad4 => QUAD,
        _ => TRI,
    }
}

/// The Jacobian at a corner and the product of the lengths of its edges' mean square to the same power.
pub(super) fn corner_jacobian(mesh: &Mesh, cell: &[u32], corner: [usize; 4], dim: usize) -> (f64, f64) {
    let x = corner.map(|k| mesh.coords[cell[k] as usize]);
    let [a, b, c] = [1, 2, 3].map(|k| [0, 1, 2].map(|i| x[k][i] - x[0][i]));
    let square = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>();
    if dim == 2 {
        return (a[0] * b[1] - a[1] * b[0], (square(a) + square(b)) / 2.0);
    }
    let det =
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    (det, ((square(a) + square(b) + square(c)) / 3.0).powf(1.5))
}

/// Whether the Jacobian is positive (true) or negative at all corners.
fn sign(mesh: &Mesh, cells: &Cells, i: usize) -> Result<bool, MeshError> {
    let info = cells.kind.info();
    let (mut positive, mut negative) = (0, 0);
    for &corner in corners(cells.kind) {
        let (det, scale) = corner_jacobian(mesh, cells.cell(i), corner, info.dim);
        positive += usize::from(det > FLAT * scale);
        negative += usize::from(det < -FLAT * scale);
    }
    let n = corners(cells.kind).len();
    match (positive, negative) {
        (p, _) if p == n => Ok(true),
        (_, m) if m == n => Ok(false),
        (p, m) if p > 0 && m > 0 => Err(MeshError::Distorted { element: cells.tags[i], kind: info.name }),
        _ => Err(MeshError::Degenerate { element: cells.tags[i], kind: info.name }),
    }
}

/// Turns elements round that are listed the other way, and checks the mesh.
///
/// # Errors
/// [`MeshError::Degenerate`], [`MeshError::Distorted`], [`MeshError::Tangled`], [`MeshError::OvershareFace`].
pub(super) fn check(mesh: &mut Mesh) -> Result<(), MeshError> {
    let mut turned: Vec<Vec<u32>> = vec![Vec::new(); mesh.cells.len()];
    for (block, cells) in mesh.solids() {
        let signs = (0..cells.len()).into_par_iter().map(|i| sign(mesh, cells, i));
        let inverted = signs.clone().enumerate().map(|(i, ok)| ok.map(|ok| (!ok).then_some(i as u32)));
        // Which error this keeps depends on the threads; the one that is reported must not.
        let inverted: Result<Vec<u32>, MeshError> = inverted.filter_map(Result::transpose).collect();
        turned[block] = inverted.map_err(|any| signs.find_map_first(Result::err).unwrap_or(any))?;
    }
    for (cells, inverted) in mesh.cells.iter_mut().zip(&turned) {
        inverted.iter().for_each(|&i| turn(cells, i as usize));
    }
    check_faces(mesh, &turned)?;
    let count: usize = turned.iter().map(Vec::len).sum();
    let first = mesh.cells.iter().zip(&turned).find_map(|(cells, t)| t.first().map(|&i| cells.tags[i as usize]));
    if let Some(first) = first {
        mesh.warnings
            .push(format!("{count} elements were listed the other way round and were turned (the first is {first})"));
    }
    Ok(())
}

/// Lists the nodes of an element in the mirrored order.
fn turn(cells: &mut Cells, i: usize) {
    let n = cells.kind.info().n_nodes;
    let cell = &mut cells.nodes[i * n..(i + 1) * n];
    match cells.kind {
        Hex8 => cell.rotate_left(4),
        _ => cell[1..].reverse(),
    }
}

/// Whether a side's nodes run the way of its key: from the lowest to the lower of its two neighbours.
fn sense(mesh: &Mesh, side: &FaceUse) -> bool {
    let block = &mesh.cells[side.block as usize];
    let cell = block.cell(side.cell as usize);
    let local = block.kind.info().faces[side.side as usize].1;
    let n = local.len();
    let lowest = (0..n).min_by_key(|&k| cell[local[k]]).unwrap_or(0);
    if n == 2 {
        return lowest == 0;
    }
    cell[local[(lowest + 1) % n]] < cell[local[(lowest + n - 1) % n]]
}

fn check_faces(mesh: &Mesh, turned: &[Vec<u32>]) -> Result<(), MeshError> {
    let bad = for_each_face(mesh, |shared, found: &mut Vec<MeshError>| {
        let tag = |side: &FaceUse| mesh.cells[side.block as usize].tags[side.cell as usize];
        match shared {
            [a, b, c, ..] => found.push(MeshError::OvershareFace { elements: [tag(a), tag(b), tag(c)] }),
            [a, b] if sense(mesh, a) == sense(mesh, b) => {
                let was_turned = turned[b.block as usize].binary_search(&b.cell).is_ok();
                let (a, b) = if was_turned { (b, a) } else { (a, b) };
                found.push(MeshError::Tangled { element: tag(a), other: tag(b) });
            }
            _ => {}
        }
    });
    bad.into_iter().next().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::generate_box;

    #[test]
    fn the_first_bad_element_is_reported_whatever_the_threads() {
        let mut mesh = generate_box(Tet4, [1.0; 3], [12; 3]).unwrap();
        let cells = &mut mesh.cells[0];
        let n = cells.len();
        // Every element of the last 99 hundredths is bad, so that some thread meets one before the first of all.
        cells.nodes.chunks_exact_mut(4).skip(n / 100).for_each(|cell| cell[3] = cell[2]);
        let first = cells.tags[n / 100];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        for _ in 0..20 {
            let error = pool.install(|| check(&mut mesh.clone())).unwrap_err();
            assert!(matches!(error, MeshError::Degenerate { element, .. } if element == first), "{error}");
        }
    }
}
