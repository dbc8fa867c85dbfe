//! `warpfem-bench femses`: the thesis' comparison (FEMSES ch. 5) of ways to a potential on the unit square, phase by
//! phase.
//!
//! | method | assembly | solution |
//! | --- | --- | --- |
//! | `dense` | dense | dense Cholesky |
//! | `dense_to_csr` | dense, then made sparse | conjugate gradients |
//! | `sparse` | sparse | sparse Cholesky |
//! | `cg` | sparse | conjugate gradients |
//! | `femses` | element matrices alone | FEMSES by gathering |
//! | `femses_atomic` | element matrices alone | FEMSES as the thesis has it, by atomics, in blocks of `--block` threads |
//! | `femses_chebyshev`, `femses_cg` | element matrices alone | FEMSES accelerated |

use super::problem::model;
use super::{matrices, row};
use crate::page;
use clap::builder::PossibleValuesParser;
use kernels_rs::real::Real;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use warpfem::assembly::numbering::DEGREE_WINDOW;
use warpfem::assembly::{DeviceMesh, ElementOperator, Numbering, Supports, Topology};
use warpfem::cli::{devices, one_of, tolerance};
use warpfem::device::bandwidth::median;
use warpfem::device::{Buffer, DeviceName};
use warpfem::linalg::Space;
use warpfem::model::Model;
use warpfem::pipeline::{Loaded, System};
use warpfem::precond::{self, Context};
use warpfem::result::choices::PLAIN_PRECISIONS;
use warpfem::result::choices::{Acceleration, Format, Ordering, Precision};
use warpfem::result::{DirectError, Error, Outcome, Result};
use warpfem::solve::femses::{FemsesOptions, Update, femses};
use warpfem::solve::{CgOptions, Equations, Iteration, Silent, direct};
use warpfem::sparse;
use warpfem::sparse::{Matrix, from_dense};
use warpfem_text::count;

const METHODS: &[&str] =
    &["dense", "dense_to_csr", "sparse", "cg", "femses", "femses_atomic", "femses_chebyshev", "femses_cg"];

/// What is compared, and when to stop.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The potential on the unit square between sides at 0 and 1, on triangles with downward diagonals.

Examples:
  warpfem-bench femses --nodes 20,50,100 --device cpu
  warpfem-bench femses --nodes 200,700 --method cg,femses_cg,femses_atomic --block 64,256 --json femses.json"
)]
pub struct Arguments {
    /// Nodes along an edge, separated by commas.
    #[arg(long, value_name = "N,M,..", value_delimiter = ',', default_value = "20,50,100",
        value_parser = clap::value_parser!(u32).range(2..=10_000))]
    nodes: Vec<u32>,
    /// Methods, separated by commas [default: all].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = PossibleValuesParser::new(METHODS))]
    method: Vec<String>,
    /// Threads of a block for femses_atomic, separated by commas.
    #[arg(long, value_name = "N,M,..", value_delimiter = ',', default_value = "256",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: Vec<u32>,
    /// The potential of a source between four sides at 0 instead.
    #[arg(long)]
    four_sided: bool,
    /// auto, cpu, cuda, cuda:1 or emulate.
    #[arg(long, default_value = "auto", value_parser = devices::parser(), hide_possible_values = true)]
    device: DeviceName,
    /// Precision of matrices and vectors.
    #[arg(long, default_value = "double", value_parser = one_of(&PLAIN_PRECISIONS))]
    precision: Precision,
    /// Relative residual to stop at.
    #[arg(long, value_name = "X", default_value = "1e-8", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Iterations to stop after, whatever the residual.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: u32,
    /// Samples whose median is reported.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Also write the figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Milliseconds of each phase.
#[derive(Debug, Clone, Copy, Serialize)]
struct Phases {
    /// Nodes and cells to the device.
    transfer_ms: f64,
    /// Numbering, which cells are around a node, and for matrices the sparsity.
    setup_ms: f64,
    /// The matrix's values, or those of the elements, and four vectors.
    allocate_ms: f64,
    /// Element matrices, and what is made of them; supports.
    assembly_ms: f64,
    /// Factors, preconditioner, iteration.
    solve_ms: f64,
}

impl Phases {
    fn total(&self) -> f64 {
        self.transfer_ms + self.setup_ms + self.allocate_ms + self.assembly_ms + self.solve_ms
    }

    /// Phase by phase the median.
    fn median(all: &[Phases]) -> Phases {
        let of = |phase: fn(&Phases) -> f64| median(all.iter().map(phase).collect());
        let [transfer_ms, setup_ms, allocate_ms] = [of(|p| p.transfer_ms), of(|p| p.setup_ms), of(|p| p.allocate_ms)];
        let [assembly_ms, solve_ms] = [of(|p| p.assembly_ms), of(|p| p.solve_ms)];
        Phases { transfer_ms, setup_ms, allocate_ms, assembly_ms, solve_ms }
    }
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Figures {
    #[serde(flatten)]
    phases: Phases,
    total_ms: f64,
    iterations: usize,
    converged: bool,
    /// `||f - K u|| / ||f||`, recomputed.
    relative_residual: f64,
    /// The largest error of a node's potential, which is its x; none with four sides fixed.
    error: Option<f64>,
}

/// One method at one size.
#[derive(Debug, Serialize)]
struct Row {
    method: String,
    /// Threads of a block, where they can be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    /// Nodes along an edge.
    nodes: u32,
    unknowns: usize,
    elements: usize,
    /// Why it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    #[serde(flatten)]
    figures: Option<Figures>,
}

#[derive(Debug, Serialize)]
struct Report {
    device: String,
    precision: &'static str,
    tolerance: f64,
    /// Sides with a fixed potential.
    sides: u32,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let space = Space::open(arguments.device)?;
    let report: Report = in_precision!(arguments, measure(&space, arguments))?;
    page::finish("femses", arguments.json.as_deref(), &report, String::new())
}

/// The unit square with this many nodes along an edge.
fn square(nodes: u32, four_sided: bool) -> warpfem::Result<Model> {
    let cells = nodes - 1;
    let fixed = match four_sided {
        true => "[[support]]\non = [\"xmin\", \"xmax\", \"ymin\", \"ymax\"]\nvalue = 0.0\n[source]\nvalue = 1.0",
        false => "[[support]]\non = \"xmin\"\nvalue = 0.0\n[[support]]\non = \"xmax\"\nvalue = 1.0",
    };
    let text = format!(
        r#"
        [mesh]
        generate = {{ kind = "rectangle", element = "tri3", size = [1.0, 1.0], cells = [{cells}, {cells}], diagonals = "down" }}
        [analysis]
        kind = "laplace"
        [[material]]
        name = "medium"
        conductivity = 1.0
        {fixed}
        "#
    );
    model("square.toml", &text)
}

fn measure<T: Real>(space: &Space, arguments: &Arguments) -> warpfem::Result<Report> {
    let chosen: Vec<&str> = match arguments.method.is_empty() {
        true => METHODS.to_vec(),
        false => arguments.method.iter().map(String::as_str).collect(),
    };
    let mut rows = Vec::new();
    for nodes in &arguments.nodes {
        let model = square(*nodes, arguments.four_sided)?;
        let (System { f, body: Loaded { supports, numbering, .. }, .. }, _) =
            matrices::assemble::<T>(space, &model, sparse::AUTO)?;
        let bench = Bench { space, arguments, model: &model, f, supports, numbering };
        for method in &chosen {
            let blocks = match *method {
                "femses_atomic" => arguments.block.iter().copied().map(Some).collect(),
                _ => vec![None],
            };
            for block in blocks {
                rows.push(bench.row(method, block, *nodes)?);
            }
        }
    }
    let sides = if arguments.four_sided { 4 } else { 2 };
    Ok(Report { device: space.name(), precision: T::NAME, tolerance: arguments.tolerance, sides, rows })
}

/// What all methods are measured with.
struct Bench<'a, T: Real> {
    space: &'a Space,
    arguments: &'a Arguments,
    model: &'a Model,
    /// The right-hand side, the same whatever the matrix.
    f: Buffer<T>,
    supports: Supports,
    numbering: Numbering,
}

/// What came of one run: its phases, the potential less what is prescribed, and how it ended.
struct Solved<T: Real> {
    phases: Phases,
    v: Buffer<T>,
    outcome: Outcome,
}

impl<T: Real> Bench<'_, T> {
    fn row(&self, method: &str, block: Option<u32>, nodes: u32) -> Result<Row> {
        let mesh = &self.model.mesh;
        let elements = mesh.n_solids();
        let unknowns = mesh.coords.len();
        let mut row = Row { method: method.into(), block, nodes, unknowns, elements, left_out: None, figures: None };
        if method == "dense" && self.space.on_host() && unknowns > direct::MOST_DENSE {
            row.left_out = Some(format!("more than {} unknowns", count(direct::MOST_DENSE)));
            return Ok(row);
        }
        row.left_out = Some(match self.figures(method, block) {
            Err(Error::OutOfMemory { needed, .. }) => row::needs(needed),
            Err(Error::TooLarge(why)) => why,
            Err(Error::Direct(DirectError::NotBuilt { .. })) => "built without the feature `direct`".into(),
            Err(Error::Direct(DirectError::NoLibrary(_))) => "cuDSS was not found".into(),
            figures => return Ok(Row { figures: Some(figures?), ..row }),
        });
        Ok(row)
    }

    fn figures(&self, method: &str, block: Option<u32>) -> Result<Figures> {
        // The first run loads the kernels.
        let Solved { v, outcome, .. } = self.solve(method, block)?;
        let mut all = Vec::new();
        let start = Instant::now();
        for sample in 0..self.arguments.samples {
            // One sample of what takes long is enough.
            if sample > 0 && start.elapsed().as_secs_f64() > 2.0 {
                break;
            }
            all.push(self.solve(method, block)?.phases);
        }
        let phases = Phases::median(&all);
        Ok(Figures {
            phases,
            total_ms: phases.total(),
            iterations: outcome.iterations,
            converged: outcome.converged,
            relative_residual: outcome.relative_residual,
            error: if self.arguments.four_sided { None } else { Some(self.error(v)?) },
        })
    }

    fn solve(&self, method: &str, block: Option<u32>) -> Result<Solved<T>> {
        let femses = |acceleration, update| self.by_elements(acceleration, update);
        let atomic = Update::Atomic { threads: block.unwrap_or(256) as usize };
        match method {
            "dense" => self.assembled(Format::Dense, |system| self.factorised(system, true)),
            "dense_to_csr" => self.assembled(Format::Dense, |system| {
                self.preconditioned(&from_dense(self.space, system.matrix(), Format::Csr)?)
            }),
            "sparse" => self.assembled(sparse::AUTO, |system| self.factorised(system, false)),
            "cg" => self.assembled(sparse::AUTO, |system| self.preconditioned(system.matrix())),
            "femses_chebyshev" => femses(Acceleration::Chebyshev, Update::Gather),
            "femses_cg" => femses(Acceleration::Cg, Update::Gather),
            "femses_atomic" => femses(Acceleration::None, atomic),
            _ => femses(Acceleration::None, Update::Gather),
        }
    }

    fn preconditioned(&self, matrix: &Matrix<T>) -> Result<(Buffer<T>, Outcome)> {
        self.iterated(matrix, &precond::build(precond::AUTO, &Context::of_order(1), self.space, matrix)?)
    }

    fn iterated(&self, matrix: &Matrix<T>, iteration: &dyn Iteration<T>) -> Result<(Buffer<T>, Outcome)> {
        let options = CgOptions::new(self.arguments.tolerance, self.arguments.max_iterations as usize);
        let mut v = self.space.zeros(self.f.len())?;
        let outcome = iteration.solve(self.space, &Equations::new(matrix, &self.f), &mut v, options, &Silent)?;
        Ok((v, outcome))
    }

    /// By factors: dense ones if that is asked for.
    fn factorised(&self, system: &System<T>, is_dense: bool) -> Result<(Buffer<T>, Outcome)> {
        let coords = system.body.numbering.gather(&self.model.mesh.coords);
        let is_single = size_of::<T>() == size_of::<f32>();
        let build = match (is_dense, is_single) {
            (true, true) => direct::dense::<T, f32>,
            (true, false) => direct::dense::<T, f64>,
            (false, true) => direct::sparse::<T, f32>,
            (false, false) => direct::sparse::<T, f64>,
        };
        let factor = build(self.space, system.matrix(), &coords)?;
        self.iterated(system.matrix(), &direct::Direct { factor })
    }

    /// Assembles in a format and solves.
    fn assembled(
        &self,
        format: Format,
        solve: impl FnOnce(&System<T>) -> Result<(Buffer<T>, Outcome)>,
    ) -> Result<Solved<T>> {
        let transfer_ms = self.transfer()?;
        let (system, timings) = matrices::assemble::<T>(self.space, self.model, format)?;
        let allocate_ms = self.allocation(system.matrix().footprint().values as usize)?;
        let (solve_ms, (v, outcome)) = self.timed(|| solve(&system))?;
        let setup_ms = (1e3 * timings.setup - transfer_ms - allocate_ms).max(0.0);
        let assembly_ms = 1e3 * (timings.assembly + timings.boundary);
        Ok(Solved { phases: Phases { transfer_ms, setup_ms, allocate_ms, assembly_ms, solve_ms }, v, outcome })
    }

    /// Computes element matrices and solves with them.
    fn by_elements(&self, acceleration: Acceleration, update: Update) -> Result<Solved<T>> {
        let space = self.space;
        let transfer_ms = self.transfer()?;
        let order = Ordering::auto(&self.model.mesh);
        let (setup_ms, mesh) = self.timed(|| {
            let Topology { blocks, coords, .. } = Topology::new(space, &self.model.mesh, &[], order, DEGREE_WINDOW)?;
            DeviceMesh::new(space, self.model, blocks, coords)
        })?;
        let (assembly_ms, operator) = self.timed(|| ElementOperator::<T>::new(space, &mesh, &self.supports))?;
        let allocate_ms = self.allocation(operator.bytes() / size_of::<T>())?;
        let mut options =
            FemsesOptions::new(self.arguments.tolerance, self.arguments.max_iterations as usize, acceleration);
        options.update = update;
        let (solve_ms, (v, outcome)) = self.timed(|| {
            let mut v = space.zeros(self.f.len())?;
            let outcome = femses(space, &operator, &self.f, None, &mut v, options, &Silent)?;
            Ok((v, outcome))
        })?;
        let phases = Phases {
            transfer_ms,
            setup_ms: (setup_ms - transfer_ms).max(0.0),
            allocate_ms,
            assembly_ms: (assembly_ms - allocate_ms).max(0.0),
            solve_ms,
        };
        Ok(Solved { phases, v, outcome })
    }

    /// Milliseconds of some work, all of it done, and what came of it.
    fn timed<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(f64, R)> {
        self.space.finish()?;
        let start = Instant::now();
        let done = work()?;
        self.space.finish()?;
        Ok((1e3 * start.elapsed().as_secs_f64(), done))
    }

    /// Milliseconds that nodes and cells take to the device.
    fn transfer(&self) -> Result<f64> {
        let mesh = &self.model.mesh;
        let (time, _) = self.timed(|| {
            let coords = self.space.upload(&mesh.coords)?;
            let cells = mesh.solids().map(|(_, cells)| self.space.upload(&cells.nodes)).collect::<Result<Vec<_>>>()?;
            Ok((coords, cells))
        })?;
        Ok(time)
    }

    /// Milliseconds to allocate this many values and four vectors.
    fn allocation(&self, n_values: usize) -> Result<f64> {
        let n = self.model.mesh.coords.len();
        let (time, _) = self.timed(|| {
            [n_values, n, n, n, n].map(|n| self.space.zeros::<T>(n)).into_iter().collect::<Result<Vec<_>>>()
        })?;
        Ok(time)
    }

    /// The largest error of a potential, from what was solved for.
    fn error(&self, v: Buffer<T>) -> Result<f64> {
        let coords = self.numbering.gather(&self.model.mesh.coords);
        let v = self.space.take(v)?;
        let total: Vec<f64> = v.iter().zip(&self.supports.prescribed).map(|(v, u)| v.to_f64() + u).collect();
        let errors = self.supports.with_motion(&total).into_iter().zip(&coords).map(|(u, x)| (u - x[0]).abs());
        Ok(errors.fold(0.0, f64::max))
    }
}
