//! Whether the bodies of a part that meet in nodes or edges only (in the plane: in nodes) hold each other: ball joints,
//! hinges, mechanisms.
//!
//! What supports hold must stay at rest, and a node that two bodies share must move alike with both: each body's supports
//! are a constraint on its motions, and each pair of bodies one on the motions of both. A part with so many bodies that
//! the rank test takes too long is checked body by body, its neighbours at rest, and a warning says so.

use nalgebra::{DMatrix, Matrix6, SVector};

use super::coupled::share;
use super::pieces::Pieces;
use super::rank::{Constraint, null_space, null_spaces};
use super::{Free, Joint, LoosePart, fixed};
use crate::model::names::words;
use crate::parallel;

/// Shared nodes are in line within this fraction of the body's size.
const IN_LINE: f64 = 1e-6;

/// Two bodies of a part and a node that both have; the lower body first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meeting {
    pub part: usize,
    bodies: [usize; 2],
    node: u32,
}

/// All pairs of bodies that share nodes, with each of these, by parts.
pub(super) fn meetings(parts: &Pieces<'_>, bodies: &Pieces<'_>) -> Vec<Meeting> {
    let mut meetings = Vec::new();
    for at_node in bodies.shared.chunk_by(|a, b| a.0 == b.0) {
        for (i, &(node, a)) in at_node.iter().enumerate() {
            let meeting = |b: u32| {
                parts.at(node).map(move |part| Meeting { part, bodies: [a, b].map(|body| body as usize), node })
            };
            meetings.extend(at_node[i + 1..].iter().flat_map(|&(_, b)| meeting(b)));
        }
    }
    meetings.sort_unstable();
    meetings
}

/// A part of several bodies.
pub(super) struct Linkage<'a> {
    bodies: &'a Pieces<'a>,
    /// Its bodies, ascending.
    members: Vec<usize>,
    meetings: &'a [Meeting],
    /// Gram matrices of the supports of every body of the mesh.
    grams: &'a [Matrix6<f64>],
}

impl<'a> Linkage<'a> {
    /// The part that some bodies meet in.
    pub fn new(bodies: &'a Pieces<'a>, meetings: &'a [Meeting], grams: &'a [Matrix6<f64>]) -> Linkage<'a> {
        let mut members: Vec<usize> = meetings.iter().flat_map(|meeting| meeting.bodies).collect();
        members.sort_unstable();
        members.dedup();
        Linkage { bodies, members, meetings, grams }
    }

    /// The part's number, from 1.
    pub fn number(&self) -> usize {
        self.meetings[0].part + 1
    }

    /// The bodies that can move; `None` if that takes too long to say.
    pub fn free(&self) -> Option<Vec<Free>> {
        let spaces = null_spaces(self.members.len(), &self.constraints())?.into_iter().map(|rows| share(&rows));
        Some(self.members.iter().copied().zip(spaces).filter(|free: &Free| !free.1.is_empty()).collect())
    }

    /// The bodies that could move though their neighbours were at rest.
    pub fn free_between_fixed(&self) -> Vec<Free> {
        let mut nodes: Vec<u32> = self.meetings.iter().map(|meeting| meeting.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut grams = self.grams.to_vec();
        self.bodies.add(&mut grams, &fixed(nodes));
        let free = self.members.iter().map(|&body| (body, null_space(&grams[body])));
        free.filter(|free| !free.1.is_empty()).collect()
    }

    /// All that holds its bodies: their supports, and each other.
    fn constraints(&self) -> Vec<Constraint> {
        let gram_of = |body: usize| DMatrix::from_column_slice(6, 6, self.grams[body].as_slice());
        let supports = self.members.iter().enumerate().map(|(i, &body)| (vec![i], gram_of(body)));
        let joints = parallel::map(self.meetings.chunk_by(|m, n| m.bodies == n.bodies), &|meetings| {
            // Both were collected from these meetings.
            let at = meetings[0].bodies.map(|body| self.members.partition_point(|&member| member < body));
            (at.to_vec(), self.joint(meetings))
        });
        supports.chain(joints).collect()
    }

    /// The Gram matrix of what two bodies must do alike.
    fn joint(&self, meetings: &[Meeting]) -> DMatrix<f64> {
        let mut gram = DMatrix::zeros(12, 12);
        for &Meeting { bodies, node, .. } in meetings {
            let x = self.bodies.mesh.coords[node as usize];
            for c in 0..3 {
                let [a, b] = bodies.map(|body| self.bodies.frames[body].row(x, c));
                let row = SVector::<f64, 12>::from_iterator(a.iter().copied().chain((-b).iter().copied()));
                gram += row * row.transpose();
            }
        }
        gram
    }

    /// A body that can move, and how it hangs on the others.
    pub fn describe(&self, (body, space): &Free) -> LoosePart {
        let shared = self.bodies.shared.iter().filter(|(_, piece)| *piece as usize == *body);
        let shared: Vec<[f64; 3]> = shared.map(|(node, _)| self.bodies.mesh.coords[*node as usize]).collect();
        let joint = Joint {
            body: self.members.partition_point(|member| member < body) + 1,
            n_bodies: self.members.len(),
            n_shared: shared.len(),
            in_line: in_line(&shared, IN_LINE * self.bodies.frames[*body].size()),
        };
        LoosePart { joint: Some(joint), ..LoosePart::new(self.number(), self.bodies, *body, space) }
    }

    /// What there is to say if it takes too long to check it as a whole.
    pub fn unsure(&self) -> String {
        format!(
            "part {} consists of {} bodies that share no {}s; each is held between its neighbours, but \
             whether they hold each other was not checked",
            self.number(),
            self.members.len(),
            words(self.bodies.mesh.dim()).face
        )
    }
}

/// Whether points lie on one line within a distance.
fn in_line(points: &[[f64; 3]], distance: f64) -> bool {
    let from_first = |x: &[f64; 3]| nalgebra::Vector3::from(*x) - nalgebra::Vector3::from(points[0]);
    let furthest = points.iter().map(from_first).max_by(|a, b| a.norm().total_cmp(&b.norm()));
    furthest.is_none_or(|d| points.iter().all(|x| from_first(x).cross(&d).norm() <= distance * d.norm()))
}
