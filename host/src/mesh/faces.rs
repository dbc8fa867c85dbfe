//! Faces of the solid elements, and those that a group names.
//!
//! A face's nodes are ordered so that its normal points out of the solid it belongs to. In a mesh of two dimensions the
//! same holds for edges.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::adjacency::NodeCells;
use super::vector::cross;
use super::{Cells, Group, Mesh};
use crate::element::shape::At;
use crate::element::{Domain, ElementKind, MAX_FACE_CORNERS, MAX_FACE_NODES};
use crate::parallel::{self, PART};

/// One side of one solid element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face {
    /// The element type of the side.
    pub kind: ElementKind,
    nodes: [u32; MAX_FACE_NODES],
    /// Position in [`Mesh::cells`] of the block of the solid it belongs to.
    pub block: usize,
    /// The solid's index in that block.
    pub cell: u32,
    /// Block and index of a solid on its other side, for a side that lies between two solids.
    pub beyond: Option<(usize, u32)>,
}

impl Face {
    /// Its nodes, the corners ordered for the outward normal.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes[..self.kind.info().n_nodes]
    }

    /// `n dA` for `dxi deta = 1` at a reference point, outward: `dx/dxi x dx/deta`, which varies over a curved face. The
    /// faces of a plane body are its edges, of unit thickness: the tangent turned clockwise, for the body lies on its left.
    pub(crate) fn area_vector(&self, at: &At, coords: &[[f64; 3]]) -> [f64; 3] {
        let [r, s, _] = at.tangents(|b| coords[self.nodes[b] as usize]);
        if self.kind.info().dim == 1 { [r[1], -r[0], 0.0] } else { cross(r, s) }
    }

    /// Its corners, as they are compared.
    pub(super) fn key(&self) -> Key {
        corners_of(self.kind, self.nodes())
    }
}

/// A side as it is compared with others: its corners ascending; `u32::MAX` past their number.
pub(crate) type Key = [u32; MAX_FACE_CORNERS];

/// A side of a solid as it is compared with others: by its corners whatever their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FaceUse {
    /// Its corners.
    pub key: Key,
    /// Position of the solid's block.
    pub block: u32,
    /// The solid's index in it.
    pub cell: u32,
    /// Which of the solid's sides.
    pub side: u8,
}

impl FaceUse {
    /// The side itself.
    pub fn face(&self, mesh: &Mesh) -> Face {
        let block = &mesh.cells[self.block as usize];
        let (kind, local) = &block.kind.faces()[self.side as usize];
        let nodes = gather(block.cell(self.cell as usize), local);
        Face { kind: *kind, nodes, block: self.block as usize, cell: self.cell, beyond: None }
    }
}

fn gather<const N: usize>(cell: &[u32], local: &[usize]) -> [u32; N] {
    let mut nodes = [u32::MAX; N];
    for (node, &k) in nodes.iter_mut().zip(local) {
        *node = cell[k];
    }
    nodes
}

/// The key of a side with these local nodes.
pub(super) fn key(kind: ElementKind, cell: &[u32], local: &[usize]) -> Key {
    sorted(gather(cell, &local[..kind.info().n_corners]))
}

/// Without branches, as there are many.
fn sorted([a, b, c, d]: Key) -> Key {
    let order = |a: u32, b: u32| (a.min(b), a.max(b));
    let ((a, b), (c, d)) = (order(a, b), order(c, d));
    let ((a, c), (b, d)) = (order(a, c), order(b, d));
    let (b, c) = order(b, c);
    [a, b, c, d]
}

/// Those sides that are there once.
pub(super) fn single(mut sides: Vec<FaceUse>) -> Vec<FaceUse> {
    sides.par_sort_unstable();
    sides.chunk_by(|a, b| a.key == b.key).filter(|shared| shared.len() == 1).map(|one| one[0]).collect()
}

/// The sides, in the order of the solids.
pub(super) fn in_order(mesh: &Mesh, mut sides: Vec<FaceUse>) -> Vec<Face> {
    sides.par_sort_unstable_by_key(|side| (side.block, side.cell, side.side));
    sides.iter().map(|side| side.face(mesh)).collect()
}

fn facet_key(cells: &Cells, facet: u32) -> Key {
    corners_of(cells.kind, cells.cell(facet as usize))
}

fn corners_of(kind: ElementKind, nodes: &[u32]) -> Key {
    let mut key = [u32::MAX; MAX_FACE_CORNERS];
    let n = kind.info().n_corners;
    key[..n].copy_from_slice(&nodes[..n]);
    sorted(key)
}

/// Calls `visit` with every set of sides that share all their corners, in parallel, and gathers what it appends.
///
/// Sides are met at their lowest node, so only the sides round one node are sorted at a time: the scratch memory is the
/// node-to-cell lists, not a table of all sides.
pub(super) fn for_each_face<T: Send>(mesh: &Mesh, visit: impl Fn(&[FaceUse], &mut Vec<T>) + Sync) -> Vec<T> {
    let blocks: Vec<_> =
        mesh.solids().map(|(b, cells)| (b as u32, cells, NodeCells::of(cells, mesh.coords.len()))).collect();
    let parts: Vec<Vec<T>> = parallel::map_ranges(mesh.coords.len(), PART, &|nodes| {
        let (mut uses, mut found) = (Vec::new(), Vec::new());
        for node in nodes {
            uses.clear();
            for (block, cells, at) in &blocks {
                collect_at(node, *block, cells, at, &mut uses);
            }
            uses.sort_unstable();
            uses.chunk_by(|a, b| a.key == b.key).for_each(|shared| visit(shared, &mut found));
        }
        found
    });
    parts.into_iter().flatten().collect()
}

/// Appends the sides of the cells round `node` whose lowest node it is.
fn collect_at(node: usize, block: u32, cells: &Cells, at: &NodeCells, uses: &mut Vec<FaceUse>) {
    for &cell in at.at(node) {
        let nodes = cells.cell(cell as usize);
        for (side, (kind, local)) in cells.kind.faces().iter().enumerate() {
            let corners = &local[..kind.info().n_corners];
            if corners.iter().map(|&k| nodes[k]).min() == Some(node as u32) {
                uses.push(FaceUse { key: key(*kind, nodes, local), block, cell, side: side as u8 });
            }
        }
    }
}

impl Mesh {
    /// The faces of the group, or of the extreme plane ("xmin" .. "zmax"), with this name, each once; `None` if there is
    /// none.
    ///
    /// For a group of facets each facet's side of a solid, in the group's order; a facet between two solids takes the
    /// first of them, and one that is no side of a solid is left out. For a group of solids their sides of the skin. For
    /// other groups and for planes: the sides of the skin all of whose nodes lie in it.
    pub fn faces_on(&self, name: &str) -> Option<Vec<Face>> {
        let group = self.group(name);
        let mut faces = match group {
            Some(group) if group.dim + 1 == self.dim() => self.match_facets(group),
            Some(group) if group.dim == self.dim() => self.skin_of(group),
            _ => self.skin_within(&self.mark(name)?),
        };
        let unmatched = self.unmatched();
        for face in faces.iter_mut().filter(|_| !unmatched.is_empty()) {
            face.beyond = face.beyond.or_else(|| unmatched.get(&face.key()).copied());
        }
        if group.is_some_and(|group| group.dim == self.dim()) {
            faces.retain(|face| face.beyond.is_none());
        }
        Some(faces)
    }

    /// The members of a group of facets, (block, cell), with their keys: one of those with the same corners.
    pub(crate) fn distinct_facets(&self, group: &Group) -> Vec<(Key, usize, u32)> {
        let mut met = HashSet::new();
        let members = group.members.iter().flat_map(|(block, list)| list.iter().map(move |&cell| (*block, cell)));
        let facets = members.map(|(block, cell)| (facet_key(&self.cells[block], cell), block, cell));
        facets.filter(|(key, ..)| met.insert(*key)).collect()
    }

    fn match_facets(&self, group: &Group) -> Vec<Face> {
        let facets = self.distinct_facets(group);
        let mut marked = vec![false; self.coords.len()];
        let nodes = facets.iter().flat_map(|&(_, block, facet)| self.cells[block].cell(facet as usize));
        nodes.for_each(|&node| marked[node as usize] = true);
        let mut sides: HashMap<Key, [Option<FaceUse>; 2]> = facets.iter().map(|&(key, ..)| (key, [None; 2])).collect();
        for side in self.sides_within(&marked) {
            if let Some([first, second]) = sides.get_mut(&side.key) {
                match first {
                    Some(other) if (other.block, other.cell) <= (side.block, side.cell) => *second = Some(side),
                    _ => *second = first.replace(side),
                }
            }
        }
        let face = |[first, second]: [Option<FaceUse>; 2]| {
            let beyond = second.map(|side| (side.block as usize, side.cell));
            first.map(|side| Face { beyond, ..side.face(self) })
        };
        facets.iter().filter_map(|(key, ..)| face(sides[key])).collect()
    }

    fn skin_of(&self, group: &Group) -> Vec<Face> {
        let mut is_member: Vec<Vec<bool>> = self.cells.iter().map(|cells| vec![false; cells.len()]).collect();
        for (block, cells) in &group.members {
            cells.iter().for_each(|&cell| is_member[*block][cell as usize] = true);
        }
        self.skin().iter().filter(|face| is_member[face.block][face.cell as usize]).copied().collect()
    }

    /// Quadrilaterals of the skin that have three corners in common with a triangle of it, and these triangles, each
    /// with the solid of the other: hexahedra and tetrahedra that meet without matching.
    pub(super) fn unmatched(&self) -> HashMap<Key, (usize, u32)> {
        let has_sides = |domain| {
            let mut solids = self.solids().filter(|(_, cells)| !cells.is_empty());
            solids.any(|(_, cells)| cells.kind.info().domain.facets().iter().any(|facet| facet.domain == domain))
        };
        if self.dim() < 3 || !has_sides(Domain::Triangle) || !has_sides(Domain::Quadrilateral) {
            return HashMap::new();
        }
        let sides = || self.skin().iter().map(|face| (face.key(), (face.block, face.cell)));
        let thirds = |(quad, solid): (Key, (usize, u32))| {
            let without = move |left: usize| {
                let mut corners = (0..4).filter(|&k| k != left).map(|k| quad[k]);
                [(); 4].map(|()| corners.next().unwrap_or(u32::MAX))
            };
            (0..4).map(move |left| (without(left), (quad, solid)))
        };
        let thirds: HashMap<_, _> = sides().filter(|(key, _)| key[3] != u32::MAX).flat_map(thirds).collect();
        let pairs =
            sides().filter_map(|(key, solid)| thirds.get(&key).map(|&(quad, other)| [(key, other), (quad, solid)]));
        pairs.flatten().collect()
    }

    /// The sides of the skin all of whose nodes are marked.
    pub(crate) fn skin_within(&self, marked: &[bool]) -> Vec<Face> {
        if marked.iter().filter(|&&on| on).count() > marked.len() / 2 {
            let is_marked = |face: &&Face| face.nodes().iter().all(|&node| marked[node as usize]);
            return self.skin().iter().filter(is_marked).copied().collect();
        }
        in_order(self, single(self.sides_within(marked)))
    }

    fn sides_within(&self, marked: &[bool]) -> Vec<FaceUse> {
        let mut sides = Vec::new();
        for (block, cells) in self.solids() {
            let width = cells.kind.info().n_nodes;
            sides.append(&mut parallel::flat_map(cells.len(), &|cell, sides| {
                let nodes = cells.cell(cell);
                let on: u32 = (0..width).filter(|&k| marked[nodes[k] as usize]).map(|k| 1 << k).sum();
                sides.extend(cells.kind.faces().iter().enumerate().filter_map(|(side, (kind, local))| {
                    let whole = on.count_ones() as usize >= local.len() && local.iter().all(|&k| on >> k & 1 == 1);
                    let of = |key| FaceUse { key, block: block as u32, cell: cell as u32, side: side as u8 };
                    whole.then(|| of(key(*kind, nodes, local)))
                }));
            }));
        }
        sides
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    /// Twice the area vector of a face, by its diagonals or edges.
    fn normal(mesh: &Mesh, face: &Face) -> [f64; 3] {
        let x = |k: usize| mesh.coords[face.nodes()[k] as usize];
        let (a, b) = match face.kind {
            Quad4 | Quad8 => (sub(x(2), x(0)), sub(x(3), x(1))),
            _ => (sub(x(1), x(0)), sub(x(2), x(0))),
        };
        cross(a, b)
    }

    #[test]
    fn the_skin_of_a_box_is_closed_and_outward() {
        for (kind, facet, per_cell) in [(Hex8, Quad4, 1), (Tet4, Tri3, 2), (Hex20, Quad8, 1), (Tet10, Tri6, 2)] {
            let mesh = generate_box(kind, [1.0, 2.0, 3.0], [3, 4, 5]).unwrap();
            let skin = mesh.skin();
            assert_eq!(skin.len(), 2 * (12 + 15 + 20) * per_cell);
            let mut volume = 0.0;
            for face in skin {
                assert_eq!(face.kind, facet);
                let n = normal(&mesh, face);
                let x = mesh.coords[face.nodes()[0] as usize];
                volume += (0..3).map(|c| n[c] * x[c]).sum::<f64>() / 6.0;
                let solid = mesh.cells[face.block].cell(face.cell as usize);
                assert!(face.nodes().iter().all(|node| solid.contains(node)));
            }
            assert!((volume - 6.0).abs() < 1e-12, "the divergence theorem gives {volume}");
        }
    }

    #[test]
    fn groups_and_planes_give_the_same_outward_faces() {
        for kind in [Hex8, Tet4, Hex20, Tet10] {
            let mut mesh = cube(kind, 3);
            let facet = mesh.cells[1].kind.info();
            mesh.cells[1].nodes.chunks_mut(2 * facet.n_nodes).for_each(|pair| pair[..facet.n_corners].reverse());
            let grouped = mesh.faces_on("ymax").unwrap();
            mesh.groups.retain(|group| group.dim == 3);
            let mut of_plane = mesh.faces_on("ymax").unwrap();
            assert_eq!(grouped.len(), of_plane.len());
            assert!(of_plane.iter().all(|face| normal(&mesh, face)[1] > 0.0));
            for face in grouped {
                of_plane.retain(|other| *other != face);
            }
            assert!(of_plane.is_empty());
            assert_eq!(mesh.faces_on("body").unwrap(), mesh.skin());
            assert_eq!(mesh.faces_on("nowhere"), None);
        }
    }

    #[test]
    fn an_interface_takes_the_first_solid_and_a_stray_facet_none() {
        let mut mesh = generate_box(Hex8, [2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
        mesh.cells.push(Cells { kind: Quad4, nodes: vec![1, 4, 10, 7, 0, 1, 4, 6], tags: vec![90, 91] });
        mesh.groups.push(Group { name: "middle".into(), dim: 2, members: vec![(2, vec![0, 1])] });
        let faces = mesh.faces_on("middle").unwrap();
        assert_eq!(faces.len(), 1);
        assert_eq!((faces[0].block, faces[0].cell, faces[0].beyond), (0, 0, Some((0, 1))));
        assert!(mesh.faces_on("xmin").unwrap().iter().all(|face| face.beyond.is_none()));
        assert!(normal(&mesh, &faces[0])[0] > 0.0);
    }

    #[test]
    fn a_group_of_points_takes_skin_faces_between_its_nodes() {
        let mut mesh = generate_box(Hex8, [1.0; 3], [2, 2, 2]).unwrap();
        let corner = [0, 1, 3, 4, 9, 13];
        mesh.cells.push(Cells { kind: ElementKind::Point1, nodes: corner.to_vec(), tags: (100..106).collect() });
        mesh.groups.push(Group { name: "points".into(), dim: 0, members: vec![(2, (0..6).collect())] });
        let faces = mesh.faces_on("points").unwrap();
        assert_eq!(faces.len(), 1);
        let mut nodes = faces[0].nodes().to_vec();
        nodes.sort_unstable();
        assert_eq!(nodes, [0, 1, 3, 4]);
    }

    #[test]
    fn curved_edges_are_the_skin_of_a_quadratic_plane_mesh() {
        for kind in [Tri6, Quad8] {
            let mesh = generate_rectangle(kind, [2.0, 1.0], [4, 3]).unwrap();
            let edges = mesh.skin();
            assert_eq!(edges.len(), 14);
            assert!(edges.iter().all(|edge| edge.kind == Line3));
            let side = mesh.faces_on("xmax").unwrap();
            let facets = &mesh.cells[1];
            let expected: Vec<&[u32]> = (3..6).map(|facet| facets.cell(facet)).collect();
            assert_eq!(side.iter().map(Face::nodes).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn edges_of_a_plane_mesh_are_its_skin() {
        let square = Mesh {
            coords: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
            node_tags: vec![1, 2, 3, 4],
            cells: vec![Cells { kind: Tri3, nodes: vec![0, 1, 2, 0, 2, 3], tags: vec![1, 2] }],
            ..Mesh::default()
        };
        let edges: Vec<_> = square.skin().iter().map(|edge| edge.nodes().to_vec()).collect();
        assert_eq!(edges, [[0, 1], [1, 2], [2, 3], [3, 0]]);
    }
}
