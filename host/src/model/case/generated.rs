//! `[mesh] generate = { .. }`: a mesh made on the spot.

use toml::Spanned;

use super::Case;
use super::tables::GenerateTable;
use crate::element::ElementKind;
use crate::mesh::annulus::{self, generate_annulus};
use crate::mesh::generate::{self, generate_box};
use crate::mesh::rectangle::{Diagonals, generate_cut_rectangle};
use crate::mesh::{LENGTHS, Mesh, MeshError};
use crate::model::Checked;

/// The shapes there are, with their dimensions.
const SHAPES: [(&str, usize); 3] = [("box", 3), ("rectangle", 2), ("annulus", 2)];

/// What to write for an annulus.
const RING_HELP: &str = "for example `radii = [0.5, 1.0]` and `cells = [8, 48]`";

/// Kinds of generated meshes.
pub fn generators() -> Vec<&'static str> {
    SHAPES.iter().map(|(name, ..)| *name).collect()
}

/// What is to be generated, checked; `D` is its dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice<const D: usize> {
    /// The element.
    pub kind: ElementKind,
    /// Edge lengths; of an annulus the inner and the outer radius.
    pub size: [f64; D],
    /// Cells along each edge; of an annulus along the radius and around.
    pub cells: [usize; D],
}

/// A mesh to be made on the spot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Generated {
    /// A box of solids.
    Box(Lattice<3>),
    /// A rectangle of plane elements.
    Rectangle(Lattice<2>, Diagonals),
    /// A ring of plane elements.
    Annulus(Lattice<2>),
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
            Generated::Rectangle(Lattice { kind, size, cells }, diagonals) => {
                generate_cut_rectangle(kind, size, cells, diagonals)
            }
            Generated::Annulus(Lattice { kind, size, cells }) => generate_annulus(kind, size, cells),
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
    pub fn generated(&self) -> Checked<Option<Generated>> {
        let Some(spanned) = &self.tables.mesh.get_ref().generate else { return Ok(None) };
        let table = spanned.get_ref();
        self.check_name("generated mesh kind", Some(&table.kind), &generators())?;
        let shape = SHAPES.iter().find(|(name, ..)| name == table.kind.get_ref());
        let &(name, dim) = shape.unwrap_or(&SHAPES[0]);
        self.check_shape(table, dim)?;
        let kinds = generate::kinds(dim);
        let elements: Vec<&str> = kinds.iter().map(|kind| kind.info().name).collect();
        self.check_name("element", Some(&table.element), &elements)?;
        let kind = ElementKind::from_name(table.element.get_ref()).unwrap_or(kinds[0]);
        match name {
            "annulus" => self.ring(spanned, kind).map(Generated::Annulus).map(Some),
            "rectangle" => {
                let (lattice, diagonals) = (self.lattice(spanned, kind)?, self.diagonals(table)?);
                Ok(Some(Generated::Rectangle(lattice, diagonals)))
            }
            _ => self.lattice(spanned, kind).map(Generated::Box).map(Some),
        }
    }

    /// The dimension of a generated mesh, if its shape is known.
    pub(super) fn generated_dim(&self) -> Option<usize> {
        let table = self.tables.mesh.get_ref().generate.as_ref()?.get_ref();
        SHAPES.iter().find(|(name, ..)| name == table.kind.get_ref()).map(|(_, dim)| *dim)
    }

    /// Refuses a box in a plane problem, and a rectangle in space.
    fn check_shape(&self, table: &GenerateTable, dim: usize) -> Checked {
        if self.analysis().dim().is_none_or(|wanted| wanted == dim) {
            return Ok(());
        }
        let (shape, analysis) = (table.kind.get_ref(), self.analysis().name());
        let article = if shape == "annulus" { "an" } else { "a" };
        let message = format!("{article} {shape} is no mesh for the analysis kind `{analysis}`");
        let help = match dim {
            2 => "[analysis] kind = \"plane_stress\" or \"plane_strain\"; or generate kind = \"box\"",
            _ => "plane problems are solved on kind = \"rectangle\"",
        };
        Err(self.error_at(table.kind.span(), message, help))
    }

    /// Which way the cells of a rectangle are cut; upwards if the case does not say.
    fn diagonals(&self, table: &GenerateTable) -> Checked<Diagonals> {
        let Some(name) = &table.diagonals else { return Ok(Diagonals::default()) };
        self.check_name("way of cutting cells", Some(name), &Diagonals::NAMES)?;
        Ok(Diagonals::from_name(name.get_ref()).unwrap_or_default())
    }

    fn ring(&self, spanned: &Spanned<GenerateTable>, kind: ElementKind) -> Checked<Lattice<2>> {
        let (radii, cells) = (self.lengths(spanned)?, &spanned.get_ref().cells);
        let wrong = |place, what: &str| self.error_at(place, format!("this must be two numbers `[{what}]`"), RING_HELP);
        let size: [f64; 2] = radii.get_ref()[..].try_into().map_err(|_| wrong(radii.span(), "inner, outer"))?;
        let along = "along the radius, around";
        let cells: [usize; 2] = cells.get_ref()[..].try_into().map_err(|_| wrong(cells.span(), along))?;
        match annulus::check(&size, &cells) {
            Ok(()) => Ok(Lattice { kind, size, cells }),
            Err(why) => Err(self.error_at(spanned.span(), why, RING_HELP)),
        }
    }

    fn lattice<const D: usize>(&self, spanned: &Spanned<GenerateTable>, kind: ElementKind) -> Checked<Lattice<D>> {
        let (size, cells) = (self.lengths(spanned)?, &spanned.get_ref().cells);
        let shape = spanned.get_ref().kind.get_ref();
        let length = |place, found| self.length_error(place, found, D);
        let lengths: [f64; D] = size.get_ref()[..].try_into().map_err(|_| length(size.span(), size.get_ref().len()))?;
        let counts: [usize; D] =
            cells.get_ref()[..].try_into().map_err(|_| length(cells.span(), cells.get_ref().len()))?;
        if !lengths.iter().all(|&length| length > 0.0 && length.is_finite()) {
            let message = format!("every edge of the {shape} must be longer than 0, and finite");
            return Err(self.error_at(size.span(), message, format!("for example `size = {:?}`", [1.0; D])));
        }
        match counts.contains(&0) {
            true => {
                let message = format!("the {shape} needs at least one cell in every direction");
                Err(self.error_at(cells.span(), message, format!("for example `cells = {:?}`", [8; D])))
            }
            false => Ok(Lattice { kind, size: lengths, cells: counts }),
        }
    }

    /// The lengths that a shape is given by, and nothing that belongs to another shape.
    fn lengths<'a>(&self, spanned: &'a Spanned<GenerateTable>) -> Checked<&'a Spanned<Vec<f64>>> {
        let table = spanned.get_ref();
        let shape = table.kind.get_ref().as_str();
        let (needed, own, other, foreign) = match shape {
            "annulus" => ("radii", &table.radii, "size", &table.size),
            _ => ("size", &table.size, "radii", &table.radii),
        };
        let diagonals =
            table.diagonals.as_ref().filter(|_| shape != "rectangle").map(|value| ("diagonals", value.span()));
        let foreign = foreign.as_ref().map(|value| (other, value.span())).or(diagonals);
        match (own, foreign) {
            (_, Some((key, place))) => {
                let help = format!("leave it out: `{needed}` and `cells` say how large and how fine it is");
                Err(self.error_at(place, format!("`{key}` is no key of kind = \"{shape}\""), help))
            }
            (None, _) => {
                let (message, help) = (format!("`{needed}` is missing here"), format!("add `{needed} = [..]`"));
                Err(self.error_at(spanned.span(), message, help))
            }
            (Some(own), _) => self.check_scale(needed, own.span(), own.get_ref(), &LENGTHS).map(|()| own),
        }
    }
}
