//! Integrals of shape functions over faces: what a surface load puts on each node.
//!
//! `n dA = dx/dxi x dx/deta dxi deta` varies over a curved face. The faces of a plane body are its edges, of unit
//! thickness: `n dA` is the edge's tangent turned clockwise, for the body lies on its left.

use crate::element::MAX_FACE_NODES;
use crate::mesh::faces::Face;

/// For each node `a` of a face: `int N_a dA` and `int N_a n dA`, with the face's own normal.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaceIntegral {
    /// `int N_a dA`, `[n_nodes]`.
    pub area: [f64; MAX_FACE_NODES],
    /// `int N_a n dA`, `[n_nodes][3]`.
    pub normal: [[f64; 3]; MAX_FACE_NODES],
}

impl FaceIntegral {
    /// Integrates over a face: `int N_a n dA` exactly, `int N_a dA` exactly if the face is flat and undistorted.
    pub fn of(face: &Face, coords: &[[f64; 3]]) -> FaceIntegral {
        let mut integral = FaceIntegral::default();
        for at in &face.kind.table().rule {
            let [s, t, _] = at.tangents(|a| coords[face.nodes()[a] as usize]);
            let normal = if face.kind.info().dim == 1 { [s[1], -s[0], 0.0] } else { cross(s, t) };
            at.n.iter().enumerate().for_each(|(a, n)| integral.add(a, at.weight * n, normal));
        }
        integral
    }

    fn add(&mut self, a: usize, weight: f64, normal: [f64; 3]) {
        self.area[a] += weight * norm(normal);
        for (sum, component) in self.normal[a].iter_mut().zip(normal) {
            *sum += weight * component;
        }
    }

    /// The face's area.
    pub fn total_area(&self) -> f64 {
        self.area.iter().sum()
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Euclidean length.
pub(super) fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// Scalar product.
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
