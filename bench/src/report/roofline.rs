//! Rooflines: operations of each kernel over the bytes it must move, both counted, against measured time (Williams,
//! Waterman, Patterson 2009). The roof is the copy bandwidth of the same run; no peak of arithmetic is measured, so
//! there is no flat roof, and the line ends before arithmetic could bind.

use super::lookup::{PRECISIONS, assemblies, is_main, products_in, title};
use super::markdown::{count, number, percent, table};
use super::plot::{Axis, Chart, Note, Plots, Series, Style};
use super::run::Run;
use crate::header::Header;

/// Operations per byte at which the line of the copy ends: beyond it arithmetic may bind, whose peak is not known.
const LINE_ENDS: f64 = 1.0;

/// Operations of an iteration's vector steps per unknown, fused ones counted as two: `p . q`, `r -= alpha q`, `u +=
/// alpha p` and `p = z + beta p` two each, `r . z` and `r . r` two each, `z = M^-1 r` one, twice.
const VECTOR_FLOPS: usize = 14;

/// A kernel: its name, operations, bytes, milliseconds, and the copy bandwidth it is measured against.
struct Kernel {
    group: &'static str,
    name: String,
    flops: f64,
    bytes: f64,
    ms: f64,
    copy: f64,
}

impl Kernel {
    fn intensity(&self) -> f64 {
        self.flops / self.bytes
    }

    fn gflops(&self) -> f64 {
        self.flops / self.ms / 1e6
    }

    fn of_copy(&self) -> f64 {
        self.bytes / self.ms / 1e6 / self.copy
    }
}

fn product_flops(head: &Header) -> f64 {
    2.0 * (head.blocks * head.block_size.pow(2)) as f64
}

/// The largest generated mesh of an element among some.
fn largest<'a, R>(ones: &[&'a R], element: &str, head: fn(&R) -> &Header) -> Option<&'a R> {
    let same = ones.iter().copied().filter(|one| head(one).problem.starts_with(&format!("{element} ")));
    same.max_by_key(|one| head(one).dofs)
}

fn products(run: &Run, precision: &str) -> Vec<Kernel> {
    let several: Vec<_> = products_in(run, precision).into_iter().filter(|one| one.rows.len() > 1).collect();
    // Larger matrices than these were measured; a million nodes is the size at which all is compared.
    let several: Vec<_> = several.iter().copied().filter(|one| one.head.nodes <= 1_100_000).collect();
    let Some(one) = largest(&several, "tet4", |one| &one.head) else { return Vec::new() };
    let kernel = |row: &super::run::Row<super::run::Product>| {
        let found = row.figures.as_ref()?;
        let name = format!("{}, {}", row.format, title(&one.head.problem));
        Some(Kernel {
            group: "product",
            name,
            flops: product_flops(&one.head),
            bytes: found.own_bytes,
            ms: found.spmv_ms,
            copy: one.head.copy_gb_per_s,
        })
    };
    one.rows.iter().filter_map(kernel).collect()
}

fn steps(run: &Run, precision: &str) -> Vec<Kernel> {
    // On processors the measured iterations may have been stopped early.
    let single = run.cg.iter().filter(|one| is_main(run, &one.head.device) && one.rows.len() == 1);
    let ones: Vec<_> = single.filter(|one| one.head.precision == precision && one.stepping == "auto").collect();
    let of = |element: &str| {
        let one = largest(&ones, element, |one| &one.head)?;
        let found = one.rows.first()?.figures.as_ref()?;
        let flops = product_flops(&one.head) + (VECTOR_FLOPS * one.head.dofs) as f64;
        let (name, copy) = (format!("CG, {}", title(&one.head.problem)), one.head.copy_gb_per_s);
        Some(Kernel { group: "iteration", name, flops, bytes: one.iteration_bytes, ms: found.iteration_ms, copy })
    };
    ["tet4", "hex8"].into_iter().filter_map(of).collect()
}

fn assembly(run: &Run, precision: &str) -> Vec<Kernel> {
    let ones = assemblies(run, precision, super::lookup::OURS);
    let of = |element: &str| {
        let Some(one) = largest(&ones, element, |one| &one.head) else { return Vec::new() };
        let kernel = |row: &super::run::Row<super::run::Assembled>| {
            let found = row.figures.as_ref()?;
            let name = format!("{}, {element}, {} elements", row.format, count(one.head.elements));
            Some(Kernel {
                group: "assembly",
                name,
                flops: one.flops,
                bytes: one.min_bytes,
                ms: found.assembly_ms,
                copy: one.head.copy_gb_per_s,
            })
        };
        one.rows.iter().filter_map(kernel).collect()
    };
    ["tet4", "hex8", "tet10", "hex20"].into_iter().flat_map(of).collect()
}

pub fn roofline(run: &Run, plots: &mut Plots) -> String {
    PRECISIONS.iter().map(|precision| of_precision(run, precision, plots)).collect()
}

fn of_precision(run: &Run, precision: &str, plots: &mut Plots) -> String {
    let kernels: Vec<Kernel> =
        [products(run, precision), steps(run, precision), assembly(run, precision)].into_iter().flatten().collect();
    let line = |kernel: &Kernel| {
        let bytes = number(kernel.bytes / 1e6);
        let speeds = [
            number(kernel.flops / 1e6),
            bytes,
            number(kernel.intensity()),
            number(kernel.ms),
            number(kernel.gflops()),
            percent(kernel.of_copy()),
        ];
        [vec![format!("{}: {}", kernel.group, kernel.name)], speeds.to_vec()].concat()
    };
    let rows: Vec<Vec<String>> = kernels.iter().map(line).collect();
    let Some(copy) = kernels.iter().map(|kernel| kernel.copy).max_by(f64::total_cmp) else { return String::new() };
    let title = format!("Roofline, {}, {precision}", run.device);
    let chart = Chart {
        title: title.clone(),
        x: Axis::log("operations per byte [FLOP/B]"),
        y: Axis::log("operations per second [GFLOP/s]"),
        series: series(&kernels, copy),
    };
    let heads =
        ["kernel", "operations, million", "bytes, MB", "operations per byte", "time, ms", "GFLOP/s", "bytes, of copy"];
    let plot = plots.add(format!("{}-roofline-{precision}", run.stem()), &title, chart.svg());
    format!("\n{precision}, copy {} GB/s:\n{plot}\n{}", number(copy), table(&heads, &rows))
}

/// The formats whose products have a series of their own, and those that are drawn with EBW: what matters most is drawn
/// last, over the others.
const FORMATS: [(&str, &[&str]); 7] = [
    ("product: CSR", &["csr"]),
    ("product: CSR-vector", &["csr_vector"]),
    ("product: BCSR", &["bcsr"]),
    ("product: ELL by rows", &["ell_row"]),
    ("product: ELL, SELL, WARP", &["ell", "ell_warp", "sell"]),
    ("product: BELL", &["bell"]),
    ("product: EBW, 4 kinds", &["ebw", "ebw16", "ebw64", "ebw128"]),
];

/// A series for each group of kernels, and the roof.
fn series(kernels: &[Kernel], copy: f64) -> Vec<Series> {
    let across = || kernels.iter().map(Kernel::intensity);
    let least = across().fold(f64::INFINITY, f64::min);
    let ends = [least, across().fold(0.0, f64::max).min(LINE_ENDS).max(least)];
    let roof =
        Series::new(&format!("copy, {} GB/s", number(copy)), Style::Bound, ends.map(|x| (Some(x), Some(copy * x))));
    let points = |name: &str, of: &dyn Fn(&&Kernel) -> bool| {
        let found = kernels.iter().filter(of).map(|kernel| (Some(kernel.intensity()), Some(kernel.gflops())));
        Series::new(name, Style::Marks, found)
    };
    let assembly = |element: &'static str| {
        let is_of =
            move |kernel: &&Kernel| kernel.group == "assembly" && kernel.name.contains(&format!(", {element},"));
        let mut group = points(&format!("assembly, {element}"), &is_of);
        // Elements of second order are left of their neighbours.
        let on_the_left = element.ends_with('0');
        let by_speed = |a: &&Kernel, b: &&Kernel| a.gflops().total_cmp(&b.gflops());
        let ends = [kernels.iter().filter(is_of).max_by(by_speed), kernels.iter().filter(is_of).min_by(by_speed)];
        group.notes.extend(ends.into_iter().flatten().map(|kernel| Note {
            at: (kernel.intensity(), kernel.gflops()),
            text: kernel.name.split(',').next().unwrap_or_default().into(),
            on_the_left,
        }));
        group
    };
    let product = |(words, formats): &(&str, &[&str])| {
        points(words, &|kernel| {
            kernel.group == "product" && formats.iter().any(|format| kernel.name.starts_with(&format!("{format},")))
        })
    };
    let elements = ["tet4", "hex8", "tet10", "hex20"].into_iter().map(assembly);
    let iterations = points("CG iteration", &|kernel| kernel.group == "iteration");
    elements.chain([iterations]).chain(FORMATS.iter().map(product)).chain([roof]).collect()
}
