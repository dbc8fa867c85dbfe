//! `warpfem bench spmv`.

use super::{Arguments, bandwidth, problem, write_json};
use crate::cli::print;
use kernels_rs::real::Real;
use serde::Serialize;
use warpfem::backend::device::with_backend;
use warpfem::backend::{Backend, Device};
use warpfem::model::Model;
use warpfem::sparse::{self, Operator};
use warpfem::{Error, Result};

/// One format's figures.
#[derive(Debug, Serialize)]
struct Row {
    format: &'static str,
    /// Seconds of sparsity, slots, layout and copies.
    setup_s: f64,
    /// Seconds of element blocks and loads.
    assembly_s: f64,
    /// Bytes of values and indices.
    stored_bytes: u64,
    /// Stored values over those of the mesh's blocks.
    padding: f64,
    /// Milliseconds of `y = A x`.
    spmv_ms: f64,
    /// Milliseconds of `y = A x` with `x . y`.
    spmv_dot_ms: f64,
    /// Values of the mesh's blocks, an index for each block, x and y: what a product must move.
    min_bytes: u64,
    /// `min_bytes` over the product's time.
    gb_per_s: f64,
    /// That over the copy bandwidth.
    of_copy: f64,
    /// Two operations per value.
    gflops: f64,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Report {
    device: String,
    element: String,
    cells: u32,
    dofs: usize,
    blocks: usize,
    precision: &'static str,
    copy_gb_per_s: f64,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let model = arguments.model()?;
    let report = measure(arguments, &model)?;
    write_json(arguments.json.as_deref(), &report)?;
    print::text(&table(&report))
}

fn measure(arguments: &Arguments, model: &Model) -> Result<Report> {
    let is_gpu = matches!(arguments.device.resolve(), Device::Cuda(_));
    with_backend!(arguments.device, backend => match arguments.precision.as_str() {
        "single" => formats::<_, f32>(backend, is_gpu, arguments, model),
        _ => formats::<_, f64>(backend, is_gpu, arguments, model),
    })
}

fn formats<B: Backend, T: Real>(backend: &B, is_gpu: bool, arguments: &Arguments, model: &Model) -> Result<Report> {
    let mut report = Report {
        device: backend.name(),
        element: arguments.element.clone(),
        cells: arguments.cells,
        dofs: 3 * model.mesh.coords.len(),
        blocks: 0,
        precision: T::NAME,
        copy_gb_per_s: bandwidth::copy(backend, is_gpu, arguments.samples)?,
        rows: Vec::new(),
    };
    for name in sparse::formats().into_iter().filter(|name| !name.starts_with("dense")) {
        match format::<B, T>(backend, arguments.samples, model, name, &mut report) {
            // Of this mesh alone: the others hold it.
            Err(Error::TooLarge(why)) if !report.rows.is_empty() => eprintln!("{name} left out: {why}"),
            measured => measured?,
        }
    }
    Ok(report)
}

fn format<B: Backend, T: Real>(
    backend: &B,
    samples: u32,
    model: &Model,
    name: &'static str,
    report: &mut Report,
) -> Result<()> {
    let (system, timings) = problem::assemble::<B, T>(backend, model, name)?;
    let n = report.dofs;
    let x: Vec<T> = (0..n).map(|i| T::from_f64((i as f64 * 0.37).sin())).collect();
    let (x, mut y) = (backend.upload(&x)?, backend.zeros::<T>(n)?);
    let spmv = bandwidth::time(backend, samples, || system.matrix.apply(backend, &x, &mut y))?;
    let dot = warpfem::backend::Scalar::new(0);
    let spmv_dot = bandwidth::time(backend, samples, || system.matrix.apply_dot(backend, &x, &mut y, dot))?;
    let (blocks, footprint) = (system.matrix.pattern().n_blocks(), system.matrix.footprint());
    let min_bytes = (blocks * (9 * size_of::<T>() + 4) + 2 * n * size_of::<T>()) as u64;
    report.blocks = blocks;
    report.rows.push(Row {
        format: name,
        setup_s: timings.setup,
        assembly_s: timings.assembly,
        stored_bytes: footprint.values * size_of::<T>() as u64 + footprint.index_bytes,
        padding: footprint.values as f64 / (9 * blocks) as f64,
        spmv_ms: 1e3 * spmv,
        spmv_dot_ms: 1e3 * spmv_dot,
        min_bytes,
        gb_per_s: min_bytes as f64 / spmv / 1e9,
        of_copy: min_bytes as f64 / spmv / 1e9 / report.copy_gb_per_s,
        gflops: 18.0 * blocks as f64 / spmv / 1e9,
    });
    Ok(())
}

fn table(report: &Report) -> String {
    let Report { device, element, cells, dofs, blocks, precision, copy_gb_per_s, .. } = report;
    let mut out = format!(
        "{element} cube of {cells}^3 cells, {} unknowns, {} blocks, {precision}, on {device}\n\
         copy {copy_gb_per_s:.0} GB/s (read and written)\n\n\
         format   setup s  stored MB  padding  spmv ms  with dot ms   GB/s  of copy  GFLOP/s\n",
        print::count(*dofs),
        print::count(*blocks)
    );
    for row in &report.rows {
        out.push_str(&format!(
            "{:<8} {:>7.2} {:>10.1} {:>8.3} {:>8.4} {:>12.4} {:>6.0} {:>7.1}% {:>8.1}\n",
            row.format,
            row.setup_s,
            row.stored_bytes as f64 / 1e6,
            row.padding,
            row.spmv_ms,
            row.spmv_dot_ms,
            row.gb_per_s,
            100.0 * row.of_copy,
            row.gflops
        ));
    }
    out
}
