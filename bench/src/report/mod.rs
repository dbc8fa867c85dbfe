//! `warpfem-bench report`: the papers' tables and figures beside what was measured, as Markdown with plots.
//!
//! `pages/*.toml` have the papers' claims, which rows of the JSON answer them, in which columns and units, and the rule by
//! which a claim holds: [`outline`] reads them, [`block`] prints a section. `run.rs` reads JSON, [`derived`] adds what
//! belongs together, [`provenance`] tells which run each number is from, [`document`] puts the pages together. Everything
//! is a function of the JSON: the same files make the same bytes. `measure.rs` makes such JSON.

pub mod block;
mod chart;
pub mod derived;
mod document;
pub mod expression;
mod markdown;
mod measure;
pub mod names;
mod outline;
mod plot;
mod provenance;
pub mod run;
mod select;
mod speed;
pub mod template;
pub mod unit;
mod verdict;

#[cfg(test)]
mod tests;

use run::Run;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use warpfem::cli::{Reported, devices, print, usage};
use warpfem::output;
use warpfem_text::files;

/// The exit code of a report that is not what its figures make: a verification that is off.
const STALE: u8 = 5;

/// What the report is made from, and where it goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes report.md, its pages and plots/*.svg into FOLDER, from all of its *.json or from those of --from. Each is of one \
machine: what docs/benchmarks/collect.py gathers, what --measure writes, or a single report of `warpfem-bench`.

By itself it measures nothing: --measure runs the benches here first and adds their figures to FOLDER as one more \
file; --quick does so on smaller problems, in some minutes. Without a GPU both measure the processor.

Examples:
  warpfem-bench report
  warpfem-bench report --speed docs/benchmarks/speed.md --check
  warpfem-bench report --quick -o my_machine
  warpfem-bench report --from old.json new.json -o both")]
pub struct Arguments {
    /// Folder for the report.
    #[arg(short, long, value_name = "FOLDER", default_value = "docs/benchmarks")]
    output: PathBuf,
    /// JSON of measured machines [default: every *.json in FOLDER].
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["measure", "quick"])]
    from: Vec<PathBuf>,
    /// Measure this machine first.
    #[arg(long)]
    measure: bool,
    /// Measure this machine first, on smaller problems.
    #[arg(long, conflicts_with = "measure")]
    quick: bool,
    /// Cells along the edges of the largest cubes that are measured [default: on a GPU 100, quick 60; on a processor
    /// 40, quick 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=400))]
    cells: Option<u32>,
    /// What is measured: auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto", hide_possible_values = true,
        value_parser = devices::named())]
    device: String,
    /// Also put the figures of speed into this file, between its marks `<!-- speed -->` and `<!-- /speed -->`.
    #[arg(long, value_name = "FILE")]
    speed: Option<PathBuf>,
    /// Write nothing; end with 5 if a file is not what the figures make.
    #[arg(long, conflicts_with_all = ["measure", "quick"])]
    check: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.measure || arguments.quick {
        let written = measure::measure(arguments)?;
        print::text(&format!("wrote {}\n", written.display()))?;
    } else if arguments.cells.is_some() {
        return Err(usage("`--cells` is for `--measure` and `--quick`".into()));
    }
    let runs = read(arguments)?;
    let files = files(arguments, &runs)?;
    if arguments.check { compare(&files) } else { write(files) }
}

/// The machines, newest first; of the same day a GPU's first.
fn read(arguments: &Arguments) -> anyhow::Result<Vec<Run>> {
    let mut paths = arguments.from.clone();
    if paths.is_empty() {
        let folder = &arguments.output;
        let found = std::fs::read_dir(folder).map_err(|error| match error.kind() {
            ErrorKind::NotFound => nothing_in(folder, "there is no such folder"),
            _ => nothing_in(folder, &files::plain(&error)),
        })?;
        paths.extend(
            found
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.extension().is_some_and(|end| end == "json")),
        );
    }
    if paths.is_empty() {
        return Err(nothing_in(&arguments.output, "there is no *.json in it"));
    }
    let mut runs = paths.iter().map(|path| Run::read(path).map_err(usage)).collect::<anyhow::Result<Vec<_>>>()?;
    runs.sort_by(|a, b| (b.days.iter().max(), b.is_gpu(), &a.name).cmp(&(a.days.iter().max(), a.is_gpu(), &b.name)));
    Ok(runs)
}

/// There is nothing to report on in a folder.
fn nothing_in(folder: &Path, why: &str) -> anyhow::Error {
    usage(format!(
        "{}: {why}\nhelp: this makes the report of measurements, JSON in a folder (in the repository docs/benchmarks): name \
         files by `--from`, or measure this machine, in some minutes by `warpfem-bench report --quick -o FOLDER`, or at length by \
         `--measure`. The report of a case is the CASE.html that `warpfem solve` writes",
        folder.display()
    ))
}

/// Every file and what is to be in it.
fn files(arguments: &Arguments, runs: &[Run]) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let folder = &arguments.output;
    let mut files: Vec<(PathBuf, String)> =
        document::make(runs).into_iter().map(|(name, text)| (folder.join(name), text)).collect();
    if let Some(page) = &arguments.speed {
        let wrong = |why: &str| usage(format!("{}: {why}", page.display()));
        let text = std::fs::read_to_string(page).map_err(|error| wrong(&error.to_string()))?;
        let table = runs.iter().filter(|run| run.is_gpu()).find_map(speed::speed);
        let table = table.ok_or_else(|| wrong("there are no figures of a GPU to fill its table with"))?;
        let programs: String = runs.iter().map(speed::programs).collect();
        let filled = speed::fill(&text, &(table + &programs));
        files.push((
            page.clone(),
            filled.ok_or_else(|| wrong(&format!("it lacks the marks {} and {}", speed::MARKS[0], speed::MARKS[1])))?,
        ));
    }
    Ok(files)
}

fn is_stale(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).map_or(true, |found| found != text)
}

/// Says which files are not what they should be.
fn compare(files: &[(PathBuf, String)]) -> anyhow::Result<()> {
    let mut out = String::new();
    for (path, _) in files.iter().filter(|(path, text)| is_stale(path, text)) {
        writeln!(out, "{} is not what `warpfem-bench report` makes of the figures", path.display())?;
    }
    print::text(&out)?;
    if out.is_empty() { Ok(()) } else { Err(Reported(STALE).into()) }
}

/// Writes those that change.
fn write(files: Vec<(PathBuf, String)>) -> anyhow::Result<()> {
    for (path, text) in files.into_iter().filter(|(path, text)| is_stale(path, text)) {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|source| output::Error::Output { path: folder.into(), source })?;
        output::write_file(&path, |file| file.write_all(text.as_bytes()))?;
        print::text(&format!("wrote {}\n", path.display()))?;
    }
    Ok(())
}
