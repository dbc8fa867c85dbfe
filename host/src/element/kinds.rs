//! What is known of each element type beside its shape functions: codes in file formats, and sides.

use super::ElementKind::{self, Line2, Line3, Point1, Quad4, Quad8, Tri3, Tri6};
use super::{ElementInfo, Shape};
use kernels_rs::element::rules::LINE_3;
use kernels_rs::element::{self as device, Element, Point};

type Faces = &'static [(ElementKind, &'static [usize])];

/// VTK numbers the nodes as Gmsh does.
const SAME_ORDER: &[usize] = &[];

/// An element of the device code; `codes` are those of MSH and of VTK files.
const fn of<E: Element>(n_corners: usize, codes: (i32, u8), vtk_order: &'static [usize], faces: Faces) -> ElementInfo {
    let (gmsh, vtk) = codes;
    let (name, dim, n_nodes) = (E::NAME, E::DIM, E::N);
    ElementInfo { name, dim, n_nodes, n_corners, gmsh, vtk, vtk_order, faces, shape: Shape::of::<E>() }
}

/// Every kind, in the order of [`ElementKind`].
pub(super) static INFOS: [ElementInfo; ElementKind::ALL.len()] = [
    // A single node, as Gmsh writes it for physical points.
    ElementInfo {
        name: "point1",
        dim: 0,
        n_nodes: 1,
        n_corners: 1,
        gmsh: 15,
        vtk: 1,
        vtk_order: SAME_ORDER,
        faces: &[],
        shape: side(&[[0.0; 3]], &[([0.0; 3], 1.0)], |_, _| 1.0, |_, _| [0.0; 3]),
    },
    // The straight edge, `xi` from -1 to 1: `N = (1 + s xi) / 2` at `xi = s`.
    ElementInfo {
        name: "line2",
        dim: 1,
        n_nodes: 2,
        n_corners: 2,
        gmsh: 1,
        vtk: 3,
        vtk_order: SAME_ORDER,
        faces: &[(Point1, &[0]), (Point1, &[1])],
        shape: side(
            EDGE.split_at(2).0,
            &LINE_3,
            |b, xi| 0.5 * (1.0 + EDGE[b][0] * xi[0]),
            |b, _| [0.5 * EDGE[b][0], 0.0, 0.0],
        ),
    },
    // The quadratic edge: `N = xi (xi + s) / 2` at the ends `xi = s`, `1 - xi^2` in the middle.
    ElementInfo {
        name: "line3",
        dim: 1,
        n_nodes: 3,
        n_corners: 2,
        gmsh: 8,
        vtk: 21,
        vtk_order: SAME_ORDER,
        faces: &[(Point1, &[0]), (Point1, &[1])],
        shape: side(
            &EDGE,
            &LINE_3,
            |b, [xi, ..]| if b == 2 { 1.0 - xi * xi } else { 0.5 * xi * (xi + EDGE[b][0]) },
            |b, [xi, ..]| [if b == 2 { -2.0 * xi } else { xi + 0.5 * EDGE[b][0] }, 0.0, 0.0],
        ),
    },
    of::<device::Tri3>(3, (2, 5), SAME_ORDER, &[(Line2, &[0, 1]), (Line2, &[1, 2]), (Line2, &[2, 0])]),
    of::<device::Quad4>(
        4,
        (3, 9),
        SAME_ORDER,
        &[(Line2, &[0, 1]), (Line2, &[1, 2]), (Line2, &[2, 3]), (Line2, &[3, 0])],
    ),
    // Corners, then the middles of the edges.
    of::<device::Tri6>(3, (9, 22), SAME_ORDER, &[(Line3, &[0, 1, 3]), (Line3, &[1, 2, 4]), (Line3, &[2, 0, 5])]),
    of::<device::Quad8>(
        4,
        (16, 23),
        SAME_ORDER,
        &[(Line3, &[0, 1, 4]), (Line3, &[1, 2, 5]), (Line3, &[2, 3, 6]), (Line3, &[3, 0, 7])],
    ),
    of::<device::Tet4>(
        4,
        (4, 10),
        SAME_ORDER,
        &[(Tri3, &[0, 2, 1]), (Tri3, &[0, 1, 3]), (Tri3, &[0, 3, 2]), (Tri3, &[1, 2, 3])],
    ),
    of::<device::Hex8>(
        8,
        (5, 12),
        SAME_ORDER,
        &[
            (Quad4, &[0, 3, 2, 1]),
            (Quad4, &[4, 5, 6, 7]),
            (Quad4, &[0, 1, 5, 4]),
            (Quad4, &[1, 2, 6, 5]),
            (Quad4, &[2, 3, 7, 6]),
            (Quad4, &[3, 0, 4, 7]),
        ],
    ),
    // Corners, then the middles of the edges 01, 12, 20, 30, 23, 13 (VTK swaps the last two).
    of::<device::Tet10>(
        4,
        (11, 24),
        &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8],
        &[
            (Tri6, &[0, 2, 1, 6, 5, 4]),
            (Tri6, &[0, 1, 3, 4, 9, 7]),
            (Tri6, &[0, 3, 2, 7, 8, 6]),
            (Tri6, &[1, 2, 3, 5, 8, 9]),
        ],
    ),
    // Corners, then the middles of the edges 01, 03, 04, 12, 15, 23, 26, 37, 45, 47, 56, 67. VTK runs round the bottom,
    // round the top, then up.
    of::<device::Hex20>(
        8,
        (17, 25),
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15],
        &[
            (Quad8, &[0, 3, 2, 1, 9, 13, 11, 8]),
            (Quad8, &[4, 5, 6, 7, 16, 18, 19, 17]),
            (Quad8, &[0, 1, 5, 4, 8, 12, 16, 10]),
            (Quad8, &[1, 2, 6, 5, 11, 14, 18, 12]),
            (Quad8, &[2, 3, 7, 6, 13, 15, 19, 14]),
            (Quad8, &[3, 0, 4, 7, 9, 10, 17, 15]),
        ],
    ),
];

/// Nodes of an edge.
static EDGE: [[f64; 3]; 3] = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]];

/// Shape functions of what is no more than a side of what is solved on.
const fn side(
    nodes: &'static [[f64; 3]],
    quadrature: &'static [Point],
    value: fn(usize, [f64; 3]) -> f64,
    gradient: fn(usize, [f64; 3]) -> [f64; 3],
) -> Shape {
    Shape { nodes, quadrature, sampled: &[], value, gradient }
}
