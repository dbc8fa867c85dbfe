//! Tables of assembly of every element.

use super::lookup::{OURS, PRECISIONS, assembled, assemblies, title};
use super::markdown::{count, number, percent, ratio, table};
use super::peers::cupy_on;
use super::plot::Plots;
use super::run::{Assembly, Run};

/// WARP's meshes by what they are.
fn named(one: &Assembly) -> String {
    if one.head.problem.ends_with(" of 16x2x2") { "WARP's cantilever".into() } else { title(&one.head.problem) }
}

pub fn fastest(run: &Run, _: &mut Plots) -> String {
    let line = |one: &Assembly| {
        let all = one.rows.iter().filter_map(|row| Some((&row.format, row.figures.as_ref()?)));
        let (strategy, best) = all.min_by(|a, b| a.1.assembly_ms.total_cmp(&b.1.assembly_ms))?;
        let theirs = cupy_on(run, &one.head.problem).filter(|_| one.head.precision == "f64").map(|row| row.assembly_ms);
        Some(vec![
            named(one),
            count(one.head.elements),
            one.head.precision.clone(),
            strategy.clone(),
            number(best.assembly_ms),
            number(best.elements_per_s / 1e6),
            number(best.gflops),
            number(best.gb_per_s),
            percent(best.of_copy),
            percent(best.of_write_floor),
            number(1e3 * one.symbolic_s),
            ratio(theirs, best.assembly_ms),
        ])
    };
    let all = PRECISIONS.iter().flat_map(|precision| assemblies(run, precision, OURS));
    let rows: Vec<Vec<String>> = all.filter_map(line).collect();
    let heads = [
        "problem",
        "elements",
        "precision.",
        "fastest strategy.",
        "assembly, ms",
        "M elements/s",
        "GFLOP/s",
        "least bytes, GB/s",
        "of copy",
        "of write floor",
        "symbolic phase, ms",
        "x CuPy",
    ];
    table(&heads, &rows)
}

pub fn strategies(run: &Run, _: &mut Plots) -> String {
    const NAMES: [&str; 3] = ["row_owner", "by_element", "atomic"];
    let line = |one: &Assembly| {
        let times = NAMES.map(|name| number(assembled(one, name).map(|row| row.assembly_ms)));
        [vec![named(one), count(one.head.elements), one.head.precision.clone()], times.to_vec()].concat()
    };
    let rows: Vec<Vec<String>> =
        PRECISIONS.iter().flat_map(|precision| assemblies(run, precision, OURS)).map(line).collect();
    let times = NAMES.map(|name| format!("{name}, ms"));
    table(&["problem", "elements", "precision.", &times[0], &times[1], &times[2]], &rows)
}
