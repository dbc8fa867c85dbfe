//! `warpfem solve CASE`.

use super::earlier::Earlier;
use super::failure::Failure;
use super::progress::Progress;
use super::terminal::{self, Detail};
use super::{devices, preview, print, summary};
use crate::device::DeviceName;
use crate::linalg::Space;
use crate::model::case::Case;
use crate::model::{self, MassProperties, Model, SolverOptions};
use crate::output::{self, Options, Origin, PointField, Shot, Viewpoint, cases};
use crate::pipeline::{self, Solution};
use crate::plan::fits;
use crate::result::choices::{
    Acceleration, Choice, Format, Method, ORDERS, Ordering, Precision, Preconditioner, Strategy, find,
};
use crate::result::{Change, Changed, Error, Result};
use crate::solve::Monitor;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

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

#[derive(Debug, clap::Args)]
#[command(after_help = "Flags take precedence over the case file's [solver].

Writes into DIR:
  <case>.html          report, for a browser
  <case>.vtu           fields, for ParaView
  <case>_nodes.csv     results at the nodes
  <case>_elements.csv  results at the centres of the elements
  <case>.png           picture; with --field or --view also <case>_<field>_<side>.png
  summary.json         results in numbers

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
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
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
        options.max_iterations = self.max_iterations.map_or(options.max_iterations, |n| n as usize);
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let progress = Progress::new(arguments.quiet);
    let mut job = Job::read(&arguments.case, arguments.output.as_deref(), arguments.device, &progress)?;
    job.draw(&arguments.field, &arguments.view)?;
    arguments.override_options(&mut job.model.solver);
    job.with_symbols = !arguments.no_symbols;
    let detail = if arguments.verbose { Detail::Verbose } else { Detail::Short { spare: 0 } };
    let (solution, said) = job.run(arguments.device, &progress, arguments.quiet, detail)?;
    progress.finish();
    end(solution, (!arguments.quiet).then_some(said.as_str()))
}

/// Prints what is to be said; a solution that has not converged is an error.
pub(super) fn end(solution: Solution, said: Option<&str>) -> anyhow::Result<()> {
    let printed = said.map_or(Ok(()), print::text);
    // Whether anybody reads on is the lesser news.
    if solution.outcome.converged { printed } else { Err(Failure::NotConverged(Box::new(solution)).into()) }
}

/// A case on its way to results.
pub(super) struct Job {
    pub(super) model: Model,
    /// The case file, and where its mesh comes from.
    case: String,
    mesh: String,
    pictures: Vec<Shot>,
    with_symbols: bool,
    dir: PathBuf,
    start: Instant,
    /// Computed while the device solves.
    mass: OnceLock<Option<MassProperties>>,
    /// Seconds that reading took.
    pub(super) read: f64,
}

impl Job {
    /// Reads a case and its mesh; results will go to `dir`, or else to a folder of the case's name.
    pub(super) fn read(
        path: &Path,
        dir: Option<&Path>,
        device: DeviceName,
        progress: &Progress,
    ) -> anyhow::Result<Job> {
        let start = Instant::now();
        progress.phase("read");
        let (case, model) = read_model(path, device)?;
        let mesh = match &case.tables.mesh.get_ref().file {
            Some(_) => path.with_file_name(case.mesh_name()).display().to_string(),
            None => case.mesh_name(),
        };
        let dir = dir.map_or_else(|| PathBuf::from("results").join(&model.name), Path::to_path_buf);
        let pictures = vec![Shot::default()];
        let (case, read) = (path.display().to_string(), start.elapsed().as_secs_f64());
        let job = Job { model, case, mesh, pictures, with_symbols: true, dir, start, mass: OnceLock::new(), read };
        job.check()?;
        Ok(job)
    }

    /// Refuses files that cannot be written, before a long computation.
    fn check(&self) -> output::Result<()> {
        match self.model.load_cases.is_empty() {
            true => output::check_results(&self.dir, &self.model.name, &self.pictures),
            false => output::check_names(&self.dir, cases::names(&self.model, &self.pictures).into_iter()),
        }
    }

    /// Takes pictures of these fields from these sides beside the usual one.
    fn draw(&mut self, fields: &[String], views: &[Viewpoint]) -> output::Result<()> {
        let physics = self.model.analysis.physics();
        let has_strength = self.model.materials.iter().any(|material| material.yield_strength.is_some());
        let fields: output::Result<Vec<_>> =
            fields.iter().map(|name| PointField::named(name, physics, has_strength)).collect();
        self.pictures = Shot::all(&fields?, views);
        self.check()
    }

    /// Solves and writes; the solution that the exit code is of, and what to say.
    pub(super) fn run(
        &self,
        device: DeviceName,
        monitor: &dyn Monitor,
        quiet: bool,
        detail: Detail,
    ) -> anyhow::Result<(Solution, String)> {
        if !self.model.load_cases.is_empty() {
            return super::cases::run(self, device, monitor, quiet, detail);
        }
        let solution = self.solve(device, monitor)?;
        let said = self.write(&solution, quiet, detail)?;
        Ok((solution, said))
    }

    /// The folder for the results.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Seconds since it was begun.
    pub(super) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// What is written beside the results.
    pub(super) fn options(&self) -> Options<'_> {
        let origin = Origin { case: &self.case, mesh: &self.mesh, written: SystemTime::now() };
        Options { pictures: &self.pictures, with_symbols: self.with_symbols, origin }
    }

    /// The fields that pictures are of.
    pub(super) fn drawn(&self) -> Vec<&'static str> {
        self.pictures.iter().filter_map(|shot| shot.field.as_ref()).map(|field| field.info.name).collect()
    }

    /// The solution. Where `auto` stands for a GPU that cannot solve it, the CPU does.
    fn solve(&self, device: DeviceName, monitor: &dyn Monitor) -> Result<Solution> {
        let fields = self.drawn();
        let solve =
            |model: &Model, device| Ok(vec![pipeline::solve_asked(&Space::open(device)?, model, &fields, monitor)?]);
        let mut solutions = std::thread::scope(|scope| {
            scope.spawn(|| self.mass());
            solve_or_fall_back(&self.model, [device, device.resolve()], solve)
        })?;
        Ok(solutions.swap_remove(0))
    }

    pub(super) fn mass(&self) -> Option<MassProperties> {
        *self.mass.get_or_init(|| self.model.mass_properties())
    }

    /// Writes the results; returns what to say, with a small picture where a terminal can show it and it is not to be
    /// `quiet`.
    fn write(&self, solution: &Solution, quiet: bool, detail: Detail) -> anyhow::Result<String> {
        let model = &self.model;
        let mut summary = summary::of(model, solution, self.mass(), self.read);
        summary.timings_s.total = self.seconds();
        let before = Earlier::read(&self.dir);
        let files = output::write_all(&self.dir, model, &solution.step, &mut summary, &self.options())?;
        Ok(preview::of(&model.mesh, &solution.step, quiet) + &terminal::text(&summary, &files, before.as_ref(), detail))
    }
}

/// Solves on the device that was asked for, which is `chosen`; if `auto` has chosen one that fails or has too little
/// memory, on the CPU, with a warning.
pub(super) fn solve_or_fall_back(
    model: &Model,
    [asked, chosen]: [DeviceName; 2],
    solve: impl Fn(&Model, DeviceName) -> Result<Vec<Solution>>,
) -> Result<Vec<Solution>> {
    match solve(model, chosen) {
        Err(error @ (Error::OutOfMemory { .. } | Error::Device(_)))
            if asked == DeviceName::Auto && chosen != DeviceName::Cpu =>
        {
            fits::check_mesh(&model.mesh, model.analysis, true)?;
            let mut solutions = solve(model, DeviceName::Cpu)?;
            let change = Change { choice: Changed::Device, from: "gpu", to: "cpu", reason: error.to_string() };
            solutions.iter_mut().for_each(|solution| solution.outcome.changes.insert(0, change.clone()));
            Ok(solutions)
        }
        ended => ended,
    }
}

/// Reads a case and its mesh, and checks both, before anything large whether a device's memory can hold it.
pub fn read_model(path: &Path, device: DeviceName) -> anyhow::Result<(Case, Model)> {
    let case = Case::read(path).map_err(model::Error::from)?;
    let on_host = !matches!(device.resolve(), DeviceName::Cuda(_));
    fits::check_case(&case, on_host)?;
    let mesh = case.mesh()?;
    fits::check_mesh(&mesh, case.analysis(), on_host)?;
    let model = Model::resolve(&case, mesh)?;
    Ok((case, model))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: &str = "[mesh]\ngenerate = { kind = \"box\", element = \"hex8\", size = [1.0, 1.0, 1.0], cells = [1, 1, 1] }\n\
                       [[material]]\nname = \"soft\"\nyoung = 1e3\npoisson = 0.3\n\
                       [[support]]\non = \"xmin\"\nfix = \"xyz\"\n[[force]]\non = \"xmax\"\ntotal = [1.0, 0.0, 0.0]\n";

    /// What comes of a GPU that fails like this.
    fn with_a_gpu_that(fails: fn() -> Error, asked: DeviceName) -> Result<Solution> {
        let case = Case::parse(Path::new("case.toml"), BOX).unwrap();
        let model = Model::resolve(&case, case.mesh().unwrap()).unwrap();
        let solve = |model: &Model, device| match device {
            DeviceName::Cpu => Ok(vec![pipeline::solve(model, DeviceName::Cpu, &crate::solve::Silent)?]),
            _ => Err(fails()),
        };
        Ok(solve_or_fall_back(&model, [asked, DeviceName::Cuda(0)], solve)?.swap_remove(0))
    }

    fn full() -> Error {
        Error::OutOfMemory { device: "a GPU".into(), needed: Some(1 << 40), available: Some(1 << 30) }
    }

    fn old() -> Error {
        Error::Device("cuda:0 cannot be used: its driver is for CUDA 10.2".into())
    }

    #[test]
    fn auto_goes_on_on_the_cpu_and_says_why() {
        for (fails, word) in [(full as fn() -> Error, "out of memory on a GPU: 1024.0 GiB"), (old, "CUDA 10.2")] {
            let outcome = with_a_gpu_that(fails, DeviceName::Auto).unwrap().outcome;
            assert!(outcome.converged && outcome.changes.len() == 1);
            let warning = outcome.changes[0].to_string();
            assert!(warning.starts_with("solved on the CPU instead: ") && warning.contains(word), "{warning}");
        }
    }

    #[test]
    fn a_gpu_that_was_asked_for_fails_with_its_own_exit_code() {
        for (fails, code) in [(full as fn() -> Error, 6), (old, 7)] {
            let found = with_a_gpu_that(fails, DeviceName::Cuda(0));
            assert_eq!(found.unwrap_err().exit_code(), code);
        }
        // What is wrong with the model is wrong with it everywhere.
        let found = with_a_gpu_that(|| Error::Breakdown, DeviceName::Auto);
        assert_eq!(found.unwrap_err().exit_code(), 4);
    }
}
