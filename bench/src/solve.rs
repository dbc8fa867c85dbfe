//! `warpfem-bench solve`: whole solutions of a mesh in memory, of all load cases or modes, the first, which loads kernels, and
//! those after.

use super::header::Header;
use super::solutions::{MAX_SOLUTIONS, Solutions};
use super::{Common, matrices};
use crate::page;
use kernels_rs::real::Real;
use serde::Serialize;
use std::cell::Cell;
use std::time::Instant;
use warpfem::cli::{Auto, auto_or};
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::pipeline::{Hierarchy, RankSize, Solution, solve_cases};
use warpfem::result::choices::{Ordering, Precision, Preconditioner, Study};
use warpfem::result::{Error, Result};
use warpfem::solve::Monitor;

/// What is solved, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without INPUT: a steel box, clamped at x = 0 under its own weight.

Examples:
  warpfem-bench solve --element tet4 --cells 79 --tolerance 1e-10 --device cuda --json whole.json
  warpfem-bench solve meshes/bracket.toml --mixed")]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    wanted: Solutions,
    /// Preconditioner.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = auto_or(&Preconditioner::ALL))]
    preconditioner: Auto<Preconditioner>,
    /// The tolerance is on the estimated error, as that of a case is, and not on the residual.
    #[arg(long)]
    energy: bool,
    /// Solve on so many devices together.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64))]
    devices: u16,
    /// Precision and preconditioner as the program chooses them.
    #[arg(long, conflicts_with_all = ["mixed", "preconditioner"])]
    automatic: bool,
}

/// Seconds by phase, all of them done when `total` ends.
#[derive(Debug, Clone, Serialize)]
struct Phases {
    /// Sparsity, slots, layout, copies to the device.
    setup: f64,
    /// Element blocks into the matrix, and loads.
    assembly: f64,
    /// Supports and prescribed values.
    boundary: f64,
    /// The preconditioner and the iteration.
    solve: f64,
    /// Stresses and reactions.
    stress: f64,
    /// From the mesh in the host's memory to results there.
    total: f64,
    /// One iteration, of those between the first and the last at which the error was known; 0 where it was known once.
    iteration: f64,
}

/// When the error of the last case or modes was known first and last, and at which iterations.
#[derive(Default)]
struct Watch(Cell<Option<[(usize, Instant); 2]>>);

impl Watch {
    fn iteration_s(&self) -> f64 {
        let Some([(first, begin), (last, end)]) = self.0.get() else { return 0.0 };
        (end - begin).as_secs_f64() / (last - first).max(1) as f64
    }
}

impl Monitor for Watch {
    fn error(&self, iteration: usize, _error: f64, _tolerance: f64) {
        let now = (iteration, Instant::now());
        let begin = self.0.get().filter(|[_, last]| last.0 < iteration).map_or(now, |[begin, _]| begin);
        self.0.set(Some([begin, now]));
    }
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    format: &'static str,
    preconditioner: &'static str,
    /// That of the solver, which may be mixed.
    arithmetic: &'static str,
    tolerance: f64,
    /// Load cases or modes.
    steps: usize,
    /// Of all load cases together, or of the iteration for all modes.
    iterations: usize,
    converged: bool,
    /// Of the last step `||b - K u|| / ||b||`, recomputed.
    relative_residual: f64,
    /// The nodes of each device, of several.
    ranks: Vec<RankSize>,
    /// The levels of multigrid.
    multigrid: Option<Hierarchy>,
    /// The first solution.
    first: Phases,
    /// Of those after it the one with the median total.
    again: Phases,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { common, wanted, preconditioner, energy, devices, automatic } = arguments;
    wanted.check(common.precision)?;
    let mut model = common.problem.model(common)?;
    let solver = &mut model.solver;
    (solver.tolerance, solver.format) = (wanted.tolerance, Some(wanted.format));
    solver.residual_tolerance = (!energy).then_some(wanted.tolerance);
    if !automatic {
        solver.preconditioner = *preconditioner;
        solver.precision = Some(if wanted.mixed { Precision::Mixed } else { common.precision });
    }
    let space = Space::open_several(&common.device.several((*devices).into()))?;
    let report = in_precision!(common, measure(&space, common, &model))?;
    page::finish("solve", common.json.as_deref(), &report, String::new())
}

fn measure<T: Real>(space: &Space, common: &Common, model: &Model) -> Result<Report> {
    let timed = || -> Result<(Vec<Solution>, Phases)> {
        let (start, watch) = (Instant::now(), Watch::default());
        let solutions = solve_cases(space, model, &watch)?;
        let total = start.elapsed().as_secs_f64();
        let timings = solutions.last().map(|last| last.timings).unwrap_or_default();
        let [setup, assembly, boundary] = [timings.setup, timings.assembly, timings.boundary];
        let (solve, stress, iteration) = (timings.solve, timings.stress, watch.iteration_s());
        let phases = Phases { setup, assembly, boundary, solve, stress, total, iteration };
        Ok((solutions, phases))
    };
    // Before anything else loads kernels.
    let (solutions, first) = timed()?;
    let Some(solution) = solutions.last() else { return Err(Error::Breakdown) };
    let mut header = Header::new::<T>(space, common, &model.mesh, model.analysis.components())?;
    if solution.used.ranks.is_empty() {
        header.blocks = matrices::pattern(space, &model.mesh, Ordering::Mesh, 1)?.n_blocks();
    }
    let mut again = Vec::new();
    for _ in 0..common.samples.min(MAX_SOLUTIONS) {
        let (other, phases) = timed()?;
        let is_same = other.iter().zip(&solutions).all(|(other, one)| other.step == one.step);
        assert!(is_same && other.len() == solutions.len(), "two solutions on one device differ");
        again.push(phases);
    }
    again.sort_by(|a, b| a.total.total_cmp(&b.total));
    let again = again.swap_remove(again.len() / 2);
    let plan = &solution.used.plan;
    Ok(Report {
        header,
        format: plan.format_name(),
        preconditioner: plan.preconditioner_name(),
        arithmetic: plan.precision.name(),
        tolerance: model.solver.tolerance,
        steps: solutions.len(),
        iterations: match model.study {
            Study::Static => solutions.iter().map(|solution| solution.outcome.iterations).sum(),
            _ => solution.outcome.iterations,
        },
        converged: solutions.iter().all(|solution| solution.outcome.converged),
        relative_residual: solution.outcome.relative_residual,
        ranks: solution.used.ranks.clone(),
        multigrid: solution.used.hierarchy.clone(),
        first,
        again,
    })
}
