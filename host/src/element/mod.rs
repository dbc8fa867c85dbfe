//! Reference elements as the host sees them: names, codes in file formats, faces.
//!
//! Shape functions and quadrature are those of `kernels-rs/src/element`; [`shape`] tabulates them. Node numbers inside
//! an element are Gmsh's; [`ElementInfo::vtk_order`] gives VTK's.

pub(crate) mod dispatch;
mod kinds;
pub mod shape;
pub(crate) mod vector;

use shape::Shape;

/// The mean of some points; not a number without any.
pub fn middle(points: impl ExactSizeIterator<Item = [f64; 3]> + Clone) -> [f64; 3] {
    let n = points.len() as f64;
    [0, 1, 2].map(|c| points.clone().map(|x| x[c]).sum::<f64>() / n)
}

/// What is known of an element type without a mesh.
#[derive(Debug)]
pub struct ElementInfo {
    /// The name users write and read: `tet4`.
    pub name: &'static str,
    /// Topological dimension: 0 for a point, 3 for a solid.
    pub dim: usize,
    /// Number of nodes.
    pub n_nodes: usize,
    /// Number of corners; they come first.
    pub n_corners: usize,
    /// Element type code in MSH files.
    pub gmsh: i32,
    /// Cell type code in VTK files.
    pub vtk: u8,
    /// Which of the nodes VTK has at each place; empty where its order is Gmsh's.
    pub vtk_order: &'static [usize],
    /// The sides of dimension `dim - 1`, their corners ordered so that the normal points outward, then their other
    /// nodes.
    pub faces: &'static [(ElementKind, &'static [usize])],
    /// Its shape functions.
    pub shape: Shape,
}

macro_rules! element_kinds {
    ($($Kind:ident),+) => {
        /// The element types a mesh may hold, points and edges included.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names are the documentation")]
        pub enum ElementKind { $($Kind),+ }

        impl ElementKind {
            /// Every kind, in order of dimension.
            pub const ALL: &[ElementKind] = &[$(ElementKind::$Kind),+];
        }
    };
}
element_kinds!(Point1, Line2, Line3, Tri3, Quad4, Tri6, Quad8, Tet4, Hex8, Tet10, Hex20);

/// Most nodes an element has.
pub const MAX_NODES: usize = most_nodes(3);
/// Most nodes a face has.
pub const MAX_FACE_NODES: usize = most_nodes(2);
/// Most corners a face has.
pub const MAX_FACE_CORNERS: usize = 4;

/// Most nodes an element of up to `dim` dimensions has.
const fn most_nodes(dim: usize) -> usize {
    let (mut most, mut i) = (0, 0);
    while i < ElementKind::ALL.len() {
        let info = ElementKind::ALL[i].info();
        if info.dim <= dim && info.n_nodes > most {
            most = info.n_nodes;
        }
        i += 1;
    }
    most
}

impl ElementInfo {
    /// Whether it is a triangle or a tetrahedron.
    pub const fn is_simplex(&self) -> bool {
        self.dim > 1 && self.n_corners == self.dim + 1
    }

    /// The middle of the reference element.
    pub fn middle(&self) -> [f64; 3] {
        middle(self.shape.nodes[..self.n_corners].iter().copied())
    }

    /// Whether it has nodes beside its corners, so that it may be curved.
    pub const fn is_quadratic(&self) -> bool {
        self.n_nodes > self.n_corners
    }

    /// The edges by the local numbers of their nodes: two corners, and the node between them if there is one.
    ///
    /// Each once, in the order and the direction in which the faces first have them.
    pub fn edges(&self) -> Vec<Vec<usize>> {
        if self.dim == 1 {
            return vec![(0..self.n_nodes).collect()];
        }
        let mut edges: Vec<Vec<usize>> = Vec::new();
        for (face, local) in self.faces {
            for edge in face.info().edges() {
                let edge: Vec<usize> = edge.iter().map(|&k| local[k]).collect();
                let same = |other: &Vec<usize>| other[..2] == edge[..2] || other[..2] == [edge[1], edge[0]];
                if !edges.iter().any(same) {
                    edges.push(edge);
                }
            }
        }
        edges
    }
}

impl ElementKind {
    /// The facts of this kind.
    pub const fn info(self) -> &'static ElementInfo {
        &kinds::INFOS[self as usize]
    }

    /// The kind of the same shape with nodes at the corners only.
    pub fn linear(self) -> ElementKind {
        let n_corners = self.info().n_corners;
        self.of_this_shape(n_corners).unwrap_or(self)
    }

    /// The kind of the same shape with a node at every corner and in the middle of every edge, if there is one.
    pub fn quadratic(self) -> Option<ElementKind> {
        self.of_this_shape(self.info().n_corners + self.info().edges().len())
    }

    fn of_this_shape(self, n_nodes: usize) -> Option<ElementKind> {
        let shape = |kind: ElementKind| (kind.info().dim, kind.info().n_corners, kind.info().n_nodes);
        let wanted = (self.info().dim, self.info().n_corners, n_nodes);
        Self::ALL.iter().copied().find(|&kind| shape(kind) == wanted)
    }

    /// The kind with this code in MSH files.
    pub fn from_gmsh(code: i32) -> Option<ElementKind> {
        Self::ALL.iter().copied().find(|kind| kind.info().gmsh == code)
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<ElementKind> {
        Self::ALL.iter().copied().find(|kind| kind.info().name == name)
    }
}

#[cfg(test)]
mod tests;
