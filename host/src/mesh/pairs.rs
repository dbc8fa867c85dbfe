//! How many pairs of nodes share an element, without looking for them: by counting edges, sides and elements.
//!
//! A pair of nodes that share an element lies on an edge, or else within a side, or else within the element, and each
//! of these has as many as its kind: a tetrahedron of ten nodes has 3 on every edge, 6 more on every face and 3 more
//! inside. How many sides there are follows from the skin, as all others belong to two elements; and how many edges a
//! body in space has from Euler's formula, `V - E + F - C = chi`, where chi is half that of the skin,
//! `V_s - E_s + F_s`, which has two faces at each of its edges.
//!
//! It is exact for bodies whose skins do not touch themselves, and an edge or so off for each node or edge where they
//! do.

use super::Mesh;
use crate::element::{ElementInfo, ElementKind};

/// The number of pairs of different nodes that share an element. Elements of first and of second order in one mesh are
/// taken for those of which there are more.
pub fn coupled_pairs(mesh: &Mesh) -> f64 {
    let sides = sides(mesh);
    let on_sides: f64 = ElementKind::ALL.iter().zip(&sides).map(|(kind, n)| n * within(*kind)).sum();
    let inside: f64 = mesh.solids().map(|(_, cells)| cells.len() as f64 * within(cells.kind)).sum();
    let Some((_, largest)) = mesh.solids().max_by_key(|(_, cells)| cells.len()) else { return 0.0 };
    if mesh.dim() < 3 {
        return on_sides + inside;
    }
    let solids: f64 = mesh.solids().map(|(_, cells)| cells.len() as f64).sum();
    let edges = corners(mesh) + sides.iter().sum::<f64>() - solids - 0.5 * characteristic_of_skin(mesh);
    on_sides + inside + edges * on_edge(largest.kind.info())
}

/// The pairs of an element's nodes that lie neither on its edges nor within its sides; all pairs of an edge.
fn within(kind: ElementKind) -> f64 {
    let info = kind.info();
    match info.dim {
        1 => pairs(info.n_nodes),
        2 => pairs(info.n_nodes) - info.n_corners as f64 * on_edge(info),
        _ => {
            let on_sides: f64 = kind.faces().iter().map(|(kind, _)| within(*kind)).sum();
            pairs(info.n_nodes) - kind.edges().len() as f64 * on_edge(info) - on_sides
        }
    }
}

fn on_edge(info: &ElementInfo) -> f64 {
    pairs(if info.is_quadratic() { 3 } else { 2 })
}

fn pairs(n: usize) -> f64 {
    (n * (n - 1) / 2) as f64
}

/// How many sides of each kind the solids have.
fn sides(mesh: &Mesh) -> Vec<f64> {
    let mut sides = vec![0.0; ElementKind::ALL.len()];
    for (_, cells) in mesh.solids() {
        cells.kind.faces().iter().for_each(|(kind, _)| sides[*kind as usize] += 0.5 * cells.len() as f64);
    }
    mesh.skin().iter().for_each(|face| sides[face.kind as usize] += 0.5);
    sides
}

/// How many nodes are corners of solids.
fn corners(mesh: &Mesh) -> f64 {
    if mesh.solids().all(|(_, cells)| !cells.kind.info().is_quadratic()) {
        return mesh.coords.len() as f64;
    }
    let cells = mesh.solids().flat_map(|(_, cells)| {
        let info = cells.kind.info();
        cells.nodes.chunks_exact(info.n_nodes).map(|nodes| &nodes[..info.n_corners])
    });
    distinct(mesh, cells)
}

/// Corners less edges plus faces of the skin.
fn characteristic_of_skin(mesh: &Mesh) -> f64 {
    let faces = || mesh.skin().iter().map(|face| &face.nodes()[..face.kind.info().n_corners]);
    let edges: f64 = faces().map(|corners| 0.5 * corners.len() as f64).sum();
    distinct(mesh, faces()) - edges + mesh.skin().len() as f64
}

/// How many different nodes there are in some lists.
fn distinct<'a>(mesh: &Mesh, lists: impl Iterator<Item = &'a [u32]>) -> f64 {
    let mut met = vec![false; mesh.coords.len()];
    lists.flatten().for_each(|&node| met[node as usize] = true);
    met.iter().filter(|&&met| met).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;
    use std::collections::HashSet;

    fn counted(mesh: &Mesh) -> f64 {
        let mut met = HashSet::new();
        for (_, cells) in mesh.solids() {
            for nodes in cells.nodes.chunks_exact(cells.kind.info().n_nodes) {
                met.extend(nodes.iter().flat_map(|&a| nodes.iter().filter(move |&&b| a < b).map(move |&b| (a, b))));
            }
        }
        met.len() as f64
    }

    /// Keeps some cubes of a box of `n` cubes along each edge, and the nodes that they have.
    fn cut(kind: ElementKind, n: usize, keep: impl Fn([usize; 3]) -> bool) -> Mesh {
        let mut mesh = cube(kind, n);
        let cells = &mut mesh.cells[0];
        let per_cube = cells.len() / n.pow(3);
        let kept = |i: &usize| keep([i / per_cube % n, i / per_cube / n % n, i / per_cube / n / n]);
        cells.nodes = (0..cells.len()).filter(kept).flat_map(|i| cells.cell(i).to_vec()).collect();
        let mut used = cells.nodes.clone();
        used.sort_unstable();
        used.dedup();
        cells.nodes.iter_mut().for_each(|node| *node = used.binary_search(node).unwrap() as u32);
        cells.tags.truncate(cells.nodes.len() / kind.info().n_nodes);
        mesh.coords.truncate(used.len());
        mesh.cells.truncate(1);
        mesh
    }

    #[test]
    fn pairs_are_those_that_looking_finds() {
        for kind in [Tet4, Hex8, Tet10, Hex20] {
            for cells in [[1, 1, 1], [4, 3, 2], [5, 1, 1]] {
                let mesh = generate_box(kind, [1.0; 3], cells).unwrap();
                assert_eq!(coupled_pairs(&mesh), counted(&mesh), "{kind:?} {cells:?}");
            }
        }
        for kind in [Tri3, Quad4, Tri6, Quad8] {
            let mesh = generate_rectangle(kind, [1.0; 2], [4, 3]).unwrap();
            assert_eq!(coupled_pairs(&mesh), counted(&mesh), "{kind:?}");
        }
    }

    #[test]
    fn holes_voids_and_parts_are_counted_too() {
        for kind in [Tet4, Hex8, Tet10, Hex20] {
            let through = cut(kind, 3, |[x, y, _]| [x, y] != [1, 1]);
            let void = cut(kind, 3, |at| at != [1, 1, 1]);
            let apart = cut(kind, 3, |[x, ..]| x != 1);
            for mesh in [through, void, apart] {
                assert_eq!(coupled_pairs(&mesh), counted(&mesh), "{kind:?}");
            }
        }
    }

    #[test]
    fn a_mesh_without_elements_has_none() {
        assert_eq!(coupled_pairs(&Mesh::default()), 0.0);
    }
}
