//! Where the time goes: DSM's figures 6, 9, 10 and 11, and whole solutions from case to files.

use super::dsm_rates::formats;
use super::lookup::{OURS, PRECISIONS, iterated, nearest, products, row, stopped_in, title};
use super::markdown::{count, number, percent, quotient, table};
use super::paper::yes_or_no;
use super::plot::{Bar, Plots, shares};
use super::run::{Cg, Iterations, Run, Solve, is_gpu};

/// The phases of a solution.
const PHASES: [&str; 7] = ["read", "setup", "assembly", "boundary", "solve", "stress", "write"];
/// Meshes whose phases are compared: DSM's, and a million nodes.
const MESHES: [usize; 4] = [1149, 3419, 229_515, 1_000_000];
/// The phases of an iteration report.
const PARTS: [&str; 3] = ["set-up", "assembly", "iterations"];

fn seconds(found: &Iterations) -> [f64; 3] {
    [found.setup_s, found.assembly_s, found.solve_ms / 1e3]
}

/// The reports of DSM's sizes and a million nodes, those that there are.
fn meshes<'a>(run: &'a Run, precision: &str) -> Vec<&'a Cg> {
    let ones = stopped_in(run, true, precision);
    MESHES.iter().filter_map(|nodes| nearest(&ones, *nodes)).collect()
}

/// Figure 6: the CPU's solutions.
pub fn cpu_phases(run: &Run, plots: &mut Plots) -> String {
    let ones: Vec<&Solve> = run.solve.iter().filter(|one| !is_gpu(&one.device)).collect();
    let name = if run.is_gpu() { "cpu-phases" } else { "phases" };
    let text = solutions(run, &ones, name, plots);
    let share = |one: &&Solve| quotient(one.timings_s.get("solve").copied(), one.timings_s.get("total").copied());
    let Some(least) = ones.iter().filter_map(share).min_by(f64::total_cmp) else { return String::new() };
    let measured = format!("the solution takes at least {} of the time", percent(least));
    let why = "no other phase has as much to do, also where the matrix is sparse and every phase runs on all threads";
    format!("{text}\n{}\n", yes_or_no(least > 0.5, &measured, why, ""))
}

/// Solutions from case to files, as a table and bars.
fn solutions(run: &Run, ones: &[&Solve], name: &str, plots: &mut Plots) -> String {
    let cells = |one: &&Solve| {
        let sizes =
            [one.case.clone(), count(one.nodes), count(one.elements), count(one.dofs), count(one.solver.iterations)];
        let times = PHASES.iter().chain(&["total"]).map(|phase| number(one.timings_s.get(*phase).copied()));
        sizes.into_iter().chain(times).collect()
    };
    let rows: Vec<Vec<String>> = ones.iter().map(cells).collect();
    let heads = [
        "case",
        "nodes",
        "elements",
        "unknowns",
        "iterations",
        "read",
        "set-up",
        "assembly",
        "boundary",
        "solve",
        "stress",
        "write",
        "total",
    ];
    let bar = |one: &&Solve| Bar {
        name: one.case.clone(),
        parts: PHASES.iter().map(|phase| one.timings_s.get(*phase).copied().unwrap_or(0.0)).collect(),
        note: format!(
            "{} s",
            number(
                one.timings_s
                    .values()
                    .copied()
                    .zip(one.timings_s.keys())
                    .find(|pair| pair.1 == "total")
                    .map(|pair| pair.0)
            )
        ),
    };
    let title = format!("Phases of solutions from case to files, {}", ones.first().map_or("", |one| &one.device));
    let picture = shares(&title, &PHASES, &ones.iter().map(bar).collect::<Vec<_>>());
    format!(
        "Seconds from case to files:\n\n{}{}",
        table(&heads, &rows),
        plots.add(format!("{}-{name}", run.stem()), &title, picture)
    )
}

/// Figure 9: set-up by format.
pub fn set_up(run: &Run, _: &mut Plots) -> String {
    let mut out = String::new();
    let ones = stopped_in(run, true, "f64");
    let names = formats(&ones);
    let line = |one: &&Cg| {
        let first = [title(&one.head.problem), count(one.head.nodes)];
        first
            .into_iter()
            .chain(names.iter().map(|name| number(iterated(one, name).map(|row| 1e3 * row.setup_s))))
            .collect()
    };
    let rows: Vec<Vec<String>> = ones.iter().map(line).collect();
    if !rows.is_empty() {
        let heads = [&["problem", "nodes"], &names[..]].concat();
        out += &format!("Milliseconds of sparsity, slots, layout and copies, f64:\n\n{}\n", table(&heads, &rows));
    }
    let mut layouts = Vec::new();
    let (mut least, mut of) = (0, 0);
    for one in products(run).into_iter().filter(|one| one.head.precision == "f64") {
        let time = |name: &str| row(one, name)?.layout_s;
        let (Some(ell), Some(warp), Some(ebw)) = (time("ell"), time("ell_warp"), time(OURS)) else { continue };
        (least, of) = (least + usize::from(ebw < ell && ebw < warp), of + 1);
        layouts.push(vec![
            title(&one.head.problem),
            count(one.head.nodes),
            number(1e3 * ell),
            number(1e3 * warp),
            number(1e3 * ebw),
        ]);
    }
    if of > 0 {
        let heads = ["problem", "nodes", "ell", "ell_warp", "ebw"];
        let measured = format!("of {of} meshes, EBW is laid out in the least time on {least}");
        let why = "there is an index for each block of values instead of one for each value";
        let against = "on small meshes the time is that of the launches, and EBW sorts its rows";
        let verdict = yes_or_no(2 * least > of, &measured, why, against);
        out += &format!(
            "Milliseconds of the layout alone, the pattern given, f64:\n\n{}\n{verdict}\n",
            table(&heads, &layouts)
        );
    }
    out
}

/// Figure 10: from mesh to so many iterations, by format.
pub fn totals(run: &Run, _: &mut Plots) -> String {
    let ones = stopped_in(run, true, "f64");
    let names = formats(&ones);
    let total = |one: &Cg, name: &str| iterated(one, name).map(|found| 1e3 * seconds(found).iter().sum::<f64>());
    let line = |one: &&Cg| {
        let first = [title(&one.head.problem), count(one.head.nodes)];
        first.into_iter().chain(names.iter().map(|name| number(total(one, name)))).collect()
    };
    let rows: Vec<Vec<String>> = ones.iter().map(line).collect();
    let Some(limit) = ones.iter().find_map(|one| one.max_iterations) else { return String::new() };
    let fastest = |one: &&&Cg| {
        let best = names.iter().filter_map(|name| Some((total(one, name)?, *name))).min_by(|a, b| a.0.total_cmp(&b.0));
        best.is_some_and(|best| best.1 == OURS)
    };
    let won = ones.iter().filter(fastest).count();
    let heads = [&["problem", "nodes"], &names[..]].concat();
    let measured = format!("EBW is the fastest on {won} of {} meshes", ones.len());
    format!(
        "Milliseconds of set-up, assembly and {limit} iterations, f64:\n\n{}\n{}\n",
        table(&heads, &rows),
        yes_or_no(
            2 * won > ones.len(),
            &measured,
            "it is set up and multiplied with in the least time",
            "on small meshes launches and set-up decide, which differ little"
        )
    )
}

/// Figure 11: phases by size.
pub fn breakdown(run: &Run, plots: &mut Plots) -> String {
    PRECISIONS.iter().map(|precision| breakdown_in(run, precision, plots)).collect()
}

fn breakdown_in(run: &Run, precision: &str, plots: &mut Plots) -> String {
    let ones = meshes(run, precision);
    let Some(limit) = ones.iter().find_map(|one| one.max_iterations) else { return String::new() };
    let (mut rows, mut bars, mut ebw) = (Vec::new(), Vec::new(), Vec::new());
    for (one, row) in ones.iter().flat_map(|one| one.rows.iter().map(move |row| (*one, row))) {
        let Some(found) = &row.figures else { continue };
        let parts = seconds(found);
        let total: f64 = parts.iter().sum();
        let share = parts[0] / total;
        if row.format == OURS {
            ebw.push((share, one.head.nodes));
        }
        let head = [format!("{}, {}", title(&one.head.problem), row.format), count(one.head.nodes)];
        rows.push(head.into_iter().chain(parts.map(|part| number(1e3 * part))).chain([percent(share)]).collect());
        let name = format!("{} nodes, {}", count(one.head.nodes), row.format);
        bars.push(Bar { name, parts: parts.to_vec(), note: format!("{} ms", number(1e3 * total)) });
    }
    let title = format!("Set-up, assembly and {limit} iterations, {}, {precision}", run.device);
    let heads = ["mesh, format", "nodes", "set-up, ms", "assembly, ms", "iterations, ms", "set-up, of the sum"];
    let picture = shares(&title, &PARTS, &bars);
    let plot = plots.add(format!("{}-breakdown-{precision}", run.stem()), &title, picture);
    let verdict = ebw.last().map_or(String::new(), |(share, nodes)| {
        let measured = format!("at {} nodes set-up is {} of EBW's time", count(*nodes), percent(*share));
        let why = "a solution takes many more iterations than these, so that its share in one is smaller";
        yes_or_no(*share > 0.2, &measured, why, "set-up runs in parallel here")
    });
    format!("\n{title}:\n\n{}{plot}\n{verdict}\n", table(&heads, &rows))
}

/// The section of whole solutions on a device.
pub fn section(run: &Run, plots: &mut Plots) -> String {
    let ones: Vec<&Solve> = run.solve.iter().filter(|one| is_gpu(&one.device) == run.is_gpu()).collect();
    if ones.is_empty() { String::new() } else { solutions(run, &ones, "phases", plots) }
}
