//! The trilinear hexahedron.

use super::{ElementInfo, ElementKind::Quad4, SAME_ORDER, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "hex8",
    dim: 3,
    n_nodes: 8,
    n_corners: 8,
    gmsh: 5,
    vtk: 12,
    vtk_order: SAME_ORDER,
    faces: &[
        (Quad4, &[0, 3, 2, 1]),
        (Quad4, &[4, 5, 6, 7]),
        (Quad4, &[0, 1, 5, 4]),
        (Quad4, &[1, 2, 6, 5]),
        (Quad4, &[2, 3, 7, 6]),
        (Quad4, &[3, 0, 4, 7]),
    ],
    shape: Shape::of::<kernels_rs::element::Hex8>(),
};
