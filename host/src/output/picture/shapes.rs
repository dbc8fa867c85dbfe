//! The solids that symbols are made of, in pixels, with the origin at the node that they mark.

use std::f64::consts::TAU;

use super::scene::{Edge, NONE};
use crate::mesh::vector::{cross, unit};

/// What a symbol looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum Shape {
    /// An arrow that ends at the node.
    Push,
    /// An arrow that starts at the node.
    Pull,
    /// A cone with its tip at the node: one direction is held.
    Cone,
    /// A cube around the node: all directions are held.
    Cube,
    /// A double pyramid around the node: a value is held.
    Diamond,
}

pub(super) const ARROW: f64 = 46.0;
const HEAD: [f64; 2] = [16.0, 6.5];
const SHAFT: f64 = 2.0;
const CONE: [f64; 2] = [15.0, 6.0];
const CUBE: f64 = 5.0;
const DIAMOND: f64 = 8.0;
const SIDES: usize = 12;

/// Points and faces, the outside first; the fourth node of a triangle is [`NONE`].
pub(in crate::output) struct Solid {
    /// `[n][3]`, the first component along the symbol.
    pub points: Vec<[f64; 3]>,
    pub faces: Vec<[u32; 4]>,
    /// The kind of the edge from each node of a face to its next.
    pub edges: Vec<[Edge; 4]>,
}

impl Shape {
    /// All of them, in the order of their numbers.
    pub(in crate::output) const ALL: [Shape; 5] = [Shape::Push, Shape::Pull, Shape::Cone, Shape::Cube, Shape::Diamond];

    pub(in crate::output) fn solid(self) -> Solid {
        let mut solid = Solid { points: vec![], faces: vec![], edges: vec![] };
        let end = if self == Shape::Pull { ARROW } else { 0.0 };
        match self {
            Shape::Push | Shape::Pull => {
                solid.tube([end - ARROW, end - HEAD[0]], SHAFT);
                solid.cone([end, end - HEAD[0]], HEAD[1]);
            }
            Shape::Cone => solid.cone([0.0, CONE[0]], CONE[1]),
            Shape::Cube => solid.cube(CUBE),
            Shape::Diamond => solid.diamond(DIAMOND),
        }
        solid
    }
}

impl Solid {
    fn face(&mut self, nodes: [u32; 4], edge: Edge) {
        self.faces.push(nodes);
        self.edges.push([edge; 4]);
    }

    /// Appends a circle of points at `x` along the symbol; returns the number of the first.
    fn circle(&mut self, x: f64, radius: f64) -> u32 {
        let first = self.points.len() as u32;
        let angle = |k: usize| TAU * k as f64 / SIDES as f64;
        self.points.extend((0..SIDES).map(|k| [x, radius * angle(k).cos(), radius * angle(k).sin()]));
        first
    }

    fn cone(&mut self, [tip, base]: [f64; 2], radius: f64) {
        let first = self.circle(base, radius);
        let (top, middle) = (self.points.len() as u32, self.points.len() as u32 + 1);
        self.points.extend([[tip, 0.0, 0.0], [base, 0.0, 0.0]]);
        for k in 0..SIDES as u32 {
            let (a, b) = (first + k, first + (k + 1) % SIDES as u32);
            for apex in [top, middle] {
                self.faces.push([a, b, apex, NONE]);
                self.edges.push([Edge::Feature, Edge::Inner, Edge::Inner, Edge::Inner]);
            }
        }
    }

    fn tube(&mut self, ends: [f64; 2], radius: f64) {
        let [a, b] = ends.map(|x| self.circle(x, radius));
        let n = SIDES as u32;
        (0..n).for_each(|k| self.face([a + k, a + (k + 1) % n, b + (k + 1) % n, b + k], Edge::Inner));
        (1..n - 1).for_each(|k| self.face([a, a + k, a + k + 1, NONE], Edge::Inner));
    }

    fn cube(&mut self, half: f64) {
        let side = |k: usize, bit: usize| if k >> bit & 1 == 1 { half } else { -half };
        self.points.extend((0..8).map(|k| [0, 1, 2].map(|bit| side(k, bit))));
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        sides.into_iter().for_each(|side| self.face(side, Edge::Feature));
    }

    fn diamond(&mut self, half: f64) {
        for axis in 0..3 {
            for size in [half, -half] {
                self.points.push(std::array::from_fn(|c| if c == axis { size } else { 0.0 }));
            }
        }
        for k in 0..8u32 {
            self.face([k & 1, 2 + (k >> 1 & 1), 4 + (k >> 2), NONE], Edge::Feature);
        }
    }
}

/// A right-handed frame whose first direction is the unit vector `along`.
pub(super) fn frame(along: [f64; 3]) -> [[f64; 3]; 3] {
    let thin = (0..3).min_by(|&i, &j| along[i].abs().total_cmp(&along[j].abs())).unwrap_or(0);
    let axis: [f64; 3] = std::array::from_fn(|i| if i == thin { 1.0 } else { 0.0 });
    let side = unit(cross(along, axis));
    [along, side, cross(along, side)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::vector::{dot, norm};

    #[test]
    fn solids_are_closed_and_touch_their_node() {
        for shape in Shape::ALL {
            let solid = shape.solid();
            let mut edges = std::collections::HashMap::new();
            for face in &solid.faces {
                let nodes = super::super::scene::corners(face);
                for (k, a) in nodes.iter().enumerate() {
                    let b = nodes[(k + 1) % nodes.len()];
                    *edges.entry((*a.min(&b), *a.max(&b))).or_insert(0) += 1;
                }
            }
            // The shaft of an arrow ends inside its head.
            let open = edges.values().filter(|&&n| n != 2).count();
            let ends = if matches!(shape, Shape::Push | Shape::Pull) { SIDES } else { 0 };
            assert_eq!(open, ends, "{shape:?}");
            let reach = solid.points.iter().map(|p| norm(*p)).fold(0.0, f64::max);
            assert!((7.0..47.0).contains(&reach), "{shape:?} {reach}");
        }
        assert!(Shape::Push.solid().points.contains(&[0.0; 3]) && Shape::Cone.solid().points.contains(&[0.0; 3]));
    }

    #[test]
    fn frames_are_orthonormal() {
        for along in [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.6, 0.0, 0.8]] {
            let axes = frame(along);
            for i in 0..3 {
                for j in 0..3 {
                    assert!((dot(axes[i], axes[j]) - f64::from(u8::from(i == j))).abs() < 1e-14);
                }
            }
        }
    }
}
