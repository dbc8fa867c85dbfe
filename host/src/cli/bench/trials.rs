//! `warpfem bench trials`: products under study against EBW on the cube's pattern, with made-up values. Nothing else uses them.

use super::{Arguments, bandwidth, write_json};
use crate::cli::print;
use cuda_std::launch::{Items, Kernel};
use kernels_rs::real::Real;
use kernels_rs::sparse::sliced::Sliced;
use kernels_rs::sparse::trial::{TrialHalf, TrialMixed, TrialParts, TrialUnrolled};
use kernels_rs::sparse::{Ebw3, Spmv};
use serde::Serialize;
use std::rc::Rc;
use warpfem::Result;
use warpfem::assembly::Symbolic;
use warpfem::assembly::numbering::DEGREE_WINDOW;
use warpfem::backend::gpu::Launcher;
use warpfem::backend::{Backend, Buffer, Device, Emulated, GpuBackend, device};
use warpfem::model::Model;
use warpfem::pipeline::natural_order;
use warpfem::sparse::{Matrix, Operator, Pattern, Sparsity, Tuning};

const SLICE: usize = 32;

/// One product's figures.
#[derive(Debug, Serialize)]
struct Row {
    product: String,
    /// Threads per block.
    threads: usize,
    /// Precision of values, x and y.
    precision: String,
    ms: f64,
    /// EBW's time in f64 with 256 threads over this one.
    speedup: f64,
    /// Values and one index per block of the full matrix, x and y, all in this product's precisions.
    least_bytes: u64,
    /// What this product stores, padding included, and its traffic in x and y.
    own_bytes: u64,
    least_gb_per_s: f64,
    own_gb_per_s: f64,
    own_of_copy: f64,
    /// Largest difference from EBW's product in f64, over that product's largest entry.
    error: f64,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Report {
    device: String,
    element: String,
    cells: u32,
    dofs: usize,
    blocks: usize,
    half_blocks: usize,
    copy_gb_per_s: f64,
    /// Milliseconds of a launch that does next to nothing, one after the other: no product is faster.
    launch_ms: f64,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let model = arguments.model()?;
    let report = match arguments.device.resolve() {
        Device::Cuda(index) => measure(&device::open_cuda(index)?, true, arguments, &model)?,
        Device::Emulate => measure(&GpuBackend::new(Emulated::default())?, false, arguments, &model)?,
        _ => anyhow::bail!("trials are kernels: --device cuda or --device emulate"),
    };
    write_json(arguments.json.as_deref(), &report)?;
    print::text(&table(&report))
}

/// EBW's index arrays, made on the host as the format makes them on the device.
struct Columns<L: Launcher> {
    slice_start: L::Buffer<u64>,
    columns: L::Buffer<u32>,
}

impl<L: Launcher> Columns<L> {
    fn new(backend: &GpuBackend<L>, sparsity: &Sparsity) -> Result<Self> {
        let n = sparsity.n_rows();
        let (mut slice_start, mut columns) = (vec![0], Vec::new());
        for first in (0..n).step_by(SLICE) {
            let rows = first..n.min(first + SLICE);
            let width = rows.clone().map(|row| sparsity.row(row).len()).max().unwrap_or(0);
            for k in 0..width {
                for row in first..first + SLICE {
                    let own = if row < n { row as u32 } else { 0 };
                    let stored = if row < n { sparsity.row(row).get(k) } else { None };
                    columns.push(*stored.unwrap_or(&own));
                }
            }
            slice_start.push((columns.len() / SLICE) as u64);
        }
        Ok(Columns { slice_start: backend.upload_vec(slice_start)?, columns: backend.upload_vec(columns)? })
    }

    fn view(&self) -> Sliced {
        Sliced { slice_start: self.slice_start.view(), columns: self.columns.view() }
    }
}

/// Only the diagonal block of each row and those right of it.
fn upper_half(sparsity: &Sparsity) -> Sparsity {
    let (mut row_start, mut columns) = (vec![0], Vec::new());
    for row in 0..sparsity.n_rows() {
        columns.extend(sparsity.row(row).iter().filter(|column| **column as usize >= row));
        row_start.push(columns.len() as u64);
    }
    Sparsity { row_start, columns }
}

/// What is measured on.
struct Bench<'a, L: Launcher> {
    backend: &'a GpuBackend<L>,
    samples: u32,
    full: Columns<L>,
    half: Columns<L>,
    n_rows: usize,
    expected: Vec<f64>,
    report: Report,
}

/// A product's name and costs.
struct What {
    product: String,
    threads: usize,
    /// Bytes of a value, and of an entry of x or y.
    words: [usize; 2],
    /// Columns stored, padding included.
    columns: usize,
    /// Times that a vector of the rows is read or written.
    vectors: usize,
}

fn measure<L: Launcher>(backend: &GpuBackend<L>, is_gpu: bool, arguments: &Arguments, model: &Model) -> Result<Report> {
    let sparsity = Symbolic::new(&model.mesh, natural_order(&model.mesh), DEGREE_WINDOW)?.sparsity;
    let half = upper_half(&sparsity);
    let n_rows = sparsity.n_rows();
    // One number of f32 so that no variant rounds x, and values have 16 bits: what differs is how sums are rounded.
    let x: Vec<f64> = (0..3 * n_rows).map(|i| f64::from((i as f32 * 0.37).sin())).collect();
    let mut one = backend.zeros::<f64>(1)?;
    let launch = bandwidth::time(backend, arguments.samples, || backend.fill(1.0, &mut one))?;
    let report = Report {
        device: backend.name(),
        element: arguments.element.clone(),
        cells: arguments.cells,
        dofs: 3 * n_rows,
        blocks: sparsity.n_blocks(),
        half_blocks: half.n_blocks(),
        copy_gb_per_s: bandwidth::copy(backend, is_gpu, arguments.samples)?,
        launch_ms: 1e3 * launch,
        rows: Vec::new(),
    };
    // The made-up diagonal is three times the row's blocks: what the half lacks of it, for the comparison.
    let lacking: Vec<f64> =
        (0..3 * n_rows).map(|i| 3.0 * (sparsity.row(i / 3).len() - half.row(i / 3).len()) as f64 * x[i]).collect();
    let (full_columns, half_columns) = (Columns::new(backend, &sparsity)?, Columns::new(backend, &half)?);
    let full = Rc::new(Pattern::upload(backend, sparsity)?);
    let half = Rc::new(Pattern::upload(backend, half)?);
    let (columns, samples) = ([full_columns, half_columns], arguments.samples);
    let [full_columns, half_columns] = columns;
    let expected = Vec::new();
    let mut bench = Bench { backend, samples, full: full_columns, half: half_columns, n_rows, expected, report };
    bench.all::<f64>([&full, &half], &x, &lacking)?;
    bench.all::<f32>([&full, &half], &x, &lacking)?;
    bench.mixed(&full, &x)?;
    Ok(bench.report)
}

fn made_up<L: Launcher, T: Real>(
    backend: &GpuBackend<L>,
    pattern: &Rc<Pattern<GpuBackend<L>>>,
) -> Result<Matrix<GpuBackend<L>, T>> {
    let mut matrix = Matrix::zeros(backend, "ebw", 3, pattern, Tuning::default())?;
    matrix.make_up(backend)?;
    Ok(matrix)
}

impl<L: Launcher> Bench<'_, L> {
    fn upload<T: Real>(&self, x: &[f64]) -> Result<L::Buffer<T>> {
        self.backend.upload_vec(x.iter().map(|x| T::from_f64(*x)).collect())
    }

    /// The products that have one precision.
    fn all<T: Real>(
        &mut self,
        [full, half]: [&Rc<Pattern<GpuBackend<L>>>; 2],
        x: &[f64],
        lacking: &[f64],
    ) -> Result<()> {
        let backend = self.backend;
        let matrix = made_up::<L, T>(backend, full)?;
        let device_x = self.upload::<T>(x)?;
        if self.expected.is_empty() {
            let mut y = backend.zeros::<T>(x.len())?;
            matrix.apply(backend, &device_x, &mut y)?;
            self.expected = backend.take(y)?.into_iter().map(T::to_f64).collect();
        }
        for threads in [256, 128, 64, 32] {
            self.one_precision(threads, matrix.values(), device_x.view())?;
        }
        drop(matrix);
        let expected: Vec<f64> = self.expected.iter().zip(lacking).map(|(y, lacking)| y - lacking).collect();
        let full_product = std::mem::replace(&mut self.expected, expected);
        let matrix = made_up::<L, T>(backend, half)?;
        let (a, n, values, x) = (self.half.view(), self.n_rows, matrix.values(), device_x.view());
        for threads in [256, 128, 64] {
            let what = self.what::<T, T>("half, atomics", threads, self.half.columns.len(), 4);
            self.record::<T>(what, |y| {
                backend.fill(T::ZERO, y)?;
                let kernel = TrialHalf { a, values, x, y: y.view_mut() };
                launch(backend, n, threads, &Items { n, kernel })
            })?;
        }
        self.expected = full_product;
        Ok(())
    }

    /// The products of the full matrix with blocks of so many threads.
    fn one_precision<T: Real>(
        &mut self,
        threads: usize,
        values: cuda_std::View<T>,
        x: cuda_std::View<T>,
    ) -> Result<()> {
        let (backend, n, a, columns) = (self.backend, self.n_rows, self.full.view(), self.full.columns.len());
        let what = self.what::<T, T>("ebw", threads, columns, 2);
        self.record::<T>(what, |y| {
            let kernel = Spmv { n_items: n, a: Ebw3 { sliced: a }, values, x, y: y.view_mut() };
            launch(backend, n, threads, &kernel)
        })?;
        macro_rules! parts {
            ($($P:literal $B:literal)*) => { $(
                let what = self.what::<T, T>(concat!($P, " a row, bound ", $B), threads, columns, 2);
                self.record::<T>(what, |y| {
                    let kernel = TrialParts::<$P, $B, T> { n_rows: n, a, values, x, y: y.view_mut() };
                    launch(backend, n.next_multiple_of(SLICE) * $P, threads, &kernel)
                })?;
            )* };
        }
        parts!(1 2 1 4 2 0 2 2 2 4 4 0 4 2 4 4 8 0 8 2 8 4);
        macro_rules! unrolled {
            ($($U:literal)*) => { $(
                let what = self.what::<T, T>(concat!("unrolled by ", $U), threads, columns, 2);
                self.record::<T>(what, |y| {
                    let kernel = TrialUnrolled::<$U, T> { a, values, x, y: y.view_mut() };
                    launch(backend, n, threads, &Items { n, kernel })
                })?;
            )* };
        }
        unrolled!(2 4);
        Ok(())
    }

    /// Values in f32, sums in f64.
    fn mixed(&mut self, full: &Rc<Pattern<GpuBackend<L>>>, x: &[f64]) -> Result<()> {
        let matrix = made_up::<L, f32>(self.backend, full)?;
        for threads in [256, 128, 64] {
            self.mixed_with::<f32>("f64 sums, x, y f32", threads, matrix.values(), x)?;
            self.mixed_with::<f64>("f64 sums, x, y f64", threads, matrix.values(), x)?;
        }
        Ok(())
    }

    fn mixed_with<X: Real>(
        &mut self,
        name: &str,
        threads: usize,
        values: cuda_std::View<f32>,
        x: &[f64],
    ) -> Result<()> {
        let (backend, n, a) = (self.backend, self.n_rows, self.full.view());
        let device_x = self.upload::<X>(x)?;
        let what = self.what::<f32, X>(name, threads, self.full.columns.len(), 2);
        self.record::<X>(what, |y| {
            let kernel = TrialMixed { a, values, x: device_x.view(), y: y.view_mut() };
            launch(backend, n, threads, &Items { n, kernel })
        })
    }

    fn what<V: Real, X: Real>(&self, product: &str, threads: usize, columns: usize, vectors: usize) -> What {
        What { product: product.into(), threads, words: [size_of::<V>(), size_of::<X>()], columns, vectors }
    }

    /// Times a product and compares it with EBW's.
    fn record<X: Real>(&mut self, what: What, mut run: impl FnMut(&mut L::Buffer<X>) -> Result<()>) -> Result<()> {
        let backend = self.backend;
        let mut y = backend.upload_vec(vec![X::from_f64(f64::NAN); 3 * self.n_rows])?;
        run(&mut y)?;
        let error = difference(&backend.download(&y)?, &self.expected);
        let seconds = bandwidth::time(backend, self.samples, || run(&mut y))?;
        let What { product, threads, words: [value, entry], columns, vectors } = what;
        let n = 3 * self.n_rows;
        let least_bytes = self.report.blocks * (9 * value + 4) + 2 * n * entry;
        let own_bytes = columns * (9 * value + 4) + 8 * (self.n_rows.div_ceil(SLICE) + 1) + vectors * n * entry;
        let ms = 1e3 * seconds;
        let own_gb_per_s = own_bytes as f64 / seconds / 1e9;
        self.report.rows.push(Row {
            product,
            threads,
            precision: if value == entry { X::NAME.into() } else { format!("f{}, f{}", 8 * value, 8 * entry) },
            ms,
            speedup: self.report.rows.first().map_or(1.0, |ebw| ebw.ms / ms),
            least_bytes: least_bytes as u64,
            own_bytes: own_bytes as u64,
            least_gb_per_s: least_bytes as f64 / seconds / 1e9,
            own_gb_per_s,
            own_of_copy: own_gb_per_s / self.report.copy_gb_per_s,
            error,
        });
        Ok(())
    }
}

/// Starts a kernel with at least `n` threads in blocks of `threads`.
fn launch<L: Launcher>(backend: &GpuBackend<L>, n: usize, threads: usize, kernel: &impl Kernel) -> Result<()> {
    // SAFETY: every kernel of this file is given arrays of the matrix's own shapes, which live until the next wait.
    unsafe { backend.launcher().launch(n.div_ceil(threads), threads, kernel) }
}

/// The largest difference over the largest expected entry; NaN if any is NaN.
fn difference<X: Real>(y: &[X], expected: &[f64]) -> f64 {
    let largest = expected.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    let worst = y.iter().zip(expected).fold(0.0f64, |worst, (y, expected)| {
        let difference = (y.to_f64() - expected).abs();
        if worst.is_nan() || difference <= worst { worst } else { difference }
    });
    worst / largest
}

fn table(report: &Report) -> String {
    let Report { device, element, cells, dofs, blocks, half_blocks, copy_gb_per_s, launch_ms, .. } = report;
    let mut out = format!(
        "{element} cube of {cells}^3 cells, {} unknowns, {} blocks ({} in the half), on {device}\n\
         copy {copy_gb_per_s:.0} GB/s (read and written); a launch alone {:.2} us\n\n\
         product             threads  precision        ms  speed-up  least GB/s  own GB/s  of copy     error\n",
        print::count(*dofs),
        print::count(*blocks),
        print::count(*half_blocks),
        1e3 * launch_ms
    );
    for row in &report.rows {
        out.push_str(&format!(
            "{:<20} {:>6}  {:<9} {:>9.5} {:>9.3} {:>11.0} {:>9.0} {:>7.1}% {:>9.1e}\n",
            row.product,
            row.threads,
            row.precision,
            row.ms,
            row.speedup,
            row.least_gb_per_s,
            row.own_gb_per_s,
            100.0 * row.own_of_copy,
            row.error
        ));
    }
    out
}
