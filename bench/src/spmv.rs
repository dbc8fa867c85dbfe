//! `warpfem-bench spmv`.

use super::header::Header;
use super::matrices;
use super::reference::{self, Reference};
use super::row::{Of, Row};
use super::{Common, export, setups};
use crate::page;
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use serde::Serialize;
use std::path::PathBuf;
use std::rc::Rc;
use warpfem::assembly::numbering::DEGREE_WINDOW;
use warpfem::cli::{Auto, auto_or, one_of};
use warpfem::device::{Buffer, bandwidth};
use warpfem::linalg::{Scalar, Space};
use warpfem::mesh::Mesh;
use warpfem::result::Result;
use warpfem::result::choices::{Format, Ordering, Precision};
use warpfem::sparse::{Footprint, LinOp, Matrix, Pattern, Tuning};

/// Most rows per slice: `sell` pads the last slice to its full height, so taller ones measure padding.
const MAX_SLICE: usize = 1 << 20;

/// The formats and the order of their rows.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The mesh gives the pattern; the values are made up, the same in every format, and every product is checked.

Examples:
  warpfem-bench spmv --element tet4 --cells 100 --device cuda --json spmv.json
  warpfem-bench spmv meshes/car.msh --format csr,ell,ebw --ordering hilbert"
)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Storage formats, separated by commas [default: all].
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = one_of(&Format::ALL))]
    format: Vec<Format>,
    /// Unknowns per node [default: 3, or 2 on plane meshes].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    block_size: Option<u8>,
    /// Rows per slice of `sell`, a power of two.
    #[arg(long, value_name = "N", default_value_t = Tuning::default().slice_height, value_parser = power_of_two)]
    slice: usize,
    /// Rows that `sell` sorts by length together.
    #[arg(long, value_name = "N", default_value_t = Tuning::default().sorting_window, value_parser = at_least_one)]
    window: usize,
    /// Order of the nodes.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = auto_or(&Ordering::ALL))]
    ordering: Auto<Ordering>,
    /// Nodes that are sorted by number of neighbours together, after they are ordered; 1 sorts nothing.
    #[arg(long, value_name = "N", default_value_t = DEGREE_WINDOW, value_parser = at_least_one)]
    degree_window: usize,
    /// Also write the matrix into this folder, for other programs: compressed rows in NPY files and matrix.json.
    #[arg(long, value_name = "FOLDER")]
    matrix: Option<PathBuf>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n >= 1).ok_or_else(|| "expected a whole number of at least 1".into())
}

fn power_of_two(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n: &usize| n.is_power_of_two() && *n <= MAX_SLICE);
    number.ok_or_else(|| format!("expected a power of two, at most {MAX_SLICE}"))
}

/// One format's figures.
#[derive(Debug, Default, Serialize)]
struct Figures {
    /// Seconds to lay the matrix out, once the common set-up is done: the median.
    layout_s: f64,
    /// Bytes of values and indices.
    stored_bytes: u64,
    /// Stored values over those of the mesh's blocks.
    padding: f64,
    /// Milliseconds of `y = A x`.
    spmv_ms: f64,
    /// Milliseconds of `y = A x` with `x . y`.
    spmv_dot_ms: f64,
    /// Milliseconds of `y = A x` with [`WIDTH`] vectors.
    spmv_several_ms: f64,
    /// What the format's product must move: all it stores, x and y once.
    own_bytes: u64,
    /// `own_bytes` over the product's time.
    own_gb_per_s: f64,
    /// That over the copy bandwidth.
    own_of_copy: f64,
    /// The report's `min_bytes` over the product's time.
    gb_per_s: f64,
    /// That over the copy bandwidth.
    of_copy: f64,
    /// Two operations per value of the mesh's blocks.
    gflops: f64,
    /// Of the product from one made without any format: norm over norm.
    difference: f64,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    ordering: &'static str,
    degree_window: usize,
    slice_height: usize,
    sorting_window: usize,
    /// Seconds of what all formats share, from the mesh to the pattern of the matrix: the median.
    setup_s: f64,
    /// Values of the mesh's blocks, an index for each block, x and y once: what a product must move in any format.
    min_bytes: u64,
    rows: Vec<Row<Figures>>,
}

/// What all formats are measured with.
struct Bench<'a> {
    space: &'a Space,
    arguments: &'a Arguments,
    header: &'a Header,
    pattern: Rc<Pattern>,
    tuning: Tuning,
    /// x, and A x.
    x: Vec<f64>,
    expected: Vec<f64>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let common = &arguments.common;
    let mesh = common.problem.mesh()?;
    let space = Space::open(common.device)?;
    let report: Report = in_precision!(common, measure(&space, arguments, &mesh))?;
    page::finish("spmv", common.json.as_deref(), &report, String::new())
}

fn measure<T: Real>(space: &Space, arguments: &Arguments, mesh: &Mesh) -> warpfem::Result<Report> {
    let common = &arguments.common;
    let block_size = arguments.block_size.map_or(mesh.dim(), usize::from);
    let order = arguments.ordering.unwrap_or_else(|| Ordering::auto(mesh));
    let mut header = Header::new::<T>(space, common, mesh, block_size)?;
    let (pattern, setup_s) =
        setups(space, common.samples, || matrices::pattern(space, mesh, order, arguments.degree_window))?;
    header.blocks = pattern.n_blocks();
    let matrix = Reference::<T>::new(space, block_size, &pattern)?;
    if let Some(folder) = &arguments.matrix {
        let meta = export::Meta::new(&header, order.name(), arguments.degree_window);
        export::write(folder, &matrix, meta)?;
    }
    let x: Vec<f64> = (0..header.dofs).map(|i| T::from_f64((i as f64 * 0.37).sin()).to_f64()).collect();
    let expected = matrix.product(&x);
    drop(matrix);
    let tuning = Tuning { slice_height: arguments.slice, sorting_window: arguments.window };
    let bench = Bench { space, arguments, header: &header, pattern, tuning, x, expected };
    let formats = if arguments.format.is_empty() { &Format::ALL[..] } else { &arguments.format };
    let rows = formats
        .iter()
        .map(|format| Row::measure(Of::Format(format.name()), || bench.figures::<T>(*format)))
        .collect::<Result<_>>()?;
    Ok(Report {
        min_bytes: header.product_bytes::<T>(),
        header,
        ordering: order.name(),
        degree_window: arguments.degree_window,
        slice_height: arguments.slice,
        sorting_window: arguments.window,
        setup_s,
        rows,
    })
}

impl Bench<'_> {
    fn figures<T: Real>(&self, format: Format) -> Result<Figures> {
        let Bench { space, header, .. } = *self;
        let samples = self.arguments.common.samples;
        let (mut matrix, layout_s): (Matrix<T>, f64) =
            setups(space, samples, || Matrix::zeros(space, format, header.block_size, &self.pattern, self.tuning))?;
        matrix.make_up(space)?;
        let x = space.upload_vec(self.x.iter().map(|x| T::from_f64(*x)).collect())?;
        let mut y = space.upload_vec(vec![T::from_f64(f64::NAN); header.dofs])?;
        matrix.apply(space, &x, &mut y)?;
        let y_on_host: Vec<f64> = space.download(&y)?.into_iter().map(T::to_f64).collect();
        let difference = reference::difference(&y_on_host, &self.expected);
        reference::check::<T>(&format!("the product in format {format}"), difference);
        let spmv = bandwidth::time(space, samples, || matrix.apply(space, &x, &mut y))?;
        let spmv_dot = bandwidth::time(space, samples, || matrix.apply_dot(space, &x, &mut y, Scalar::new(0)))?;
        let spmv_several = self.several(&matrix, &y)?;
        let rates = self.rates::<T>(spmv, matrix.footprint());
        Ok(Figures { layout_s, spmv_dot_ms: 1e3 * spmv_dot, spmv_several_ms: 1e3 * spmv_several, difference, ..rates })
    }

    /// Seconds of the product with several vectors, each times a power of two: then the products are so many times `y`.
    fn several<T: Real>(&self, matrix: &Matrix<T>, y: &Buffer<T>) -> Result<f64> {
        let space = self.space;
        let factor = |k: usize| T::from_f64(f64::from(1u32 << k));
        let times = |k: usize| self.x.iter().map(|x| factor(k) * T::from_f64(*x)).collect();
        let x = (0..WIDTH).map(|k| space.upload_vec(times(k))).collect::<Result<Vec<_>>>()?;
        let mut products = (0..WIDTH).map(|_| space.zeros(y.len())).collect::<Result<Vec<_>>>()?;
        matrix.apply_all(space, &x, &mut products)?;
        let y = space.download(y)?;
        for (k, product) in products.iter().enumerate() {
            let found = space.download(product)?;
            assert!(
                found.iter().zip(&y).all(|(found, y)| *found == factor(k) * *y),
                "product {k} of several is another"
            );
        }
        bandwidth::time(space, self.arguments.common.samples, || matrix.apply_all(space, &x, &mut products))
    }

    /// What follows from a product's seconds and its format's bytes.
    fn rates<T: Real>(&self, seconds: f64, footprint: Footprint) -> Figures {
        let header = self.header;
        let stored_bytes = footprint.values * size_of::<T>() as u64 + footprint.index_bytes;
        let own_bytes = stored_bytes + (2 * header.dofs * size_of::<T>()) as u64;
        let values = (header.block_size * header.block_size * header.blocks) as f64;
        let [own, least] = [own_bytes, header.product_bytes::<T>()].map(|bytes| bytes as f64 / seconds / 1e9);
        Figures {
            stored_bytes,
            padding: footprint.values as f64 / values,
            spmv_ms: 1e3 * seconds,
            own_bytes,
            own_gb_per_s: own,
            own_of_copy: own / header.copy_gb_per_s,
            gb_per_s: least,
            of_copy: least / header.copy_gb_per_s,
            gflops: 2.0 * values / seconds / 1e9,
            ..Figures::default()
        }
    }
}
