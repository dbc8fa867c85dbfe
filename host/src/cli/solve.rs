//! `warpfem solve CASE`.

use super::failure::Failure;
use super::job::Job;
use super::progress::Progress;
use super::terminal::Detail;
use super::{cases, devices, mpi, print};
use crate::device::DeviceName;
use crate::mesh::write::Form;
use crate::model::SolverOptions;
use crate::output::Viewpoint;
use crate::pipeline::Solution;
use crate::result::Error;
use crate::result::choices::{
    Acceleration, Choice, Format, Method, ORDERS, Operator, Ordering, Precision, Preconditioner, Strategy, find,
};
use crate::solve::Monitor;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// A choice that may be left to the program.
pub type Auto<C> = Option<C>;

/// Reads the word of one of these choices.
pub fn one_of<C: Choice>(choices: &'static [C]) -> impl TypedValueParser<Value = C> {
    let words = PossibleValuesParser::new(choices.iter().map(|choice| choice.word()));
    words.try_map(move |word| find(choices, &word).ok_or("there is no such choice"))
}

/// Reads `auto`, or the word of one of these choices.
pub fn auto_or<C: Choice>(choices: &'static [C]) -> impl TypedValueParser<Value = Auto<C>> {
    let words = choices.iter().map(|choice| choice.word());
    PossibleValuesParser::new(std::iter::once("auto").chain(words)).map(move |word| find(choices, &word))
}

/// Builds without sparse factors refuse large direct solutions.
const METHOD_HELP: &str = match cfg!(feature = "direct") {
    true => "Solution method",
    false => "Solution method; direct on the CPU only up to 5,000 unknowns: built without the feature `direct`",
};

/// More threads than any machine has only wait for each other.
const MAX_THREADS: i64 = 1024;

/// Devices of one machine at most.
const MAX_DEVICES: i64 = 64;

#[derive(Debug, clap::Args)]
#[command(after_help = "Flags take precedence over the case file's [solver].

Writes into DIR:
  <case>.html          report, for a browser
  <case>.vtu           fields, for ParaView
  <case>_nodes.csv     results at the nodes
  <case>_elements.csv  results at the centres of the elements
  <case>_tables.csv    reactions, forces through joints, remote points, by name
  <case>_response.csv  with [harmonic]: amplitudes and phases of the probes
  <case>.frd           with --frd: fields at the nodes, for CalculiX's viewer cgx
  <case>.png           picture; with --field or --view also <case>_<field>_<side>.png
  summary.json         results in numbers
Of a deck, <deck>.frd and <deck>.dat go beside the deck, or into DIR too if that is given.

Examples:
  warpfem solve meshes/bracket.toml
  warpfem solve meshes/bracket.toml -o out --device cpu --tolerance 1e-10")]
pub struct Arguments {
    /// The case file, or a deck (.inp).
    case: PathBuf,
    /// Folder for the results [default: results/<case>].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// auto (a GPU if there is one), cpu, cuda, cuda:1 or emulate.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Number of devices that solve together. GPUs: from the one that --device names upwards. CPU: its threads are shared.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=MAX_DEVICES))]
    devices: u16,
    /// Products with the matrix: assembled (stored) or matrix_free (computed element by element, each time).
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Operator::ALL))]
    operator: Option<Auto<Operator>>,
    /// Storage format of the matrix.
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Format::ALL))]
    format: Option<Auto<Format>>,
    /// Order of the nodes.
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Ordering::ALL))]
    ordering: Option<Auto<Ordering>>,
    /// Preconditioner.
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Preconditioner::ALL))]
    preconditioner: Option<Auto<Preconditioner>>,
    /// Order of polynomial preconditioners: products per application.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(orders()))]
    order: Option<u32>,
    /// Precision: double, single, mixed (double with a preconditioner in single), or mixed_half (its matrix in 16
    /// bits).
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Precision::ALL))]
    precision: Option<Auto<Precision>>,
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Method::ALL), help = METHOD_HELP)]
    method: Option<Auto<Method>>,
    /// Acceleration of method femses.
    #[arg(long, value_name = "NAME", value_parser = one_of(&Acceleration::ALL))]
    acceleration: Option<Acceleration>,
    /// Assembly strategy.
    #[arg(long, value_name = "NAME", value_parser = auto_or(&Strategy::ALL))]
    assembly: Option<Auto<Strategy>>,
    /// Estimated relative error to stop at, in the energy norm, between 0 and 1 [default: 1e-6].
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Relative residual to stop at instead, to compare with other programs.
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true, conflicts_with = "tolerance")]
    residual_tolerance: Option<f64>,
    /// Count the modes below the last ones by a factor, to see that none is missed.
    #[arg(long)]
    check_count: bool,
    /// Largest number of iterations.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// CPU threads [default: all the machine has].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_THREADS))]
    pub(super) threads: Option<u32>,
    /// More pictures, seen from these sides: -y is where y is least; several by commas: iso,-y,z.
    #[arg(long, value_name = "SIDE", value_parser = view, value_delimiter = ',', allow_hyphen_values = true)]
    view: Vec<Viewpoint>,
    /// More pictures, of these fields at the nodes; several by commas: displacement,stress_xx.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    field: Vec<String>,
    /// Also write CalculiX's file of results, in text or binary.
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(Form::NAMES), num_args = 0..=1,
        require_equals = true, default_missing_value = Form::NAMES[0])]
    frd: Option<String>,
    /// Estimate the error that the mesh makes, of the whole and of each element: field error.
    #[arg(long)]
    mesh_error: bool,
    /// Leave supports and loads out of picture and report.
    #[arg(long)]
    no_symbols: bool,
    /// Print errors only.
    #[arg(long)]
    quiet: bool,
    /// Print everything: all warnings and reactions, how it was solved, times, each file.
    #[arg(short, long, conflicts_with = "quiet")]
    verbose: bool,
}

/// [`ORDERS`] as clap takes them.
pub fn orders() -> std::ops::RangeInclusive<i64> {
    *ORDERS.start() as i64..=*ORDERS.end() as i64
}

/// Reads a tolerance.
pub fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number between 0 and 1".into()),
    }
}

/// The side that a name on the command line stands for.
pub(super) fn view(name: &str) -> Result<Viewpoint, String> {
    let names = || Viewpoint::ALL.map(|(name, _)| name).join(", ");
    Viewpoint::named(name).ok_or_else(|| format!("expected a side to look from: one of {}", names()))
}

impl Arguments {
    /// Flags take precedence over the case file.
    fn override_options(&self, options: &mut SolverOptions) {
        options.operator = self.operator.unwrap_or(options.operator);
        options.format = self.format.unwrap_or(options.format);
        options.ordering = self.ordering.unwrap_or(options.ordering);
        options.preconditioner = self.preconditioner.unwrap_or(options.preconditioner);
        options.order = self.order.map_or(options.order, |n| n as usize);
        options.precision = self.precision.unwrap_or(options.precision);
        options.method = self.method.unwrap_or(options.method);
        options.acceleration = self.acceleration.unwrap_or(options.acceleration);
        options.assembly = self.assembly.unwrap_or(options.assembly);
        if let Some(tolerance) = self.tolerance {
            (options.tolerance, options.residual_tolerance) = (tolerance, None);
        }
        options.residual_tolerance = self.residual_tolerance.or(options.residual_tolerance);
        options.check_count |= self.check_count;
        options.max_iterations = self.max_iterations.map_or(options.max_iterations, |n| n as usize);
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let comm = mpi::join()?;
    if let Some(comm) = comm.filter(|comm| comm.rank() > 0) {
        return Ok(mpi::serve(arguments.device, comm)?);
    }
    if comm.is_some() && arguments.devices != 1 {
        return Err(
            Error::Devices("under mpirun each process has one device: `--devices` does not go with it".into()).into()
        );
    }
    let progress = Progress::new(arguments.quiet);
    let mut job = Job::read(&arguments.case, arguments.output.as_deref(), arguments.device, &progress)?;
    job.draw(&arguments.field, &arguments.view)?;
    job.model.set_solver(|solver| arguments.override_options(solver));
    if let Some(form) = arguments.frd.as_deref() {
        job.model.frd = Form::from_name(form);
    }
    if arguments.mesh_error {
        let more =
            ["error", "error_nodal"].into_iter().filter(|name| !job.model.fields.iter().any(|known| known == name));
        let more: Vec<String> = more.map(String::from).collect();
        job.model.fields.extend(more);
    }
    (job.devices, job.comm) = (arguments.devices.into(), comm);
    comm.map_or(Ok(()), mpi::all_are_ready)?;
    job.with_symbols = !arguments.no_symbols;
    let detail = if arguments.verbose { Detail::Verbose } else { Detail::Short { spare: 0 } };
    let (solution, said) = solve(&job, arguments.device, &progress, (arguments.quiet, detail))?;
    progress.finish();
    end(solution, (!arguments.quiet).then_some(said.as_str()))
}

/// Solves a job and writes its results. Returns the solution that the exit code is of, and what to say.
pub(super) fn solve(
    job: &Job,
    device: DeviceName,
    monitor: &dyn Monitor,
    (quiet, detail): (bool, Detail),
) -> anyhow::Result<(Solution, String)> {
    if job.model.has_steps() {
        return cases::run(job, device, monitor, (quiet, detail));
    }
    let solution = job.solve(device, monitor)?;
    let said = job.write(&solution, quiet, detail)?;
    Ok((solution, said))
}

/// Prints what is to be said; a solution that has not converged is an error.
pub(super) fn end(solution: Solution, said: Option<&str>) -> anyhow::Result<()> {
    let printed = said.map_or(Ok(()), print::text);
    // Whether anybody reads on is the lesser news.
    if solution.outcome.converged { printed } else { Err(Failure::NotConverged(Box::new(solution)).into()) }
}
