//! The quadratic edge: `N = xi (xi + s) / 2` at the ends `xi = s`, `1 - xi^2` in the middle.

use super::{ElementInfo, ElementKind::Point1, SAME_ORDER, Shape};
use kernels_rs::element::rules::LINE_3;

const NODES: &[[f64; 3]] = &[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]];

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "line3",
    dim: 1,
    n_nodes: 3,
    n_corners: 2,
    gmsh: 8,
    vtk: 21,
    vtk_order: SAME_ORDER,
    faces: &[(Point1, &[0]), (Point1, &[1])],
    shape: Shape { nodes: NODES, quadrature: &LINE_3, sampled: &[], value, gradient },
};

fn value(b: usize, [xi, ..]: [f64; 3]) -> f64 {
    if b == 2 { 1.0 - xi * xi } else { 0.5 * xi * (xi + NODES[b][0]) }
}

fn gradient(b: usize, [xi, ..]: [f64; 3]) -> [f64; 3] {
    [if b == 2 { -2.0 * xi } else { xi + 0.5 * NODES[b][0] }, 0.0, 0.0]
}
