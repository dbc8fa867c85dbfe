//! `warpfem bench cg`.

use super::{Arguments, bandwidth, median, problem, write_json};
use crate::cli::print;
use kernels_rs::real::Real;
use serde::Serialize;
use std::time::Instant;
use warpfem::backend::device::with_backend;
use warpfem::backend::{Backend, Device};
use warpfem::model::Model;
use warpfem::pipeline::System;
use warpfem::solve::{CgOptions, Silent};
use warpfem::{Result, precond};

/// Words per unknown that the fused vector steps of an iteration move.
const VECTOR_WORDS: usize = 10;
/// Solutions are timed at most this often: one takes many iterations.
const MAX_SOLUTIONS: u32 = 5;

#[derive(Debug, Serialize)]
struct Report {
    device: String,
    element: String,
    cells: u32,
    dofs: usize,
    precision: &'static str,
    tolerance: f64,
    preconditioner: &'static str,
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
    /// Bytes an iteration must move: the product's and ten words per unknown.
    iteration_bytes: u64,
    copy_gb_per_s: f64,
    /// Bytes over time over the copy bandwidth.
    of_copy: f64,
    /// The lowest vertical displacement.
    min_u_z: f64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let model = arguments.model()?;
    let is_gpu = matches!(arguments.device.resolve(), Device::Cuda(_));
    let report: Report = with_backend!(arguments.device, backend => match arguments.precision.as_str() {
        "single" => measure::<_, f32>(backend, is_gpu, arguments, &model),
        _ => measure::<_, f64>(backend, is_gpu, arguments, &model),
    })?;
    write_json(arguments.json.as_deref(), &report)?;
    print::text(&table(&report))
}

fn measure<B: Backend, T: Real>(backend: &B, is_gpu: bool, arguments: &Arguments, model: &Model) -> Result<Report> {
    let copy = bandwidth::copy(backend, is_gpu, arguments.samples)?;
    let (system, timings) = problem::assemble::<B, T>(backend, model, "ebw")?;
    let options = CgOptions { tolerance: arguments.tolerance, max_iterations: model.solver.max_iterations };
    let solve = |system: &System<B, T>| system.iterate(backend, precond::AUTO, options, &Silent);
    // The first solution loads the kernels.
    let (v, outcome) = solve(&system)?;
    let mut times = Vec::new();
    for _ in 0..arguments.samples.min(MAX_SOLUTIONS) {
        let start = Instant::now();
        let (again, _) = solve(&system)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        assert_eq!(v, again, "two solutions on one device differ");
    }
    let (n, blocks) = (v.len(), system.matrix.pattern().n_blocks());
    let bytes = blocks * (9 * size_of::<T>() + 4) + (2 + VECTOR_WORDS) * n * size_of::<T>();
    let solve_ms = median(times);
    let iteration_ms = solve_ms / outcome.iterations.max(1) as f64;
    Ok(Report {
        device: backend.name(),
        element: arguments.element.clone(),
        cells: arguments.cells,
        dofs: n,
        precision: T::NAME,
        tolerance: arguments.tolerance,
        preconditioner: precond::AUTO,
        iterations: outcome.iterations,
        converged: outcome.converged,
        relative_residual: outcome.relative_residual,
        setup_s: timings.setup,
        assembly_s: timings.assembly,
        solve_ms,
        iteration_ms,
        iteration_bytes: bytes as u64,
        copy_gb_per_s: copy,
        of_copy: bytes as f64 / iteration_ms / 1e6 / copy,
        min_u_z: v.iter().skip(2).step_by(3).fold(f64::INFINITY, |a, &b| a.min(b)),
    })
}

fn table(r: &Report) -> String {
    format!(
        "{} cube of {}^3 cells, {} unknowns, {}, on {}\n\
         {} iterations of CG with {} to {:.0e}{}, true residual {:.2e}, min u_z {:.9e}\n\
         solve {:.2} ms, {:.4} ms per iteration: {:.1} % of the copy bandwidth of {:.0} GB/s\n\
         setup {:.3} s, assembly {:.4} s\n",
        r.element,
        r.cells,
        print::count(r.dofs),
        r.precision,
        r.device,
        r.iterations,
        r.preconditioner,
        r.tolerance,
        if r.converged { "" } else { " (NOT REACHED)" },
        r.relative_residual,
        r.min_u_z,
        r.solve_ms,
        r.iteration_ms,
        100.0 * r.of_copy,
        r.copy_gb_per_s,
        r.setup_s,
        r.assembly_s
    )
}
