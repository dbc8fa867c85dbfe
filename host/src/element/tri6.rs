//! The quadratic triangle: corners, then the middles of the edges.

use super::{ElementInfo, ElementKind::Line3, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "tri6",
    dim: 2,
    n_nodes: 6,
    n_corners: 3,
    gmsh: 9,
    vtk: 22,
    vtk_order: SAME_ORDER,
    faces: &[(Line3, &[0, 1, 3]), (Line3, &[1, 2, 4]), (Line3, &[2, 0, 5])],
    shape: Shape::of::<kernels_rs::element::Tri6>(),
};
