//! `warpfem solve CASE`.

use super::progress::Progress;
use super::{memory, preview, print, summary};
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};
use std::time::Instant;
use warpfem::assembly::{Ordering, Strategy};
use warpfem::backend::Device;
use warpfem::model::case::Case;
use warpfem::model::options::{ACCELERATIONS, Choices, METHODS, ORDERS, PRECISIONS};
use warpfem::model::{Model, SolverOptions};
use warpfem::output::report::Background;
use warpfem::output::{self, Fields, Options, Solved};
use warpfem::pipeline::{self, Potential, Solution};
use warpfem::solve::Monitor;
use warpfem::{Error, precond, sparse};

fn with_auto(names: &[&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new([&["auto"], names].concat())
}

/// More threads than any machine has only wait for each other.
const MAX_THREADS: i64 = 1024;

/// Solves a case and writes its results.
#[derive(Debug, clap::Args)]
#[command(after_help = "Flags take precedence over the case file's [solver].

Writes into DIR: <case>.vtu (ParaView), <case>.csv (von Mises stress per element; of a potential the gradient's
magnitude), <case>.png (a picture), <case>.html (a report, to be looked at in a browser) and
summary.json.

Examples:
  warpfem solve meshes/bracket.toml
  warpfem solve meshes/bracket.toml -o out --device cpu --tolerance 1e-10")]
pub struct Arguments {
    /// The case file.
    case: PathBuf,
    /// Folder for the results [default: results/<case>].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: Device,
    /// Storage format of the matrix.
    #[arg(long, value_name = "NAME", value_parser = with_auto(&sparse::formats()))]
    format: Option<String>,
    /// Order of the nodes.
    #[arg(long, value_name = "NAME", value_parser = with_auto(&Ordering::names()))]
    ordering: Option<String>,
    /// Preconditioner.
    #[arg(long, value_name = "NAME", value_parser = with_auto(&precond::names()))]
    preconditioner: Option<String>,
    /// Order of polynomial preconditioners: products per application.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(orders()))]
    order: Option<u32>,
    /// Precision: double, single, mixed (double with a preconditioner in single), or mixed_half (its matrix in 16 bits).
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PRECISIONS))]
    precision: Option<String>,
    /// Solution method.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(METHODS))]
    method: Option<String>,
    /// What makes method femses faster.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(ACCELERATIONS))]
    acceleration: Option<String>,
    /// Assembly strategy.
    #[arg(long, value_name = "NAME", value_parser = with_auto(&Strategy::names()))]
    assembly: Option<String>,
    /// Relative residual to stop at, between 0 and 1.
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Iterations to give up after.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// CPU threads [default: all the machine has].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_THREADS))]
    threads: Option<u32>,
    /// Print errors only.
    #[arg(long)]
    quiet: bool,
}

/// [`ORDERS`] as clap takes them.
pub(super) fn orders() -> std::ops::RangeInclusive<i64> {
    *ORDERS.start() as i64..=*ORDERS.end() as i64
}

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number between 0 and 1".into()),
    }
}

impl Arguments {
    /// Flags take precedence over the case file.
    fn override_options(&self, options: &mut SolverOptions) {
        let set = |to: &mut String, from: &Option<String>| {
            if let Some(from) = from {
                to.clone_from(from);
            }
        };
        set(&mut options.format, &self.format);
        set(&mut options.ordering, &self.ordering);
        set(&mut options.preconditioner, &self.preconditioner);
        options.order = self.order.map_or(options.order, |n| n as usize);
        set(&mut options.precision, &self.precision);
        set(&mut options.method, &self.method);
        set(&mut options.acceleration, &self.acceleration);
        set(&mut options.assembly, &self.assembly);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        options.max_iterations = self.max_iterations.map_or(options.max_iterations, |n| n as usize);
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let start = Instant::now();
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global()?;
    }
    let progress = Progress::new(arguments.quiet);
    progress.phase("read");
    let mut model = read_model(&arguments.case, arguments.device)?;
    arguments.override_options(&mut model.solver);
    let dir = arguments.output.clone().unwrap_or_else(|| PathBuf::from("results").join(&model.name));
    output::check_folder(&dir)?;
    let read = start.elapsed().as_secs_f64();
    let (solution, converged) = match pipeline::solve(&model, arguments.device, &progress) {
        Ok(solution) => (Box::new(solution), true),
        Err(Error::NotConverged(solution)) => (solution, false),
        Err(error) => return Err(error.into()),
    };
    let files = write(&dir, &model, &solution, read, start, arguments.quiet)?;
    progress.finish();
    let printed = if arguments.quiet { Ok(()) } else { print::text(&files) };
    // Whether anybody reads on is the lesser news.
    if converged { printed } else { Err(Error::NotConverged(solution).into()) }
}

/// Reads a case and its mesh, and checks both.
pub(super) fn read_model(path: &Path, device: Device) -> anyhow::Result<Model> {
    let case = Case::read(path).map_err(Error::from)?;
    let choices = Choices {
        formats: &sparse::formats(),
        orderings: &Ordering::names(),
        preconditioners: &precond::names(),
        assemblies: &Strategy::names(),
    };
    case.check_solver(&choices).map_err(Error::from)?;
    let on_host = !matches!(device.resolve(), Device::Cuda(_));
    memory::check_case(&case, on_host)?;
    let mesh = case.mesh()?;
    memory::check_mesh(&mesh, case.analysis(), on_host)?;
    Ok(Model::resolve(&case, mesh)?)
}

/// Writes the results; returns what to say.
fn write(
    dir: &Path,
    model: &Model,
    solution: &Solution,
    read: f64,
    start: Instant,
    quiet: bool,
) -> anyhow::Result<String> {
    let steepness = solution.potential.as_ref().map_or(Vec::new(), Potential::steepness);
    let solved = match &solution.potential {
        Some(Potential { values, gradient }) => {
            Solved::Potential { potential: values, gradient, steepness: &steepness }
        }
        None => Solved::Elastic {
            displacement: &solution.displacement,
            reaction_force: &solution.reaction_force,
            von_mises: &solution.stresses.von_mises,
            stress: &solution.stresses.stress,
        },
    };
    let fields = Fields { solved, material: &model.cell_material };
    let mut summary = summary::of(model, solution, read);
    summary.timings_s.total = start.elapsed().as_secs_f64();
    let background = Background {
        case_text: &model.case_text,
        analysis: model.analysis.name(),
        materials: &model.materials,
        loads: &model.applied,
        tolerance: model.solver.tolerance,
    };
    let options = Options { fields: &model.fields, compress: false, picture: true, report: Some(background) };
    let files = output::write_all(dir, &model.mesh, &fields, &mut summary, &options)?;
    Ok(preview::of(&model.mesh, &fields, quiet) + &summary::text(&summary, &files))
}
