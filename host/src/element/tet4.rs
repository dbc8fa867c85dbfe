//! The linear tetrahedron.

use super::{ElementInfo, ElementKind::Tri3, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "tet4",
    dim: 3,
    n_nodes: 4,
    n_corners: 4,
    gmsh: 4,
    vtk: 10,
    vtk_order: SAME_ORDER,
    faces: &[(Tri3, &[0, 2, 1]), (Tri3, &[0, 1, 3]), (Tri3, &[0, 3, 2]), (Tri3, &[1, 2, 3])],
    shape: Shape::of::<kernels_rs::element::Tet4>(),
};
