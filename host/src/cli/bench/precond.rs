//! `warpfem bench precond`: SBELL's tables 3 to 5 in form, iterations and time of every preconditioner and order.

use super::header::Header;
use super::{Common, matrices, median, write_json};
use crate::cli::solve::orders;
use crate::cli::{print, summary, table};
use clap::builder::PossibleValuesParser;
use kernels_rs::half::F16;
use kernels_rs::real::{Real, Stored};
use serde::Serialize;
use std::ops::Deref;
use std::time::Instant;
use warpfem::assembly::Ordering;
use warpfem::backend::Backend;
use warpfem::backend::device::with_backend;
use warpfem::model::Model;
use warpfem::output::summary::Multigrid;
use warpfem::pipeline::System;
use warpfem::precond::{self, Context};
use warpfem::solve::iteration::{self, Builder, Iteration};
use warpfem::solve::{CgOptions, Silent};
use warpfem::{Result, sparse};

/// Solutions are timed at most this often: one takes many iterations.
pub(super) const MAX_SOLUTIONS: u32 = 5;

/// What is compared, and when to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without INPUT: a steel box, clamped at x = 0 under its own weight.

Examples:
  warpfem bench precond --element quad4 --cells 400 --device cuda --mixed --json precond.json
  warpfem bench precond meshes/vase.toml --preconditioner jacobi,least_squares --order 4,6,8")]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Preconditioners, separated by commas [default: all but none].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = PossibleValuesParser::new(precond::names()))]
    preconditioner: Vec<String>,
    /// Orders of polynomials, separated by commas.
    #[arg(long, value_name = "M,N,..", value_delimiter = ',', default_value = "2,3,4,5,6",
        value_parser = clap::value_parser!(u32).range(orders()))]
    order: Vec<u32>,
    /// Mixed precisions as well: polynomials in single of a matrix in single and of one in half, and iterative refinement.
    #[arg(long)]
    mixed: bool,
    /// Storage format.
    #[arg(long, value_name = "NAME", default_value = sparse::AUTO, value_parser = PossibleValuesParser::new(sparse::formats()))]
    format: String,
    /// Relative residual to stop at.
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = crate::cli::solve::tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Iterations to stop after, whatever the residual [default: the case's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
}

/// The figures of one preconditioner.
#[derive(Debug, Serialize)]
struct Row {
    preconditioner: String,
    /// Its order, if it is a polynomial.
    order: Option<u32>,
    /// Whether it is in single precision, and the rest in double.
    mixed: bool,
    /// What the matrix is stored in that it takes products with.
    storage: &'static str,
    #[serde(flatten)]
    solved: Solved,
    /// Times as fast as the first row, set-up included.
    speedup: f64,
}

/// How a system was solved.
#[derive(Debug, Serialize)]
pub(super) struct Solved {
    pub iterations: usize,
    /// Products with the matrix, those of the preconditioner among them.
    pub spmvs: usize,
    pub converged: bool,
    /// `||b - K u|| / ||b||`, recomputed.
    pub relative_residual: f64,
    /// Milliseconds to make the preconditioner: the median.
    pub setup_ms: f64,
    /// Milliseconds of the iteration: the median.
    pub solve_ms: f64,
    /// That over the products.
    pub spmv_ms: f64,
    /// What an iteration leaves of the residual, in the geometric mean.
    pub convergence_factor: f64,
    /// The levels, of multigrid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multigrid: Option<Multigrid>,
    /// The relative residual after each iteration.
    pub history: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    format: String,
    tolerance: f64,
    /// Iterations to stop after, if that was asked for.
    max_iterations: Option<u32>,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    let mut model = common.problem.model(common)?;
    if let Some(limit) = arguments.max_iterations {
        model.solver.max_iterations = limit as usize;
    }
    refuse_single(arguments.mixed, &common.precision)?;
    let report: Report = with_backend!(common.device, backend => match common.precision.as_str() {
        "single" => measure::<_, f32>(backend, arguments, &model, &[(iteration::plain, "f32")]),
        _ => measure::<_, f64>(backend, arguments, &model, storages(arguments.mixed)),
    })?;
    write_json(common.json.as_deref(), &report)?;
    print::text(&text(&report))
}

/// Refuses `--mixed` where everything is in single.
pub(super) fn refuse_single(mixed: bool, precision: &str) -> anyhow::Result<()> {
    match mixed && precision == "single" {
        true => Err(crate::cli::usage(
            "`--mixed` is double precision with parts in single: leave out `--precision single`".into(),
        )),
        false => Ok(()),
    }
}

/// How a preconditioner under an iteration in double is made, and what its values are stored in.
pub(super) fn storages<B: Backend>(mixed: bool) -> &'static [(Builder<B, f64>, &'static str)] {
    let all: &[(Builder<B, f64>, &str)] =
        &[(iteration::plain, "f64"), (iteration::mixed, "f32"), (iteration::mixed_half, "f16")];
    if mixed { all } else { &all[..1] }
}

/// The preconditioners asked for, with their orders.
fn chosen(arguments: &Arguments) -> Vec<(String, Option<u32>)> {
    let mut names = arguments.preconditioner.clone();
    if names.is_empty() {
        names = precond::names().into_iter().filter(|name| *name != "none").map(str::to_owned).collect();
    }
    let with_orders = |name: String| -> Vec<(String, Option<u32>)> {
        match precond::has_order(&name) {
            true => arguments.order.iter().map(|order| (name.clone(), Some(*order))).collect(),
            false => vec![(name, None)],
        }
    };
    names.into_iter().flat_map(with_orders).collect()
}

fn measure<B: Backend, T: Real>(
    backend: &B,
    arguments: &Arguments,
    model: &Model,
    builders: &[(Builder<B, T>, &'static str)],
) -> Result<Report> {
    let mut header = Header::new::<B, T>(backend, &arguments.common, &model.mesh, model.analysis.components())?;
    header.blocks = matrices::pattern(backend, &model.mesh, Ordering::Mesh, 1)?.n_blocks();
    let (system, _) = matrices::assemble::<B, T>(backend, model, &arguments.format)?;
    let options = CgOptions::new(arguments.tolerance, model.solver.max_iterations);
    let samples = arguments.common.samples.min(MAX_SOLUTIONS);
    let mut rows: Vec<Row> = Vec::new();
    for (name, order) in chosen(arguments) {
        for (build, storage) in builders {
            if *storage == F16::NAME && !precond::reads_matrix(&name) {
                continue;
            }
            let context = Context::of_nodes(order.unwrap_or(0) as usize, system.mesh.coords());
            let make = || build(&name, &context, backend, &system.matrix);
            let solved = solved(backend, &system, make, options, samples)?;
            let time = |solved: &Solved| solved.setup_ms + solved.solve_ms;
            let speedup = time(rows.first().map_or(&solved, |row| &row.solved)) / time(&solved);
            let (mixed, preconditioner) = (*storage != T::NAME, name.clone());
            rows.push(Row { preconditioner, order, mixed, storage, solved, speedup });
        }
    }
    let Arguments { format, tolerance, max_iterations, .. } = arguments;
    Ok(Report { header, format: format.clone(), tolerance: *tolerance, max_iterations: *max_iterations, rows })
}

/// Solves and times.
pub(super) fn solved<B: Backend, T: Real, I: Deref<Target = dyn Iteration<B, T>>>(
    backend: &B,
    system: &System<B, T>,
    make: impl Fn() -> Result<I>,
    options: CgOptions,
    samples: u32,
) -> Result<Solved> {
    // The first solution loads the kernels.
    let first = make()?;
    let (v, outcome) = system.iterate(backend, &*first, options, &Silent)?;
    let mut multigrid = None;
    drop(first);
    let (mut setups, mut solves) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        let start = Instant::now();
        let iteration = make()?;
        backend.finish()?;
        setups.push(1e3 * start.elapsed().as_secs_f64());
        multigrid = iteration.hierarchy().map(summary::multigrid);
        let start = Instant::now();
        let (again, _) = system.iterate(backend, &*iteration, options, &Silent)?;
        solves.push(1e3 * start.elapsed().as_secs_f64());
        assert_eq!(v, again, "two solutions on one device differ");
    }
    let solve_ms = median(solves);
    Ok(Solved {
        iterations: outcome.iterations,
        spmvs: outcome.spmvs,
        converged: outcome.converged,
        relative_residual: outcome.relative_residual,
        setup_ms: median(setups),
        solve_ms,
        spmv_ms: solve_ms / outcome.spmvs.max(1) as f64,
        convergence_factor: outcome.relative_residual.powf(1.0 / outcome.iterations.max(1) as f64),
        multigrid,
        history: outcome.history,
    })
}

fn text(report: &Report) -> String {
    let heads = [&["preconditioner"], Solved::HEADS.as_slice(), &["x first"]].concat();
    let rows: Vec<Vec<String>> = report.rows.iter().map(cells).collect();
    let levels = report.rows.iter().find_map(|row| row.solved.multigrid.as_ref());
    format!(
        "{}conjugate gradients in {} to {:.0e}\n\n{}{}",
        report.header.text(),
        report.format,
        report.tolerance,
        table::text(&heads, &rows),
        levels.map_or(String::new(), |levels| format!("\namg: {}\n", summary::levels(levels)))
    )
}

fn cells(row: &Row) -> Vec<String> {
    let order = row.order.map_or(String::new(), |order| format!(" {order}"));
    let kept = if row.mixed { format!(", {}", row.storage) } else { String::new() };
    let mut cells = vec![format!("{}{order}{kept}", row.preconditioner)];
    cells.extend(row.solved.cells());
    cells.push(format!("{:.2}", row.speedup));
    cells
}

impl Solved {
    /// The heads of [`Solved::cells`].
    pub const HEADS: [&str; 6] = ["iterations", "SpMVs", "residual", "setup ms", "solve ms", "ms per SpMV"];

    /// Its line of a table.
    pub fn cells(&self) -> [String; 6] {
        [
            format!("{}{}", print::count(self.iterations), if self.converged { "" } else { " (not reached)" }),
            print::count(self.spmvs),
            format!("{:.1e}", self.relative_residual),
            format!("{:.2}", self.setup_ms),
            format!("{:.2}", self.solve_ms),
            format!("{:.4}", self.spmv_ms),
        ]
    }
}
