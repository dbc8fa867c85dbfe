//! `warpfem-bench assembly`.

use super::header::Header;
use super::row::{Of, Row};
use super::{Common, reference, setups};
use crate::page;
use kernels_rs::real::Real;
use serde::Serialize;
use warpfem::assembly::numbering::DEGREE_WINDOW;
use warpfem::assembly::{Assembly, DeviceMesh, Topology};
use warpfem::cli::one_of;
use warpfem::device::bandwidth;
use warpfem::element::ElementInfo;
use warpfem::linalg::Space;
use warpfem::mesh::coloring::Balance;
use warpfem::model::Model;
use warpfem::result::Result;
use warpfem::result::choices::{Format, Ordering, Precision, Strategy};
use warpfem::sparse::{self, Matrix, Tuning};

/// The strategies, and the format they write into.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without INPUT: a steel box, or a plate in plane stress. An assembly is of the whole stiffness matrix, before supports, \
in place of the one that was there; what depends on the topology alone is made before.

Examples:
  warpfem-bench assembly --element hex8 --cells 512x64x64 --size 16x2x2 --device cuda
  warpfem-bench assembly meshes/bracket.toml --assembly by_element,row_owner --precision single"
)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Strategies, separated by commas [default: all].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = one_of(&Strategy::ALL))]
    assembly: Vec<Strategy>,
    /// Storage format of the matrix.
    #[arg(long, value_name = "NAME", default_value = sparse::AUTO.name(), value_parser = one_of(&Format::ALL))]
    format: Format,
}

/// One strategy's figures.
#[derive(Debug, Serialize)]
struct Figures {
    /// Colours of the cells; 0 where the strategy takes none.
    colors: usize,
    /// Cells of the smallest colour.
    smallest_color: usize,
    /// Cells of the largest colour.
    largest_color: usize,
    /// Seconds of what the strategy prepares once per topology, colours and tables: the median.
    prepare_s: f64,
    /// Milliseconds of an assembly: the median.
    assembly_ms: f64,
    /// Elements per second.
    elements_per_s: f64,
    /// The report's `flops` over the time.
    gflops: f64,
    /// The report's `min_bytes` over the time.
    gb_per_s: f64,
    /// That over the copy bandwidth.
    of_copy: f64,
    /// The report's `write_floor_ms` over the time.
    of_write_floor: f64,
    /// Largest difference of an entry from that of the first strategy, over the largest entry.
    difference: f64,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    format: &'static str,
    /// Seconds of numbering, sparsity and slots, once per topology: the median.
    symbolic_s: f64,
    /// Operations of all element matrices, each once; fused ones count as two.
    flops: f64,
    /// The matrix's values once; for each element its nodes, slots and material; every node's coordinates once.
    min_bytes: u64,
    /// Milliseconds to write the matrix's values once at the copy bandwidth.
    write_floor_ms: f64,
    rows: Vec<Row<Figures>>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    let model = common.problem.model(common)?;
    let space = Space::open(common.device)?;
    let report: Report = in_precision!(common, measure(&space, arguments, &model))?;
    page::finish("assembly", common.json.as_deref(), &report, String::new())
}

/// What all strategies are measured with.
struct Bench<'a, T: Real> {
    space: &'a Space,
    arguments: &'a Arguments,
    report: &'a Report,
    mesh: DeviceMesh,
    matrix: Matrix<T>,
    /// The blocks that the first strategy has made.
    first: Option<Vec<T>>,
}

fn measure<T: Real>(space: &Space, arguments: &Arguments, model: &Model) -> Result<Report> {
    let common = &arguments.common;
    let order = Ordering::auto(&model.mesh);
    let mut header = Header::new::<T>(space, common, &model.mesh, model.analysis.components())?;
    let (topology, symbolic_s) =
        setups(space, common.samples, || Topology::new(space, &model.mesh, &[], order, DEGREE_WINDOW))?;
    let Topology { pattern, blocks, coords, .. } = topology;
    header.blocks = pattern.n_blocks();
    let matrix = Matrix::zeros(space, arguments.format, header.block_size, &pattern, Tuning::default())?;
    let mesh = DeviceMesh::new(space, model, blocks, coords)?;
    let mut report = report::<T>(header, arguments.format, symbolic_s, model);
    let mut bench: Bench<T> = Bench { space, arguments, report: &report, mesh, matrix, first: None };
    let asked = arguments.assembly.as_slice();
    let strategies = if asked.is_empty() { &Strategy::ALL[..] } else { asked };
    let row = |strategy: &Strategy| Row::measure(Of::Strategy(strategy.name()), || bench.figures(*strategy));
    report.rows = strategies.iter().map(row).collect::<Result<_>>()?;
    Ok(report)
}

/// The report but for its rows.
fn report<T: Real>(header: Header, format: Format, symbolic_s: f64, model: &Model) -> Report {
    let value_bytes = header.blocks * header.block_size * header.block_size * size_of::<T>();
    let (mut mesh_bytes, mut flops) = (size_of::<[f64; 3]>() * header.nodes, 0.0);
    for (_, cells) in model.mesh.solids() {
        let info = cells.kind.info();
        let slots = size_of::<u16>() * info.n_nodes * info.n_nodes;
        mesh_bytes += cells.len() * (size_of::<u32>() * (info.n_nodes + 1) + slots);
        flops += cells.len() as f64 * element_flops(info);
    }
    let write_floor_ms = value_bytes as f64 / header.copy_gb_per_s / 1e6;
    let min_bytes = (value_bytes + mesh_bytes) as u64;
    Report { header, format: format.name(), symbolic_s, flops, min_bytes, write_floor_ms, rows: Vec::new() }
}

/// Operations of one element matrix: at each of `q` points the Jacobian, its inverse, the gradients in space and their
/// products for every pair of nodes; then the material for every pair.
fn element_flops(info: &ElementInfo) -> f64 {
    let (n, d, q) = (info.n_nodes, info.dim, info.shape.quadrature.len());
    let inverse = if d == 3 { 44 } else { 8 };
    let gradients = n * d * (2 * d - 1);
    let point = 2 * n * d * d + inverse + gradients + n * d + 2 * n * n * d * d;
    (q * point + n * n * (4 * d * d + d)) as f64
}

impl<T: Real> Bench<'_, T> {
    fn figures(&mut self, strategy: Strategy) -> Result<Figures> {
        let Bench { space, arguments, report, mesh, matrix, first } = self;
        let samples = arguments.common.samples;
        let (mut assembly, prepare_s) =
            setups(space, samples, || Assembly::new(space, mesh, matrix.pattern(), strategy))?;
        let seconds = bandwidth::time(space, samples, || assembly.assemble(space, mesh, matrix))?;
        let difference = difference(strategy, first, matrix.blocks(space)?);
        let gb_per_s = report.min_bytes as f64 / seconds / 1e9;
        let Balance { n_colors, smallest, largest, .. } = assembly.balance();
        Ok(Figures {
            colors: n_colors,
            smallest_color: smallest,
            largest_color: largest,
            prepare_s,
            assembly_ms: 1e3 * seconds,
            elements_per_s: report.header.elements as f64 / seconds,
            gflops: report.flops / seconds / 1e9,
            gb_per_s,
            of_copy: gb_per_s / report.header.copy_gb_per_s,
            of_write_floor: report.write_floor_ms / (1e3 * seconds),
            difference,
        })
    }
}

/// Largest difference of blocks from the first strategy's, over the largest of these.
fn difference<T: Real>(strategy: Strategy, first: &mut Option<Vec<T>>, blocks: Vec<T>) -> f64 {
    let Some(first) = first else {
        *first = Some(blocks);
        return 0.0;
    };
    let largest = first.iter().fold(0.0, |most: f64, value| most.max(value.to_f64().abs()));
    let pairs = first.iter().zip(&blocks).map(|(a, b)| (a.to_f64() - b.to_f64()).abs());
    let difference = pairs.fold(0.0, f64::max) / largest;
    reference::check::<T>(&format!("the matrix by {}", strategy.name()), difference);
    difference
}
