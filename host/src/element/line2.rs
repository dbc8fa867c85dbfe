//! The straight edge, `xi` from -1 to 1: `N = (1 + s xi) / 2` at `xi = s`.

use super::{ElementInfo, ElementKind::Point1, SAME_ORDER, Shape};
use kernels_rs::element::rules::LINE_3;

const NODES: &[[f64; 3]] = &[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "line2",
    dim: 1,
    n_nodes: 2,
    n_corners: 2,
    gmsh: 1,
    vtk: 3,
    vtk_order: SAME_ORDER,
    faces: &[(Point1, &[0]), (Point1, &[1])],
    shape: Shape {
        nodes: NODES,
        quadrature: &LINE_3,
        sampled: &[],
        value: |b, xi| 0.5 * (1.0 + NODES[b][0] * xi[0]),
        gradient: |b, _| [0.5 * NODES[b][0], 0.0, 0.0],
    },
};
