//! `warpfem bench assembly`.

use super::header::Header;
use super::row::Row;
use super::{Common, bandwidth, matrices, table, write_json};
use crate::cli::print;
use clap::builder::PossibleValuesParser;
use kernels_rs::element::Element;
use kernels_rs::for_each_element;
use kernels_rs::real::Real;
use serde::Serialize;
use std::time::Instant;
use warpfem::assembly::numbering::DEGREE_WINDOW;
use warpfem::assembly::{DeviceMesh, Topology};
use warpfem::backend::Backend;
use warpfem::backend::device::with_backend;
use warpfem::element::{ElementInfo, ElementKind};
use warpfem::model::Model;
use warpfem::sparse::{self, Matrix, Tuning};
use warpfem::{Result, pipeline};

/// The strategies and the format they write into.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without INPUT: a steel box, or a plate in plane stress. An assembly sets every value to zero and adds the \
stiffness of every element, before supports.

Examples:
  warpfem bench assembly --element hex8 --cells 512x64x64 --size 16x2x2 --device cuda
  warpfem bench assembly meshes/bracket.toml --assembly by_element,row_owner --precision single"
)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Strategies, separated by commas [default: all that work for the mesh's elements].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = PossibleValuesParser::new(pipeline::strategies()))]
    assembly: Vec<String>,
    /// Storage format of the matrix.
    #[arg(long, value_name = "NAME", default_value = sparse::AUTO, value_parser = PossibleValuesParser::new(sparse::formats()))]
    format: String,
}

/// One strategy's figures.
#[derive(Debug, Serialize)]
struct Figures {
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
    /// Milliseconds to write the values once at the copy bandwidth, over the time.
    of_write_floor: f64,
    /// Largest difference of an entry from the first row's, over its largest.
    difference: f64,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    format: String,
    /// Seconds of sparsity and slots, once per topology: the second time.
    symbolic_s: f64,
    /// Operations of all element matrices, each once, fused ones counted as two.
    flops: f64,
    /// The matrix's values once, and for each element its nodes, slots and material; every node's coordinates once.
    min_bytes: u64,
    /// Milliseconds to write the matrix's values once at the copy bandwidth.
    write_floor_ms: f64,
    rows: Vec<Row<Figures>>,
}

/// Operations of one element matrix: at each of `q` quadrature points the Jacobian, its inverse, the gradients in space and
/// their products for every pair of nodes; then the material for every pair.
fn flops(info: &ElementInfo, q: usize) -> f64 {
    let (n, d) = (info.n_nodes, info.dim);
    let inverse = if d == 3 { 44 } else { 8 };
    let point = 2 * n * d * d + inverse + n * d * (2 * d - 1) + n * d + 2 * n * n * d * d;
    (q * point + n * n * (4 * d * d + d)) as f64
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    let model = common.problem.model(common)?;
    let report: Report = with_backend!(common.device, backend => match common.precision.as_str() {
        "single" => measure::<_, f32>(backend, arguments, &model),
        _ => measure::<_, f64>(backend, arguments, &model),
    })?;
    write_json(common.json.as_deref(), &report)?;
    print::text(&text(&report))
}

fn measure<B: Backend, T: Real>(backend: &B, arguments: &Arguments, model: &Model) -> Result<Report> {
    let common = &arguments.common;
    let order = matrices::ordering("auto", &model.mesh);
    let mut header = Header::new::<B, T>(backend, common, &model.mesh, model.analysis.dim())?;
    drop(Topology::new(backend, &model.mesh, order, DEGREE_WINDOW)?);
    backend.finish()?;
    let start = Instant::now();
    let Topology { pattern, blocks, coords, .. } = Topology::new(backend, &model.mesh, order, DEGREE_WINDOW)?;
    backend.finish()?;
    let symbolic_s = start.elapsed().as_secs_f64();
    header.blocks = pattern.n_blocks();
    let mesh = DeviceMesh::new(backend, model, blocks, coords)?;
    let mut matrix: Matrix<B, T> =
        Matrix::zeros(backend, &arguments.format, header.block_size, &pattern, Tuning::default())?;
    let (value_bytes, min_bytes, flops) = work::<T>(&header, model);
    let write_floor_ms = value_bytes as f64 / header.copy_gb_per_s / 1e6;
    let mut rows = Vec::new();
    let mut first: Option<Vec<T>> = None;
    for name in ["row_owner", "row_group"] {
        rows.push(Row::measure(name, || {
            let seconds = bandwidth::time(backend, common.samples, || {
                if name == "row_group" {
                    return mesh.set_stiffness_rows(backend, &mut matrix);
                }
                matrix.clear(backend)?;
                mesh.add_stiffness(backend, &mut matrix)
            })?;
            let blocks = matrix.blocks(backend)?;
            if let Some(first) = &first {
                let d = blocks.iter().zip(first).map(|(a, b)| (a.to_f64() - b.to_f64()).abs()).fold(0.0, f64::max);
                let m = first.iter().map(|a| a.to_f64().abs()).fold(0.0, f64::max);
                println!("difference {}", d / m);
            } else {
                first = Some(blocks);
            }

            let gb_per_s = min_bytes as f64 / seconds / 1e9;
            Ok(Figures {
                assembly_ms: 1e3 * seconds,
                elements_per_s: header.elements as f64 / seconds,
                gflops: flops / seconds / 1e9,
                gb_per_s,
                of_copy: gb_per_s / header.copy_gb_per_s,
                of_write_floor: write_floor_ms / (1e3 * seconds),
                difference: 0.0,
            })
        })?);
    }
    Ok(Report { header, format: arguments.format.clone(), symbolic_s, flops, min_bytes, write_floor_ms, rows })
}

/// Bytes of the matrix's values, bytes that any assembly must move, and operations.
fn work<T: Real>(header: &Header, model: &Model) -> (u64, u64, f64) {
    let value_bytes = header.blocks * header.block_size * header.block_size * size_of::<T>();
    let (mut mesh_bytes, mut operations) = (size_of::<[f64; 3]>() * header.nodes, 0.0);
    for (_, cells) in model.mesh.solids() {
        let info = cells.kind.info();
        let slots = size_of::<u16>() * info.n_nodes * info.n_nodes;
        mesh_bytes += cells.len() * (size_of::<u32>() * (info.n_nodes + 1) + slots);
        operations += cells.len() as f64 * flops(info, quadrature_points(cells.kind));
    }
    (value_bytes as u64, (value_bytes + mesh_bytes) as u64, operations)
}

/// Points of an element's rule.
fn quadrature_points(kind: ElementKind) -> usize {
    macro_rules! find {
        ($($Kind:ident),+) => { match kind {
            $(ElementKind::$Kind => kernels_rs::element::$Kind::QUADRATURE.len(),)+
            _ => 0,
        } };
    }
    for_each_element!(find)
}

fn text(report: &Report) -> String {
    let Report { header, format, symbolic_s, write_floor_ms, .. } = report;
    let heads = ["strategy", "ms", "M elements/s", "GFLOP/s", "least GB/s", "of copy", "of write floor", "difference"];
    let rows: Vec<Vec<String>> = report.rows.iter().map(|row| row.cells(cells)).collect();
    format!(
        "{}into {format}; symbolic phase {}; all values written once at the copy bandwidth {write_floor_ms:.3} ms\n\n{}",
        header.text(),
        print::seconds(*symbolic_s),
        table::text(&heads, &rows)
    )
}

fn cells(f: &Figures) -> Vec<String> {
    vec![
        format!("{:.4}", f.assembly_ms),
        format!("{:.1}", f.elements_per_s / 1e6),
        format!("{:.1}", f.gflops),
        format!("{:.0}", f.gb_per_s),
        format!("{:.1} %", 100.0 * f.of_copy),
        format!("{:.1} %", 100.0 * f.of_write_floor),
        format!("{:.0e}", f.difference),
    ]
}
