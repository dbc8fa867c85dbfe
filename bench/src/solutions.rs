//! Solutions with one preconditioner or another, as `warpfem-bench precond` and `amg` time them.

use kernels_rs::real::Real;
use serde::Serialize;
use std::ops::Deref;
use std::time::Instant;
use warpfem::cli::one_of;
use warpfem::device::bandwidth::median;
use warpfem::linalg::Space;
use warpfem::pipeline::{Hierarchy, System};
use warpfem::result::Result;
use warpfem::result::choices::{Format, Precision};
use warpfem::solve::Iteration;
use warpfem::solve::iteration::{self, Builder};
use warpfem::solve::{CgOptions, Silent};
use warpfem::sparse;

/// Solutions are timed at most this often: one takes many iterations.
pub const MAX_SOLUTIONS: u32 = 5;

/// What solutions are asked for.
#[derive(Debug, clap::Args)]
pub struct Solutions {
    /// Mixed precisions as well: preconditioners in single of a matrix in single and of one in half, and iterative
    /// refinement.
    #[arg(long)]
    pub mixed: bool,
    /// Storage format.
    #[arg(long, value_name = "NAME", default_value = sparse::AUTO.name(), value_parser = one_of(&Format::ALL))]
    pub format: Format,
    /// Relative residual to stop at.
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = warpfem::cli::tolerance, allow_negative_numbers = true)]
    pub tolerance: f64,
}

impl Solutions {
    /// Refuses `--mixed` where everything is in single.
    pub fn check(&self, precision: Precision) -> anyhow::Result<()> {
        match self.mixed && precision == Precision::Single {
            true => Err(warpfem::cli::usage(
                "`--mixed` is double precision with parts in single: leave out `--precision single`".into(),
            )),
            false => Ok(()),
        }
    }
}

/// How a system was solved.
#[derive(Debug, Serialize)]
pub struct Solved {
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
    pub multigrid: Option<Hierarchy>,
    /// The relative residual after each iteration.
    pub history: Vec<f64>,
}

/// How a preconditioner under an iteration in double is made, and what its values are stored in.
pub fn storages(mixed: bool) -> &'static [(Builder<f64>, &'static str)] {
    let all: &[(Builder<f64>, &str)] =
        &[(iteration::plain, "f64"), (iteration::mixed, "f32"), (iteration::mixed_half, "f16")];
    if mixed { all } else { &all[..1] }
}

/// Solves and times.
pub fn solved<T: Real, I: Deref<Target = dyn Iteration<T>>>(
    space: &Space,
    system: &System<T>,
    make: impl Fn() -> Result<I>,
    options: CgOptions,
    samples: u32,
) -> Result<Solved> {
    // The first solution loads the kernels.
    let first = make()?;
    let (v, outcome) = system.iterate(space, &*first, options, &Silent)?;
    let mut multigrid = None;
    drop(first);
    let (mut setups, mut solves) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        let start = Instant::now();
        let iteration = make()?;
        space.finish()?;
        setups.push(1e3 * start.elapsed().as_secs_f64());
        multigrid = iteration.hierarchy().cloned();
        let start = Instant::now();
        let (again, _) = system.iterate(space, &*iteration, options, &Silent)?;
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
