//! `warpfem-bench auto`: what `auto` takes, beside everything that it could have taken, over bodies of many shapes. The
//! thresholds of [`warpfem::plan`] and the speeds there are made from its figures.

use super::clock::Clock;
use super::page;
use super::problem::model;
use serde::Serialize;
use std::path::PathBuf;
use warpfem::Result;
use warpfem::cli::devices;
use warpfem::cli::{print, table};
use warpfem::device::DeviceName;
use warpfem::device::bandwidth::median;
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::pipeline::{Solution, solve_on};
use warpfem::plan::{self, DeviceFacts};
use warpfem::plan::{Speed, Work};
use warpfem::result::Error;
use warpfem::result::choices::{Method, Preconditioner};
use warpfem::solve::Silent;
use warpfem_text::count;

/// What is measured.
#[derive(Debug, clap::Args)]
#[command(after_help = "Each body is clamped at x = 0 and loaded at its other end; a potential has a source.

Examples:
  warpfem-bench auto --device cpu --json auto.json
  warpfem-bench auto --device cuda --unknowns 10000,100000,1000000,3000000 --runs 3")]
pub struct Arguments {
    /// auto, cpu, cuda or cuda:1.
    #[arg(long, default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Unknowns that each body has about as many of, separated by commas.
    #[arg(long, value_name = "N,M,..", value_delimiter = ',', default_value = "30000,200000")]
    unknowns: Vec<usize>,
    /// Bodies whose names hold one of these words, separated by commas [default: all].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    only: Vec<String>,
    /// Methods: jacobi, amg, direct and auto, separated by commas.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_value = "jacobi,amg,direct,auto",
        value_parser = clap::builder::PossibleValuesParser::new(["jacobi", "amg", "direct", "auto"]))]
    methods: Vec<String>,
    /// Solutions of each whose median is reported; on a GPU one more before them, which loads kernels.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Iterations that Jacobi and multigrid give up after.
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: u32,
    /// Also write the figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A kind of body.
struct Body {
    /// Its shape, its element, and what else it is known by.
    name: &'static str,
    /// Cells along the edges, of a scale.
    cells: fn(usize) -> [usize; 3],
    /// Lengths of the edges, of the cells along them.
    size: fn([usize; 3]) -> [f64; 3],
    poisson: f64,
}

const CUBE: fn(usize) -> [usize; 3] = |n| [n; 3];
const PLATE: fn(usize) -> [usize; 3] = |n| [n, n, 1];
const BEAM: fn(usize) -> [usize; 3] = |n| [50 * n, n, n];
/// Cells as long as wide.
const EVEN: fn([usize; 3]) -> [f64; 3] = |cells| cells.map(|n| n as f64);
/// As thin as a hundredth.
const SHEET: fn([usize; 3]) -> [f64; 3] = |_| [1.0, 1.0, 0.01];

const BODIES: [Body; 15] = [
    Body { name: "cube hex8", cells: CUBE, size: EVEN, poisson: 0.3 },
    Body { name: "cube tet4", cells: CUBE, size: EVEN, poisson: 0.3 },
    Body { name: "cube tet10", cells: CUBE, size: EVEN, poisson: 0.3 },
    Body { name: "cube hex20", cells: CUBE, size: EVEN, poisson: 0.3 },
    Body { name: "cube hex8 nu .499", cells: CUBE, size: EVEN, poisson: 0.499 },
    Body { name: "cube hex8 20:1", cells: CUBE, size: |n| [20.0, n[1] as f64 / n[0] as f64, 1.0], poisson: 0.3 },
    Body { name: "slab hex8", cells: |n| [6 * n, 6 * n, n], size: EVEN, poisson: 0.3 },
    Body { name: "plate hex8", cells: PLATE, size: SHEET, poisson: 0.3 },
    Body { name: "plate tet10", cells: PLATE, size: SHEET, poisson: 0.3 },
    Body { name: "plate hex20", cells: PLATE, size: SHEET, poisson: 0.3 },
    Body { name: "beam hex8", cells: BEAM, size: EVEN, poisson: 0.3 },
    Body { name: "beam tet10", cells: BEAM, size: EVEN, poisson: 0.3 },
    Body { name: "square quad4", cells: |n| [n, n, 0], size: EVEN, poisson: 0.3 },
    Body { name: "potential tri3", cells: |n| [n, n, 0], size: EVEN, poisson: 0.0 },
    Body { name: "potential hex8", cells: CUBE, size: EVEN, poisson: 0.0 },
];

impl Body {
    fn element(&self) -> &'static str {
        self.name.split(' ').nth(1).unwrap_or_default()
    }

    fn is_plane(&self) -> bool {
        matches!(self.element(), "quad4" | "tri3")
    }

    fn is_potential(&self) -> bool {
        self.name.starts_with("potential")
    }

    /// Unknowns with these cells.
    fn unknowns(&self, cells: [usize; 3]) -> usize {
        let corners = cells.map(|n| n + 1);
        let nodes = match self.element() {
            "tet10" => cells.map(|n| 2 * n + 1).iter().product(),
            "hex20" => {
                let edges = (0..3).map(|c| cells[c] * corners[(c + 1) % 3] * corners[(c + 2) % 3]).sum::<usize>();
                corners.iter().product::<usize>() + edges
            }
            _ => corners.iter().product(),
        };
        let size = match (self.is_potential(), self.is_plane()) {
            (true, _) => 1,
            (_, true) => 2,
            _ => 3,
        };
        size * nodes
    }

    /// The body with at least so many unknowns.
    fn model(&self, unknowns: usize) -> Result<Model> {
        let scales = std::iter::successors(Some(1), |n| Some(n + 1));
        let cells = scales.map(self.cells).find(|cells| self.unknowns(*cells) >= unknowns).unwrap_or([1; 3]);
        model("body.toml", &self.case(cells))
    }

    fn case(&self, cells: [usize; 3]) -> String {
        let elastic = |kind: &str, weight: &str| {
            let material = format!("young = 2e11\npoisson = {}\ndensity = 7850.0", self.poisson);
            format!("kind = \"{kind}\"\n[gravity]\nacceleration = {weight}\n[[material]]\nname = \"m\"\n{material}")
        };
        let (shape, dim) = if self.is_plane() { ("rectangle", 2) } else { ("box", 3) };
        let (physics, held) = match (self.is_potential(), dim) {
            (true, _) => {
                let physics =
                    "kind = \"laplace\"\n[source]\nvalue = 1.0\n[[material]]\nname = \"m\"\nconductivity = 1.0";
                (physics.into(), "value = 0.0")
            }
            (_, 2) => (elastic("plane_stress", "[0.0, -9.81]"), "fix = \"xy\""),
            _ => (elastic("elasticity", "[0.0, 0.0, -9.81]"), "fix = \"xyz\""),
        };
        let (element, size, cells) = (self.element(), &(self.size)(cells)[..dim], &cells[..dim]);
        format!(
            "[mesh]\ngenerate = {{ kind = \"{shape}\", element = \"{element}\", size = {size:?}, cells = {cells:?} }}\n\
             [analysis]\n{physics}\n[[support]]\non = \"xmin\"\n{held}\n",
        )
    }
}

/// A solution by one method.
#[derive(Debug, Serialize)]
struct Run {
    /// `jacobi`, `amg`, `direct` or `auto`.
    asked: String,
    /// What was used: a preconditioner or `direct`.
    used: String,
    /// From the mesh in memory to stresses there.
    wall_s: f64,
    /// User and system seconds of the same.
    cpu_s: f64,
    /// The preconditioner and the iteration, or the factor and the solutions with it.
    solve_s: f64,
    /// What was predicted of that.
    predicted_s: Option<f64>,
    iterations: usize,
    converged: bool,
}

/// What was measured of a body.
#[derive(Debug, Serialize)]
struct Row {
    body: &'static str,
    unknowns: usize,
    /// Values of L per unknown.
    factor_per_unknown: f64,
    /// Operations of its factorisation per unknown.
    operations_per_unknown: f64,
    /// Why `auto` decides as it does.
    reason: String,
    runs: Vec<Run>,
    /// The time of `auto` over that of the fastest that converged: seconds of processors on the CPU, of the wall on a GPU.
    over_best: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    device: String,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let space = Space::open(arguments.device)?;
    let report: Report = measure(&space, arguments)?;
    page::write(arguments.json.as_deref(), &report)?;
    print::text(&text(&report))
}

fn measure(space: &Space, arguments: &Arguments) -> Result<Report> {
    let wanted =
        |body: &&Body| arguments.only.is_empty() || arguments.only.iter().any(|word| body.name.contains(word.as_str()));
    let speed = devices::computers().into_iter().find(|computer| computer.memory.is_none() == space.on_host());
    let mut rows = Vec::new();
    for unknowns in &arguments.unknowns {
        for body in BODIES.iter().filter(wanted) {
            let row = row(space, arguments, body, *unknowns, speed.as_ref().map(|computer| &computer.speed))?;
            // Large ones take minutes: what has been measured is shown.
            eprint!("{}", table::text(&HEADS, &[cells(&row)]));
            rows.push(row);
        }
    }
    Ok(Report { device: space.name(), rows })
}

fn row(
    space: &Space,
    arguments: &Arguments,
    body: &'static Body,
    unknowns: usize,
    speed: Option<&Speed>,
) -> Result<Row> {
    let mut model = body.model(unknowns)?;
    let unknowns = model.mesh.coords.len() * model.analysis.components();
    let fill = plan::fill(&model);
    let decision = plan::decide(&model, &DeviceFacts::of(space));
    let mut runs = Vec::new();
    for asked in &arguments.methods {
        let (method, preconditioner) = match asked.as_str() {
            "auto" => (None, None),
            "direct" => (Some(Method::Direct), None),
            name => (Some(Method::Cg), Preconditioner::from_name(name)),
        };
        (model.solver.method, model.solver.preconditioner) = (method, preconditioner);
        model.solver.max_iterations = arguments.max_iterations as usize;
        let Some((solution, [wall_s, cpu_s])) = timed(space, arguments, &model)? else { continue };
        let plan = &solution.used.plan;
        let (used, work) = match plan.preconditioner {
            Some(preconditioner) => (preconditioner.name(), Work::of(&model, preconditioner, plan.precision)),
            None => (plan.method.name(), Work::without_iteration(&model, plan.precision, Some(fill))),
        };
        runs.push(Run {
            asked: asked.clone(),
            used: used.into(),
            wall_s,
            cpu_s,
            solve_s: solution.timings.solve,
            predicted_s: speed.and_then(|speed| work.seconds(speed)).map(|[setup, solution]| setup + solution),
            iterations: solution.outcome.iterations,
            converged: solution.outcome.converged,
        });
    }
    let per = |value: f64| value / unknowns as f64;
    Ok(Row {
        body: body.name,
        unknowns,
        factor_per_unknown: per(fill.nonzeros as f64),
        operations_per_unknown: per(fill.operations),
        reason: decision.reason(),
        over_best: over_best(&runs, space.on_host()),
        runs,
    })
}

/// A solution, and the medians of wall and of processor seconds; none where it has too little memory.
fn timed(space: &Space, arguments: &Arguments, model: &Model) -> Result<Option<(Solution, [f64; 2])>> {
    let (mut wall, mut cpu, mut last) = (Vec::new(), Vec::new(), None);
    let warm_ups = u32::from(!space.on_host());
    for sample in 0..arguments.runs + warm_ups {
        let clock = Clock::start();
        let solution = match solve_on(space, model, &Silent) {
            Err(Error::OutOfMemory { .. } | Error::Direct(_)) => return Ok(None),
            solution => solution?,
        };
        if sample >= warm_ups {
            let (seconds, of_processors) = clock.seconds();
            wall.push(seconds);
            cpu.push(of_processors.unwrap_or(0.0));
        }
        last = Some(solution);
    }
    Ok(last.map(|solution| (solution, [median(wall), median(cpu)])))
}

/// The time of `auto` over that of the fastest other that converged.
fn over_best(runs: &[Run], on_host: bool) -> Option<f64> {
    let time = |run: &Run| if on_host { run.cpu_s } else { run.wall_s };
    let auto = runs.iter().find(|run| run.asked == "auto" && run.converged).map(time)?;
    let best = runs.iter().filter(|run| run.asked != "auto" && run.converged).map(time).reduce(f64::min)?;
    Some(auto / best)
}

const HEADS: [&str; 10] =
    ["body", "unknowns", "L per unknown", "jacobi", "amg", "direct", "auto", "takes", "over best", "predicted"];

/// Seconds of processors and of the wall, and what came of it.
fn cells(row: &Row) -> Vec<String> {
    let find = |asked: &str| row.runs.iter().find(|run| run.asked == asked);
    let times = |asked: &str| match find(asked) {
        Some(run) => {
            let iterations = if run.used == "direct" { String::new() } else { format!(" ({})", run.iterations) };
            let not = if run.converged { "" } else { " not" };
            format!("{:.2}/{:.2}{iterations}{not}", run.cpu_s, run.wall_s)
        }
        None => "-".into(),
    };
    let auto = find("auto");
    let predicted = auto.and_then(|run| Some(format!("{:.2} of {:.2}", run.predicted_s?, run.solve_s)));
    let measured = ["jacobi", "amg", "direct", "auto"].map(times).to_vec();
    let before = vec![row.body.to_owned(), count(row.unknowns), format!("{:.0}", row.factor_per_unknown)];
    let after = vec![
        auto.map_or("-".into(), |run| run.used.clone()),
        row.over_best.map_or("-".into(), |ratio| format!("{ratio:.2}")),
        predicted.unwrap_or_else(|| "-".into()),
    ];
    [before, measured, after].concat()
}

fn text(report: &Report) -> String {
    let rows: Vec<Vec<String>> = report.rows.iter().map(cells).collect();
    let reasons: Vec<String> =
        report.rows.iter().map(|row| format!("{}, {}: {}\n", row.body, count(row.unknowns), row.reason)).collect();
    format!(
        "{}: seconds of processors / of the wall (iterations) from a mesh in memory to stresses; predicted seconds of the solution\n\n{}\n{}",
        report.device,
        table::text(&HEADS, &rows),
        reasons.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_the_unknowns_that_are_asked_for() {
        for body in &BODIES {
            let model = body.model(1_000).unwrap();
            let found = model.mesh.coords.len() * model.analysis.components();
            assert!((1_000..6_000).contains(&found), "{}: {found}", body.name);
        }
    }

    #[test]
    fn the_best_is_the_fastest_that_converged() {
        let run = |asked: &str, cpu_s, converged| Run {
            asked: asked.into(),
            used: String::new(),
            wall_s: 2.0 * cpu_s,
            cpu_s,
            solve_s: 0.0,
            predicted_s: None,
            iterations: 1,
            converged,
        };
        let runs = [run("jacobi", 1.0, false), run("amg", 2.0, true), run("direct", 4.0, true), run("auto", 3.0, true)];
        assert_eq!(over_best(&runs, true), Some(1.5));
        assert_eq!(over_best(&runs[..3], true), None);
    }
}
