//! What can be wrong with a case file, and with the model it describes.

use std::io::ErrorKind;

use super::held::LoosePart;
use super::names::{list, words};
use super::{Analysis, CaseError};
use crate::mesh::MeshError;

/// What reading a model returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no model, by who has to act on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The case file or an argument is wrong (exit code 2).
    #[error(transparent)]
    Case(#[from] Box<CaseError>),
    /// The case file names a mesh file that does not exist (exit code 3).
    #[error(transparent)]
    MissingMesh(Box<CaseError>),
    /// The mesh file cannot be read, or what it holds is not a mesh (exit code 3).
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Mesh and case are readable, but the model they describe cannot be solved (exit code 4).
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Error {
    /// The same of the model of a later step.
    pub(super) fn in_step(self, step: &str) -> Error {
        match self {
            Error::Model(source) => ModelError::InStep { step: step.into(), source: Box::new(source) }.into(),
            other => other,
        }
    }

    /// The process exit code that stands for this kind of error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Case(_) => 2,
            Error::Mesh(error) if does_not_fit(error) => 6,
            Error::Mesh(_) | Error::MissingMesh(_) => 3,
            Error::Model(_) => 4,
        }
    }
}

/// Whether there is too little memory for a file.
fn does_not_fit(error: &MeshError) -> bool {
    matches!(error.root(), MeshError::Io(source) if source.kind() == ErrorKind::OutOfMemory)
}

/// Why a model cannot be solved.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The mesh has not the elements that the analysis is for.
    #[error("{}", wrong_dimension(.mesh, *.analysis, *.dim, .found, .groups))]
    WrongDimension {
        /// What the mesh is called in the case file.
        mesh: String,
        /// What is to be solved.
        analysis: Analysis,
        /// The highest dimension of any element.
        dim: usize,
        /// The kinds of elements there are, with their numbers.
        found: Vec<String>,
        /// The groups there are.
        groups: Vec<String>,
    },
    /// A plane problem on a mesh that is not flat.
    #[error(
        "{mesh} is not flat; {} needs a plane z = constant\nhelp: rotate the plate into the x-y plane",
        .analysis.name()
    )]
    NotFlat {
        /// What the mesh is called in the case file.
        mesh: String,
        /// What is to be solved.
        analysis: Analysis,
    },
    /// A section of a body of revolution that reaches over its axis.
    #[error(
        "node {node} of {mesh} is at x = {radius}, beyond the axis of the body of revolution\n\
         help: x is the radius, and the axis is x = 0: move the section to x >= 0"
    )]
    BeyondAxis {
        /// What the mesh is called in the case file.
        mesh: String,
        /// The node's tag.
        node: u64,
        /// Its coordinate x.
        radius: f64,
    },
    /// Something needs the density of a material that has none.
    #[error(transparent)]
    MissingDensity(Box<CaseError>),
    /// A transient study of a material without a specific heat.
    #[error(transparent)]
    MissingSpecificHeat(Box<CaseError>),
    /// Temperatures of a material without thermal expansion.
    #[error(transparent)]
    MissingExpansion(Box<CaseError>),
    /// Of a later step of a deck.
    #[error("{step}: {source}")]
    InStep {
        /// What its load case is called.
        step: String,
        /// What is wrong there.
        source: Box<ModelError>,
    },
    /// Some parts of the body can move without deforming.
    #[error("{}", free_motions(.parts, *.n_parts))]
    FreeMotion {
        /// The parts that are not held, in order of part number.
        parts: Vec<LoosePart>,
        /// How many parts the body has.
        n_parts: usize,
    },
    /// The potential of some parts of the body is fixed nowhere: it is known up to a constant, or there is none.
    #[error("{}", floating(.parts, *.n_parts))]
    Floating {
        /// The parts, in order of part number.
        parts: Vec<LoosePart>,
        /// How many parts the body has.
        n_parts: usize,
    },
}

/// More parts than this are counted, not described.
const PARTS_DESCRIBED: usize = 10;

fn wrong_dimension(mesh: &str, analysis: Analysis, dim: usize, found: &[String], groups: &[String]) -> String {
    let name = analysis.name();
    let solid = analysis.dim().map_or("plane or solid element", |dim| words(dim).solid);
    let found = if found.is_empty() { "nothing".to_string() } else { found.join(", ") };
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let groups = list(&groups);
    let help = match (analysis.dim(), dim) {
        (Some(3), 2) => {
            "for a body in space mesh its volume (once anything is in a physical group, Gmsh saves only what is in one: \
             add a physical volume, or set Mesh.SaveAll = 1); for a plane problem say [analysis] kind = \
             \"plane_stress\" or \"plane_strain\""
        }
        (Some(2), 3) => "mesh a surface in the x-y plane and no volume; or say [analysis] kind = \"elasticity\"",
        _ => {
            "once anything is in a physical group, Gmsh saves only what is in one: put the body in one, or set \
             Mesh.SaveAll = 1"
        }
    };
    let verb = if analysis.dim().is_some_and(|wanted| dim > wanted) { "is no mesh of" } else { "has no" };
    format!("{mesh} {verb} {solid}s, which {name} needs; it holds {found}; groups: {groups}\nhelp: {help}")
}

fn free_motions(parts: &[LoosePart], n_parts: usize) -> String {
    // A part may be listed several times, once for each of its bodies.
    let n_loose = parts.chunk_by(|a, b| a.number == b.number).count();
    let mut text = match n_parts {
        1 if parts.iter().all(LoosePart::is_unheld) => "nothing holds the body: no [[support]] acts on it".to_string(),
        1 => "the supports leave the body free to move".to_string(),
        _ => format!("the supports leave {n_loose} of the body's {n_parts} separate parts free to move"),
    };
    describe(&mut text, parts);
    text
}

fn floating(parts: &[LoosePart], n_parts: usize) -> String {
    let mut text = match n_parts {
        1 => "the potential is fixed nowhere".to_string(),
        _ => format!("the potential of {} of the body's {n_parts} separate parts is fixed nowhere", parts.len()),
    };
    describe(&mut text, parts);
    text
}

/// Appends a line or more for each part, as far as there are not too many.
fn describe(text: &mut String, parts: &[LoosePart]) {
    for part in parts.iter().take(PARTS_DESCRIBED) {
        text.push_str(&format!("\n{part}"));
    }
    if parts.len() > PARTS_DESCRIBED {
        text.push_str(&format!("\nand {} more parts", parts.len() - PARTS_DESCRIBED));
    }
}
