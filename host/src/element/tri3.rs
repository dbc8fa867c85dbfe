//! The linear triangle.

use super::{ElementInfo, ElementKind::Line2, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "tri3",
    dim: 2,
    n_nodes: 3,
    n_corners: 3,
    gmsh: 2,
    vtk: 5,
    vtk_order: SAME_ORDER,
    faces: &[(Line2, &[0, 1]), (Line2, &[1, 2]), (Line2, &[2, 0])],
    shape: Shape::of::<kernels_rs::element::Tri3>(),
};
