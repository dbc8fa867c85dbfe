//! The memory that a solution takes: the sum of the arrays that live at the same time while the iteration runs.
//! Measured against the program's peak on the CPU, for boxes of 60,000 to 230,000 nodes of every solid element: within
//! 15 %.

use super::shape::{is_linear, is_quadratic};
use crate::assembly::CONDENSED_BYTES;
use crate::eigen;
use crate::element::ElementKind;
use crate::mesh::{Mesh, pairs};
use crate::model::{Model, Study};
use crate::result::Fill;
use crate::result::choices::{Operator, Precision, Preconditioner};
use crate::sparse::SLABS;
use kernels_rs::vectors::WIDTH;

/// Vectors that live while the iteration runs.
const VECTORS: u64 = 10;
/// Vectors of modes beside those of the search: what products and multigrid keep of as many as they take at once.
const OF_MODES: u64 = 4 * WIDTH as u64;
/// Vectors of a transient study: temperatures of three steps, loads, and what they are summed in.
const OF_TIMES: u64 = 10;
/// What a hierarchy takes while it is made, per node, in blocks of the prolongator: 18 on cubes of tet4 and of hex8.
const MULTIGRID_BLOCKS: u64 = 18;
/// The same where A P is there in slabs alone.
const BLOCKS_BY_SLABS: u64 = 9;
/// Blocks in a row of a matrix of linear elements: those of hex8, which has the most.
const VERTEX_BLOCKS: u64 = 27;
/// What products without a matrix keep, per unknown, of quadratic elements: lists of nodes, coordinates and sums, 36 to 56
/// bytes (docs/benchmarks/matrix_free).
const PATCHES: u64 = 60;
/// The same of linear ones: up to 101.
const OF_LINEAR: u64 = 100;
/// What supernodes store, with the zeros that pad them: 1.12 (plates) to 1.25 times the values of L (cubes).
const FACTOR_PADDING: f64 = 1.25;
/// Bytes per node of coordinates and tag.
const NODE: u64 = 32;
/// Bytes per element beside its nodes: its tag and its place in a group.
const ELEMENT: u64 = 12;
/// Bytes of a node's or a column's number, of an offset, and of a slot.
const INDEX: u64 = 4;
const OFFSET: u64 = 8;
const SLOT: u64 = 2;
/// Bytes of a value in double precision.
pub(super) const DOUBLE: u64 = 8;

/// Bytes of a mesh of one kind of element.
pub fn mesh_bytes(kind: ElementKind, nodes: u64, elements: u64) -> u64 {
    let of_elements = elements.saturating_mul(ELEMENT + INDEX * kind.info().n_nodes as u64);
    nodes.saturating_mul(NODE).saturating_add(of_elements)
}

/// Bytes of the slots: where each pair of an element's nodes is in the matrix.
pub fn slot_bytes(kind: ElementKind, elements: u64) -> u64 {
    elements.saturating_mul(SLOT * (kind.info().n_nodes as u64).pow(2))
}

/// The same of all elements of a mesh.
fn all_slots(mesh: &Mesh) -> u64 {
    mesh.solids().map(|(_, cells)| slot_bytes(cells.kind, cells.len() as u64)).sum()
}

/// Bytes of a matrix of `blocks` blocks of `size` x `size` values.
pub fn matrix_bytes(blocks: u64, size: u64, value: u64) -> u64 {
    blocks.saturating_mul(value * size * size + INDEX)
}

/// Blocks of a model's matrix.
pub(super) fn blocks(model: &Model) -> u64 {
    model.mesh.coords.len() as u64 + 2 * pairs::coupled_pairs(&model.mesh) as u64
}

/// Bytes that live at the same time while the iteration runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Nodes and elements, on the host.
    pub mesh: u64,
    /// Elements, cells around nodes, and slots; condensed modes.
    pub lists: u64,
    /// The matrix, with the copies that preconditioners have of it.
    pub matrix: u64,
    /// A multigrid hierarchy, while it is made.
    pub hierarchy: u64,
    /// A direct solver's factor.
    pub factor: u64,
    /// Vectors of the iteration.
    pub vectors: u64,
    /// Those of the load cases that a GPU solves with the first.
    pub others: u64,
    /// Displacements, stresses and the like, on the host.
    pub results: u64,
}

impl Memory {
    /// Of a model whose matrix has so many blocks, solved by conjugate gradients with a preconditioner.
    pub(super) fn of(model: &Model, preconditioner: Preconditioner, precision: Precision, blocks: u64) -> Memory {
        let (mesh, size) = (&model.mesh, model.analysis.components() as u64);
        let nodes = mesh.coords.len() as u64;
        let (n_vectors, n_matrices) = match model.study {
            Study::Static => (VECTORS, 1),
            // K + C / dt, and C.
            Study::Transient => (VECTORS + OF_TIMES, 2),
            // K, and M or G.
            Study::Modal | Study::Buckling => (VECTORS + OF_MODES + eigen::n_vectors(model.modes) as u64, 2),
        };
        let n_others = match preconditioner {
            Preconditioner::Amg => model.load_cases.len().clamp(1, WIDTH) as u64 - 1,
            _ => 0,
        };
        let values = matrix_values(precision).into_iter();
        Memory {
            mesh: nodes * NODE
                + mesh.solids().map(|(_, cells)| mesh_bytes(cells.kind, 0, cells.len() as u64)).sum::<u64>(),
            lists: mesh.solids().map(|(_, cells)| list_bytes(cells.kind, nodes, cells.len() as u64)).sum(),
            matrix: n_matrices * values.map(|value| matrix_bytes(blocks, size, value)).sum::<u64>(),
            hierarchy: if preconditioner == Preconditioner::Amg { hierarchy_bytes(model, None) } else { 0 },
            factor: 0,
            vectors: n_vectors * DOUBLE * nodes * size,
            others: n_others * VECTORS * DOUBLE * nodes * size,
            results: result_bytes(model),
        }
    }

    /// The same of a model whose products are computed without a matrix.
    pub(super) fn without_matrix(self, model: &Model, preconditioner: Preconditioner, precision: Precision) -> Memory {
        let (nodes, size) = (model.mesh.coords.len() as u64, model.analysis.components() as u64);
        let is_amg = preconditioner == Preconditioner::Amg;
        Memory {
            lists: self.lists - all_slots(&model.mesh),
            matrix: if is_quadratic(&model.mesh) { PATCHES } else { OF_LINEAR }
                * nodes
                * size
                * matrix_values(precision).len() as u64,
            hierarchy: if is_amg { hierarchy_bytes(model, Some(Operator::MatrixFree)) } else { 0 },
            ..self
        }
    }

    /// All of it, where the host is the device.
    pub fn on_host(&self) -> u64 {
        self.mesh + self.results + self.on_device() - self.others
    }

    /// What lies on a device of its own.
    pub fn on_device(&self) -> u64 {
        self.lists + self.matrix + self.hierarchy + self.factor + self.vectors + self.others
    }
}

/// Bytes of a factor in double while it is made.
pub fn factor_bytes(fill: &Fill) -> u64 {
    (FACTOR_PADDING * (DOUBLE * fill.nonzeros) as f64) as u64
}

fn list_bytes(kind: ElementKind, nodes: u64, elements: u64) -> u64 {
    let entries = elements * kind.info().n_nodes as u64;
    let condensed = if kind.has_modes() { elements * CONDENSED_BYTES } else { 0 };
    slot_bytes(kind, elements) + 2 * INDEX * entries + OFFSET * nodes + condensed
}

/// Six stresses and their invariant, or a gradient and its magnitude, per element and per node; there also what was
/// solved for and reactions.
fn result_bytes(model: &Model) -> u64 {
    let elements = model.mesh.n_solids();
    let (per_element, per_node) = if model.analysis.physics().is_scalar() { (4, 8) } else { (7, 13) };
    DOUBLE * (per_element * elements as u64 + per_node * model.mesh.coords.len() as u64)
}

/// Bytes of a value of the matrix, and of the copy that a preconditioner in lower precision has of it.
pub(super) fn matrix_values(precision: Precision) -> Vec<u64> {
    match precision {
        Precision::Double => vec![8],
        Precision::Single => vec![4],
        Precision::Mixed => vec![8, 4],
        Precision::MixedHalf => vec![8, 2],
    }
}

/// Bytes of a multigrid hierarchy while it is made. Without a matrix of the finest level it begins with the vertices of
/// quadratic elements, whose matrix it has and whose prolongator has one block or two of each node; of linear elements there
/// are the columns of the matrix, strengths, slots, and a slab.
pub fn hierarchy_bytes(model: &Model, operator: Option<Operator>) -> u64 {
    let (nodes, size) = (model.mesh.coords.len() as u64, model.analysis.components() as u64);
    let modes = size * (size + 1) / 2;
    let block = DOUBLE * size * modes;
    match operator {
        Some(Operator::MatrixFree) if is_linear(&model.mesh) => {
            let (blocks, hierarchy) = (VERTEX_BLOCKS * nodes, BLOCKS_BY_SLABS * block * nodes);
            hierarchy + all_slots(&model.mesh) + 2 * INDEX * blocks + matrix_bytes(blocks / SLABS as u64, size, DOUBLE)
        }
        Some(Operator::MatrixFree) => {
            let vertices = vertices(&model.mesh);
            let prolongator = (2 * nodes - vertices) * (DOUBLE * size * size + INDEX);
            MULTIGRID_BLOCKS * block * vertices + prolongator + matrix_bytes(VERTEX_BLOCKS * vertices, size, DOUBLE)
        }
        _ => MULTIGRID_BLOCKS * block * nodes,
    }
}

/// Nodes that are corners of a cell.
fn vertices(mesh: &Mesh) -> u64 {
    let mut is_corner = vec![false; mesh.coords.len()];
    for (_, cells) in mesh.solids() {
        let info = cells.kind.info();
        let corners = cells.nodes.chunks_exact(info.n_nodes).flat_map(|cell| &cell[..info.n_corners]);
        corners.for_each(|node| is_corner[*node as usize] = true);
    }
    is_corner.into_iter().filter(|is_corner| *is_corner).count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::tests::clamped_box;
    use super::super::work::Work;
    use super::*;

    /// Peaks of the program on the CPU, measured: 60 cells along an edge, multigrid.
    #[test]
    fn memory_without_a_matrix_is_met() {
        for (element, peak) in [("hex8", 553e6), ("tet4", 711e6)] {
            let model = clamped_box(element, [1, 1, 1], [60; 3]);
            let with = Work::of(&model, Preconditioner::Amg, Precision::Double).memory;
            let off = with.without_matrix(&model, Preconditioner::Amg, Precision::Double).on_host() as f64 / peak;
            assert!((0.8..1.2).contains(&off), "{element}: {off}");
        }
    }

    /// The same with a matrix, by Jacobi.
    #[test]
    fn memory_of_boxes_is_met() {
        for (element, cells, peak) in
            [("hex8", 50, 363e6), ("tet4", 50, 289e6), ("tet10", 24, 359e6), ("hex20", 24, 316e6)]
        {
            let model = clamped_box(element, [1, 1, 1], [cells; 3]);
            let off = Work::of(&model, Preconditioner::Jacobi, Precision::Double).memory.on_host() as f64 / peak;
            assert!((0.8..1.2).contains(&off), "{element}: {off}");
        }
    }

    /// The same of the peak above Jacobi's, with multigrid.
    #[test]
    fn memory_of_hierarchies_is_met() {
        for (element, more) in [("hex8", 179e6), ("tet4", 177e6)] {
            let model = clamped_box(element, [1, 1, 1], [40; 3]);
            let [jacobi, amg] = [Preconditioner::Jacobi, Preconditioner::Amg]
                .map(|one| Work::of(&model, one, Precision::Double).memory.on_host() as f64);
            let off = (amg - jacobi) / more;
            assert!((0.8..1.2).contains(&off), "{element}: {off}");
        }
    }
}
