//! Writing results: VTU for ParaView, CSV for spreadsheets, a JSON summary, a picture, a report.
//!
//! The writers take plain slices, so they know nothing of solvers. [`write_all`] puts the six files of a case into a
//! folder, all or none: each is written under a temporary name and renamed only when every one of them is complete.

mod atomic;
pub mod away;
pub mod csv;
pub mod distribution;
mod error;
pub mod field;
pub mod picture;
pub mod points;
pub mod report;
pub mod resolution;
pub mod summary;
pub mod vtu;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use atomic::{check_file, discard_unfinished, discard_unfinished_or_give_up};
pub use error::{Error, Result};
pub use field::{Field, Values};
pub use summary::Summary;

use crate::mesh::Mesh;
use crate::stress::AtNodes;
use atomic::Staged;
use picture::{Heading, Shown};
pub use picture::{PointField, Shot, Symbols, Viewpoint};
use rayon::prelude::*;
use report::Report;
use warpfem_text::files;

/// Endings of the tables.
const NODES: &str = "_nodes.csv";
const ELEMENTS: &str = "_elements.csv";

/// Results on a mesh.
///
/// The outer index of cell data is the block, in the order of [`Mesh::cells`]; a block that is not of the mesh's
/// highest dimension has an empty list.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    /// What was solved for, and what follows from it.
    pub solved: Solved<'a>,
    /// Material index, `[n_blocks][n_cells]`.
    pub material: &'a [Vec<u32>],
}

/// What was solved for, and what follows from it.
#[derive(Debug, Clone, Copy)]
pub enum Solved<'a> {
    /// Elasticity.
    Elastic {
        /// Displacement, `[n_nodes][3]`, in the units of the coordinates.
        displacement: &'a [[f64; 3]],
        /// Reaction `K u - f`, `[n_nodes][3]`; zero away from supports.
        reaction_force: &'a [[f64; 3]],
        /// Von Mises stress, `[n_blocks][n_cells]`.
        von_mises: &'a [Vec<f64>],
        /// Stress xx, yy, zz, xy, yz, xz, `[n_blocks][n_cells][6]`.
        stress: &'a [Vec<[f64; 6]>],
        /// Stress at the nodes.
        nodal: &'a AtNodes<6>,
        /// Yield strength over von Mises stress, `[n_nodes]`; empty if no material has a yield strength.
        safety_factor: &'a [f64],
    },
    /// A potential.
    Potential {
        /// Its values, `[n_nodes]`.
        potential: &'a [f64],
        /// Its gradient, `[n_blocks][n_cells][3]`.
        gradient: &'a [Vec<[f64; 3]>],
        /// The gradient's magnitude, `[n_blocks][n_cells]`.
        steepness: &'a [Vec<f64>],
        /// The gradient at the nodes.
        nodal: &'a AtNodes<3>,
    },
}

impl<'a> Fields<'a> {
    /// Whether every list is as long as the mesh asks; `InvalidInput` names the first that is not.
    pub fn check(&self, mesh: &Mesh) -> io::Result<()> {
        match self.solved {
            Solved::Elastic { displacement, reaction_force, von_mises, stress, nodal, safety_factor } => {
                expect("displacement", displacement.len(), mesh.coords.len())?;
                expect("reaction_force", reaction_force.len(), mesh.coords.len())?;
                per_cell("von_mises", von_mises, mesh)?;
                per_cell("stress", stress, mesh)?;
                per_node("stress_nodal", nodal, mesh)?;
                if !safety_factor.is_empty() {
                    expect("safety_factor", safety_factor.len(), mesh.coords.len())?;
                }
            }
            Solved::Potential { potential, gradient, steepness, nodal } => {
                expect("potential", potential.len(), mesh.coords.len())?;
                per_cell("gradient", gradient, mesh)?;
                per_cell("steepness", steepness, mesh)?;
                per_node("gradient_nodal", nodal, mesh)?;
            }
        }
        per_cell("material", self.material, mesh)
    }

    /// What pictures are coloured by, `[n_nodes]`: the von Mises stress, or the potential.
    fn of_nodes(&self) -> &'a [f64] {
        match self.solved {
            Solved::Elastic { nodal, .. } => &nodal.sizes,
            Solved::Potential { potential, .. } => potential,
        }
    }

    /// Whether what was solved for is zero everywhere, so that there is nothing to see.
    pub fn is_zero(&self) -> bool {
        match self.solved {
            Solved::Elastic { displacement, .. } => displacement.as_flattened().iter().all(|u| *u == 0.0),
            Solved::Potential { potential, .. } => potential.iter().all(|u| *u == 0.0),
        }
    }

    /// The displacements, if that is what was solved for.
    fn displacement(&self) -> Option<&'a [[f64; 3]]> {
        match self.solved {
            Solved::Elastic { displacement, .. } => Some(displacement),
            Solved::Potential { .. } => None,
        }
    }
}

fn expect(name: &str, have: usize, want: usize) -> io::Result<()> {
    match have == want {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name} has {have} values, not {want}"))),
    }
}

/// Whether there is a value for every solid.
fn per_cell<T>(name: &str, values: &[Vec<T>], mesh: &Mesh) -> io::Result<()> {
    expect(name, values.len(), mesh.cells.len())?;
    mesh.solids().try_for_each(|(block, cells)| expect(name, values[block].len(), cells.len()))
}

/// Whether there is a value for every node.
fn per_node<const K: usize>(name: &str, nodal: &AtNodes<K>, mesh: &Mesh) -> io::Result<()> {
    expect(name, nodal.values.len(), mesh.coords.len())?;
    expect(name, nodal.sizes.len(), mesh.coords.len())
}

/// The position of the largest of some values, of equals the first; `None` if none is finite.
fn largest(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let finite = values.enumerate().filter(|(_, value)| value.is_finite());
    finite.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// What [`write_all`] writes, beyond the results themselves.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The fields that go into the VTU, by [name](crate::model::Analysis::fields).
    pub fields: &'a [String],
    /// Whether the VTU is compressed by zlib: a third to a half of the size, several times the time.
    pub compress: bool,
    /// The pictures that are drawn.
    pub pictures: &'a [Shot],
    /// The supports and loads that picture and report show.
    pub symbols: Option<Symbols<'a>>,
    /// What a report says of the model; no report without it.
    pub report: Option<report::Background<'a>>,
}

/// Writes `<case>.vtu`, `<case>_nodes.csv`, `<case>_elements.csv`, `<case>.png`, `<case>.html` and `summary.json` into
/// `dir`, which is made if it is missing; other [pictures](Options::pictures) have names of their own. Where all is
/// zero there is no picture. Pictures from before that are not drawn again are removed.
///
/// The case's name is `summary.case`. The time this takes is put into `summary.timings_s.write` and added to its
/// total. Returns the paths written, the VTU first and the summary last.
///
/// # Errors
///
/// [`Error::Output`] with the path at fault; then none of the files has appeared or changed, unless the error came
/// from the final renaming.
pub fn write_all(
    dir: &Path,
    mesh: &Mesh,
    fields: &Fields,
    summary: &mut Summary,
    options: &Options,
) -> Result<Vec<PathBuf>> {
    let start = Instant::now();
    let at = |path: &Path, source| Error::Output { path: path.to_path_buf(), source };
    fields.check(mesh).map_err(|source| at(dir, source))?;
    std::fs::create_dir_all(dir).map_err(|source| at(dir, source))?;
    let named = |ending: &str| dir.join(format!("{}{ending}", summary.case));
    let path = |extension: &str| named(&format!(".{extension}"));
    let (list, units) = (fields.list(), summary.units);
    let header =
        vtu::Header { fields: options.fields, converged: summary.solver.converged, compress: options.compress };
    let vtu = || Staged::write(path("vtu"), |file| vtu::write(file, mesh, fields, &header));
    let nodes = || Staged::write(named(NODES), |file| csv::write_nodes(file, mesh, &list, units));
    let elements = || Staged::write(named(ELEMENTS), |file| csv::write_elements(file, mesh, &list, units));
    let looked_at = || -> Result<Vec<Staged>> {
        let usual = Shot::default();
        let of_report = (options.report.is_some() && !options.pictures.contains(&usual)).then_some(&usual);
        let shots: Vec<&Shot> = options.pictures.iter().chain(of_report).collect();
        let shown = (!fields.is_zero() && !shots.is_empty())
            .then(|| Shown::new(mesh, fields, options.pictures, options.symbols.as_ref()));
        let heading = Heading::of(summary);
        let draw = |shot: &&Shot| shown.as_ref().map(|shown| shown.png(fields, shot, &heading)).transpose();
        let draw_all = || -> io::Result<Vec<_>> { shots.par_iter().map(draw).collect() };
        let prepare = || options.report.map(|background| Report::new(mesh, summary, background, shown.as_ref()));
        let (pngs, report) = rayon::join(draw_all, prepare);
        let pngs = pngs.map_err(|source| at(dir, source))?;
        let pictures = options.pictures.iter().zip(&pngs).filter_map(|(shot, png)| Some((shot, png.as_ref()?)));
        let pictures = pictures
            .map(|(shot, png)| Staged::write(dir.join(shot.file_name(&summary.case)), |file| file.write_all(png)));
        let png = shots.iter().position(|shot| **shot == usual).and_then(|i| pngs[i].as_deref());
        let html = report.map(|report| Staged::write(path("html"), |file| report.write(file, png)));
        pictures.chain(html).collect()
    };
    let tables = || rayon::join(nodes, elements);
    let (vtu, ((nodes, elements), looked_at)) = rayon::join(vtu, || rayon::join(tables, looked_at));
    let mut staged = vec![vtu?, nodes?, elements?];
    staged.extend(looked_at?);
    let before = pictures_before(dir, &summary.case);
    summary.pictures = match fields.is_zero() {
        true => vec![],
        false => options.pictures.iter().map(|shot| shot.file_name(&summary.case)).collect(),
    };

    let seconds = start.elapsed().as_secs_f64();
    summary.timings_s.write += seconds;
    summary.timings_s.total += seconds;
    staged.push(Staged::write(dir.join("summary.json"), |file| summary.write(file))?);
    let published = Staged::publish(staged)?;
    let old = before.into_iter().filter(|name| !options.pictures.is_empty() && !summary.pictures.contains(name));
    for path in old.map(|name| dir.join(name)) {
        atomic::remove(&path).map_err(|source| at(&path, source))?;
    }
    Ok(published)
}

/// The names of the pictures of a case that are there from before: the usual one, and those that the summary lists.
fn pictures_before(dir: &Path, case: &str) -> Vec<String> {
    let text = std::fs::read(dir.join("summary.json")).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let listed = summary["pictures"].as_array().filter(|_| summary["case"] == case);
    let listed = listed.into_iter().flatten().filter_map(|name| name.as_str());
    // Only names of the writer's own making: the file may have been changed.
    let own =
        |name: &&str| name.starts_with(&format!("{case}_")) && name.ends_with(".png") && !name.contains(['/', '\\']);
    listed.filter(own).map(String::from).chain([format!("{case}.png")]).collect()
}

/// Checks before a long computation, and without leaving a trace, that a folder exists or can be made and that files
/// can be put into it.
///
/// # Errors
///
/// [`Error::Folder`] with the path at fault.
pub fn check_folder(dir: &Path) -> Result<()> {
    let asked = files::full(dir);
    let Some(existing) = asked.ancestors().find(|path| path.exists()) else { return Ok(()) };
    let fail = |source| Error::Folder { asked: asked.clone(), obstacle: existing.to_path_buf(), source };
    if !existing.is_dir() {
        return Err(fail(io::ErrorKind::NotADirectory.into()));
    }
    // A file without a name, gone as soon as it is closed.
    tempfile::tempfile_in(existing).map(drop).map_err(fail)
}

/// Checks before a long computation that [`write_all`] can write the results of `case` into `dir`.
///
/// # Errors
///
/// [`Error::Folder`] or [`Error::Output`] with the path at fault.
pub fn check_results(dir: &Path, case: &str, pictures: &[Shot]) -> Result<()> {
    check_folder(dir)?;
    let results = [".vtu", NODES, ELEMENTS, ".png", ".html"].map(|ending| format!("{case}{ending}"));
    let pictures = pictures.iter().map(|shot| shot.file_name(case));
    results.into_iter().chain(pictures).chain(["summary.json".into()]).try_for_each(|name| check_file(&dir.join(name)))
}

/// Writes one file that appears complete or not at all. Only regular files are replaced; a symbolic link stays, and the
/// file that it leads to is written.
///
/// # Errors
///
/// [`Error::Output`] with the path.
pub fn write_file(path: &Path, body: impl FnOnce(&mut std::fs::File) -> io::Result<()>) -> Result<()> {
    Staged::publish(vec![Staged::write(path.to_path_buf(), body)?]).map(drop)
}

#[cfg(test)]
mod tests;
