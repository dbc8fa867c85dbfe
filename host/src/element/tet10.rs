//! The quadratic tetrahedron: corners, then the middles of the edges 01, 12, 20, 30, 23, 13 (VTK swaps the last two).

use super::{ElementInfo, ElementKind::Tri6, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "tet10",
    dim: 3,
    n_nodes: 10,
    n_corners: 4,
    gmsh: 11,
    vtk: 24,
    vtk_order: &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8],
    faces: &[
        (Tri6, &[0, 2, 1, 6, 5, 4]),
        (Tri6, &[0, 1, 3, 4, 9, 7]),
        (Tri6, &[0, 3, 2, 7, 8, 6]),
        (Tri6, &[1, 2, 3, 5, 8, 9]),
    ],
    shape: Shape::of::<kernels_rs::element::Tet10>(),
};
