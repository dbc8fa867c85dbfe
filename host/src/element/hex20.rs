//! The serendipity hexahedron: corners, then the middles of the edges 01, 03, 04, 12, 15, 23, 26, 37, 45, 47, 56, 67.
//! VTK runs round the bottom, round the top, then up.

use super::{ElementInfo, ElementKind::Quad8, Shape};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "hex20",
    dim: 3,
    n_nodes: 20,
    n_corners: 8,
    gmsh: 17,
    vtk: 25,
    vtk_order: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15],
    faces: &[
        (Quad8, &[0, 3, 2, 1, 9, 13, 11, 8]),
        (Quad8, &[4, 5, 6, 7, 16, 18, 19, 17]),
        (Quad8, &[0, 1, 5, 4, 8, 12, 16, 10]),
        (Quad8, &[1, 2, 6, 5, 11, 14, 18, 12]),
        (Quad8, &[2, 3, 7, 6, 13, 15, 19, 14]),
        (Quad8, &[3, 0, 4, 7, 9, 10, 17, 15]),
    ],
    shape: Shape::of::<kernels_rs::element::Hex20>(),
};
