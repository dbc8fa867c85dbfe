//! Writing results: VTU for ParaView, CSV for spreadsheets, a JSON summary, a picture, a report.
//!
//! The writers walk the one list of fields of a [`Step`]. [`write_all`] puts the files of a case into a folder, all or none: each is
//! written under a temporary name and renamed only when every one of them is complete.

mod atomic;
pub mod away;
pub mod cases;
pub mod csv;
pub mod dat;
pub mod distribution;
pub mod envelope;
mod error;
mod field;
pub mod frd;
pub mod modes;
pub mod picture;
pub mod points;
pub mod report;
pub mod resolution;
mod rows;
pub mod sizes;
pub mod solver;
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
use crate::parallel;
use crate::result::{At, Field, Step};
use atomic::Staged;
use picture::Shown;
use report::Report;
use warpfem_text::files;

/// Endings of the files of a case, and the summary's name.
const PVD: &str = ".pvd";
const VTU: &str = ".vtu";
const FRD: &str = ".frd";
const NODES: &str = "_nodes.csv";
const ELEMENTS: &str = "_elements.csv";
const POINTS: &str = "_points.csv";
const TABLES: &str = "_tables.csv";
const RESPONSE: &str = "_response.csv";
const HISTORY: &str = "_history.csv";
const DAT: &str = ".dat";
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
    /// The folder of files that CalculiX has, too.
    pub prints: &'a Path,
}

/// Writes `<case>.vtu`, `<case>_nodes.csv`, `<case>_elements.csv`, `<case>_tables.csv`, `<case>.png`, `<case>.html` and `summary.json` into
/// `dir`, which is made if it is missing; other [pictures](Options::pictures) have names of their own. Where all is
/// zero there is no picture. A case that asks for it has `<case>.frd`. A field at integration points has `<case>_points.csv`. Pictures and points from before that
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
    let looked_at = || -> Result<Vec<Staged>> {
        let symbols = options.with_symbols.then_some((model, 0));
        let shown = (!is_zero(step)).then(|| Shown::new(mesh, step, options.pictures, symbols));
        let draw = |shot: &Shot| shown.as_ref().map(|shown| shown.png(step, shot, summary)).transpose();
        let draw_all = || -> io::Result<Vec<_>> { parallel::map_items(options.pictures, &draw).into_iter().collect() };
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
    let (files, looked_at) = rayon::join(|| files_of_step(model, step, named, summary.solver.converged), looked_at);
    let mut staged = files?;
    if let Some(form) = model.frd {
        let path = options.prints.join(format!("{}{FRD}", summary.case));
        staged.push(Staged::write(path, |file| frd::write(file, mesh, [step], &model.fields, form))?);
    }
    staged.extend(looked_at?);
    if model.deck.is_some() {
        let path = options.prints.join(format!("{}{DAT}", summary.case));
        staged.push(Staged::write(path, |file| dat::write(&mut io::BufWriter::new(file), model, 0, step))?);
    }
    let before = names_before(dir, &summary.case);
    summary.pictures = match is_zero(step) {
        true => vec![],
        false => options.pictures.iter().map(|shot| shot.file_name(&summary.case)).collect(),
    };

    let seconds = start.elapsed().as_secs_f64();
    summary.timings_s.write += seconds;
    summary.timings_s.total += seconds;
    staged.push(Staged::write(dir.join(SUMMARY), |file| summary.write(file))?);
    let published = Staged::publish(staged)?;
    remove_all(dir, before, &published)?;
    Ok(published)
}

/// The VTU file of a step and its tables, not yet under their names, which `named` makes of endings.
fn files_of_step(
    model: &Model,
    step: &Step,
    named: impl Fn(&str) -> PathBuf + Sync,
    converged: bool,
) -> Result<Vec<Staged>> {
    let (mesh, units) = (&model.mesh, model.units);
    let vtu = || Staged::write(named(VTU), |file| vtu::write(file, mesh, step, &model.fields, converged));
    let table = |ending: &str, at| Staged::write(named(ending), |file| csv::write(file, mesh, step, at, units));
    let tables = || rayon::join(|| table(NODES, At::Node), || table(ELEMENTS, At::Cell));
    let (vtu, (nodes, elements)) = rayon::join(vtu, tables);
    let mut staged = vec![vtu?, nodes?, elements?];
    let is_asked = |field: &&Field| model.fields.iter().any(|name| name == field.info.name);
    if step.fields.iter().filter(is_asked).any(|field| field.info.at == At::CellPoint) {
        staged.push(table(POINTS, At::CellPoint)?);
    }
    staged.push(Staged::write(named(TABLES), |file| csv::write_tables(file, step, units))?);
    Ok(staged)
}

/// The names of the files of a step.
fn step_names(stem: &str) -> [String; 5] {
    [VTU, NODES, ELEMENTS, POINTS, TABLES].map(|ending| format!("{stem}{ending}"))
}

/// The names of what there may be from before of a case: pictures, points, and the files of load cases, as far as the
/// summary lists them; and what load cases have in place of one.
fn names_before(dir: &Path, case: &str) -> Vec<String> {
    let text = std::fs::read(dir.join(SUMMARY)).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let is_same = summary["case"] == case;
    let steps = summary["steps"].as_array().filter(|_| is_same);
    let pictures = summary["pictures"].as_array().filter(|_| is_same);
    let of_steps = steps.into_iter().flatten().filter_map(|step| step["files"].as_array()).flatten();
    let listed = pictures.into_iter().flatten().chain(of_steps).filter_map(|name| name.as_str());
    // Only names of the writer's own making: the file may have been changed.
    let is_own = |name: &&str| {
        let has_ending = [".png", VTU, NODES, ELEMENTS, POINTS, TABLES].iter().any(|ending| name.ends_with(ending));
        name.starts_with(&format!("{case}_")) && has_ending && !name.contains(['/', '\\'])
    };
    let mut names: Vec<String> = listed.filter(is_own).map(String::from).collect();
    names.extend([format!("{case}.png"), format!("{case}{POINTS}")]);
    match is_same {
        true if steps.is_some() => {
            names.extend([PVD, "_envelope.vtu", RESPONSE, HISTORY].map(|ending| format!("{case}{ending}")))
        }
        true => names.extend(step_names(case)),
        false => {}
    }
    names
}

/// Removes the files of these names that have not been written again.
fn remove_all(dir: &Path, names: Vec<String>, written: &[PathBuf]) -> Result<()> {
    let paths = names.into_iter().map(|name| dir.join(name)).filter(|path| !written.contains(path));
    for path in paths {
        atomic::remove(&path).map_err(|source| Error::Output { path: path.clone(), source })?;
    }
    Ok(())
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
    let results = [VTU, FRD, NODES, ELEMENTS, POINTS, TABLES, ".png", REPORT].map(|ending| format!("{case}{ending}"));
    let pictures = pictures.iter().map(|shot| shot.file_name(case));
    check_names(dir, results.into_iter().chain(pictures).chain([SUMMARY.into()]))
}

/// The same of files of these names.
///
/// # Errors
///
/// As [`check_results`].
pub fn check_names(dir: &Path, mut names: impl Iterator<Item = String>) -> Result<()> {
    check_folder(dir)?;
    names.try_for_each(|name| check_file(&dir.join(name)))
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
