//! `warpfem-bench cg`.

use super::Common;
use super::header::Header;
use super::matrices;
use super::row::{Of, Row};
use super::solutions::MAX_SOLUTIONS;
use crate::page;
use clap::builder::PossibleValuesParser;
use kernels_rs::real::Real;
use serde::Serialize;
use std::time::Instant;
use warpfem::cli::one_of;
use warpfem::device::bandwidth::median;
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::plan::vector_bytes;
use warpfem::precond::{self, Context};
use warpfem::result::Result;
use warpfem::result::choices::{Format, Ordering, Precision};
use warpfem::solve::{CgOptions, Silent, Stepping};
use warpfem::sparse;

/// The formats, and when to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without INPUT: a steel box, clamped at x = 0 under its own weight.

Examples:
  warpfem-bench cg --element tet4 --cells 100 --device cuda --json cg.json
  warpfem-bench cg meshes/vase.toml --format csr,ell,ebw --max-iterations 500")]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Storage formats, separated by commas.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_value = sparse::AUTO.name(),
        value_parser = one_of(&Format::ALL))]
    format: Vec<Format>,
    /// Relative residual to stop at.
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = warpfem::cli::tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Iterations to stop after, whatever the residual [default: the case's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// How the device is told what to do: a launch per step, launches recorded and repeated in one go, or many
    /// iterations in one go.
    #[arg(long, value_name = "NAME", default_value = "auto",
        value_parser = PossibleValuesParser::new(Stepping::ALL.map(Stepping::name)))]
    stepping: String,
}

/// One format's figures.
#[derive(Debug, Serialize)]
struct Figures {
    iterations: usize,
    converged: bool,
    /// `||b - K u|| / ||b||`, recomputed.
    relative_residual: f64,
    /// Seconds of sparsity, slots, layout and copies.
    setup_s: f64,
    /// Seconds of element blocks and loads.
    assembly_s: f64,
    /// Milliseconds of a solution, preconditioner included: the median.
    solve_ms: f64,
    /// That over the iterations.
    iteration_ms: f64,
    /// Its inverse.
    iterations_per_s: f64,
    /// The report's `iteration_bytes` over an iteration's time, over the copy bandwidth.
    of_copy: f64,
    /// The lowest vertical displacement.
    min_u_z: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    tolerance: f64,
    /// Iterations to stop after, if that was asked for.
    max_iterations: Option<u32>,
    preconditioner: &'static str,
    /// How the device was told what to do.
    stepping: String,
    /// Bytes an iteration must move: the product's, which on the CPU are those of half the matrix, and
    /// [`vector_bytes`] per unknown, one launch after the other. In one go the CPU moves one and a half words fewer.
    iteration_bytes: u64,
    rows: Vec<Row<Figures>>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    let mut model = common.problem.model(common)?;
    if let Some(limit) = arguments.max_iterations {
        model.solver.max_iterations = limit as usize;
    }
    let space = Space::open(common.device)?;
    let report: Report = in_precision!(common, measure(&space, arguments, &model))?;
    page::finish("cg", common.json.as_deref(), &report, String::new())
}

/// What all formats are measured with.
struct Bench<'a> {
    space: &'a Space,
    arguments: &'a Arguments,
    model: &'a Model,
    /// Milliseconds of an iteration at the copy bandwidth.
    ideal_ms: f64,
}

fn measure<T: Real>(space: &Space, arguments: &Arguments, model: &Model) -> Result<Report> {
    let mut header = Header::new::<T>(space, &arguments.common, &model.mesh, model.analysis.components())?;
    header.blocks = matrices::pattern(space, &model.mesh, Ordering::Mesh, 1)?.n_blocks();
    let iteration_bytes =
        header.symmetric_product_bytes::<T>(space.on_host()) + vector_bytes(size_of::<T>() as u64) * header.dofs as u64;
    let ideal_ms = iteration_bytes as f64 / 1e6 / header.copy_gb_per_s;
    let bench = Bench { space, arguments, model, ideal_ms };
    let row = |format: &Format| Row::measure(Of::Format(format.name()), || bench.figures::<T>(*format));
    let rows = arguments.format.iter().map(row).collect::<Result<_>>()?;
    Ok(Report {
        header,
        tolerance: arguments.tolerance,
        max_iterations: arguments.max_iterations,
        preconditioner: precond::AUTO.name(),
        stepping: arguments.stepping.clone(),
        iteration_bytes,
        rows,
    })
}

impl Bench<'_> {
    fn figures<T: Real>(&self, format: Format) -> Result<Figures> {
        let Bench { space, arguments, model, .. } = *self;
        let (system, timings) = matrices::assemble::<T>(space, model, format)?;
        let stepping =
            Stepping::ALL.into_iter().find(|stepping| stepping.name() == arguments.stepping).unwrap_or_default();
        let (tolerance, max_iterations) = (arguments.tolerance, model.solver.max_iterations);
        let options = CgOptions { stepping, ..CgOptions::new(tolerance, max_iterations) };
        let solve = || {
            let preconditioner =
                precond::build(precond::AUTO, &Context::of_order(model.solver.order), space, system.matrix())?;
            system.iterate(space, &preconditioner, options, &Silent)
        };
        // The first solution loads the kernels.
        let (v, outcome) = solve()?;
        let mut times = Vec::new();
        for _ in 0..arguments.common.samples.min(MAX_SOLUTIONS) {
            let start = Instant::now();
            let (again, _) = solve()?;
            times.push(1e3 * start.elapsed().as_secs_f64());
            assert_eq!(v, again, "two solutions on one device differ");
        }
        let (solve_ms, dim) = (median(times), model.analysis.components());
        let iteration_ms = solve_ms / outcome.iterations.max(1) as f64;
        Ok(Figures {
            iterations: outcome.iterations,
            converged: outcome.converged,
            relative_residual: outcome.relative_residual,
            setup_s: timings.setup,
            assembly_s: timings.assembly,
            solve_ms,
            iteration_ms,
            iterations_per_s: 1e3 / iteration_ms,
            of_copy: self.ideal_ms / iteration_ms,
            min_u_z: v.iter().skip(dim - 1).step_by(dim).fold(f64::INFINITY, |a, &b| a.min(b)),
        })
    }
}
