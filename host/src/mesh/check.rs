//! Whether the solids fill space once: degenerate elements, orientation, and meshes that overlap themselves.
//!
//! The Jacobian is looked at in the nodes, and bounded between them ([`jacobian`]) where they do not decide. An element
//! whose Jacobian is negative throughout is reversed. If its nodes were only listed the other way round, the mesh
//! is then sound; if a node is misplaced, the turned element lies on the same side of a shared face as its neighbour.
//! With all elements positive that shows in the connectivity alone: the two run round the face in the same sense.

use super::error::Place;
use super::faces::{FaceUse, for_each_face};
use super::{Cells, Mesh, MeshError, jacobian, middle};
use crate::element::shape::{At, determinant};
use crate::element::{ElementKind, MAX_NODES};
use crate::parallel;

/// Below this, a Jacobian against the cube (in the plane, the square) of the tangents' root-mean-square is rounding.
const FLAT: f64 = 1e-12;

/// Where an element's Jacobian is looked at; in a linear simplex it is the same everywhere.
fn points(kind: ElementKind) -> &'static [At] {
    let (info, table) = (kind.info(), kind.table());
    if info.domain.is_simplex() && !info.is_quadratic() { &table.nodes[..1] } else { &table.nodes }
}

/// Whether the Jacobian is positive (true) or negative everywhere.
fn sign(mesh: &Mesh, cells: &Cells, i: usize) -> Result<bool, MeshError> {
    let (info, cell) = (cells.kind.info(), cells.cell(i));
    let mut x = [[0.0; 3]; MAX_NODES];
    x.iter_mut().zip(cell).for_each(|(x, &node)| *x = mesh.coords[node as usize]);
    let (mut positive, mut negative, mut n) = (0, 0, 0);
    for at in points(cells.kind) {
        let tangents = at.tangents(|b| x[b]);
        let square = tangents.as_flattened().iter().map(|c| c * c).sum::<f64>() / info.dim as f64;
        let (det, scale) = (determinant(info.dim, tangents), square.powf(info.dim as f64 / 2.0));
        positive += usize::from(det > FLAT * scale);
        negative += usize::from(det < -FLAT * scale);
        n += 1;
    }
    let mirrored = &cells.kind.table().mirrored;
    match (positive, negative) {
        (p, _) if p == n && jacobian::is_positive(cells.kind, |b| x[b]) => Ok(true),
        (_, m) if m == n && jacobian::is_positive(cells.kind, |b| x[mirrored[b]]) => Ok(false),
        (p, m) => {
            let middle = middle(x[..cell.len()].iter().copied());
            let (element, kind, at) = (cells.tags[i], info.name, Place { middle, dim: info.dim });
            Err(match p > 0 && m > 0 || p.max(m) == n || info.is_quadratic() && p + m > 0 {
                true => MeshError::Distorted { element, kind, at },
                false => MeshError::Degenerate { element, kind, at },
            })
        }
    }
}

/// Turns elements round that are listed the other way, and checks the mesh; what is wrong with elements:
/// [`MeshError::Degenerate`], [`MeshError::Distorted`], and if no element is bad by itself [`MeshError::Repeated`],
/// [`MeshError::Tangled`], [`MeshError::Unmatched`] and [`MeshError::OvershareFace`], for faces tell who lies on which side of them.
pub(super) fn review(mesh: &mut Mesh) -> Vec<MeshError> {
    let (mut turned, mut bad) = (vec![Vec::new(); mesh.cells.len()], Vec::new());
    for (block, cells) in mesh.solids() {
        let unusual = parallel::flat_map(cells.len(), &|i, unusual| match sign(mesh, cells, i) {
            Ok(true) => {}
            found => unusual.push(found.map(|_| i as u32)),
        });
        for found in unusual {
            match found {
                Ok(i) => turned[block].push(i),
                Err(error) => bad.push(error),
            }
        }
    }
    for (cells, inverted) in mesh.cells.iter_mut().zip(&turned) {
        inverted.iter().for_each(|&i| turn(cells, i as usize));
    }
    if bad.is_empty() {
        bad = check_faces(mesh, &turned);
    }
    let count: usize = turned.iter().map(Vec::len).sum();
    let first = mesh.cells.iter().zip(&turned).find_map(|(cells, t)| t.first().map(|&i| cells.tags[i as usize]));
    if let Some(first) = first {
        mesh.warnings.push(match count {
            1 => format!("element {first} had its nodes in reverse order, which was corrected"),
            _ => {
                format!("{count} elements had their nodes in reverse order, which was corrected (the first is {first})")
            }
        });
    }
    bad
}

fn turn(cells: &mut Cells, i: usize) {
    let old = cells.cell(i).to_vec();
    let cell = &mut cells.nodes[i * old.len()..(i + 1) * old.len()];
    cell.iter_mut().zip(&cells.kind.table().mirrored).for_each(|(node, &k)| *node = old[k]);
}

/// Whether a side's corners run the way of its key: from the lowest to the lower of its two neighbours.
fn sense(mesh: &Mesh, side: &FaceUse) -> bool {
    let block = &mesh.cells[side.block as usize];
    let cell = block.cell(side.cell as usize);
    let (kind, local) = &block.kind.faces()[side.side as usize];
    let n = kind.info().n_corners;
    let lowest = (0..n).min_by_key(|&k| cell[local[k]]).unwrap_or(0);
    if n == 2 {
        return lowest == 0;
    }
    cell[local[(lowest + 1) % n]] < cell[local[(lowest + n - 1) % n]]
}

fn check_faces(mesh: &Mesh, turned: &[Vec<u32>]) -> Vec<MeshError> {
    for_each_face(mesh, |shared, found: &mut Vec<MeshError>| {
        let tag = |side: &FaceUse| mesh.cells[side.block as usize].tags[side.cell as usize];
        match shared {
            [a, b, rest @ ..] if (!rest.is_empty() || sense(mesh, a) == sense(mesh, b)) && are_twins(mesh, a, b) => {
                found.push(MeshError::Repeated([tag(a), tag(b)]));
            }
            [a, b, c, ..] => found.push(MeshError::OvershareFace([tag(a), tag(b), tag(c)])),
            [a, b] if sense(mesh, a) == sense(mesh, b) => {
                let was_turned = turned[b.block as usize].binary_search(&b.cell).is_ok();
                let (a, b) = if was_turned { (b, a) } else { (a, b) };
                found.push(MeshError::Tangled { element: tag(a), other: tag(b) });
            }
            [a, b] if !share_all_nodes(mesh, a, b) => {
                found.push(MeshError::Unmatched([tag(a), tag(b)]));
            }
            _ => {}
        }
    })
}

/// Whether two sides are of elements with the same nodes.
fn are_twins(mesh: &Mesh, a: &FaceUse, b: &FaceUse) -> bool {
    let [a, b] = [a, b].map(|side| {
        let mut nodes = mesh.cells[side.block as usize].cell(side.cell as usize).to_vec();
        nodes.sort_unstable();
        nodes
    });
    a == b
}

/// Whether two sides with the same corners have the same nodes between these.
fn share_all_nodes(mesh: &Mesh, a: &FaceUse, b: &FaceUse) -> bool {
    let (a, b) = (a.face(mesh), b.face(mesh));
    a.kind == b.kind && a.nodes().iter().all(|node| b.nodes().contains(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;
    use std::collections::BTreeMap;

    fn check(mesh: &mut Mesh) -> Result<(), MeshError> {
        MeshError::of_elements(review(mesh))
    }

    /// Two cells, each way round, of every quadratic kind.
    fn quadratic_meshes() -> [Mesh; 4] {
        [
            cube(Tet10, 1),
            generate_box(Hex20, [1.0; 3], [2, 1, 1]).unwrap(),
            generate_rectangle(Tri6, [1.0; 2], [1; 2]).unwrap(),
            generate_rectangle(Quad8, [1.0; 2], [2, 1]).unwrap(),
        ]
    }

    /// Of the first cell, by the node in the middle of each edge its ends.
    fn edges(cells: &Cells) -> BTreeMap<u32, [u32; 2]> {
        let nodes = cells.kind.edges().iter().map(|edge| [0, 1, 2].map(|k| cells.cell(0)[edge[k]]));
        nodes.map(|[a, b, middle]| (middle, [a.min(b), a.max(b)])).collect()
    }

    #[test]
    fn elements_listed_the_other_way_get_their_middle_nodes_back() {
        for mut mesh in quadratic_meshes() {
            // A mirrored mesh under the same numbers: every element is inverted and must keep its nodes on its edges.
            mesh.coords.iter_mut().for_each(|x| x[0] = (1.0 - x[0]) * (1.0 + 0.25 * x[0]));
            let kind = mesh.cells[0].kind;
            let before = mesh.cells[0].clone();
            let expected = -volume(&mesh);
            check(&mut mesh).unwrap();
            assert!(expected > 0.0 && (volume(&mesh) - expected).abs() < 1e-13, "{kind:?}");
            let said = match before.len() {
                1 => format!("element {} had its nodes in reverse", before.tags[0]),
                n => format!("{n} elements had their nodes in reverse"),
            };
            assert!(mesh.warnings[0].starts_with(&said), "{kind:?}");
            assert_eq!(edges(&before), edges(&mesh.cells[0]), "{kind:?}");
            let again = mesh.clone();
            mesh.warnings.clear();
            check(&mut mesh).unwrap();
            assert!(mesh.warnings.is_empty() && mesh.cells == again.cells);
        }
    }

    #[test]
    fn a_misplaced_middle_node_is_named_with_its_element() {
        for mesh in quadratic_meshes() {
            let info = mesh.cells[0].kind.info();
            let (middle, ends) = edges(&mesh.cells[0]).pop_first().unwrap();
            let [a, b] = ends.map(|node| mesh.coords[node as usize]);
            // Past the quarter of the edge, where the Jacobian at its end changes sign.
            for (place, sound) in [(0.3, true), (0.2, false), (0.85, false)] {
                let mut moved = mesh.clone();
                moved.coords[middle as usize] = [0, 1, 2].map(|c| a[c] + place * (b[c] - a[c]));
                match check(&mut moved) {
                    Ok(()) => assert!(sound, "{} {place}", info.name),
                    Err(error) => {
                        assert!(!sound, "{} {place}: {error}", info.name);
                        assert!(matches!(error.root(), MeshError::Distorted { element: 1, .. }), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_face_without_the_same_middle_nodes_is_refused() {
        let mut mesh = generate_box(Hex20, [2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
        let shared = mesh.cells[0].cell(0)[11];
        let copy = mesh.coords.len() as u32;
        mesh.coords.push(mesh.coords[shared as usize]);
        let second = &mut mesh.cells[0].nodes[20..];
        let at = second.iter().position(|&node| node == shared).unwrap();
        second[at] = copy;
        assert!(matches!(check(&mut mesh), Err(MeshError::Unmatched([1, 2]))));
    }

    #[test]
    fn the_first_bad_element_is_reported_whatever_the_threads() {
        let mut mesh = cube(Tet4, 12);
        let cells = &mut mesh.cells[0];
        let n = cells.len();
        // Every element of the last 99 hundredths is bad, so that some thread meets one before the first of all.
        cells.nodes.chunks_exact_mut(4).skip(n / 100).for_each(|cell| cell[3] = cell[2]);
        let first = cells.tags[n / 100];
        for _ in 0..20 {
            let error = on_threads(4, || check(&mut mesh.clone())).unwrap_err();
            assert!(matches!(error.root(), MeshError::Degenerate { element, .. } if *element == first), "{error}");
            let others = format!("{} more elements are bad too: {}", n - n / 100 - 1, first + 1);
            assert!(error.to_string().contains(&others), "{error}");
        }
    }
}
