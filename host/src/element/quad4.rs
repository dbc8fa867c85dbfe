//! The bilinear quadrilateral.

use super::{ElementInfo, ElementKind::Line2, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "quad4",
    dim: 2,
    n_nodes: 4,
    n_corners: 4,
    gmsh: 3,
    vtk: 9,
    vtk_order: SAME_ORDER,
    faces: &[(Line2, &[0, 1]), (Line2, &[1, 2]), (Line2, &[2, 3]), (Line2, &[3, 0])],
    shape: Shape::of::<kernels_rs::element::Quad4>(),
};
