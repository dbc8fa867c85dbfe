//! `warpfem bench`: kernels and solvers on the unit cube, clamped at x = 0 under its own weight, of the size asked for.

mod bandwidth;
mod cg;
mod problem;
mod spmv;
mod trials;

use super::memory;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpfem::backend::Device;
use warpfem::element::ElementKind;
use warpfem::model::Model;
use warpfem::model::options::{PRECISIONS, box_elements};
use warpfem::output;

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
pub enum Kind {
    /// The sparse product, against its fewest bytes and the device's copy bandwidth.
    Spmv(Arguments),
    /// Conjugate gradients with Jacobi: iterations, and time per iteration.
    Cg(Arguments),
    /// Products under study.
    #[command(hide = true)]
    Trials(Arguments),
}

/// The problem and the device.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: warpfem bench spmv --element tet4 --cells 100 --device cuda --json spmv.json")]
pub struct Arguments {
    /// tet4 (six per cell) or hex8.
    #[arg(long, default_value = "tet4", value_parser = PossibleValuesParser::new(box_elements()))]
    element: String,
    /// Cells along each edge of the cube.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=500))]
    cells: u32,
    /// auto, cpu, cuda, cuda:1 or emulate.
    #[arg(long, default_value = "auto")]
    device: Device,
    /// Precision of matrix and vectors.
    #[arg(long, default_value = "double", value_parser = PossibleValuesParser::new(PRECISIONS))]
    precision: String,
    /// Relative residual to stop at (`cg`).
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = super::solve::tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Samples whose median is reported.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Also write the figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Arguments {
    /// The model, if memory allows.
    fn model(&self) -> warpfem::Result<Model> {
        let on_host = !matches!(self.device.resolve(), Device::Cuda(_));
        memory::check_box(self.element(), [self.cells as usize; 3], memory::Use::Solution { on_host })?;
        problem::model(self.element(), self.cells)
    }

    fn element(&self) -> ElementKind {
        super::mesh::element(&self.element)
    }
}

/// Runs the command.
pub fn run(kind: &Kind) -> anyhow::Result<()> {
    match kind {
        Kind::Spmv(arguments) => spmv::run(arguments),
        Kind::Cg(arguments) => cg::run(arguments),
        Kind::Trials(arguments) => trials::run(arguments),
    }
}

/// Writes figures as JSON.
fn write_json(path: Option<&Path>, figures: &impl serde::Serialize) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(figures)? + "\n";
    Ok(output::write_file(path, |file| file.write_all(text.as_bytes()))?)
}

/// The median of some times.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
