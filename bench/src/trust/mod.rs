//! `warpfem-bench trust`: sound models solved by default and by each method, each beside a reference, so that what the
//! program says of its own error can be held against the error.

mod errors;
mod extended;
mod matrix;
mod models;
mod reference;
mod rigid;
mod row;
#[cfg(test)]
mod tests;
mod verdict;

use super::clock::Clock;
use super::page;
use clap::builder::PossibleValuesParser;
use models::{Entry, Size};
use reference::Reference;
use row::{Report, Row};
use std::path::PathBuf;
use warpfem::cli::{Reported, devices, print, read_model, tolerance, usage};
use warpfem::device::DeviceName;
use warpfem::device::bandwidth::median;
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::model::SolverOptions;
use warpfem::pipeline::solve_on;
use warpfem::result::choices::{Method, Preconditioner};
use warpfem::result::{DirectError, Error, Result};
use warpfem::solve::Silent;

/// The exit code where a model breaks a bound: a verification that is off.
const BROKEN: u8 = 5;

/// Solutions from which on times count.
const ENOUGH_SAMPLES: u32 = 3;

/// The model as its case says, which by default leaves the choice to the program.
const AUTO: &str = "auto";

/// How models are solved.
const METHODS: [&str; 4] = [AUTO, "jacobi", "amg", "direct"];

/// What is solved, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Thin, slender and hardly compressible bodies, bonded stiffnesses, moved clamps, several parts: each is solved by \
default and by each method. The reference is a sparse factor, refined by residuals summed up element by element. Bounds: converged by \
default; displacements within 1e-5 of the deformation, von Mises stresses within 1e-4 of the largest in each \
material; the error in the energy norm at most the estimate, and the estimate at most 15 times the error (3,000 \
times with other preconditioners than multigrid). Ends with 5 if one is broken.

Examples:
  warpfem-bench trust --short
  warpfem-bench trust --methods auto,amg --device cuda --json trust.json
  warpfem-bench trust --model bracket meshes/bracket.toml")]
pub struct Arguments {
    /// Cases (.toml) to be solved besides the models that are built in.
    #[arg(value_name = "CASE")]
    cases: Vec<PathBuf>,
    /// Models of some hundred unknowns instead of some ten thousand.
    #[arg(long)]
    short: bool,
    /// This model alone: its name in the table, or that of a case's file.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Methods, separated by commas: auto is what the case says, or the program's choice.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_value = "auto,jacobi,amg,direct", value_parser = PossibleValuesParser::new(METHODS))]
    methods: Vec<String>,
    /// The tolerance of every solution, instead of the default.
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Solutions whose median time counts; from 3 on the program's own choice must not be slower than the best method by
    /// more than a quarter, and 0.2 s.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// auto, cpu, cuda, cuda:1 or emulate; the reference is computed on the CPU.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Also write the table to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let entries = entries(arguments)?;
    print::text(&row::heads())?;
    let space = Space::open(arguments.device)?;
    let report = compare(&space, arguments, &entries)?;
    print::text(&report.conclusion())?;
    page::write(arguments.json.as_deref(), &report)?;
    if report.broken > 0 { Err(Reported(BROKEN).into()) } else { Ok(()) }
}

/// The models that are asked for.
fn entries(arguments: &Arguments) -> anyhow::Result<Vec<Entry>> {
    let mut entries = models::all(if arguments.short { Size::Short } else { Size::Full });
    for path in &arguments.cases {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (path, device) = (path.clone(), arguments.device);
        entries.push(Entry { name, make: Box::new(move || read_model(&path, device).map(|read| read.1)) });
    }
    let Some(wanted) = &arguments.model else { return Ok(entries) };
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    entries.retain(|entry| entry.name == *wanted);
    match entries.is_empty() {
        true => Err(usage(format!("there is no model `{wanted}`; there are: {}", names.join(", ")))),
        false => Ok(entries),
    }
}

fn compare(space: &Space, arguments: &Arguments, entries: &[Entry]) -> anyhow::Result<Report> {
    let mut rows = Vec::new();
    for entry in entries {
        let mut model = (entry.make)()?;
        let reference = Reference::new(&model)?;
        let (asked, first) = (model.solver.clone(), rows.len());
        for method in &arguments.methods {
            model.solver = options(&asked, method, arguments.tolerance);
            rows.extend(row(space, arguments.samples, &entry.name, method, &model, &reference)?);
        }
        if arguments.samples >= ENOUGH_SAMPLES {
            row::compare_times(&mut rows[first..]);
        }
        rows[first..].iter().try_for_each(|row| print::text(&row.line()))?;
    }
    Ok(Report::new(space.name(), rows))
}

/// How a model is solved by a method.
fn options(asked: &SolverOptions, method: &str, tolerance: Option<f64>) -> SolverOptions {
    let mut options = asked.clone();
    options.tolerance = tolerance.unwrap_or(options.tolerance);
    match method {
        AUTO => {}
        "direct" => options.method = Some(Method::Direct),
        name => (options.method, options.preconditioner) = (Some(Method::Cg), Preconditioner::from_name(name)),
    }
    options
}

/// One solution beside its reference; nothing where the build does not have the method.
fn row(
    space: &Space,
    samples: u32,
    name: &str,
    method: &str,
    model: &Model,
    reference: &Reference,
) -> Result<Option<Row>> {
    let timed = || {
        let clock = Clock::start();
        solve_on(space, model, &Silent).map(|solution| (solution, clock.seconds()))
    };
    let (solution, first) = match timed() {
        Err(Error::Direct(DirectError::NotBuilt { .. })) => return Ok(None),
        Err(error) => return Ok(Some(Row::refused(name, method, reference, &error))),
        Ok(found) => found,
    };
    let mut times = vec![first];
    for _ in 1..samples {
        times.push(timed()?.1);
    }
    let seconds = median(times.iter().map(|time| time.0).collect());
    let of_processors: Option<Vec<f64>> = times.iter().map(|time| time.1.filter(|_| space.on_host())).collect();
    let times = (seconds, of_processors.map(median));
    Ok(Some(Row::new(name, method, model, reference, &solution, times)))
}
