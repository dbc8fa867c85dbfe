//! `warpfem convert A B`: a mesh in the format of another program.

use super::{mesh, print, usage};
use crate::io::inp;
use crate::mesh::Mesh;
use crate::mesh::write::{Form, to_bytes};
use crate::model::case::{deck_mesh, is_deck};
use crate::output::{self, vtu};
use crate::plan::fits;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Endings of the files that can be written, and what they are.
const WRITTEN: [(&str, &str); 3] = [("msh", "Gmsh"), ("inp", "CalculiX, Abaqus"), ("vtu", "ParaView")];
/// Families of plane elements in decks: plane stress, plane strain, bodies of revolution.
const FAMILIES: [&str; 3] = ["CPS", "CPE", "CAX"];

#[derive(Debug, clap::Args)]
#[command(after_help = "The ending says what is written: .msh (Gmsh, MSH 4.1), .inp (nodes, elements and sets of a \
CalculiX or Abaqus deck) or .vtu (ParaView).

Groups keep their names. In a deck groups of bodies are *ELSET, of faces *SURFACE and *NSET, others *NSET; in VTU they \
are arrays of 0 and 1, at the cells for bodies, else at the points.

Examples:
  warpfem convert part.msh part.inp
  warpfem convert deck.inp part.msh")]
pub struct Arguments {
    /// The mesh file (MSH 4.1 or 2.2), or a deck (.inp).
    from: PathBuf,
    /// The file to write (.msh, .inp or .vtu).
    to: PathBuf,
    /// Write text instead of binary, where there are both: .msh.
    #[arg(long)]
    ascii: bool,
    /// Plane elements in a deck: CPS (plane stress), CPE (plane strain) or CAX (bodies of revolution).
    #[arg(long, default_value = FAMILIES[0], value_parser = PossibleValuesParser::new(FAMILIES), hide_possible_values = true)]
    plane: String,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { from, to, ascii, plane } = arguments;
    let ending = to.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !WRITTEN.iter().any(|(known, _)| *known == ending) {
        let known = WRITTEN.map(|(known, program)| format!(".{known} ({program})")).join(", ");
        return Err(usage(format!("{} has no ending of a mesh that can be written: {known}", to.display())));
    }
    let mesh = read(from)?;
    if is_deck(from) && std::fs::canonicalize(from).ok() == std::fs::canonicalize(to).ok() {
        return Err(usage(format!("{} is the deck itself: the mesh alone would take its place", to.display())));
    }
    match ending.as_str() {
        "vtu" => output::write_file(to, |file| vtu::write_mesh(file, &mesh))?,
        "inp" => {
            let text = inp::write::to_text(&mesh, plane).map_err(|error| usage(error.to_string()))?;
            output::write_file(to, |file| file.write_all(text.as_bytes()))?;
        }
        _ => {
            let form = if *ascii { Form::Ascii } else { Form::Binary };
            output::write_file(to, |file| file.write_all(&to_bytes(&mesh, form)))?;
        }
    }
    let warnings: String = mesh.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
    let left = if is_deck(from) { "materials, supports and loads are left out\n" } else { "" };
    print::text(&(mesh::wrote(to, &mesh) + left + &warnings))
}

/// The mesh of a file: of a deck without its supports and loads.
fn read(path: &Path) -> anyhow::Result<Mesh> {
    fits::check_file(path)?;
    match is_deck(path) {
        true => Ok(deck_mesh(path)?),
        false => Ok(Mesh::read(path)?),
    }
}
