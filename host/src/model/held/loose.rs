//! Pieces that are not held, in words.

use std::fmt;

use nalgebra::Vector6;

use super::motion::{self, Motion};
use super::pieces::Pieces;
use super::touching::{self, Touching};
use crate::model::names::{Words, list, words};
use warpfem_text::{counted, point};

/// A connected part, or a body of one, that can move without deforming; or a part whose potential no support fixes.
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
    /// The motions it is free to make; any combination of them is free too. None of a potential.
    pub motions: Vec<Motion>,
    /// Groups (or extreme planes) that would hold it, if all components were fixed there.
    pub remedies: Vec<String>,
    /// For a body of a part that is held as a whole: how it hangs on the others.
    pub joint: Option<Joint>,
    /// The other parts that it touches without being joined to them.
    pub touches: Vec<Touching>,
}

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
    fn in_words(&self, dim: usize) -> String {
        let what = match (self.n_shared, dim, self.in_line) {
            (1, 2, _) => "1 node, a hinge".to_string(),
            (1, ..) => "1 node, a ball joint".to_string(),
            (n, 3, true) => format!("{n} nodes in line, a hinge"),
            (n, ..) => format!("{n} nodes"),
        };
        format!("it shares no {} with the rest of its part and hangs on it by {what}", words(dim).face)
    }
}

impl LoosePart {
    /// A piece of part `number` that is free to make the motions of a space.
    pub(super) fn new(number: usize, pieces: &Pieces<'_>, piece: usize, space: &[Vector6<f64>]) -> LoosePart {
        let frame = &pieces.frames[piece];
        LoosePart {
            number,
            dim: pieces.mesh.dim(),
            n_nodes: frame.n_nodes,
            min: frame.min,
            max: frame.max,
            motions: motion::name(space, frame.centre(), frame.size()),
            remedies: Vec::new(),
            joint: None,
            touches: Vec::new(),
        }
    }

    /// Whether it is free to make every rigid motion.
    pub fn is_unheld(&self) -> bool {
        self.motions.len() == if self.dim == 2 { 3 } else { 6 }
    }

    /// What is free.
    fn fmt_motions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_unheld() {
            _ if self.motions.is_empty() => write!(f, " has no fixed value"),
            true => write!(f, " is free to move: nothing stops any translation or rotation"),
            false => {
                write!(f, " is free to move:")?;
                self.motions.iter().try_for_each(|motion| write!(f, "\n  - {}", motion.in_words(self.dim)))
            }
        }
    }

    /// What would hold it.
    fn fmt_help(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Words { face, components, .. } = words(self.dim);
        let remedies: Vec<&str> = self.remedies.iter().map(String::as_str).collect();
        let names = list(&remedies);
        match (self.motions.is_empty(), self.remedies.is_empty()) {
            (true, true) => {
                write!(f, "\n  help: no group touches it; add a [[support]] with `value` on `nodes` or a `box` of it")
            }
            (true, false) => write!(f, "\n  help: add a [[support]] with `value` on any of: {names}"),
            (false, true) => {
                write!(f, "\n  help: no group of the mesh would hold it; use `nodes = [..]` or `box = {{ .. }}`")
            }
            (false, false) => write!(
                f,
                "\n  help: it would be held by `fix = \"{components}\"` on any of: {names}; a plane of symmetry is fixed \
                 in its normal alone"
            ),
        }?;
        match self.joint {
            Some(_) => write!(f, "; or mesh the bodies so that they share {face}s"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for LoosePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (point(self.min, self.dim), point(self.max, self.dim));
        if let Some(joint) = &self.joint {
            write!(f, "body {} of {} of ", joint.body, joint.n_bodies)?;
        }
        write!(f, "part {} ({}, from {min} to {max})", self.number, counted(self.n_nodes, "node"))?;
        self.fmt_motions(f)?;
        if let Some(joint) = &self.joint {
            write!(f, "\n  {}", joint.in_words(self.dim))?;
        }
        let shown = if self.motions.is_empty() { self.touches.len() } else { touching::SHOWN };
        self.touches.iter().take(shown).try_for_each(|touch| write!(f, "\n  {}", touch.of_part(self.number)))?;
        if self.touches.len() > shown {
            write!(f, "\n  it touches {} more parts", self.touches.len() - shown)?;
        }
        self.fmt_help(f)
    }
}
