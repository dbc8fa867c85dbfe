//! DSM's figures 7 and 8, and the poster's stages, convergence and memory: iterations against the size of a cube.

use super::lookup::{
    OURS, PRECISIONS, find, iterated, iterations, nearest, products_in, rate, row, stopped, stopped_in, title,
};
use super::markdown::{count, digits, number, quotient, table};
use super::paper::{exponent, in_range, power, yes_or_no};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Cg, Iterations, Run};
use warpfem_text::bytes;

/// The formats that run on one thread of the CPU for comparison.
const CPU_DENSE: [&str; 2] = ["dense", "dense_block"];

/// From how many nodes a mesh is large: DSM's largest cube and those beyond.
pub const LARGE: usize = 200_000;

/// Figures 7 and 8: a table and a plot for each precision, and the claims.
pub fn rates(run: &Run, plots: &mut Plots) -> String {
    let mut out = String::new();
    for precision in PRECISIONS {
        out += &rates_in(run, precision, plots);
    }
    let Some(limit) = stopped(run, true).iter().find_map(|one| one.max_iterations) else { return String::new() };
    format!(
        "Iterations of CG with Jacobi per second, from runs of at most {limit} iterations, on unstructured cubes of \
            about DSM's numbers of nodes (named `cube_N`) and on cubes of cells. The CPU's is the faster of two dense \
            formats on one thread. The run time of figure 7 is that of figure 8 turned over.\n{out}"
    )
}

fn rates_in(run: &Run, precision: &str, plots: &mut Plots) -> String {
    let ones = stopped_in(run, true, precision);
    let processors = stopped_in(run, false, precision);
    let names = formats(&ones);
    let dense = |one: &Cg| nearest(&processors, one.head.nodes).and_then(|cpu| rate(cpu, &CPU_DENSE));
    let line = |one: &&Cg| {
        let first = vec![title(&one.head.problem), count(one.head.nodes), digits(dense(one), 4)];
        [first, names.iter().map(|name| cell(one, name)).collect()].concat()
    };
    let rows: Vec<Vec<String>> = ones.iter().map(line).collect();
    if rows.is_empty() {
        return String::new();
    }
    let cpu = format!("dense, {}", processors.first().map_or("CPU", |one| &one.head.device));
    let rates: Vec<String> = [cpu.as_str()].iter().chain(&names).map(|name| format!("{name}, 1/s")).collect();
    let heads: Vec<&str> = ["problem", "nodes"].into_iter().chain(rates.iter().map(String::as_str)).collect();
    let points = |one: &&Cg, name: &str| (Some(one.head.nodes as f64), rate(one, &[name]));
    let mut series =
        vec![Series::new(&cpu, Style::Line, ones.iter().map(|one| (Some(one.head.nodes as f64), dense(one))))];
    series.extend(names.iter().map(|name| Series::new(name, Style::Line, ones.iter().map(|one| points(one, name)))));
    let title = format!("Iterations per second by size, {}, {precision}", run.device);
    let chart =
        Chart { title: title.clone(), x: Axis::log("nodes"), y: Axis::log("iterations per second [1/s]"), series };
    let plot = plots.add(format!("{}-rates-{precision}", run.stem()), &title, chart.svg());
    format!("\nIterations per second, {precision}:\n\n{}{plot}", table(&heads, &rows))
}

/// The formats that some reports compare.
pub fn formats<'a>(ones: &[&'a Cg]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in ones.iter().flat_map(|one| &one.rows) {
        if !names.contains(&row.format.as_str()) {
            names.push(&row.format);
        }
    }
    names
}

fn cell(one: &Cg, name: &str) -> String {
    match one.rows.iter().find(|row| row.format == name).and_then(|row| row.needed_bytes) {
        Some(needed) => format!("needs {}", bytes(needed)),
        None => digits(rate(one, &[name]), 4),
    }
}

/// The poster's stages.
pub fn stages(run: &Run, _: &mut Plots) -> String {
    let cpu = nearest(&stopped_in(run, false, "f64"), 3419);
    let mut columns: Vec<(String, &Iterations)> = Vec::new();
    if let Some(one) = cpu {
        let fastest = CPU_DENSE
            .iter()
            .filter_map(|name| iterated(one, name))
            .min_by(|a, b| a.iteration_ms.total_cmp(&b.iteration_ms));
        columns.extend(fastest.map(|found| (format!("{}, dense, f64", one.head.device), found)));
    }
    for precision in PRECISIONS {
        let Some(one) = nearest(&stopped_in(run, true, precision), 3419) else { continue };
        let of = |name: &str| Some((format!("{}, {name}, {precision}", one.head.device), iterated(one, name)?));
        columns.extend([of("dense"), of(OURS)].into_iter().flatten());
    }
    if columns.len() < 2 {
        return String::new();
    }
    let row = |(name, found): &(String, &Iterations)| {
        vec![
            name.clone(),
            number(1e3 * found.setup_s),
            number(1e3 * found.assembly_s),
            number(1e3 * found.iteration_ms),
            count(found.iterations),
        ]
    };
    let rows: Vec<Vec<String>> = columns.iter().map(row).collect();
    let heads = ["device, format, precision", "set-up, ms", "assembly, ms", "iteration, µs", "iterations run"];
    let time = |name: &str| columns.iter().find(|column| column.0.contains(name)).map(|column| column.1.iteration_ms);
    let on_gpu = format!("{}, {OURS}, f64", run.device);
    let faster = quotient(time("dense, f64").filter(|_| cpu.is_some()), time(&on_gpu));
    let verdict = faster.map_or(String::new(), |faster| {
        let why =
            "one thread of today's CPU keeps up with its memory, and at this size launches, not bytes, bound the GPU";
        let measured =
            format!("an iteration with EBW is {} times as fast as the CPU's with a dense matrix", number(faster));
        in_range(faster, [1013.0, 1013.0], &measured, ["", "the GPU has grown more than one thread of a CPU has", why])
    });
    format!(
        "Iterations instead of solutions: the dense formats were not run to their end. Boundary conditions and \
            stresses were not timed at this size; [phases](#phases) has them for larger ones.\n\n{}\n{verdict}\n",
        table(&heads, &rows)
    )
}

/// The poster's convergence.
pub fn convergence(run: &Run, plots: &mut Plots) -> String {
    let mut out = String::new();
    let mut series = Vec::new();
    for element in ["tet4", "hex8"] {
        let ones = iterations(run)
            .into_iter()
            .filter(|one| one.head.problem.starts_with(&format!("{element} cube ")) && one.head.precision == "f64");
        let found: Vec<(&Cg, &Iterations)> =
            ones.filter_map(|one| Some((one, iterated(one, OURS)?))).filter(|pair| pair.1.converged).collect();
        let points: Vec<(f64, f64)> =
            found.iter().map(|(one, row)| (one.head.nodes as f64, row.iterations as f64)).collect();
        let Some(found_power) = exponent(&points) else { continue };
        let rows: Vec<Vec<String>> = found
            .iter()
            .map(|(one, row)| vec![title(&one.head.problem), count(one.head.nodes), count(row.iterations)])
            .collect();
        let tolerance = found[0].0.tolerance;
        out +=
            &format!("\n{element} to {tolerance:.0e}, f64:\n\n{}", table(&["problem", "nodes", "iterations"], &rows));

        let why = "on cubes of equal cells iterations grow as the cells along an edge, the third root of the nodes; \
            DSM's unstructured meshes are worse";
        let measured = format!("iterations of {element} grow as {}", power(found_power));
        out += &format!("\n{}\n", in_range(found_power, [0.389, 0.389], &measured, ["", "", why]));
        series.push(Series::new(element, Style::Line, points.into_iter().map(|(x, y)| (Some(x), Some(y)))));
    }
    let title = format!("Iterations of CG with Jacobi by size, {}, f64", run.device);
    let chart = Chart { title: title.clone(), x: Axis::log("nodes"), y: Axis::log("iterations"), series };
    out + &plots.add(format!("{}-convergence", run.stem()), &title, chart.svg())
}

/// The poster's vase: Jacobi's iterations on `meshes/vase.toml` and on a cube of as many tetrahedra.
pub fn vase(run: &Run, _: &mut Plots) -> String {
    let found = run.precond.iter().filter(|one| one.head.problem == "vase");
    let mut found = found.filter_map(|one| Some((one, find(one, "jacobi", None, "f64")?.iterations)));
    let Some((one, iterations)) = found.next() else { return String::new() };
    let Some(cubes) = cubes_around(run, one.head.elements, one.tolerance) else { return String::new() };
    // Iterations on cubes are a power of their elements.
    let [low, high] = cubes.map(|(cube, iterations)| ((cube.head.elements as f64).ln(), (iterations as f64).ln()));
    let share = ((one.head.elements as f64).ln() - low.0) / (high.0 - low.0);
    let as_large = (low.1 + share * (high.1 - low.1)).exp();
    let ratio = iterations as f64 / as_large;
    let line = |name: String, elements: usize, iterations: usize| vec![name, count(elements), count(iterations)];
    let [below, above] =
        cubes.map(|(cube, iterations)| line(title(&cube.head.problem), cube.head.elements, iterations));
    let rows = [below, line("vase".into(), one.head.elements, iterations), above];
    let measured = format!(
        "{} times as many as a cube of as many tetrahedra, which would take {} by the cubes on either side",
        number(ratio),
        count(as_large.round() as usize)
    );
    let why = "this vase is another mesh than the poster's, with a wall, load and supports of its own";
    format!(
        "Jacobi to {:.0e}, f64; `meshes/vase.toml`.\n\n{}\n{}\n",
        one.tolerance,
        table(&["mesh", "elements", "iterations"], &rows),
        in_range(ratio, [10.0, f64::INFINITY], &measured, ["", "", why])
    )
}

/// The cubes of tet4 next below and above some elements that came to a tolerance in double precision, and their
/// iterations.
fn cubes_around(run: &Run, elements: usize, tolerance: f64) -> Option<[(&Cg, usize); 2]> {
    let ones = iterations(run).into_iter().filter(|one| {
        one.head.problem.starts_with("tet4 cube ") && one.head.precision == "f64" && one.tolerance == tolerance
    });
    let cubes: Vec<(&Cg, usize)> =
        ones.filter_map(|one| Some((one, iterated(one, OURS).filter(|found| found.converged)?.iterations))).collect();
    let size = |pair: &&(&Cg, usize)| pair.0.head.elements;
    let below = cubes.iter().filter(|pair| size(pair) <= elements).max_by_key(size)?;
    let above = cubes.iter().filter(|pair| size(pair) > elements).min_by_key(size)?;
    Some([*below, *above])
}

/// The poster's largest meshes.
pub fn memory(run: &Run, _: &mut Plots) -> String {
    // Nodes, precision, bytes that a dense matrix needs, whether it was measured, whether EBW was.
    let mut all: Vec<(usize, &str, Option<u64>, bool, bool)> = Vec::new();
    for one in PRECISIONS.iter().flat_map(|precision| products_in(run, precision)) {
        let dense = one.rows.iter().find(|row| row.format == "dense");
        let needed = dense.and_then(|row| row.needed_bytes);
        all.push((one.head.nodes, &one.head.precision, needed, row(one, "dense").is_some(), row(one, OURS).is_some()));
    }
    for one in stopped(run, true) {
        let dense = one.rows.iter().find(|row| row.format == "dense");
        let needed = dense.and_then(|row| row.needed_bytes);
        let measured = (iterated(one, "dense").is_some(), iterated(one, OURS).is_some());
        all.push((one.head.nodes, &one.head.precision, needed, measured.0, measured.1));
    }
    let dense = all.iter().filter(|one| one.3).max_by_key(|one| one.0);
    let sparse = all.iter().filter(|one| one.4).map(|one| one.0).max();
    let (Some(dense), Some(sparse)) = (dense, sparse) else { return String::new() };
    let refused = all.iter().filter_map(|one| Some((one.0, one.2?, one.1))).min();
    let refused = refused.map_or(String::new(), |(nodes, needed, precision)| {
        format!("; of {} nodes in {precision} it would need {}", count(nodes), bytes(needed))
    });
    let measured = format!(
        "the largest dense matrix measured is of {} nodes in {}{refused}; the largest sparse one of {} nodes",
        count(dense.0),
        dense.1,
        count(sparse)
    );
    let why = "this device has more memory than DSM's, and a dense matrix still ends far before a sparse one";
    format!("{}\n", yes_or_no(sparse > 1_000_000, &measured, why, "no larger one was measured"))
}
