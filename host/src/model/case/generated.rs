//! `[mesh] generate = { .. }`: a mesh made on the spot.

use super::Case;
use super::tables::GenerateTable;
use crate::element::ElementKind;
use crate::mesh::generate::{self, generate_box};
use crate::mesh::rectangle::{self, generate_rectangle};
use crate::mesh::{Mesh, MeshError};
use crate::model::CaseError;

/// The shapes there are, with their dimensions and elements.
const SHAPES: [(&str, usize, &[ElementKind]); 2] = [("box", 3, generate::KINDS), ("rectangle", 2, rectangle::KINDS)];

/// Kinds of generated meshes.
pub fn generators() -> Vec<&'static str> {
    SHAPES.iter().map(|(name, ..)| *name).collect()
}

/// What is to be generated, checked; `D` is its dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice<const D: usize> {
    /// The element.
    pub kind: ElementKind,
    /// Edge lengths.
    pub size: [f64; D],
    /// Cells along each edge.
    pub cells: [usize; D],
}

/// A mesh to be made on the spot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Generated {
    /// A box of solids.
    Box(Lattice<3>),
    /// A rectangle of plane elements.
    Rectangle(Lattice<2>),
}

impl Generated {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// [`MeshError::TooLarge`]
    pub fn mesh(&self) -> Result<Mesh, MeshError> {
        match *self {
            Generated::Box(Lattice { kind, size, cells }) => generate_box(kind, size, cells),
            Generated::Rectangle(Lattice { kind, size, cells }) => generate_rectangle(kind, size, cells),
        }
    }
}

impl Case {
    /// What `[mesh] generate` asks for; `None` if the mesh is a file.
    ///
    /// # Errors
    ///
    /// For a shape or an element that there is none of, sizes that make no mesh, and a shape that the analysis is not
    /// for.
    pub fn generated(&self) -> Result<Option<Generated>, Box<CaseError>> {
        let Some(table) = &self.tables.mesh.get_ref().generate else { return Ok(None) };
        let table = table.get_ref();
        self.check_name("generated mesh kind", Some(&table.kind), &generators())?;
        let shape = SHAPES.iter().find(|(name, ..)| name == table.kind.get_ref());
        let &(_, dim, kinds) = shape.unwrap_or(&SHAPES[0]);
        self.check_shape(table, dim)?;
        let elements: Vec<&str> = kinds.iter().map(|kind| kind.info().name).collect();
        self.check_name("element", Some(&table.element), &elements)?;
        let kind = ElementKind::from_name(table.element.get_ref()).unwrap_or(kinds[0]);
        match dim {
            2 => self.lattice(table, kind).map(Generated::Rectangle).map(Some),
            _ => self.lattice(table, kind).map(Generated::Box).map(Some),
        }
    }

    /// Refuses a box in a plane problem, and a rectangle in space.
    fn check_shape(&self, table: &GenerateTable, dim: usize) -> Result<(), Box<CaseError>> {
        if dim == self.analysis().dim() {
            return Ok(());
        }
        let (shape, analysis) = (table.kind.get_ref(), self.analysis().name());
        let message = format!("a {shape} is no mesh for the analysis kind `{analysis}`");
        let help = match dim {
            2 => "[analysis] kind = \"plane_stress\" or \"plane_strain\"; or generate kind = \"box\"",
            _ => "plane problems are solved on kind = \"rectangle\"",
        };
        Err(self.error_at(table.kind.span(), message, help))
    }

    fn lattice<const D: usize>(&self, table: &GenerateTable, kind: ElementKind) -> Result<Lattice<D>, Box<CaseError>> {
        let (size, cells) = (table.size.get_ref(), table.cells.get_ref());
        let shape = table.kind.get_ref();
        let length = |place, found| self.length_error(place, found, D);
        let size: [f64; D] = size[..].try_into().map_err(|_| length(table.size.span(), size.len()))?;
        let cells: [usize; D] = cells[..].try_into().map_err(|_| length(table.cells.span(), cells.len()))?;
        if !size.iter().all(|&length| length > 0.0 && length.is_finite()) {
            let message = format!("every edge of the {shape} must be longer than 0, and finite");
            return Err(self.error_at(table.size.span(), message, ""));
        }
        match cells.contains(&0) {
            true => {
                let message = format!("the {shape} needs at least one cell in every direction");
                Err(self.error_at(table.cells.span(), message, ""))
            }
            false => Ok(Lattice { kind, size, cells }),
        }
    }
}
