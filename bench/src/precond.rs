//! `warpfem-bench precond`: SBELL's tables 3 to 5 in form, iterations and time of every preconditioner and order.

use super::header::Header;
use super::solutions::{MAX_SOLUTIONS, Solutions, Solved, solved, storages};
use super::{Common, matrices};
use crate::page;
use kernels_rs::half::F16;
use kernels_rs::real::{Real, Stored};
use serde::Serialize;
use warpfem::cli::{one_of, orders, summary};
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::precond::{self, Context};
use warpfem::result::Result;
use warpfem::result::choices::{Precision, Preconditioner};
use warpfem::solve::CgOptions;
use warpfem::solve::iteration::{self, Builder};

/// What is compared, and when to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without INPUT: a steel box, clamped at x = 0 under its own weight.

Examples:
  warpfem-bench precond --element quad4 --cells 400 --device cuda --mixed --json precond.json
  warpfem-bench precond meshes/vase.toml --preconditioner jacobi,least_squares --order 4,6,8")]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Preconditioners, separated by commas [default: all but none].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = one_of(&Preconditioner::ALL))]
    preconditioner: Vec<Preconditioner>,
    /// Orders of polynomials, separated by commas.
    #[arg(long, value_name = "M,N,..", value_delimiter = ',', default_value = "2,3,4,5,6",
        value_parser = clap::value_parser!(u32).range(orders()))]
    order: Vec<u32>,
    #[command(flatten)]
    wanted: Solutions,
    /// Iterations to stop after, whatever the residual [default: the case's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
}

/// The figures of one preconditioner.
#[derive(Debug, Serialize)]
struct Row {
    preconditioner: &'static str,
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

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    format: &'static str,
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
    arguments.wanted.check(common.precision)?;
    let space = Space::open(common.device)?;
    let report: Report = match common.precision {
        Precision::Single => measure::<f32>(&space, arguments, &model, &[(iteration::plain, "f32")]),
        _ => measure::<f64>(&space, arguments, &model, storages(arguments.wanted.mixed)),
    }?;
    page::finish("precond", common.json.as_deref(), &report, levels(&report))
}

/// The preconditioners asked for, with their orders.
fn chosen(arguments: &Arguments) -> Vec<(Preconditioner, Option<u32>)> {
    let mut all = arguments.preconditioner.clone();
    if all.is_empty() {
        all = Preconditioner::ALL.into_iter().filter(|one| *one != Preconditioner::Identity).collect();
    }
    let with_orders = |one: Preconditioner| -> Vec<(Preconditioner, Option<u32>)> {
        match precond::has_order(one) {
            true => arguments.order.iter().map(|order| (one, Some(*order))).collect(),
            false => vec![(one, None)],
        }
    };
    all.into_iter().flat_map(with_orders).collect()
}

fn measure<T: Real>(
    space: &Space,
    arguments: &Arguments,
    model: &Model,
    builders: &[(Builder<T>, &'static str)],
) -> Result<Report> {
    let Solutions { format, tolerance, .. } = &arguments.wanted;
    let mut header = Header::new::<T>(space, &arguments.common, &model.mesh, model.analysis.components())?;
    let (system, _) = matrices::assemble::<T>(space, model, *format)?;
    header.blocks = system.matrix().pattern().n_blocks();
    let options = CgOptions::new(*tolerance, model.solver.max_iterations);
    let samples = arguments.common.samples.min(MAX_SOLUTIONS);
    let mut rows: Vec<Row> = Vec::new();
    for (preconditioner, order) in chosen(arguments) {
        for (build, storage) in builders {
            if *storage == F16::NAME && !precond::reads_matrix(preconditioner) {
                continue;
            }
            let context =
                Context::of_nodes(order.unwrap_or(0) as usize, system.body.mesh.coords(), system.body.mesh.ends());
            let make = || build(preconditioner, &context, space, system.matrix());
            let solved = solved(space, &system, make, options, samples)?;
            let time = |solved: &Solved| solved.setup_ms + solved.solve_ms;
            let speedup = time(rows.first().map_or(&solved, |row| &row.solved)) / time(&solved);
            let (mixed, preconditioner) = (*storage != T::NAME, preconditioner.name());
            rows.push(Row { preconditioner, order, mixed, storage, solved, speedup });
        }
    }
    let max_iterations = arguments.max_iterations;
    Ok(Report { header, format: format.name(), tolerance: *tolerance, max_iterations, rows })
}

/// The levels of multigrid, if it was measured.
fn levels(report: &Report) -> String {
    let levels = report.rows.iter().find_map(|row| row.solved.multigrid.as_ref());
    levels.map_or(String::new(), |levels| format!("\namg: {}\n", summary::levels(levels)))
}
