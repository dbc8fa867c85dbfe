//! Refuses what cannot fit before it is tried: a machine that runs out of memory takes other people's work with it.
//!
//! The figures are lower bounds, so what would fit is never refused. What does not is [`Error::OutOfMemory`].

use super::memory::{matrix_bytes, mesh_bytes, slot_bytes};
use crate::device::host_memory::available;
use crate::element::ElementKind;
use crate::mesh::{Mesh, generate};
use crate::model::case::{Generated, Lattice};
use crate::model::{Analysis, Case};
use crate::result::{Error, Result};
use std::path::Path;

/// Bytes of a value in single precision.
const VALUE: u64 = 4;
/// Neighbours of an inner node, itself included, in a box: the fewest that a mesh of its kind is likely to have.
const TET_NEIGHBOURS: u64 = 12;
const HEX_NEIGHBOURS: u64 = 24;
const PLANE_NEIGHBOURS: u64 = 6;

/// What a mesh is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// To be written to a file, whose bytes are put together in memory.
    File,
    /// To be solved on, or its matrix to be laid out; what the matrix itself takes counts where it lies in the host's
    /// memory.
    Solution {
        /// Whether the matrix lies in the host's memory.
        on_host: bool,
        /// Whether a node has one unknown, and not one for each direction.
        is_scalar: bool,
    },
}

impl Use {
    /// To be solved for what an analysis asks.
    pub fn of(analysis: Analysis, on_host: bool) -> Use {
        Use::Solution { on_host, is_scalar: analysis.components() == 1 }
    }
}

/// Bytes that `elements` elements of a kind on `nodes` nodes take at least.
fn needed(kind: ElementKind, nodes: u64, elements: u64, purpose: Use) -> u64 {
    let neighbours = match () {
        _ if kind.info().dim == 2 => PLANE_NEIGHBOURS,
        _ if kind.info().domain.is_layered() => HEX_NEIGHBOURS,
        _ => TET_NEIGHBOURS,
    };
    let size = if matches!(purpose, Use::Solution { is_scalar: true, .. }) { 1 } else { kind.info().dim as u64 };
    let (mesh, slots) = (mesh_bytes(kind, nodes, elements), slot_bytes(kind, elements));
    let matrix = matrix_bytes(nodes.saturating_mul(neighbours), size, VALUE);
    match purpose {
        Use::File => mesh.saturating_mul(2),
        Use::Solution { on_host: true, .. } => mesh.saturating_add(slots).saturating_add(matrix),
        Use::Solution { on_host: false, .. } => mesh,
    }
}

fn check(needed: u64) -> Result<()> {
    match available() {
        Some(available) if needed > available => {
            let device = "this machine".into();
            Err(Error::OutOfMemory { device, needed: Some(needed), available: Some(available) })
        }
        _ => Ok(()),
    }
}

/// Checks a box, or a rectangle, of cells that is to be generated.
pub fn check_box<const N: usize>(kind: ElementKind, cells: [usize; N], purpose: Use) -> Result<()> {
    let product = |plus: u64| cells.iter().fold(1u64, |n, &cells| n.saturating_mul(plus.saturating_add(cells as u64)));
    let per_cell = generate::per_cell(kind.info().domain) as u64;
    check(needed(kind, product(1), product(0).saturating_mul(per_cell), purpose))
}

/// The cells of the box that has as many nodes as a ring, or fewer elements.
pub fn ring([radial, around]: [usize; 2]) -> [usize; 2] {
    [radial, around.saturating_sub(1)]
}

/// Checks a mesh file that is to be read, all of whose bytes are in memory while that is done; one that is not there is
/// for its reader to report.
pub fn check_file(path: &Path) -> Result<()> {
    check(std::fs::metadata(path).map_or(0, |file| file.len()))
}

/// Checks the mesh that a case file asks to read or to generate.
pub fn check_case(case: &Case, on_host: bool) -> Result<()> {
    let purpose = Use::of(case.analysis(), on_host);
    // What is wrong with the case itself is reported where its mesh is made.
    match case.generated().unwrap_or_default() {
        Some(Generated::Box(Lattice { kind, cells, .. })) => check_box(kind, cells, purpose),
        Some(Generated::Rectangle(Lattice { kind, cells, .. }, _)) => check_box(kind, cells, purpose),
        Some(Generated::Annulus(Lattice { kind, cells, .. })) => check_box(kind, ring(cells), purpose),
        None => case.mesh_path().map_or(Ok(()), |path| check_file(&path)),
    }
}

/// Checks a mesh that is there already: whether what comes on top of it fits.
pub fn check_mesh(mesh: &Mesh, analysis: Analysis, on_host: bool) -> Result<()> {
    let more = mesh.solids().map(|(_, cells)| {
        let (nodes, elements) = (mesh.coords.len() as u64, cells.len() as u64);
        let all = needed(cells.kind, nodes, elements, Use::of(analysis, on_host));
        all - mesh_bytes(cells.kind, nodes, elements)
    });
    check(more.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_refused_when_no_machine_could_hold_them() {
        for purpose in [Use::File, Use::of(Analysis::Laplace, true), Use::of(Analysis::Elasticity, false)] {
            assert!(check_box(ElementKind::Tet4, [2; 3], purpose).is_ok());
            assert!(check_box(ElementKind::Hex8, [100_000; 3], purpose).is_err());
            assert!(check_box(ElementKind::Tet4, [usize::MAX; 3], purpose).is_err());
            assert!(check_box(ElementKind::Quad4, [100; 2], purpose).is_ok());
            assert!(check_box(ElementKind::Tri3, [10_000_000; 2], purpose).is_err());
        }
    }

    #[test]
    fn a_million_nodes_of_tetrahedra_need_nearly_a_gigabyte() {
        let bytes = needed(ElementKind::Tet4, 1 << 20, 6 << 20, Use::of(Analysis::Elasticity, true));
        assert!((0.8e9..1.5e9).contains(&(bytes as f64)), "{bytes}");
    }
}
