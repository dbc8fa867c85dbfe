//! A body cut open along faces inside it: their nodes are doubled.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::faces::{Face, Key, key};
use super::parts::{find, unite};
use super::vector::{add, clean, dot, sub, unit};
use super::{Cached, Mesh};

/// Nodes farther off the mean plane than this part of the section's size make it no plane.
const FLAT: f64 = 1e-3;

/// A cut that has been made.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The faces of the section.
    pub faces: Vec<Face>,
    /// The nodes of the section with their doubles, which belong to the elements that the normal points to.
    pub pairs: Vec<(u32, u32)>,
    /// The section's unit normal; the largest of its components is positive.
    pub normal: [f64; 3],
    /// The mean of its nodes.
    pub middle: [f64; 3],
}

/// Why a section cannot be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutError {
    /// So many of its faces have an element on one side only.
    OnTheSurface(usize),
    /// It is not flat.
    NotFlat,
    /// It is in so many pieces.
    InPieces(usize),
    /// It ends inside the body, at this node.
    EndsInside(u32),
}

impl Mesh {
    /// Cuts the body open along some faces inside it.
    ///
    /// # Errors
    ///
    /// Faces that do not cut it all through, in a plane and in one piece; the mesh stays as it was.
    pub fn cut(&mut self, faces: Vec<Face>) -> Result<Cut, CutError> {
        let on_surface = faces.iter().filter(|face| face.beyond.is_none()).count();
        if on_surface > 0 {
            return Err(CutError::OnTheSurface(on_surface));
        }
        let mut nodes: Vec<u32> = faces.iter().flat_map(|face| face.nodes()).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let n_pieces = pieces(&faces, &nodes);
        if n_pieces > 1 {
            return Err(CutError::InPieces(n_pieces));
        }
        let (normal, middle) = (self.normal_of(&faces), self.middle(&nodes));
        let height = |x: [f64; 3]| dot(sub(x, middle), normal);
        let size = nodes.iter().map(|&node| sub(self.coords[node as usize], middle)).map(|arm| dot(arm, arm).sqrt());
        let size = size.fold(0.0, f64::max);
        if nodes.iter().any(|&node| height(self.coords[node as usize]).abs() > FLAT * size) {
            return Err(CutError::NotFlat);
        }
        let first = self.coords.len() as u32;
        let pairs: Vec<(u32, u32)> = nodes.into_iter().zip(first..).collect();
        let double: HashMap<u32, u32> = pairs.iter().copied().collect();
        self.check_through(&faces, &double, |cell| height(self.middle(cell)) > 0.0)?;

        // Of facets of lower dimension those in the section stay on the side below.
        let above = |cell: &[u32]| height(self.middle(cell)) > FLAT * size;
        let moved: Vec<Vec<u32>> = (self.cells.iter())
            .map(|cells| {
                let is_moved = |i: &u32| {
                    let cell = cells.cell(*i as usize);
                    cell.iter().any(|node| double.contains_key(node)) && above(cell)
                };
                (0..cells.len() as u32).filter(is_moved).collect()
            })
            .collect();
        for (cells, moved) in self.cells.iter_mut().zip(moved) {
            let width = cells.kind.info().n_nodes;
            let of_cell = moved.into_iter().flat_map(|cell| cell as usize * width..(cell as usize + 1) * width);
            of_cell.for_each(|k| cells.nodes[k] = double.get(&cells.nodes[k]).copied().unwrap_or(cells.nodes[k]));
        }
        let next_tag = self.node_tags.iter().max().map_or(1, |tag| tag + 1);
        self.node_tags.extend(next_tag..next_tag + pairs.len() as u64);
        let doubled: Vec<[f64; 3]> = pairs.iter().map(|(node, _)| self.coords[*node as usize]).collect();
        self.coords.extend(doubled);
        (self.skin, self.parts, self.quality) = (Cached::default(), Cached::default(), Cached::default());
        Ok(Cut { faces, pairs, normal, middle })
    }

    /// The mean normal of faces that lie nearly in a plane, whichever way each is turned.
    fn normal_of(&self, faces: &[Face]) -> [f64; 3] {
        let of_face = |face: &Face| {
            let points = face.kind.table().rule.iter();
            points.map(|at| face.area_vector(at, &self.coords).map(|c| at.weight * c)).fold([0.0; 3], add)
        };
        let mut sum = [0.0; 3];
        for normal in faces.iter().map(of_face) {
            sum = if dot(sum, normal) < 0.0 { sub(sum, normal) } else { add(sum, normal) };
        }
        let normal = clean(unit(sum));
        let largest = normal.iter().fold(0.0_f64, |most, c| if c.abs() > most.abs() + 1e-9 { *c } else { most });
        normal.map(|c| c * largest.signum())
    }

    /// Whether all sides between elements below and above the section, at its nodes, are faces of it.
    fn check_through(
        &self,
        faces: &[Face],
        double: &HashMap<u32, u32>,
        is_above: impl Fn(&[u32]) -> bool,
    ) -> Result<(), CutError> {
        let section: HashSet<Key> = faces.iter().map(Face::key).collect();
        let mut sides = BTreeMap::<Key, [bool; 2]>::new();
        for (_, cells) in self.solids() {
            for cell in cells.nodes.chunks_exact(cells.kind.info().n_nodes) {
                if !cell.iter().any(|node| double.contains_key(node)) {
                    continue;
                }
                let side = usize::from(is_above(cell));
                let keys = cells.kind.faces().iter().map(|(kind, local)| key(*kind, cell, local));
                keys.filter(|key| key.iter().any(|node| double.contains_key(node)))
                    .for_each(|key| sides.entry(key).or_default()[side] = true);
            }
        }
        let open = sides.iter().find(|(key, of)| **of == [true; 2] && !section.contains(*key));
        let node = open.and_then(|(key, _)| key.iter().find(|node| double.contains_key(node)));
        node.map_or(Ok(()), |node| Err(CutError::EndsInside(*node)))
    }
}

/// In how many pieces faces are that hang together by nodes; the nodes ascending.
fn pieces(faces: &[Face], nodes: &[u32]) -> usize {
    let place = |node: &u32| nodes.binary_search(node).unwrap_or_default() as u32;
    let mut parent: Vec<u32> = (0..nodes.len() as u32).collect();
    for face in faces {
        for node in face.nodes() {
            let [a, b] = [place(&face.nodes()[0]), place(node)].map(|node| find(&mut parent, node));
            unite(&mut parent, a, b);
        }
    }
    (0..nodes.len() as u32).filter(|&node| find(&mut parent, node) == node).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    /// A box of 4 by 1 by 1 with the faces in the plane x = 2 as a group.
    fn with_section(kind: ElementKind) -> (Mesh, Vec<Face>) {
        let mesh = generate_box(kind, [4.0, 1.0, 1.0], [4, 2, 2]).unwrap();
        let on: Vec<bool> = mesh.coords.iter().map(|x| (x[0] - 2.0).abs() < 1e-12).collect();
        let mut faces: Vec<Face> = Vec::new();
        for (block, cells) in mesh.solids() {
            for (cell, nodes) in cells.nodes.chunks_exact(kind.info().n_nodes).enumerate() {
                for (side, (_, local)) in kind.faces().iter().enumerate() {
                    if local.iter().all(|&k| on[nodes[k] as usize]) {
                        let side = super::super::faces::FaceUse {
                            key: [0; 4],
                            block: block as u32,
                            cell: cell as u32,
                            side: side as u8,
                        };
                        let face = side.face(&mesh);
                        match faces.iter_mut().find(|other| other.key() == face.key()) {
                            Some(other) => other.beyond = Some((block, cell as u32)),
                            None => faces.push(face),
                        }
                    }
                }
            }
        }
        (mesh, faces)
    }

    #[test]
    fn a_section_is_cut_through_and_its_nodes_are_doubled() {
        for kind in ElementKind::ALL.iter().copied().filter(|kind| kind.info().dim == 3) {
            let (mut mesh, faces) = with_section(kind);
            let (n, n_facets) = (mesh.coords.len(), mesh.skin().len());
            assert_eq!(mesh.parts().1, 1);
            let mut partly = faces.clone();
            partly.pop();
            let ends = mesh.cut(partly);
            assert!(
                matches!(ends, Err(CutError::EndsInside(node)) if mesh.coords[node as usize][0] == 2.0),
                "{ends:?}"
            );
            let cut = mesh.cut(faces).unwrap();
            assert_eq!((cut.normal, mesh.coords.len()), ([1.0, 0.0, 0.0], n + cut.pairs.len()));
            assert_eq!((mesh.parts().1, mesh.skin().len()), (2, n_facets + 2 * cut.faces.len()));
            assert_eq!(mesh.node_tags[n..].len(), cut.pairs.len());
            // Elements and facets above have the doubles, those below none.
            for cells in &mesh.cells {
                for cell in cells.nodes.chunks_exact(cells.kind.info().n_nodes) {
                    let is_above = mesh.middle(cell)[0] > 2.0 + 1e-9;
                    let old = |node: &u32| cut.pairs.iter().any(|pair| pair.0 == *node);
                    assert!(cell.iter().all(|node| if is_above { !old(node) } else { (*node as usize) < n }));
                }
            }
            let mut again = cut.faces;
            again.iter_mut().for_each(|face| face.beyond = None);
            let n_faces = again.len();
            assert_eq!(mesh.cut(again), Err(CutError::OnTheSurface(n_faces)));
        }
    }

    #[test]
    fn sections_in_steps_and_in_pieces_are_refused() {
        let (mut mesh, mut faces) = with_section(Hex8);
        let corner = faces[0].nodes()[0] as usize;
        mesh.coords[corner][0] += 0.1;
        assert_eq!(mesh.cut(faces.clone()), Err(CutError::NotFlat));
        // Two of four columns of the box, which meet along a line: in one piece; without neighbours in two.
        let far = generate_box(Hex8, [4.0, 3.0, 1.0], [4, 3, 1]).unwrap();
        faces = [0, 8]
            .map(|cell| super::super::faces::FaceUse { key: [0; 4], block: 0, cell, side: 5 }.face(&far))
            .to_vec();
        faces.iter_mut().for_each(|face| face.beyond = Some((0, 1)));
        assert_eq!(far.clone().cut(faces), Err(CutError::InPieces(2)));
    }
}
