//! A single node, as Gmsh writes it for physical points.

use super::{ElementInfo, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "point1",
    dim: 0,
    n_nodes: 1,
    n_corners: 1,
    gmsh: 15,
    vtk: 1,
    vtk_order: SAME_ORDER,
    faces: &[],
    shape: Shape {
        nodes: &[[0.0; 3]],
        quadrature: &[([0.0; 3], 1.0)],
        sampled: &[],
        value: |_, _| 1.0,
        gradient: |_, _| [0.0; 3],
    },
};
