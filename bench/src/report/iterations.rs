//! Tables of conjugate gradients, on GPUs and processors.

use super::lookup::{OURS, PRECISIONS, iterated, iterations, name, peer, place, title, whole};
use super::markdown::{count, digits, number, percent, quotient, ratio, span, table};
use super::plot::Plots;
use super::run::{Cg, Iterations, Run, is_gpu, threads};
use std::collections::BTreeMap;

pub fn conjugate_gradients(run: &Run, _: &mut Plots) -> String {
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for one in iterations(run) {
        let other = peer(run, &one.head);
        // Another tolerance is another number of iterations; the time of one remains comparable.
        let same = other.filter(|other| {
            other.tolerance == Some(one.tolerance) && other.true_residual.is_none_or(|found| found <= one.tolerance)
        });
        let same = same.and_then(|other| other.iterations);
        for row in &one.rows {
            let Some(found) = &row.figures else { continue };
            let format = if one.rows.len() == 1 { String::new() } else { format!(", {}", row.format) };
            let (reached, mark) = if found.converged { (Some(found), "") } else { (None, " (not reached)") };
            ratios.extend(
                quotient(other.map(|other| other.iteration_ms), found.iteration_ms)
                    .map(|ratio| (one.head.precision.as_str(), ratio)),
            );
            rows.push(vec![
                format!("{}{format}, {}", title(&one.head.problem), one.head.precision),
                format!("{:.0e}{mark}", one.tolerance),
                found.relative_residual.map_or("-".into(), |residual| format!("{residual:.0e}")),
                count(reached.map(|found| found.iterations)),
                count(same.filter(|_| found.converged)),
                digits(reached.map(|found| found.solve_ms), 4),
                number(found.iteration_ms),
                percent(found.of_copy),
                ratio(other.map(|other| other.iteration_ms), found.iteration_ms),
                format!("{:.6e}", found.min_u_z),
            ]);
        }
    }
    let heads = [
        "problem",
        "tolerance",
        "true residual",
        "iterations",
        "fused CG's iterations",
        "solution, ms",
        "iteration, ms",
        "of copy",
        "x fused CG",
        "min u_z, m",
    ];
    format!("{}{}{}", table(&heads, &rows), times_as_fast(&ratios), unreached(run))
}

/// Ratios to the fused CG by precision.
pub fn times_as_fast(ratios: &[(&str, f64)]) -> String {
    let of = |precision: &&str| {
        let same: Vec<f64> = ratios.iter().filter(|pair| pair.0 == *precision).map(|pair| pair.1).collect();
        (!same.is_empty()).then(|| format!("{} ({precision})", span(&same)))
    };
    let spans: Vec<String> = PRECISIONS.iter().filter_map(of).collect();
    if spans.is_empty() {
        String::new()
    } else {
        format!("\nAn iteration is {} times as fast as the fused CG's.\n", spans.join(", "))
    }
}

/// What single precision alone comes to, where it comes to no tolerance.
fn unreached(run: &Run) -> String {
    let single = iterations(run).into_iter().filter(|one| one.head.precision == "f32");
    let rows: Vec<(&Cg, &Iterations)> = single.filter_map(|one| Some((one, iterated(one, OURS)?))).collect();
    let range = |residuals: Vec<f64>| {
        let [low, high] = [f64::min, f64::max].map(|pick| residuals.iter().copied().reduce(pick));
        Some(format!("{:.0e} to {:.0e}", low?, high?))
    };
    let own = range(rows.iter().filter_map(|(_, found)| found.relative_residual).collect());
    let Some(own) = own.filter(|_| rows.iter().all(|(_, found)| !found.converged)) else { return String::new() };
    let theirs = range(rows.iter().filter_map(|(one, _)| peer(run, &one.head)?.true_residual).collect());
    let theirs = theirs.map_or(String::new(), |theirs| format!(", the fused CG's at {theirs}"));
    format!(
        "\nSingle precision alone does not come to {:.0e} on these cubes: the true residual ends at {own}{theirs}, \
            whatever the recurrence says. Its rows time an iteration; for a solution use `precision = \"mixed\"`.\n",
        rows[0].0.tolerance
    )
}

pub fn steppings(run: &Run, _: &mut Plots) -> String {
    let mut problems: BTreeMap<&str, Vec<&Cg>> = BTreeMap::new();
    for one in whole(run).into_iter().filter(|one| one.head.precision == "f64") {
        problems.entry(&one.head.problem).or_default().push(one);
    }
    let mut several: Vec<Vec<&Cg>> = problems.into_values().filter(|ones| ones.len() > 1).collect();
    several.sort_by(|a, b| place(&a[0].head, &b[0].head));
    let line = |ones: &Vec<&Cg>| {
        let time = |way: &str| {
            ones.iter().find(|one| one.stepping == way).and_then(|one| Some(1e3 * iterated(one, OURS)?.iteration_ms))
        };
        let times = ["launches", "graph", "auto"].map(time);
        let one = ones[0];
        // Those of the newest program, which moves the fewest.
        let bytes = ones.iter().map(|one| one.iteration_bytes).fold(f64::INFINITY, f64::min);
        let least = bytes / 1e3 / one.head.copy_gb_per_s;
        let other = peer(run, &one.head).map(|other| 1e3 * other.iteration_ms);
        let first = [title(&one.head.problem), count(one.head.dofs)];
        first.into_iter().chain(times.map(number)).chain([number(least), ratio(other, times[2])]).collect()
    };
    let rows: Vec<Vec<String>> = several.iter().map(line).collect();
    let heads = [
        "problem",
        "unknowns",
        "launches, µs",
        "graph, µs",
        "auto, µs",
        "least bytes at the copy bandwidth, µs",
        "auto x fused CG",
    ];
    table(&heads, &rows)
}

/// Iterations on processors by threads, and SciPy's.
pub fn processors(run: &Run, _: &mut Plots) -> String {
    let threads = |one: &Cg| threads(&one.head.device).unwrap_or(0);
    // Those of several formats compare formats.
    let mut ones: Vec<&Cg> = run.cg.iter().filter(|one| !is_gpu(&one.head.device) && one.rows.len() == 1).collect();
    ones.sort_by(|a, b| place(&a.head, &b.head).then(threads(a).cmp(&threads(b))));
    let time = |one: &Cg| iterated(one, OURS).map(|found| found.iteration_ms);
    let alone = |problem: &str| {
        ones.iter().find(|one| one.head.problem == problem && threads(one) == 1).and_then(|one| time(one))
    };
    let line = |one: &&Cg| {
        let found = iterated(one, OURS)?;
        let other = run.host_cg.iter().find(|other| other.problem == one.head.problem).map(|other| other.iteration_ms);
        Some(vec![
            name(&one.head),
            count(one.head.dofs),
            count(threads(one)),
            count(found.iterations),
            digits(found.solve_ms, 4),
            number(found.iteration_ms),
            percent(found.of_copy),
            ratio(alone(&one.head.problem), found.iteration_ms),
            number(other),
            ratio(other, found.iteration_ms),
        ])
    };
    let rows: Vec<Vec<String>> = ones.iter().filter_map(line).collect();
    let heads = [
        "problem",
        "unknowns",
        "threads",
        "iterations",
        "solution, ms",
        "iteration, ms",
        "of copy",
        "x one thread",
        "SciPy's iteration, ms",
        "x SciPy",
    ];
    table(&heads, &rows)
}
