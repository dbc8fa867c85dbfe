//! Integrals of shape functions over faces: what a surface load puts on each node.

use crate::element::ElementKind;
use crate::mesh::faces::Face;

/// Most nodes a face of the supported solids has.
const MAX_NODES: usize = 4;

/// For each node `a` of a face: `int N_a dA` and `int N_a n dA`, with the face's own normal.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaceIntegral {
    /// `int N_a dA`, `[n_nodes]`.
    pub area: [f64; MAX_NODES],
    /// `int N_a n dA`, `[n_nodes][3]`; the normal varies over a warped quadrilateral.
    pub normal: [[f64; 3]; MAX_NODES],
}

impl FaceIntegral {
    /// Integrates over a face: exactly for flat ones, by 2 x 2 Gauss points for quadrilaterals.
    pub fn of(face: &Face, coords: &[[f64; 3]]) -> FaceIntegral {
        let mut x = [[0.0; 3]; MAX_NODES];
        for (slot, &node) in x.iter_mut().zip(face.nodes()) {
            *slot = coords[node as usize];
        }
        match face.kind {
            ElementKind::Line2 => line2(&x),
            ElementKind::Quad4 => quad4(&x),
            _ => tri3(&x),
        }
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

/// In the plane, with the body on the left.
fn line2(x: &[[f64; 3]; MAX_NODES]) -> FaceIntegral {
    let [dx, dy, _] = sub(x[1], x[0]);
    let mut integral = FaceIntegral::default();
    (0..2).for_each(|a| integral.add(a, 0.5, [dy, -dx, 0.0]));
    integral
}

fn tri3(x: &[[f64; 3]; MAX_NODES]) -> FaceIntegral {
    let twice = cross(sub(x[1], x[0]), sub(x[2], x[0]));
    let mut integral = FaceIntegral::default();
    (0..3).for_each(|a| integral.add(a, 1.0 / 6.0, twice));
    integral
}

fn quad4(x: &[[f64; 3]; MAX_NODES]) -> FaceIntegral {
    const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let point = 1.0 / 3.0f64.sqrt();
    let mut integral = FaceIntegral::default();
    for [xi, eta] in CORNERS.map(|[s, t]| [s * point, t * point]) {
        let (mut along_xi, mut along_eta) = ([0.0; 3], [0.0; 3]);
        for (a, [s, t]) in CORNERS.into_iter().enumerate() {
            for c in 0..3 {
                along_xi[c] += 0.25 * s * (1.0 + t * eta) * x[a][c];
                along_eta[c] += 0.25 * t * (1.0 + s * xi) * x[a][c];
            }
        }
        let normal = cross(along_xi, along_eta);
        for (a, [s, t]) in CORNERS.into_iter().enumerate() {
            integral.add(a, 0.25 * (1.0 + s * xi) * (1.0 + t * eta), normal);
        }
    }
    integral
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
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
