//! The case file: TOML text, read into plain tables whose values keep their places.

mod check;
mod names_list;
mod syntax;
pub mod tables;
mod unavailable;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use names_list::Names;
pub use tables::Tables;

use super::{CaseError, Place, Source};
use crate::Error;
use crate::element::ElementKind;
use crate::mesh::{Mesh, generate};

/// A case file, read and checked as far as that goes without its mesh.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its path; `[mesh] file` is relative to its folder.
    pub path: PathBuf,
    /// Its text, for messages.
    pub source: Source,
    /// What it says.
    pub tables: Tables,
}

impl Case {
    /// Reads a case file and checks everything in it that needs no mesh: keys, types, ranges of numbers.
    pub fn read(path: &Path) -> Result<Case, Box<CaseError>> {
        match std::fs::read_to_string(path) {
            Ok(text) => Case::parse(path, &text),
            Err(error) => {
                let source = Source::new(path, "");
                let help = match error.kind() {
                    std::io::ErrorKind::InvalidData => "a case file is TOML text in UTF-8; is this a mesh?",
                    _ => "",
                };
                Err(source.error_anywhere(format!("cannot read the case file: {error}"), help))
            }
        }
    }

    /// The same from a text; `path` names it and says where relative mesh files are.
    pub fn parse(path: &Path, text: &str) -> Result<Case, Box<CaseError>> {
        let source = Source::new(path, text);
        let tables = syntax::parse(&source)?;
        let case = Case { path: path.to_path_buf(), source, tables };
        case.check()?;
        Ok(case)
    }

    /// The file's name without extension; names the outputs.
    pub fn name(&self) -> String {
        self.path.file_stem().map_or_else(|| "case".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// An error at a place of the file, with what to do about it (`help` may be empty).
    pub fn error_at(&self, place: Place, message: impl Into<String>, help: impl Into<String>) -> Box<CaseError> {
        self.source.error_at(place, message, help)
    }

    /// What messages call the mesh: its file, or what generates it.
    pub fn mesh_name(&self) -> String {
        match &self.tables.mesh.get_ref().file {
            Some(file) => file.get_ref().clone(),
            None => "the generated mesh".to_string(),
        }
    }

    /// Reads or generates the mesh.
    ///
    /// A file that does not exist is [`Error::MissingMesh`], which points at its name in the case file.
    pub fn mesh(&self) -> Result<Mesh, Error> {
        let table = self.tables.mesh.get_ref();
        if let Some(file) = &table.file {
            let path = self.path.parent().unwrap_or(Path::new("")).join(file.get_ref());
            if !path.exists() {
                let message = format!("there is no mesh file {}", path.display());
                let error = self.error_at(file.span(), message, "`file` is relative to the case file");
                return Err(Error::MissingMesh(error));
            }
            return Ok(Mesh::read(&path)?);
        }
        match table.generate.as_ref().map(|generate| generate.get_ref()) {
            Some(table) => {
                let kind = ElementKind::from_name(table.element.get_ref()).unwrap_or(ElementKind::Tet4);
                Ok(generate::generate_box(kind, *table.size.get_ref(), *table.cells.get_ref())?)
            }
            None => Err(self.error_at(self.tables.mesh.span(), check::NO_MESH, check::NO_MESH_HELP).into()),
        }
    }
}
