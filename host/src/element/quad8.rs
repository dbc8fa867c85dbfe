//! The serendipity quadrilateral: corners, then the middles of the edges.

use super::{ElementInfo, ElementKind::Line3, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "quad8",
    dim: 2,
    n_nodes: 8,
    n_corners: 4,
    gmsh: 16,
    vtk: 23,
    vtk_order: SAME_ORDER,
    faces: &[(Line3, &[0, 1, 4]), (Line3, &[1, 2, 5]), (Line3, &[2, 3, 6]), (Line3, &[3, 0, 7])],
    shape: Shape::of::<kernels_rs::element::Quad8>(),
};
