//! The linear triangle.

use super::{ElementInfo, ElementKind::Line2};

pub(super) const INFO: ElementInfo = ElementInfo {
    name: "tri3",
    dim: 2,
    n_nodes: 3,
    gmsh: 2,
    vtk: 5,
    faces: &[(Line2, &[0, 1]), (Line2, &[1, 2]), (Line2, &[2, 0])],
};
