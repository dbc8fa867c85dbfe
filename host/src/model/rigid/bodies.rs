//! The bodies of the parts that are not one body each: where they are, and where they meet.

use nalgebra::Matrix6;

use super::{Frame, Parts};
use crate::mesh::Mesh;
use crate::mesh::bodies::face_bodies;

/// Two bodies and a node that both have; the lower body first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meeting {
    pub part: u32,
    pub a: u32,
    pub b: u32,
    pub node: u32,
}

/// The bodies of a mesh.
pub(super) struct Bodies<'a> {
    pub mesh: &'a Mesh,
    /// A body at each node; `u32::MAX` where there is no solid.
    one: Vec<u32>,
    /// Every node that several bodies share, with each of them: (node, body), ascending.
    shared: Vec<(u32, u32)>,
    /// The same as (body, node), ascending.
    of_body: Vec<(u32, u32)>,
    pub frames: Vec<Frame>,
    /// All pairs of bodies that share nodes, with each of these, ascending.
    pub meetings: Vec<Meeting>,
}

impl<'a> Bodies<'a> {
    pub fn of(parts: &Parts<'a>) -> Bodies<'a> {
        let mesh = parts.mesh;
        let (body_of, count) = face_bodies(mesh);
        let (mut one, mut shared) = (vec![u32::MAX; mesh.coords.len()], Vec::new());
        let cells = mesh.solids().flat_map(|(_, block)| block.nodes.chunks_exact(block.kind.info().n_nodes));
        for (cell, &body) in cells.zip(&body_of) {
            for &node in cell {
                let known = &mut one[node as usize];
                if *known == u32::MAX {
                    *known = body;
                } else if *known != body {
                    shared.extend([(node, *known), (node, body)]);
                }
            }
        }
        shared.sort_unstable();
        shared.dedup();
        let mut of_body: Vec<(u32, u32)> = shared.iter().map(|&(node, body)| (body, node)).collect();
        of_body.sort_unstable();
        let mut bodies = Bodies { mesh, one, shared, of_body, frames: Vec::new(), meetings: Vec::new() };
        let mut frames = vec![Frame::EMPTY; count];
        for (node, &x) in mesh.coords.iter().enumerate() {
            bodies.at(node as u32).for_each(|body| frames[body].add(x));
        }
        bodies.frames = frames;
        bodies.meetings = bodies.meet(&parts.labels);
        bodies
    }

    fn meet(&self, labels: &[u32]) -> Vec<Meeting> {
        let mut meetings = Vec::new();
        for at_node in self.shared.chunk_by(|a, b| a.0 == b.0) {
            for (i, &(node, a)) in at_node.iter().enumerate() {
                let part = labels[node as usize];
                meetings.extend(at_node[i + 1..].iter().map(|&(_, b)| Meeting { part, a, b, node }));
            }
        }
        meetings.sort_unstable();
        meetings
    }

    /// The bodies at a node, ascending.
    fn at(&self, node: u32) -> impl Iterator<Item = usize> {
        let first = self.shared.partition_point(|pair| pair.0 < node);
        let several = self.shared[first..].iter().take_while(move |pair| pair.0 == node).map(|pair| pair.1);
        let is_shared = self.shared.get(first).is_some_and(|pair| pair.0 == node);
        let one = Some(self.one[node as usize]).filter(|&body| !is_shared && body != u32::MAX);
        one.into_iter().chain(several).map(|body| body as usize)
    }

    /// The nodes that a body shares with others, ascending.
    pub fn shared_by(&self, body: usize) -> impl Iterator<Item = u32> {
        let first = self.of_body.partition_point(|pair| (pair.0 as usize) < body);
        self.of_body[first..].iter().take_while(move |pair| pair.0 as usize == body).map(|pair| pair.1)
    }

    /// Adds the rows of some components at some nodes to the Gram matrices, `[n_bodies]`, of the bodies there.
    pub fn add(&self, grams: &mut [Matrix6<f64>], nodes: &[u32], held: [bool; 3]) {
        for &node in nodes {
            for body in self.at(node) {
                for c in (0..3).filter(|&c| held[c]) {
                    let row = self.frames[body].row(self.mesh.coords[node as usize], c);
                    grams[body] += row * row.transpose();
                }
            }
        }
    }
}
