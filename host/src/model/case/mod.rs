//! The case file: TOML text, read into plain tables whose values keep their places.

mod check;
mod deck;
mod foreign;
mod generated;
mod harmonic;
pub(crate) mod heat_tables;
mod load_cases;
mod loads;
mod materials;
mod names_list;
mod remote;
mod scale;
mod slips;
mod solver;
mod springs;
mod study;
mod supports;
pub(super) mod synonyms;
mod syntax;
pub(crate) mod tables;
mod time;
mod tree;
mod vector;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use deck::{DeckCase, DeckStep, Follows, Item, Print, SectionPrint, Side};
pub use deck::{is_deck, mesh as deck_mesh};
pub use generated::{Generated, Lattice, generators};
pub(super) use loads::Couple;
pub(crate) use names_list::Names;
pub(super) use springs::Rate;
pub(super) use supports::Named;
use syntax::Parsed;
pub(crate) use tables::Tables;
pub(crate) use vector::{Numbers, Vector};

use super::{Analysis, CaseError, Checked, Place, Problems, Source, Units};
use crate::element::ElementKind;
use crate::mesh::{Mesh, MeshError};
use crate::model::Error;
use warpfem_text::files;

/// A case file, read and checked as far as that goes without its mesh.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its path; `[mesh] file` is relative to its folder.
    pub path: PathBuf,
    /// Its text, for messages.
    pub source: Source,
    /// What it says.
    pub(crate) tables: Tables,
    /// What is worth saying of the file itself.
    pub warnings: Vec<String>,
    /// The mesh and the prints of a deck, if it is one.
    pub deck: Option<Arc<DeckCase>>,
    /// Of a deck: the same for later steps, which are held or heated otherwise.
    pub(crate) others: Vec<Case>,
}

impl Case {
    /// Reads a case file and checks everything in it that needs no mesh: keys, types, ranges of numbers.
    pub fn read(path: &Path) -> Checked<Case> {
        first_of(Case::review(path), || Source::new(path, ""))
    }

    /// The same from a text; `path` names it and says where relative mesh files are.
    pub fn parse(path: &Path, text: &str) -> Checked<Case> {
        let reviewed = match deck::is_deck(path) {
            true => deck::parse(path, text).map_err(|error| Problems::of([error])).and_then(Case::reviewed),
            false => Case::review_text(path, text),
        };
        first_of(reviewed, || Source::new(path, text))
    }

    /// Reads a case file and goes on where something is wrong in it: everything that [`Case::read`] would refuse, the
    /// first that it gives first. A key that is misspelt, or called by another word, is read as the one that was meant.
    ///
    /// # Errors
    ///
    /// All that was found, where that leaves no case to resolve: a file that cannot be read, text that is no TOML, keys
    /// whose meaning cannot be guessed, that are missing, of the wrong type or of another analysis, and an analysis
    /// that there is none of.
    pub fn review(path: &Path) -> Result<(Case, Problems), Problems> {
        if deck::is_deck(path) {
            return deck::read(path).map_err(|error| Problems::of([error])).and_then(Case::reviewed);
        }
        match text_of(path) {
            Ok(text) => Case::review_text(path, &text),
            Err(error) => Err(Problems::of([error])),
        }
    }

    fn review_text(path: &Path, text: &str) -> Result<(Case, Problems), Problems> {
        let source = Source::new(path, text);
        let Parsed { tables, mut problems, cut, is_whole, warnings } = syntax::parse(&source)?;
        let case = Case { path: path.to_path_buf(), source, tables, warnings, deck: None, others: Vec::new() };
        let mut found = Problems::default();
        let is_checked = case.check(&mut found).is_some();
        let found = found.into_vec().into_iter().filter(|error| !syntax::follows(&cut, error));
        found.for_each(|error| problems.add(error));
        match is_checked && is_whole {
            true => Ok((case, problems)),
            false => Err(problems),
        }
    }

    /// A deck's case with what is wrong in it.
    fn reviewed(self) -> Result<(Case, Problems), Problems> {
        let mut problems = Problems::default();
        let is_checked = std::iter::once(&self).chain(&self.others).all(|case| case.check(&mut problems).is_some());
        if is_checked { Ok((self, problems)) } else { Err(problems) }
    }

    /// The file's name without extension; names the outputs.
    pub fn name(&self) -> String {
        self.path.file_stem().map_or_else(|| "case".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// An error at a place of the file, with what to do about it (`help` may be empty).
    pub fn error_at(&self, place: Place, message: impl Into<String>, help: impl Into<String>) -> Box<CaseError> {
        self.source.error_at(place, message, help)
    }

    /// What is solved; elasticity in three dimensions if the case does not say.
    pub fn analysis(&self) -> Analysis {
        let kind = self.tables.analysis.kind.as_ref();
        kind.and_then(|kind| Analysis::from_name(kind.get_ref())).unwrap_or_default()
    }

    /// What numbers are labelled with, if the case says so.
    pub fn units(&self) -> Option<Units> {
        Units::from_name(self.tables.analysis.units.as_ref()?.get_ref())
    }

    /// The thickness of a plane problem, 1 if the case does not say; 1 in three dimensions.
    pub fn thickness(&self) -> f64 {
        self.tables.analysis.thickness.as_ref().map_or(1.0, |thickness| *thickness.get_ref())
    }

    /// The dimension of the mesh as far as the case alone tells: that of the analysis, or else of a generated mesh.
    pub(super) fn dim(&self) -> Option<usize> {
        self.analysis().dim().or_else(|| self.generated_dim())
    }

    /// Display name of the mesh: its file, or `the generated mesh`.
    pub fn mesh_name(&self) -> String {
        match &self.tables.mesh.get_ref().file {
            Some(file) => file.get_ref().clone(),
            None if self.deck.is_some() => "the deck".to_string(),
            None => "the generated mesh".to_string(),
        }
    }

    /// Where the mesh file is, if there is one.
    pub fn mesh_path(&self) -> Option<PathBuf> {
        let file = self.tables.mesh.get_ref().file.as_ref()?;
        Some(self.path.parent().unwrap_or(Path::new("")).join(file.get_ref()))
    }

    /// Reads or generates the mesh.
    ///
    /// A file that does not exist is [`Error::MissingMesh`], which points at its name in the case file.
    pub fn mesh(&self) -> Result<Mesh, Error> {
        if let Some(deck) = &self.deck {
            let mesh = deck
                .mesh()
                .map_err(|source| MeshError::InFile { path: self.path.clone(), source: Box::new(source) })?;
            return self.fit(&self.path, mesh.into()).map(Arc::unwrap_or_clone);
        }
        let table = self.tables.mesh.get_ref();
        if let (Some(file), Some(path)) = (&table.file, self.mesh_path()) {
            if !path.exists() || path.is_dir() {
                let message = match path.is_dir() {
                    true => format!("{} is a folder, not a mesh file", path.display()),
                    false => format!("there is no mesh file {}", path.display()),
                };
                let help = format!(
                    "`file` is relative to the folder of the case file: copy the mesh there, or write its full path; {}",
                    files::instead(&path, "msh", "meshes")
                );
                let error = self.error_at(file.span(), message, help);
                return Err(Error::MissingMesh(error));
            }
            let mesh = match deck::is_deck(&path) {
                true => deck::mesh(&path)?,
                false => Mesh::read(&path).map_err(|error| self.not_flat(file.span(), error))?,
            };
            return self.fit(&path, mesh.into()).map(Arc::unwrap_or_clone);
        }
        match self.generated()? {
            Some(generated) => Ok(generated.mesh()?),
            None => Err(self.error_at(self.tables.mesh.span(), check::NO_MESH, check::NO_MESH_HELP).into()),
        }
    }

    /// A mesh as the case has it: with elements of the kind that it names, and none that hang unless it allows them. `path`
    /// names the mesh.
    ///
    /// # Errors
    ///
    /// No element can be of that kind; elements hang.
    pub fn fit(&self, path: &Path, mut mesh: Arc<Mesh>) -> Result<Arc<Mesh>, Error> {
        self.set_kind(&mut mesh)?;
        self.check_hanging(path, mesh)
    }

    /// Takes the elements of a file as of the kind that the case names.
    fn set_kind(&self, mesh: &mut Arc<Mesh>) -> Checked {
        let Some(element) = &self.tables.mesh.get_ref().element else { return Ok(()) };
        let Some(kind) = ElementKind::from_name(element.get_ref()) else { return Ok(()) };
        if Arc::make_mut(mesh).set_kind(kind) {
            return Ok(());
        }
        let names: Vec<&str> = mesh.solids().map(|(_, cells)| cells.kind.info().name).collect();
        let (n_nodes, of) = (kind.info().n_nodes, kind.of_kernels().info().name);
        let message = format!("no element of the mesh can be {}: it has {n_nodes} nodes, as {of}", kind.info().name);
        Err(self.error_at(element.span(), message, format!("the mesh has elements of the kind {}", names.join(", "))))
    }

    /// Refuses a mesh whose elements do not match; or warns, if the case allows it.
    fn check_hanging(&self, path: &Path, mut mesh: Arc<Mesh>) -> Result<Arc<Mesh>, Error> {
        let Err(source) = mesh.check_hanging() else { return Ok(mesh) };
        if self.tables.mesh.get_ref().allow_hanging != Some(true) {
            return Err(MeshError::InFile { path: path.into(), source: Box::new(source) }.into());
        }
        Arc::make_mut(&mut mesh).warnings.extend(source.to_string().lines().next().map(str::to_string));
        Ok(mesh)
    }

    /// In a plane problem, a mesh of surfaces that are not flat is a matter of the case.
    fn not_flat(&self, place: Place, error: MeshError) -> Error {
        if self.analysis().dim() == Some(3)
            || !matches!(error.root(), MeshError::NoVolume { .. } | MeshError::Tilted | MeshError::Shell)
        {
            return error.into();
        }
        let (mesh, analysis) = (self.mesh_name(), self.analysis().name());
        let message = format!("{mesh} is not flat, and {analysis} is solved in a plane z = constant");
        self.error_at(place, message, self.analysis().keys().flatten).into()
    }
}

/// The case, or the first that is wrong with it.
fn first_of(reviewed: Result<(Case, Problems), Problems>, source: impl Fn() -> Source) -> Checked<Case> {
    let (case, problems) = match reviewed {
        Ok((case, problems)) => (Some(case), problems),
        Err(problems) => (None, problems),
    };
    match (problems.into_vec().into_iter().next(), case) {
        (Some(Error::Case(first)), _) => Err(first),
        (_, Some(case)) => Ok(case),
        // What leaves no case has its reason, which is one of the case.
        _ => Err(source().error_anywhere("this is no case", syntax::FORM)),
    }
}

/// The text of a case file.
fn text_of(path: &Path) -> Checked<String> {
    let source = Source::new(path, "");
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!("cannot read the case file: {}", files::reason(path, &error));
        let help = files::instead(path, "toml", "case files");
        source.error_anywhere(message, format!("{help}; `warpfem init MESH` makes one for a mesh"))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let other = syntax::another_file(path, error.as_bytes());
        other.unwrap_or_else(|| source.error_anywhere("this is no text", syntax::FORM))
    })
}
