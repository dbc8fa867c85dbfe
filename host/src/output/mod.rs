//! Writing results: VTU for ParaView, CSV for spreadsheets, a JSON summary, a picture, a report.
//!
//! The writers walk the one list of fields of a [`Step`]. [`write_all`] puts the six files of a case into a folder, all or none: each is
//! written under a temporary name and renamed only when every one of them is complete.

mod atomic;
pub mod away;
pub mod csv;
pub mod distribution;
mod error;
mod field;
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
pub use field::{PointField, is_zero, sizes};
pub use picture::{Shot, Viewpoint};
pub use report::Origin;
pub use summary::Summary;

use crate::model::Model;
use crate::result::{At, Step};
use atomic::Staged;
use picture::Shown;
use rayon::prelude::*;
use report::Report;
use warpfem_text::files;

/// Endings of the files of a case, and the summary's name.
const VTU: &str = ".vtu";
const NODES: &str = "_nodes.csv";
const ELEMENTS: &str = "_elements.csv";
const POINTS: &str = "_points.csv";
const REPORT: &str = ".html";
const SUMMARY: &str = "summary.json";

/// The position of the largest of some values, of equals the first; `None` if none is finite.
fn largest(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let finite = values.enumerate().filter(|(_, value)| value.is_finite());
    finite.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// What [`write_all`] writes, beyond the results themselves.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The pictures that are drawn; the report has the first.
    pub pictures: &'a [Shot],
    /// Whether picture and report show supports and loads.
    pub with_symbols: bool,
    /// Where the model is from, for the report.
    pub origin: Origin<'a>,
}

/// Writes `<case>.vtu`, `<case>_nodes.csv`, `<case>_elements.csv`, `<case>.png`, `<case>.html` and `summary.json` into
/// `dir`, which is made if it is missing; other [pictures](Options::pictures) have names of their own. Where all is
/// zero there is no picture. A field at integration points has `<case>_points.csv`. Pictures and points from before that
/// are not written again are removed.
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
    model: &Model,
    step: &Step,
    summary: &mut Summary,
    options: &Options,
) -> Result<Vec<PathBuf>> {
    let start = Instant::now();
    let mesh = &model.mesh;
    let at = |path: &Path, source| Error::Output { path: path.to_path_buf(), source };
    field::check(step, mesh).map_err(|source| at(dir, source))?;
    std::fs::create_dir_all(dir).map_err(|source| at(dir, source))?;
    let named = |ending: &str| dir.join(format!("{}{ending}", summary.case));
    let (units, converged) = (summary.units, summary.solver.converged);
    let vtu = || Staged::write(named(VTU), |file| vtu::write(file, mesh, step, &model.fields, converged));
    let nodes = || Staged::write(named(NODES), |file| csv::write(file, mesh, step, At::Node, units));
    let elements = || Staged::write(named(ELEMENTS), |file| csv::write(file, mesh, step, At::Cell, units));
    let has_points = step.fields.iter().any(|field| field.info.at == At::CellPoint);
    let points = || Staged::write(named(POINTS), |file| csv::write(file, mesh, step, At::CellPoint, units));
    let looked_at = || -> Result<Vec<Staged>> {
        let symbols = options.with_symbols.then_some(model);
        let shown = (!is_zero(step)).then(|| Shown::new(mesh, step, options.pictures, symbols));
        let draw = |shot: &Shot| shown.as_ref().map(|shown| shown.png(step, shot, summary)).transpose();
        let draw_all = || -> io::Result<Vec<_>> { options.pictures.par_iter().map(draw).collect() };
        let prepare = || Report::new(model, summary, options.origin, shown.as_ref());
        let (pngs, report) = rayon::join(draw_all, prepare);
        let pngs = pngs.map_err(|source| at(dir, source))?;
        let pictures = options.pictures.iter().zip(&pngs).filter_map(|(shot, png)| Some((shot, png.as_ref()?)));
        let pictures = pictures
            .map(|(shot, png)| Staged::write(dir.join(shot.file_name(&summary.case)), |file| file.write_all(png)));
        let png = pngs.first().and_then(Option::as_deref);
        let html = Staged::write(named(REPORT), |file| report.write(file, png));
        pictures.chain([html]).collect()
    };
    let tables = || rayon::join(nodes, elements);
    let (vtu, ((nodes, elements), looked_at)) = rayon::join(vtu, || rayon::join(tables, looked_at));
    let mut staged = vec![vtu?, nodes?, elements?];
    staged.extend(looked_at?);
    let mut before = pictures_before(dir, &summary.case);
    match has_points {
        true => staged.push(points()?),
        false => before.push(format!("{}{POINTS}", summary.case)),
    }
    summary.pictures = match is_zero(step) {
        true => vec![],
        false => options.pictures.iter().map(|shot| shot.file_name(&summary.case)).collect(),
    };

    let seconds = start.elapsed().as_secs_f64();
    summary.timings_s.write += seconds;
    summary.timings_s.total += seconds;
    staged.push(Staged::write(dir.join(SUMMARY), |file| summary.write(file))?);
    let published = Staged::publish(staged)?;
    let old = before.into_iter().filter(|name| !summary.pictures.contains(name));
    for path in old.map(|name| dir.join(name)) {
        atomic::remove(&path).map_err(|source| at(&path, source))?;
    }
    Ok(published)
}

/// The names of the pictures of a case that are there from before: the usual one, and those that the summary lists.
fn pictures_before(dir: &Path, case: &str) -> Vec<String> {
    let text = std::fs::read(dir.join(SUMMARY)).unwrap_or_default();
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
    let results = [VTU, NODES, ELEMENTS, POINTS, ".png", REPORT].map(|ending| format!("{case}{ending}"));
    let pictures = pictures.iter().map(|shot| shot.file_name(case));
    results.into_iter().chain(pictures).chain([SUMMARY.into()]).try_for_each(|name| check_file(&dir.join(name)))
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
