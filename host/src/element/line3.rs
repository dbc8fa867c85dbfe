//! The quadratic edge.

use super::{ElementInfo, ElementKind::Point1, SAME_ORDER};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "line3",
    dim: 1,
    n_nodes: 3,
    n_corners: 2,
    gmsh: 8,
    vtk: 21,
    vtk_order: SAME_ORDER,
    faces: &[(Point1, &[0]), (Point1, &[1])],
};
