//! Reference elements as the host sees them: from the one list of `kernels-rs/src/element`, whose files hold shape
//! functions, quadrature, and codes and node orders of file formats.
//!
//! [`shape`] tabulates what follows from these. Node numbers inside an element are Gmsh's; [`ElementInfo::vtk_order`]
//! gives VTK's.

pub(crate) mod dispatch;
pub mod shape;
pub(crate) mod vector;

pub use kernels_rs::element::Domain;
use kernels_rs::element::{self as device, Element};
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
    /// Its shape.
    pub domain: Domain,
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
    /// Code in Abaqus's decks behind the family (C3D, CPS, ..), which have the nodes in VTK's order; empty if there is none.
    pub abaqus: &'static str,
    /// Its shape functions.
    pub shape: Shape,
}

macro_rules! element_kinds {
    ($($Kind:ident),+) => {
        /// The element types a mesh may hold, points and edges included.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs, reason = "the names are the documentation")]
        pub enum ElementKind { $($Kind),+ }

        impl ElementKind {
            /// Every kind, in the order of the list.
            pub const ALL: &[ElementKind] = &[$(ElementKind::$Kind),+];
        }

        static INFOS: [ElementInfo; ElementKind::ALL.len()] = [$(ElementInfo::of::<device::$Kind>()),+];
    };
}
kernels_rs::for_each_kind!(element_kinds);

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
    const fn of<E: Element>() -> ElementInfo {
        let (name, domain, dim, n_nodes, n_corners) = (E::NAME, E::DOMAIN, E::DIM, E::N, E::DOMAIN.corners().len());
        let (gmsh, vtk, vtk_order, abaqus) = (E::GMSH, E::VTK, E::VTK_ORDER, E::ABAQUS);
        ElementInfo { name, domain, dim, n_nodes, n_corners, gmsh, vtk, vtk_order, abaqus, shape: Shape::of::<E>() }
    }

    /// Whether it has nodes beside its corners, so that it may be curved.
    pub const fn is_quadratic(&self) -> bool {
        self.n_nodes > self.n_corners
    }
}

impl ElementKind {
    /// The facts of this kind.
    pub const fn info(self) -> &'static ElementInfo {
        &INFOS[self as usize]
    }

    /// Whether bodies can be made of it.
    pub fn is_solvable(self) -> bool {
        macro_rules! solvable { ($($Kind:ident),+) => { matches!(self, $(ElementKind::$Kind)|+) } }
        kernels_rs::for_each_solvable!(solvable)
    }

    /// Whether the papers' strategies of assembly and FEMSES have kernels for it.
    pub fn is_of_papers(self) -> bool {
        macro_rules! listed { ($($Kind:ident),+) => { matches!(self, $(ElementKind::$Kind)|+) } }
        kernels_rs::for_each_paper_element!(listed)
    }

    /// The sides of one dimension less: their kinds, and by local numbers their nodes, corners first and so that the
    /// normal points outward.
    pub fn faces(self) -> &'static [(ElementKind, Vec<usize>)] {
        &self.table().faces
    }

    /// The edges by the local numbers of their nodes: two corners, and the node between them if there is one. Each once,
    /// in the order and the direction in which the faces first have them.
    pub fn edges(self) -> &'static [Vec<usize>] {
        &self.table().edges
    }

    /// The kind of the same shape with nodes at the corners only.
    pub fn linear(self) -> ElementKind {
        let n_corners = self.info().n_corners;
        self.of_this_shape(n_corners).unwrap_or(self)
    }

    /// The kind of the same shape with a node at every corner and in the middle of every edge, if there is one.
    pub fn quadratic(self) -> Option<ElementKind> {
        self.of_this_shape(self.info().n_corners + self.edges().len())
    }

    /// The kind whose kernels it is solved with: the first of the same nodes, which is itself but for the last of the list.
    pub fn of_kernels(self) -> ElementKind {
        self.of_this_shape(self.info().n_nodes).unwrap_or(self)
    }

    /// Whether its stiffness is integrated with fewer points than that of [`ElementKind::of_kernels`].
    pub fn is_reduced(self) -> bool {
        self.info().shape.quadrature.len() < self.of_kernels().info().shape.quadrature.len()
    }

    /// Whether its cells have modes beside the nodes, which [`ElementKind::of_kernels`] has not.
    pub fn has_modes(self) -> bool {
        self != self.of_kernels() && !self.is_reduced()
    }

    fn of_this_shape(self, n_nodes: usize) -> Option<ElementKind> {
        let is_it = |kind: &ElementKind| kind.info().domain == self.info().domain && kind.info().n_nodes == n_nodes;
        Self::ALL.iter().copied().find(is_it)
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
