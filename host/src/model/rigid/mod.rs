//! The rigid-motion check: every connected part must be held against its six rigid motions, and so must each of its
//! bodies where they meet in nodes or edges only (`joints`).
//!
//! A supported component `c` at a node with position `x` sees the motion `t + w x r`, `r = (x - centre) / size`, as
//! `row . (t, w)`. A part is held when the rows of all its supported components span all six motions, that is when
//! their Gram matrix `sum row^T row` has full rank. What is left is the null space, and `motion` puts it in words. In a
//! plane problem the three motions out of the plane cannot happen, and count as held. A part that is held, but by next
//! to nothing, is warned of (`weak`).

mod bodies;
mod joints;
mod motion;
pub(super) mod parts;
mod system;
mod weak;

#[cfg(test)]
mod joint_tests;
#[cfg(test)]
mod plane_tests;
#[cfg(test)]
mod tests;

use std::fmt;

use nalgebra::{Matrix6, SymmetricEigen, Vector6};

pub use joints::Joint;
pub use motion::Motion;
use parts::{Frame, Parts};
pub(super) use warpfem_text::point;

use super::names::{Words, list, planes, words};
use super::unmerged::{self, Unmerged};
use super::{ModelError, Support};
use crate::mesh::Mesh;
use crate::mesh::bodies::parts_are_firm;
use warpfem_text::counted;
use weak::{Held, weak};

/// A motion is free when its eigenvalue is below this fraction of the largest one. Eigenvalues are squares of lever
/// arms over the part's size: coordinates written with seven digits leave 1e-14 where points should be in line, and a
/// bolt hole of a hundredth of the part's size gives 1e-4 / (supported nodes).
const RANK_TOLERANCE: f64 = 1e-12;

/// A connected part, or a body of one, that can move without deforming.
#[derive(Debug, Clone, PartialEq)]
pub struct LoosePart {
    /// The part's number among all parts, from 1, in order of their first node.
    pub number: usize,
    /// Dimension of the space that it can move in.
    pub dim: usize,
    /// How many nodes it has.
    pub n_nodes: usize,
    /// Lowest coordinates.
    pub min: [f64; 3],
    /// Highest coordinates.
    pub max: [f64; 3],
    /// The motions it is free to make; any combination of them is free too.
    pub motions: Vec<Motion>,
    /// Groups (or extreme planes) that would hold it, if all components were fixed there.
    pub remedies: Vec<String>,
    /// For a body of a part that is held as a whole: how it hangs on the others.
    pub joint: Option<Joint>,
    /// The other parts that it touches without being joined to them.
    pub touches: Vec<Unmerged>,
}

impl LoosePart {
    fn of(number: usize, dim: usize, frame: &Frame, motions: Vec<Motion>) -> LoosePart {
        let Frame { min, max, n_nodes } = *frame;
        LoosePart { number, dim, n_nodes, min, max, motions, remedies: Vec::new(), joint: None, touches: Vec::new() }
    }

    /// Whether it is free to make every rigid motion.
    pub fn is_unheld(&self) -> bool {
        self.motions.len() == if self.dim == 2 { 3 } else { 6 }
    }
}

impl fmt::Display for LoosePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (point(self.min, self.dim), point(self.max, self.dim));
        let Words { face, components, .. } = words(self.dim);
        if let Some(joint) = &self.joint {
            write!(f, "body {} of {} of ", joint.body, joint.n_bodies)?;
        }
        write!(f, "part {} ({}, from {min} to {max}) is free to move:", self.number, counted(self.n_nodes, "node"))?;
        match self.is_unheld() {
            true => write!(f, " nothing stops any translation or rotation")?,
            false => self.motions.iter().try_for_each(|motion| write!(f, "\n  - {}", motion.in_words(self.dim)))?,
        }
        if let Some(joint) = &self.joint {
            write!(f, "\n  {}", joint.in_words(self.dim))?;
        }
        for touch in self.touches.iter().take(unmerged::SHOWN) {
            write!(f, "\n  {}", touch.of_part(self.number))?;
        }
        if self.touches.len() > unmerged::SHOWN {
            write!(f, "\n  it touches {} more parts", self.touches.len() - unmerged::SHOWN)?;
        }
        let remedies: Vec<&str> = self.remedies.iter().map(String::as_str).collect();
        match remedies.as_slice() {
            [] => write!(f, "\n  help: no group of the mesh would hold it; use `nodes = [..]` or `box = {{ .. }}`"),
            names => write!(
                f,
                "\n  help: it would be held by `fix = \"{components}\"` on any of: {}; a plane of symmetry is fixed in its \
                 normal alone",
                list(names)
            ),
        }?;
        match self.joint {
            Some(_) => write!(f, "; or mesh the bodies so that they share {face}s"),
            None => Ok(()),
        }
    }
}

/// The motions that a Gram matrix leaves free, one per column of the result.
fn null_space(gram: &Matrix6<f64>) -> Vec<Vector6<f64>> {
    let eigen = SymmetricEigen::new(*gram);
    let limit = RANK_TOLERANCE * eigen.eigenvalues.max();
    (0..6).filter(|&i| eigen.eigenvalues[i] <= limit).map(|i| eigen.eigenvectors.column(i).into()).collect()
}

/// Checks that the supports hold every connected part of the solids, loaded or not, and every body of it. Returns
/// warnings of parts that are barely held, of those that coincide with others without being joined to them, and of
/// those with too many bodies to check in full.
///
/// # Errors
///
/// [`ModelError::FreeMotion`] with every part, and every body of the other parts, that is not held.
pub fn check(mesh: &Mesh, supports: &[Support]) -> Result<Vec<String>, ModelError> {
    let parts = Parts::of(mesh);
    let mut grams = vec![parts.at_rest(); parts.frames.len()];
    for support in supports {
        parts.add(&mut grams, &support.nodes, support.displacement.map(|value| value.is_some()));
    }
    let held: Vec<Held> = supports.iter().map(Held::by).collect();
    let (mut loose, mut warnings) = (Vec::new(), Vec::new());
    for (i, frame) in parts.frames.iter().enumerate() {
        let free = null_space(&grams[i]);
        if !free.is_empty() {
            loose.push(LoosePart::of(i + 1, mesh.dim(), frame, motion::name(&free, frame.centre(), frame.size())));
        } else if let Some(weak) = weak(&parts, i, &grams[i], &held) {
            warnings.push(weak.warning(i + 1, mesh.dim()));
        }
    }
    let numbers: Vec<usize> = loose.iter().map(|part| part.number).collect();
    find_remedies(mesh, &mut loose, |nodes| {
        let mut with_group = grams.clone();
        parts.add(&mut with_group, nodes, [true; 3]);
        let held = [held.as_slice(), &[Held { name: "", nodes, components: [true; 3] }]].concat();
        let holds = |part: usize, gram| null_space(gram).is_empty() && weak(&parts, part, gram, &held).is_none();
        numbers.iter().map(|number| holds(number - 1, &with_group[number - 1])).collect()
    });
    let touching = unmerged::find(&parts);
    for part in &mut loose {
        part.touches = touching.iter().filter(|touch| touch.parts.contains(&part.number)).cloned().collect();
    }
    if !parts_are_firm(mesh, &parts.labels, parts.frames.len()) {
        let (hanging, unsure) = joints::check(&parts, supports, &loose);
        loose.extend(hanging);
        loose.sort_by_key(|part| part.number);
        warnings.extend(unsure);
    }
    warnings.extend(unmerged::warnings(&touching));
    match loose.is_empty() {
        true => Ok(warnings),
        false => Err(ModelError::FreeMotion { parts: loose, n_parts: parts.frames.len() }),
    }
}

/// Names for each loose part the groups that would hold it, or the extreme planes where no group would; `holds` says
/// which of them are held once all components are fixed at some nodes.
fn find_remedies(mesh: &Mesh, loose: &mut [LoosePart], holds: impl Fn(&[u32]) -> Vec<bool>) {
    if loose.is_empty() {
        return;
    }
    let offer = |name: &str, takes: &[bool], loose: &mut [LoosePart]| {
        let Some(nodes) = mesh.nodes_on(name) else { return };
        for ((part, held), take) in loose.iter_mut().zip(holds(&nodes)).zip(takes) {
            if held && *take && !part.remedies.iter().any(|known| known == name) {
                part.remedies.push(name.to_string());
            }
        }
    };
    for group in mesh.groups.iter().filter(|group| group.dim < mesh.dim()) {
        offer(&group.name, &vec![true; loose.len()], loose);
    }
    let helpless: Vec<bool> = loose.iter().map(|part| part.remedies.is_empty()).collect();
    if helpless.contains(&true) {
        planes(mesh.dim()).iter().for_each(|name| offer(name, &helpless, loose));
    }
}
