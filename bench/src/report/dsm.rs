//! DSM: the report's tables I to VII and figures 2 to 11, and what the poster adds.

use super::lookup::{PRECISIONS, iterated, nearest, stopped_in};
use super::markdown::{count, number, percent, table};
use super::paper::exponent;
use super::paper::yes_or_no;
use super::plot::Plots;
use super::run::Run;

/// The formats that run on one thread of the CPU for comparison.
pub const CPU_DENSE: [&str; 2] = ["dense", "dense_block"];

/// Table IV. A dense iteration differs from CSR's by its product alone, so what CSR's takes bounds all the rest.
pub fn kernels(run: &Run, _: &mut Plots) -> String {
    let mut rows = Vec::new();
    let mut shares = Vec::new();
    for precision in PRECISIONS {
        let Some(one) = nearest(&stopped_in(run, true, precision), 2199) else { continue };
        let (Some(dense), Some(csr)) = (iterated(one, "dense"), iterated(one, "csr")) else { continue };
        let share = 1.0 - csr.iteration_ms / dense.iteration_ms;
        shares.push(share);
        rows.push(vec![
            precision.into(),
            count(one.head.nodes),
            number(1e3 * dense.iteration_ms),
            number(1e3 * csr.iteration_ms),
            percent(share),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["precision", "nodes", "dense iteration, µs", "CSR iteration, µs", "dense product, at least"];
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let measured = format!("the dense product takes at least {} of an iteration", percent(least));
    format!(
        "Kernels were not timed one by one; but an iteration with a dense matrix does the same as one with CSR except \
            the product, so the product takes at least the difference.\n\n{}\n{}\n",
        table(&heads, &rows),
        yes_or_no(
            least > 0.9,
            &measured,
            "the product dominates, as there",
            "the vector steps and launches, which the format does not change, are a larger share of an iteration here"
        )
    )
}

/// Figure 5, by iterations.
pub fn serial(run: &Run, _: &mut Plots) -> String {
    let ones = stopped_in(run, false, "f64");
    let best = |one| CPU_DENSE.iter().filter_map(|name| Some(iterated(one, name)?.iteration_ms)).min_by(f64::total_cmp);
    let found: Vec<_> = ones.iter().filter_map(|one| Some((*one, best(one)?))).collect();
    let points: Vec<(f64, f64)> = found.iter().map(|(one, ms)| (one.head.nodes as f64, *ms)).collect();
    let Some(power) = exponent(&points) else { return String::new() };
    let bytes = |nodes: usize| 72e-6 * (nodes * nodes) as f64;
    let rows: Vec<Vec<String>> =
        found.iter().map(|(one, ms)| vec![count(one.head.nodes), number(*ms), number(bytes(one.head.nodes))]).collect();
    format!(
        "Iterations alone on {}, with the faster of two dense formats in double precision; solutions were not run to \
            their end.\n\n{}\n{}\n",
        found[0].0.head.device,
        table(&["nodes", "iteration, ms", "matrix, MB"], &rows),
        yes_or_no(
            power > 1.5,
            &format!("an iteration grows as {}", super::paper::power(power)),
            "all entries of the dense matrix are read, zeros too, and their number is the square of the nodes'",
            "the measured sizes are too small to show the square"
        )
    )
}
