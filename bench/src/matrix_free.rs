//! `warpfem-bench matrix-free`.

use super::Common;
use super::header::Header;
use super::matrices;
use super::row::{Of, Row};
use super::{reference, setups};
use crate::page;
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use serde::Serialize;
use std::rc::Rc;
use warpfem::assembly::matrix_free::Division;
use warpfem::assembly::numbering::Numbering;
use warpfem::assembly::{DeviceMesh, MatrixFree, Supports, Topology};
use warpfem::cli::usage;
use warpfem::device::{Buffer, bandwidth};
use warpfem::linalg::{Scalar, Space};
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::result::Result;
use warpfem::result::choices::Precision;
use warpfem::sparse::{self, LinOp};
use warpfem::verify::meshes::{Random, straighten};

/// What is multiplied, and how it is divided.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without INPUT: a steel box, clamped at x = 0. Every product is compared with the assembled one.

Examples:
  warpfem-bench matrix-free --element tet10 --cells 60 --distort 0.12 --device cuda --json matrix-free.json
  warpfem-bench matrix-free --element hex20 --cells 60 --distort 0.12 --curve 0.05 --most 32,40,48"
)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Cells of a patch at most, separated by commas [default: as many as there is room for].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    most: Vec<usize>,
    /// Moves the corners by up to this part of the shortest edge.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    distort: f64,
    /// Then moves the nodes between corners.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    curve: f64,
    /// Leaves the assembled product out, for meshes whose matrix has no room.
    #[arg(long)]
    alone: bool,
}

/// One product's figures.
#[derive(Debug, Default, Serialize)]
struct Figures {
    /// Cells of a patch at most, where that was asked for.
    most: Option<usize>,
    /// Seconds to prepare it, once the mesh is there: the median. Of the assembled one, 0.
    setup_s: f64,
    /// Bytes that it keeps beside the mesh.
    stored_bytes: u64,
    /// Milliseconds of `y = K x`.
    product_ms: f64,
    /// Milliseconds of `y = K x` with `x . y`.
    product_dot_ms: f64,
    /// Milliseconds of `y = K x` of [`SEVERAL`] vectors at once.
    products_ms: [f64; 2],
    /// 1e9 unknowns per second of `y = K x`.
    gdof_per_s: f64,
    /// Of the assembled product: norm over norm.
    difference: Option<f64>,
}

/// How many vectors are multiplied at once.
const SEVERAL: [usize; 2] = [4, WIDTH];

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    distort: f64,
    curve: f64,
    rows: Vec<Row<Figures>>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    if arguments.most.contains(&0) {
        return Err(usage("a patch has at least one cell".into()));
    }
    let mut model = common.problem.model(common)?;
    distort(std::sync::Arc::make_mut(&mut model.mesh), arguments.distort, arguments.curve);
    let space = Space::open(common.device)?;
    let report: Report = in_precision!(common, measure(&space, arguments, &model))?;
    page::finish("matrix-free", common.json.as_deref(), &report, String::new())
}

/// Moves the nodes of a generated mesh, which numbers the corners of all cells first.
fn distort(mesh: &mut Mesh, amount: f64, curve: f64) {
    let cells = &mesh.cells[0];
    let (dim, info) = (mesh.dim(), cells.kind.info());
    let place = |k: usize| mesh.coords[cells.cell(0)[k] as usize];
    let length = |edge: &Vec<usize>| {
        let [a, b] = [place(edge[0]), place(edge[1])];
        (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
    };
    let shortest = cells.kind.edges().iter().map(length).fold(f64::INFINITY, f64::min);
    let corners = (0..cells.len()).flat_map(|cell| &cells.cell(cell)[..info.n_corners]);
    let n_corners = corners.max().map_or(0, |last| *last as usize + 1);
    let mut random = Random(7);
    let mut shake = |nodes: &mut [[f64; 3]], by: f64| {
        nodes.iter_mut().for_each(|x| (0..dim).for_each(|c| x[c] += by * shortest * random.next()));
    };
    if amount != 0.0 {
        shake(&mut mesh.coords[..n_corners], amount);
        straighten(mesh);
    }
    if curve != 0.0 {
        shake(&mut mesh.coords[n_corners..], curve);
    }
}

fn measure<T: Real>(space: &Space, arguments: &Arguments, model: &Model) -> Result<Report> {
    let (common, size) = (&arguments.common, model.analysis.components());
    let mut header = Header::new::<T>(space, common, &model.mesh, size)?;
    // The same vector in every numbering.
    let value = |i: usize| T::from_f64((i as f64 * 0.37).sin());
    let of_node = |node: &u32| {
        let node = *node as usize;
        (0..size).map(move |c| size * node + c)
    };
    let x = |numbering: &Numbering| space.upload_vec(numbering.to_mesh.iter().flat_map(of_node).map(value).collect());
    let in_mesh = |numbering: &Numbering, y: &[f64]| -> Vec<f64> {
        numbering.to_solver.iter().flat_map(of_node).map(|i| y[i]).collect()
    };
    let (mut rows, mut expected) = (Vec::new(), None);
    if !arguments.alone {
        let (system, _) = matrices::assemble::<T>(space, model, sparse::AUTO)?;
        header.blocks = system.matrix().pattern().n_blocks();
        let stored_bytes = system.matrix().footprint().bytes(size_of::<T>());
        let numbering = &system.body.numbering;
        let (figures, y) = product(space, common.samples, system.matrix(), &x(numbering)?)?;
        rows.push(Row::measure(Of::Product("assembled"), || Ok(Figures { stored_bytes, ..figures }))?);
        expected = Some(in_mesh(numbering, &y));
    }
    let topology = Topology::without_matrix(space, &model.mesh)?;
    let supports = Supports::new(model, &topology.numbering);
    let numbering = topology.numbering;
    let x = x(&numbering)?;
    let mesh = Rc::new(DeviceMesh::new(space, model, topology.blocks, topology.coords)?);
    let most: Vec<Option<usize>> =
        if arguments.most.is_empty() { vec![None] } else { arguments.most.iter().copied().map(Some).collect() };
    for (name, by_formulas) in [("by formulas", true), ("common", false)] {
        for most in &most {
            let division = Division { most: most.unwrap_or(usize::MAX), by_formulas };
            rows.push(Row::measure(Of::Product(name), || {
                let make = || MatrixFree::<T>::new(space, &mesh, &supports, division);
                let (operator, setup_s) = setups(space, common.samples, make)?;
                let (figures, y) = product(space, common.samples, &operator, &x)?;
                let y = in_mesh(&numbering, &y);
                let difference = expected.as_ref().map(|expected| reference::difference(&y, expected));
                Ok(Figures { most: *most, setup_s, stored_bytes: operator.bytes(), difference, ..figures })
            })?);
        }
    }
    Ok(Report { header, distort: arguments.distort, curve: arguments.curve, rows })
}

/// The times of an operator's products, and the product.
fn product<T: Real>(
    space: &Space,
    samples: u32,
    operator: &dyn LinOp<T>,
    x: &Buffer<T>,
) -> Result<(Figures, Vec<f64>)> {
    let mut y = space.upload_vec(vec![T::from_f64(f64::NAN); x.len()])?;
    let product = bandwidth::time(space, samples, || operator.apply(space, x, &mut y))?;
    let product_dot = bandwidth::time(space, samples, || operator.apply_dot(space, x, &mut y, Scalar::new(0)))?;
    let y = space.take(y)?;
    let figures = Figures {
        product_ms: 1e3 * product,
        product_dot_ms: 1e3 * product_dot,
        products_ms: several(space, samples, operator, &space.download(x)?, &y)?,
        gdof_per_s: x.len() as f64 / product / 1e9,
        ..Figures::default()
    };
    Ok((figures, y.into_iter().map(T::to_f64).collect()))
}

/// Milliseconds of the products with several vectors, each times a power of two: then the products are so many times `y`.
fn several<T: Real>(
    space: &Space,
    samples: u32,
    operator: &dyn LinOp<T>,
    x: &[T],
    y: &[T],
) -> Result<[f64; SEVERAL.len()]> {
    let times = |of: &[T], k: usize| of.iter().map(|x| T::from_f64(f64::from(1u32 << k)) * *x).collect();
    let x = (0..WIDTH).map(|k| space.upload_vec(times(x, k))).collect::<Result<Vec<_>>>()?;
    let mut products = (0..WIDTH).map(|_| space.zeros(y.len())).collect::<Result<Vec<_>>>()?;
    operator.apply_all(space, &x, &mut products)?;
    for (k, product) in products.iter().enumerate() {
        let expected: Vec<T> = times(y, k);
        assert!(space.download(product)? == expected, "product {k} of several is another");
    }
    let mut found = [0.0; SEVERAL.len()];
    for (found, n) in found.iter_mut().zip(SEVERAL) {
        let apply = || operator.apply_all(space, &x[..n], &mut products[..n]);
        *found = 1e3 * bandwidth::time(space, samples, apply)?;
    }
    Ok(found)
}
