//! The straight edge.

use super::{ElementInfo, ElementKind::Point1, SAME_ORDER};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "line2",
    dim: 1,
    n_nodes: 2,
    n_corners: 2,
    gmsh: 1,
    vtk: 3,
    vtk_order: SAME_ORDER,
    faces: &[(Point1, &[0]), (Point1, &[1])],
};
