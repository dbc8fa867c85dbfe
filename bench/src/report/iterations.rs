//! Tables of conjugate gradients, on GPUs and processors.

use super::lookup::{OURS, iterated, peer, place, title, whole};
use super::markdown::{count, number, ratio, table};
use super::plot::Plots;
use super::run::{Cg, Run};
use std::collections::BTreeMap;

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
