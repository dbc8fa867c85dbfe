//! The pieces of a mesh that move as rigid bodies: its connected parts, or the bodies that these are made of. They are the
//! nodes of the graph that the rank test is about; a node of the mesh that several bodies share is a joint.

use kernels_rs::parts::rigid_motion;
use nalgebra::{Matrix6, Vector6};

use crate::mesh::Mesh;
use crate::mesh::bodies::face_bodies;
use crate::model::{Analysis, Support};

const NONE: u32 = u32::MAX;
/// The motions `(t, w)` among those of [`rigid_motion`], whose rotations are in the planes xy, yz and zx.
const MOTIONS: [usize; 6] = [0, 1, 2, 4, 5, 3];

/// Where a piece is: its rigid motions are measured about `centre`, in units of `size`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub min: [f64; 3],
    pub max: [f64; 3],
    pub n_nodes: usize,
}

impl Frame {
    const EMPTY: Frame = Frame { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3], n_nodes: 0 };

    fn add(&mut self, x: [f64; 3]) {
        for (c, &value) in x.iter().enumerate() {
            self.min[c] = self.min[c].min(value);
            self.max[c] = self.max[c].max(value);
        }
        self.n_nodes += 1;
    }

    pub fn centre(&self) -> [f64; 3] {
        [0, 1, 2].map(|c| 0.5 * (self.min[c] + self.max[c]))
    }

    /// Half the longest edge of the bounding box.
    pub fn size(&self) -> f64 {
        (0..3).map(|c| 0.5 * (self.max[c] - self.min[c])).fold(f64::MIN_POSITIVE, f64::max)
    }

    /// What component `c` at `x` sees of the six motions.
    pub fn row(&self, x: [f64; 3], c: usize) -> Vector6<f64> {
        let (centre, size) = (self.centre(), self.size());
        let r = [0, 1, 2].map(|k| (x[k] - centre[k]) / size);
        Vector6::from(MOTIONS.map(|motion| rigid_motion(3, motion, c, r)))
    }

    /// What a direction at `x` sees of them.
    pub fn along(&self, x: [f64; 3], direction: [f64; 3]) -> Vector6<f64> {
        let components = (0..3).filter(|&c| direction[c] != 0.0);
        components.map(|c| direction[c] * self.row(x, c)).fold(Vector6::zeros(), |sum, row| sum + row)
    }
}

/// All pieces of a mesh.
pub(super) struct Pieces<'a> {
    pub mesh: &'a Mesh,
    /// A piece at each node; [`NONE`] where there is no solid.
    labels: Vec<u32>,
    /// Every node that several pieces share, with each of them: (node, piece), ascending.
    pub shared: Vec<(u32, u32)>,
    pub frames: Vec<Frame>,
}

impl<'a> Pieces<'a> {
    /// The connected parts.
    pub fn parts(mesh: &'a Mesh) -> Pieces<'a> {
        let (labels, count) = mesh.parts().clone();
        let mut parts = Pieces::new(mesh, labels, Vec::new(), count);
        // Nodes without a solid are parts of one node there, and none here.
        let mut numbers = 0..NONE;
        let number = |frame: &Frame| if frame.n_nodes > 1 { numbers.next() } else { None };
        let new: Vec<u32> = parts.frames.iter().map(number).map(|part| part.unwrap_or(NONE)).collect();
        parts.labels.iter_mut().for_each(|label| *label = new[*label as usize]);
        parts.frames.retain(|frame| frame.n_nodes > 1);
        parts
    }

    /// The bodies: elements that are joined by faces (in the plane: by edges).
    pub fn bodies(mesh: &'a Mesh) -> Pieces<'a> {
        let (body_of, count) = face_bodies(mesh);
        let (mut labels, mut shared) = (vec![NONE; mesh.coords.len()], Vec::new());
        let cells = mesh.solids().flat_map(|(_, block)| block.nodes.chunks_exact(block.kind.info().n_nodes));
        for (cell, &body) in cells.zip(&body_of) {
            for &node in cell {
                let known = &mut labels[node as usize];
                if *known == NONE {
                    *known = body;
                } else if *known != body {
                    shared.extend([(node, *known), (node, body)]);
                }
            }
        }
        shared.sort_unstable();
        shared.dedup();
        Pieces::new(mesh, labels, shared, count)
    }

    fn new(mesh: &'a Mesh, labels: Vec<u32>, shared: Vec<(u32, u32)>, count: usize) -> Pieces<'a> {
        let mut pieces = Pieces { mesh, labels, shared, frames: Vec::new() };
        let mut frames = vec![Frame::EMPTY; count];
        for (node, &x) in mesh.coords.iter().enumerate() {
            pieces.at(node as u32).for_each(|piece| frames[piece].add(x));
        }
        pieces.frames = frames;
        pieces
    }

    /// The pieces at a node, ascending.
    pub fn at(&self, node: u32) -> impl Iterator<Item = usize> {
        let first = self.shared.partition_point(|pair| pair.0 < node);
        let several = self.shared[first..].iter().take_while(move |pair| pair.0 == node).map(|pair| pair.1);
        let is_shared = self.shared.get(first).is_some_and(|pair| pair.0 == node);
        let one = Some(self.labels[node as usize]).filter(|&piece| !is_shared && piece != NONE);
        one.into_iter().chain(several).map(|piece| piece as usize)
    }

    /// The Gram matrices of some supports, `[n_pieces]`. Motions that cost energy in an analysis, or that it does not know, are
    /// held from the beginning.
    pub fn grams(&self, analysis: Analysis, supports: &[&Support]) -> Vec<Matrix6<f64>> {
        let unknown = analysis.free_motions().map(|free| 1.0 - free);
        let mut grams = vec![Matrix6::from_diagonal(&Vector6::from(unknown)); self.frames.len()];
        supports.iter().for_each(|support| self.add(&mut grams, support));
        grams
    }

    /// Adds the rows of a support to the Gram matrices, `[n_pieces]`, of the pieces there.
    pub fn add(&self, grams: &mut [Matrix6<f64>], support: &Support) {
        for (node, direction, _) in support.held(&self.mesh.coords) {
            for piece in self.at(node) {
                let row = self.frames[piece].along(self.mesh.coords[node as usize], direction);
                grams[piece] += row * row.transpose();
            }
        }
    }
}
