//! A single node, as Gmsh writes it for physical points.

use super::ElementInfo;

pub(super) const INFO: ElementInfo = ElementInfo { name: "point1", dim: 0, n_nodes: 1, gmsh: 15, vtk: 1, faces: &[] };
