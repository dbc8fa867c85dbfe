//! Where the time goes: DSM's figures 6, 9, 10 and 11, and whole solutions from case to files.

use super::dsm_rates::LARGE;
use super::lookup::{OURS, PRECISIONS, iterated, iterations, nearest, stopped_in, title};
use super::markdown::{count, median, number, percent, quotient, table};
use super::paper::yes_or_no;
use super::plot::{Bar, Plots, shares};
use super::run::{Cg, Iterations, Run, Solve, is_gpu};

/// The phases of a solution.
pub const PHASES: [&str; 7] = ["read", "setup", "assembly", "boundary", "solve", "stress", "write"];
/// What they are called in tables and pictures, and what the total has beyond them.
pub const NAMES: [&str; 8] = ["read", "set-up", "assembly", "boundary", "solve", "stress", "write", "other"];
/// Meshes whose phases are compared: DSM's, and a million nodes.
const MESHES: [usize; 4] = [1149, 3419, 229_515, 1_000_000];
/// The phases of an iteration report.
const PARTS: [&str; 3] = ["set-up", "assembly", "iterations"];

/// The part of a solution's total that is in none of its phases.
pub fn other(one: &Solve) -> Option<f64> {
    let phases: f64 = PHASES.iter().filter_map(|phase| one.timings_s.get(*phase)).sum();
    one.timings_s.get("total").map(|total| (total - phases).max(0.0))
}

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
    let time = |one: &Solve, phase: &str| one.timings_s.get(phase).copied();
    let cells = |one: &&Solve| {
        let sizes = [format!("{}, {} elements", one.case, count(one.elements)), count(one.dofs)];
        let times = PHASES.map(|phase| time(one, phase)).into_iter().chain([other(one), time(one, "total")]);
        sizes.into_iter().chain([count(one.solver.iterations)]).chain(times.map(number)).collect()
    };
    let rows: Vec<Vec<String>> = ones.iter().map(cells).collect();
    let seconds = NAMES.map(|name| format!("{name}, s"));
    let heads: Vec<&str> = ["case", "unknowns", "iterations"]
        .into_iter()
        .chain(seconds.iter().map(String::as_str))
        .chain(["total, s"])
        .collect();
    let bar = |one: &&Solve| Bar {
        name: one.case.clone(),
        parts: PHASES.iter().map(|phase| time(one, phase)).chain([other(one)]).map(Option::unwrap_or_default).collect(),
        note: format!("{} s", number(time(one, "total"))),
    };
    let title = format!("Phases of solutions from case to files, {}", ones.first().map_or("", |one| &one.device));
    let picture = shares(&title, &NAMES, &ones.iter().map(bar).collect::<Vec<_>>());
    format!(
        "From case to files, single runs:\n\n{}{}",
        table(&heads, &rows),
        plots.add(format!("{}-{name}", run.stem()), &title, picture)
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
    let range: Vec<String> =
        ebw.iter().map(|(share, nodes)| format!("{} at {}", percent(*share), count(*nodes))).collect();
    let range = if range.is_empty() {
        String::new()
    } else {
        format!("\nSet-up's share with EBW: {} nodes.\n", range.join(", "))
    };
    format!("\n{title}:\n\n{}{plot}{range}{}", table(&heads, &rows), in_solutions(run, precision))
}

/// Set-up's share in whole solutions of large meshes, those that came to their tolerance, and the verdict on it.
fn in_solutions(run: &Run, precision: &str) -> String {
    let ones = iterations(run).into_iter().filter(|one| one.head.precision == precision && one.head.nodes > LARGE);
    let found: Vec<(&Cg, &Iterations)> =
        ones.filter_map(|one| Some((one, iterated(one, OURS).filter(|found| found.converged)?))).collect();
    let share = |found: &Iterations| seconds(found)[0] / seconds(found).iter().sum::<f64>();
    let line = |(one, found): &(&Cg, &Iterations)| {
        let first = [title(&one.head.problem), count(one.head.nodes)];
        let parts = seconds(found).map(|part| number(1e3 * part));
        first.into_iter().chain(parts).chain([percent(share(found))]).collect()
    };
    let rows: Vec<Vec<String>> = found.iter().map(line).collect();
    let shares: Vec<f64> = found.iter().map(|(_, found)| share(found)).collect();
    let (Some(middle), Some(most)) = (median(&shares), shares.iter().copied().reduce(f64::max)) else {
        return format!(
            "\nNo solution of a large mesh in {precision} came to its tolerance, so that there is no verdict.\n"
        );
    };
    let measured = format!(
        "set-up is at most {} of a whole solution on cubes of more than {} nodes, in the median {}",
        percent(most),
        count(LARGE),
        percent(middle)
    );
    let heads = ["problem", "nodes", "set-up, ms", "assembly, ms", "solution, ms", "set-up, of the sum"];
    format!(
        "\nThese iterations are a part of a solution, so the verdict is on whole solutions: with EBW, to {:.0e}, \
            {precision}, large meshes; a large share is more than a fifth. Set-up and assembly are single runs that \
            may have loaded kernels too, so that the share is an upper bound; the section \"Set-up\" has it without:\n\n{}\n{}\n",
        found[0].0.tolerance,
        table(&heads, &rows),
        yes_or_no(middle > 0.2, &measured, "", "set-up runs in parallel here")
    )
}

/// The section of whole solutions on a device.
pub fn section(run: &Run, plots: &mut Plots) -> String {
    let ones: Vec<&Solve> = run.solve.iter().filter(|one| is_gpu(&one.device) == run.is_gpu()).collect();
    if ones.is_empty() { String::new() } else { solutions(run, &ones, "phases", plots) }
}
