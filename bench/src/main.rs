//! `warpfem-bench`: the speed and accuracy of kernels and solvers, on any mesh, and the report that sets them beside the
//! tables of the papers.
#![feature(alloc_error_hook)]

/// A file beside the source, read once.
macro_rules! read {
    ($name:literal) => {
        toml::from_str(include_str!($name)).unwrap_or_else(|error| panic!("{}: {error}", $name))
    };
}

/// What a function measures in the precision asked for.
macro_rules! in_precision {
    ($common:expr, $measure:ident($($with:expr),+)) => {
        match $common.precision {
            Precision::Single => $measure::<f32>($($with),+),
            _ => $measure::<f64>($($with),+),
        }
    };
}

mod amg;
mod assembly;
mod auto;
mod cg;
mod clock;
mod compare;
mod export;
mod femses;
mod header;
mod matrices;
mod matrix_free;
mod npy;
mod page;
mod precond;
mod problem;
mod reference;
mod report;
mod row;
mod solutions;
mod solve;
mod spmv;
mod trust;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use warpfem::cli::{self, devices, print};
use warpfem::device::DeviceName;
use warpfem::device::bandwidth::{self, median};
use warpfem::device::host_memory::HugePages;
use warpfem::linalg::Space;
use warpfem::result::Result;
use warpfem::result::choices::PLAIN_PRECISIONS;
use warpfem::result::choices::Precision;

/// Set-ups are timed at most this often.
const MAX_SETUPS: u32 = 3;

/// Bytes that are copied to measure a memory's bandwidth: far more than any cache holds.
const GPU_BYTES: usize = 4 << 30;
const HOST_BYTES: usize = 256 << 20;

/// Measures the finite element solver warpfem.
#[derive(Debug, clap::Parser)]
#[command(
    version,
    max_term_width = print::WIDTH,
    arg_required_else_help = true,
    after_help = "Example: warpfem-bench cg --cells 40"
)]
struct Arguments {
    #[command(subcommand)]
    kind: Kind,
}

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
enum Kind {
    /// The sparse product in every storage format, against the bytes it moves and the device's copy bandwidth.
    Spmv(spmv::Arguments),
    /// Products without a matrix beside the assembled one.
    MatrixFree(matrix_free::Arguments),
    /// The assembly of the stiffness matrix by every strategy.
    Assembly(assembly::Arguments),
    /// Conjugate gradients with Jacobi: iterations, and time per iteration.
    Cg(cg::Arguments),
    /// Preconditioners: iterations, products and time of every one and order.
    Precond(precond::Arguments),
    /// Multigrid: its levels, its set-up by parts, and solutions for another load and with other materials.
    Amg(amg::Arguments),
    /// Whole solutions of a mesh in memory, phase by phase: the first, and those after.
    Solve(solve::Arguments),
    /// What `auto` takes, beside everything that it could have taken, over bodies of many shapes.
    Auto(auto::Arguments),
    /// FEMSES beside what assembles a matrix: a potential on the unit square, phase by phase.
    Femses(femses::Arguments),
    /// Sound models, and how far off each solution is from a reference: what it says of its own error, and what is true.
    Trust(trust::Arguments),
    /// What has become slower from one file of figures to another.
    Compare(compare::Arguments),
    /// Write measurements beside the tables and figures of the papers: Markdown with plots.
    Report(report::Arguments),
}

/// The problem, the device, and where the figures go.
#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    problem: problem::Problem,
    /// auto, cpu, cuda, cuda:1 or emulate.
    #[arg(long, default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Precision of matrix and vectors.
    #[arg(long, default_value = "double", value_parser = cli::one_of(&PLAIN_PRECISIONS))]
    precision: Precision,
    /// Samples whose median is reported.
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Also write the figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Common {
    fn is_gpu(&self) -> bool {
        matches!(self.device.resolve(), DeviceName::Cuda(_))
    }

    /// Gigabytes per second of a copy within the device's memory, reads and writes both counted.
    fn copy_bandwidth(&self, space: &Space) -> Result<f64> {
        bandwidth::copy(space, if self.is_gpu() { GPU_BYTES } else { HOST_BYTES }, self.samples)
    }
}

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    std::alloc::set_alloc_error_hook(cli::out_of_memory);
    cli::program(|arguments: Arguments| {
        cli::start(None)?;
        run(&arguments.kind)
    })
}

/// Runs the command.
fn run(kind: &Kind) -> anyhow::Result<()> {
    match kind {
        Kind::Spmv(arguments) => spmv::run(arguments),
        Kind::MatrixFree(arguments) => matrix_free::run(arguments),
        Kind::Assembly(arguments) => assembly::run(arguments),
        Kind::Cg(arguments) => cg::run(arguments),
        Kind::Precond(arguments) => precond::run(arguments),
        Kind::Amg(arguments) => amg::run(arguments),
        Kind::Solve(arguments) => solve::run(arguments),
        Kind::Auto(arguments) => auto::run(arguments),
        Kind::Femses(arguments) => femses::run(arguments),
        Kind::Trust(arguments) => trust::run(arguments),
        Kind::Compare(arguments) => compare::run(arguments),
        Kind::Report(arguments) => report::run(arguments),
    }
}

/// What `make` makes, and the median of the seconds it takes; the first time, which loads kernels, is not counted.
fn setups<R>(space: &Space, samples: u32, make: impl Fn() -> Result<R>) -> Result<(R, f64)> {
    let mut made = make()?;
    let mut times = Vec::new();
    for _ in 0..samples.min(MAX_SETUPS) {
        drop(made);
        space.finish()?;
        let start = Instant::now();
        made = make()?;
        space.finish()?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok((made, median(times)))
}
