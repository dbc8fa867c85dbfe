//! Whether the bodies of a part that meet in nodes or edges only (in the plane: in nodes) hold each other: ball joints,
//! hinges, mechanisms.
//!
//! Solids joined by faces (in the plane: by edges) are a body. The unknowns are the six rigid motions of each body of a
//! part; what its supports hold must stay at rest, and a node that two bodies share must move alike with both. Each
//! body's supports and each pair of bodies first become the projector onto the row space of their own equations, so
//! that the short lever arms of a small joint do not weaken it; the part is held when the sum of the projectors has
//! full rank (`system`). A part with so many bodies that this takes too long is checked body by body, its neighbours at
//! rest, and a warning says so.

use nalgebra::{DMatrix, Matrix6, SMatrix, SymmetricEigen, Vector6};
use rayon::prelude::*;

use super::bodies::{Bodies, Meeting};
use super::system::System;
use super::{LoosePart, Parts, RANK_TOLERANCE, find_remedies, motion, null_space};
use crate::model::Support;
use crate::model::names::words;

/// A body stays at rest in the part's free motions of size 1 when the square of its share in them is below this.
const AT_REST: f64 = 1e-10;
/// Shared nodes are in line within this fraction of the body's size.
const IN_LINE: f64 = 1e-6;

/// How a body hangs on its neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joint {
    /// The body's number in its part, from 1, in order of their first solids.
    pub body: usize,
    /// How many bodies the part has.
    pub n_bodies: usize,
    /// How many nodes it shares with its neighbours.
    pub n_shared: usize,
    /// Whether these lie on one line.
    pub in_line: bool,
}

impl Joint {
    /// In words, for a body in space or in the plane.
    pub(super) fn in_words(&self, dim: usize) -> String {
        let what = match (self.n_shared, dim, self.in_line) {
            (1, 2, _) => "1 node, a hinge".to_string(),
            (1, ..) => "1 node, a ball joint".to_string(),
            (n, 3, true) => format!("{n} nodes in line, a hinge"),
            (n, ..) => format!("{n} nodes"),
        };
        format!("it shares no {} with the rest of its part and hangs on it by {what}", words(dim).face)
    }
}

/// The motions that are left to a body, orthonormal.
type Free = (usize, Vec<Vector6<f64>>);

/// The bodies of one part.
struct Part<'a> {
    bodies: &'a Bodies<'a>,
    number: usize,
    /// Its bodies, ascending.
    members: Vec<usize>,
    meetings: &'a [Meeting],
    /// Gram matrices of the supports of every body of the mesh.
    grams: &'a [Matrix6<f64>],
}

/// Checks the parts that are held as a whole, that is all but those `loose` already: the bodies that are not, and
/// warnings of what could not be checked in full.
pub(super) fn check(parts: &Parts<'_>, supports: &[Support], loose: &[LoosePart]) -> (Vec<LoosePart>, Vec<String>) {
    let bodies = Bodies::of(parts);
    let mut grams = vec![parts.at_rest(); bodies.frames.len()];
    for support in supports {
        bodies.add(&mut grams, &support.nodes, support.displacement.map(|value| value.is_some()));
    }
    let (mut hanging, mut free, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for meetings in bodies.meetings.chunk_by(|a, b| a.part == b.part) {
        let number = meetings[0].part as usize + 1;
        if loose.iter().any(|part| part.number == number) {
            continue;
        }
        let mut members: Vec<usize> = meetings.iter().flat_map(|m| [m.a as usize, m.b as usize]).collect();
        members.sort_unstable();
        members.dedup();
        let part = Part { bodies: &bodies, number, members, meetings, grams: &grams };
        let found = part.free().unwrap_or_else(|| {
            let found = part.free_between_fixed();
            warnings.extend(found.is_empty().then(|| part.unsure()));
            found
        });
        hanging.extend(found.iter().map(|free| part.describe(free)));
        free.extend(found);
    }
    find_remedies(bodies.mesh, &mut hanging, |nodes| {
        let mut with_group = vec![Matrix6::zeros(); bodies.frames.len()];
        bodies.add(&mut with_group, nodes, [true; 3]);
        free.iter().map(|(body, space)| stops(&with_group[*body], space)).collect()
    });
    (hanging, warnings)
}

impl Part<'_> {
    /// The bodies that can move; `None` if that takes too long to say.
    fn free(&self) -> Option<Vec<Free>> {
        let share = |rows: DMatrix<f64>| -> Vec<Vector6<f64>> {
            let own = SymmetricEigen::new(Matrix6::from_iterator((&rows * rows.transpose()).iter().copied()));
            (0..6).filter(|&k| own.eigenvalues[k] > AT_REST).map(|k| own.eigenvectors.column(k).into()).collect()
        };
        let spaces = self.system().null_space()?.into_iter().map(share);
        Some(self.members.iter().copied().zip(spaces).filter(|free: &Free| !free.1.is_empty()).collect())
    }

    /// The bodies that could move though their neighbours were at rest.
    fn free_between_fixed(&self) -> Vec<Free> {
        let mut grams = self.grams.to_vec();
        for meeting in self.meetings {
            for body in [meeting.a as usize, meeting.b as usize] {
                for c in 0..3 {
                    let row = self.bodies.frames[body].row(self.bodies.mesh.coords[meeting.node as usize], c);
                    grams[body] += row * row.transpose();
                }
            }
        }
        let free = self.members.iter().map(|&body| (body, null_space(&grams[body])));
        free.filter(|free| !free.1.is_empty()).collect()
    }

    /// The sum of all projectors.
    fn system(&self) -> System {
        let own = self.members.par_iter().enumerate().map(|(i, &body)| (vec![i], row_space(&self.grams[body])));
        let joints = self.meetings.par_chunk_by(|m, n| (m.a, m.b) == (n.a, n.b)).map(|meetings| {
            // Both were collected from these meetings.
            let at = [meetings[0].a, meetings[0].b].map(|body| self.members.partition_point(|&m| m < body as usize));
            (at.to_vec(), row_space(&self.joint(meetings)))
        });
        let projectors: Vec<(Vec<usize>, DMatrix<f64>)> = own.chain(joints).collect();
        let mut system = System::new(self.members.len());
        projectors.iter().for_each(|(at, projector)| system.add(at, projector));
        system
    }

    /// The Gram matrix of what two bodies must do alike, in the motions of the one and then of the other.
    fn joint(&self, meetings: &[Meeting]) -> SMatrix<f64, 12, 12> {
        let mut gram = SMatrix::<f64, 12, 12>::zeros();
        for m in meetings {
            let x = self.bodies.mesh.coords[m.node as usize];
            for c in 0..3 {
                let mut row = SMatrix::<f64, 12, 1>::zeros();
                row.fixed_rows_mut::<6>(0).copy_from(&self.bodies.frames[m.a as usize].row(x, c));
                row.fixed_rows_mut::<6>(6).copy_from(&-self.bodies.frames[m.b as usize].row(x, c));
                gram += row * row.transpose();
            }
        }
        gram
    }

    fn describe(&self, (body, space): &Free) -> LoosePart {
        let frame = self.bodies.frames[*body];
        let shared: Vec<[f64; 3]> =
            self.bodies.shared_by(*body).map(|node| self.bodies.mesh.coords[node as usize]).collect();
        let joint = Joint {
            body: self.members.partition_point(|m| m < body) + 1,
            n_bodies: self.members.len(),
            n_shared: shared.len(),
            in_line: in_line(&shared, IN_LINE * frame.size()),
        };
        let motions = motion::name(space, frame.centre(), frame.size());
        LoosePart { joint: Some(joint), ..LoosePart::of(self.number, self.bodies.mesh.dim(), &frame, motions) }
    }

    fn unsure(&self) -> String {
        format!(
            "part {} consists of {} bodies that share no {}s; each is held between its neighbours, but \
             whether they hold each other was not checked",
            self.number,
            self.members.len(),
            words(self.bodies.mesh.dim()).face
        )
    }
}

/// The projector onto the row space of the equations whose Gram matrix this is.
fn row_space<const N: usize>(gram: &SMatrix<f64, N, N>) -> DMatrix<f64> {
    let eigen = SymmetricEigen::new(DMatrix::from_column_slice(N, N, gram.as_slice()));
    let limit = RANK_TOLERANCE * eigen.eigenvalues.max();
    let rows = (0..N).filter(|&i| eigen.eigenvalues[i] > limit).map(|i| eigen.eigenvectors.column(i));
    rows.fold(DMatrix::zeros(N, N), |sum, v| sum + v * v.transpose())
}

/// Whether equations with this Gram matrix stop every motion of a space.
fn stops(gram: &Matrix6<f64>, space: &[Vector6<f64>]) -> bool {
    let seen = DMatrix::from_fn(space.len(), space.len(), |i, j| space[i].dot(&(gram * space[j])));
    seen.symmetric_eigenvalues().min() > RANK_TOLERANCE * gram.trace()
}

/// Whether points lie on one line within a distance.
fn in_line(points: &[[f64; 3]], distance: f64) -> bool {
    let from_first = |x: &[f64; 3]| nalgebra::Vector3::from(*x) - nalgebra::Vector3::from(points[0]);
    let furthest = points.iter().map(from_first).max_by(|a, b| a.norm().total_cmp(&b.norm()));
    furthest.is_none_or(|d| points.iter().all(|x| from_first(x).cross(&d).norm() <= distance * d.norm()))
}
