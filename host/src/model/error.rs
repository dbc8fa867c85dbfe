//! What can be wrong with a case file, and with the model it describes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::floating::FloatingPart;
use super::names::{list, words};
use super::rigid::LoosePart;
use super::{Analysis, Source};

/// What is wrong with a case file, and where.
///
/// `Display` writes it all in plain text: `file:line:column`, the message, the line with a pointer under the word, the
/// help. [`CaseError::report`] gives the same to `miette`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseError {
    /// The case file's path as the user gave it.
    pub source_name: String,
    /// The case file's text; empty where it could not be read.
    pub source_text: Arc<str>,
    /// The offending bytes of the text.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What to do about it: the nearest known name, the names there are.
    pub help: Option<String>,
}

impl std::error::Error for CaseError {}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.span {
            Some(span) => self.fmt_with_pointer(f, span)?,
            None => write!(f, "{}: {}", self.source_name, self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl CaseError {
    fn fmt_with_pointer(&self, f: &mut fmt::Formatter<'_>, span: &Range<usize>) -> fmt::Result {
        let source = Source { name: self.source_name.clone(), text: self.source_text.clone() };
        let (line, column) = source.line_column(span.start);
        writeln!(f, "{}:{line}:{column}: {}", self.source_name, self.message)?;
        let text = self.source_text.lines().nth(line - 1).unwrap_or("");
        let gutter = line.to_string().len();
        let width = self.source_text.get(span.clone()).map_or(1, |word| word.chars().count()).max(1);
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{line} | {text}")?;
        write!(f, "{:gutter$} | {:indent$}{}", "", "", "^".repeat(width), indent = column - 1)
    }

    /// Line and column, both from 1, where the error has a place.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let source = Source { name: self.source_name.clone(), text: self.source_text.clone() };
        self.span.as_ref().map(|span| source.line_column(span.start))
    }

    /// The same error for `miette`'s handlers, which draw the place themselves.
    pub fn report(&self) -> CaseReport {
        CaseReport {
            message: self.message.clone(),
            help: self.help.clone(),
            code: miette::NamedSource::new(&self.source_name, self.source_text.to_string()),
            span: self.span.as_ref().map(|span| span.clone().into()),
        }
    }
}

/// A [`CaseError`] for `miette` to draw.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{message}")]
pub struct CaseReport {
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    code: miette::NamedSource<String>,
    #[label("here")]
    span: Option<miette::SourceSpan>,
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
    /// Gravity acts on a material without density.
    #[error(transparent)]
    MissingDensity(Box<CaseError>),
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
        parts: Vec<FloatingPart>,
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

fn floating(parts: &[FloatingPart], n_parts: usize) -> String {
    let mut text = match n_parts {
        1 => "the potential is fixed nowhere".to_string(),
        _ => format!("the potential of {} of the body's {n_parts} separate parts is fixed nowhere", parts.len()),
    };
    describe(&mut text, parts);
    text
}

/// Appends a line or more for each part, as far as there are not too many.
fn describe(text: &mut String, parts: &[impl fmt::Display]) {
    for part in parts.iter().take(PARTS_DESCRIBED) {
        text.push_str(&format!("\n{part}"));
    }
    if parts.len() > PARTS_DESCRIBED {
        text.push_str(&format!("\nand {} more parts", parts.len() - PARTS_DESCRIBED));
    }
}
