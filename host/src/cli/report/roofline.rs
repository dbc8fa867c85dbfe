//! Rooflines: operations of each kernel over the bytes it must move, both counted, against measured time (Williams,
//! Waterman, Patterson 2009). The roof is the copy bandwidth of the same run; no peak of arithmetic is measured, so
//! there is no flat roof.

use super::lookup::{PRECISIONS, assemblies, is_main, products_in, title};
use super::markdown::{count, number, percent, table};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Head, Run};
use super::topic::Topic;

/// Operations of an iteration's vector steps per unknown, fused ones counted as two: `p . q`, `r -= alpha q`, `u +=
/// alpha p` and `p = z + beta p` two each, `r . z` and `r . r` two each, `z = M^-1 r` one, twice.
const VECTOR_FLOPS: usize = 14;

/// The topic.
pub const TOPICS: &[Topic] = &[Topic {
    heading: "Roofline by device",
    about: "Each point is a kernel on the largest generated mesh that it was measured on. Across: operations for a \
        byte that it must move (a product: two for each value of the mesh's blocks, over all that the format stores, \
        x and y once; an iteration: also 14 for each unknown and ten words; an assembly: those of the element \
        matrices, each once, over the matrix and what elements read). Up: operations a second. The line is the copy \
        bandwidth: a kernel on it moves its bytes as fast as a copy does. Points above it read from caches.",
    lists: &["spmv", "cg", "assembly"],
    tables: roofline,
}];

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

fn product_flops(head: &Head) -> f64 {
    2.0 * (head.blocks * head.block_size.pow(2)) as f64
}

/// The largest generated mesh of an element among some.
fn largest<'a, R>(ones: &[&'a R], element: &str, head: fn(&R) -> &Head) -> Option<&'a R> {
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

fn roofline(run: &Run, plots: &mut Plots) -> String {
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
        ["kernel", "operations, million", "bytes, MB", "operations per byte", "ms", "GFLOP/s", "bytes, of copy"];
    let plot = plots.add(format!("{}-roofline-{precision}", run.stem()), &title, chart.svg());
    format!("\n{precision}, copy {} GB/s:\n{plot}\n{}", number(copy), table(&heads, &rows))
}

/// A series for each group of kernels, and the roof.
fn series(kernels: &[Kernel], copy: f64) -> Vec<Series> {
    let across = || kernels.iter().map(Kernel::intensity);
    let ends = [across().fold(f64::INFINITY, f64::min), across().fold(0.0, f64::max)];
    let roof =
        Series::new(&format!("copy, {} GB/s", number(copy)), Style::Bound, ends.map(|x| (Some(x), Some(copy * x))));
    let group = |name: &'static str, of: &dyn Fn(&&Kernel) -> bool| {
        Series::new(
            name,
            Style::Marks,
            kernels.iter().filter(of).map(|kernel| (Some(kernel.intensity()), Some(kernel.gflops()))),
        )
    };
    let product = |format: &'static str| {
        move |kernel: &&Kernel| kernel.group == "product" && kernel.name.starts_with(&format!("{format},"))
    };
    let assembly = |element: &'static str| {
        move |kernel: &&Kernel| kernel.group == "assembly" && kernel.name.contains(&format!(", {element},"))
    };
    // What matters most is drawn last, over the others.
    vec![
        group("product, other formats", &|kernel| {
            kernel.group == "product" && !["ebw", "ell", "csr"].iter().any(|format| product(format)(kernel))
        }),
        group("product, CSR", &product("csr")),
        group("product, ELL", &product("ell")),
        group("assembly, tet4", &assembly("tet4")),
        group("assembly, hex8", &assembly("hex8")),
        group("assembly, tet10 and hex20", &|kernel| assembly("tet10")(kernel) || assembly("hex20")(kernel)),
        group("CG iteration", &|kernel| kernel.group == "iteration"),
        group("product, EBW", &product("ebw")),
        roof,
    ]
}
