//! Tables of products, orders of nodes and set-up.

use super::lookup::{OURS, PRECISIONS, library, place, products_in, row, title};
use super::markdown::{count, milliseconds, number, percent, quotient, table};
use super::plot::Plots;
use super::run::{Run, Spmv};
use std::collections::BTreeMap;

/// Cells of the cubes whose formats are compared; squares, boxes and files always are.
const COMPARED: [&str; 2] = ["20", "100"];

/// GFLOP/s of cuSPARSE's best variant that begins so.
pub fn library_gflops(run: &Run, one: &Spmv, variant: &str) -> Option<f64> {
    let operations = 2e-6 * (one.head.blocks * one.head.block_size.pow(2)) as f64;
    quotient(operations, library(run, &one.head, variant, None))
}

fn is_compared(one: &&Spmv) -> bool {
    let cells = one.head.problem.split_once(" cube ").map(|parts| parts.1);
    one.rows.len() > 1 && cells.is_none_or(|cells| COMPARED.contains(&cells))
}

pub fn by_format(run: &Run, _: &mut Plots) -> String {
    let mut out = String::new();
    for precision in PRECISIONS {
        let all = products_in(run, precision);
        let mut ones: Vec<&Spmv> = all.iter().copied().filter(is_compared).collect();
        if ones.is_empty() {
            ones = all.into_iter().filter(|one| one.rows.len() > 1).collect();
        }
        let mut names: Vec<&str> = Vec::new();
        for row in ones.iter().flat_map(|one| &one.rows) {
            if !names.contains(&row.format.as_str()) {
                names.push(&row.format);
            }
        }
        let line = |name: &&str| {
            let speeds = ones.iter().map(|one| number(row(one, name).map(|row| row.gflops)));
            std::iter::once((*name).to_owned()).chain(speeds).collect()
        };
        let mut rows: Vec<Vec<String>> = names.iter().map(line).collect();
        for (name, variant) in [("cuSPARSE's SELL-32", "sell32"), ("cuSPARSE's CSR", "csr_alg")] {
            let speeds = ones.iter().map(|one| library_gflops(run, one, variant));
            if speeds.clone().any(|speed| speed.is_some()) {
                rows.push(std::iter::once(name.to_owned()).chain(speeds.map(number)).collect());
            }
        }
        let titles: Vec<String> = ones.iter().map(|one| title(&one.head.problem)).collect();
        let heads: Vec<&str> = std::iter::once("GFLOP/s, by format").chain(titles.iter().map(String::as_str)).collect();
        if !ones.is_empty() {
            out += &format!("\n{precision}:\n\n{}", table(&heads, &rows));
        }
    }
    out
}

/// A problem's reports by order of nodes and degree window.
type Orders<'a> = BTreeMap<(&'a str, usize), &'a Spmv>;

/// Every order of nodes of the problems that were measured in several.
pub fn orders(run: &Run, _: &mut Plots) -> String {
    let mut problems: BTreeMap<_, Orders> = BTreeMap::new();
    for one in &run.spmv {
        let of = problems.entry((&one.head.problem, &one.head.precision, one.head.block_size)).or_default();
        let slot = of.entry((&one.ordering, one.degree_window)).or_insert(one);
        if one.rows.len() > slot.rows.len() {
            *slot = one;
        }
    }
    let mut several: Vec<Vec<&Spmv>> =
        problems.into_values().filter(|of| of.len() > 1).map(|of| of.into_values().collect()).collect();
    several.sort_by(|a, b| place(&a[0].head, &b[0].head));
    several.into_iter().map(|ones| orders_of(run, &ones)).collect()
}

fn orders_of(run: &Run, ones: &[&Spmv]) -> String {
    let line = |one: &&Spmv| {
        let ours = row(one, OURS)?;
        let others = ["csr", "sell"].map(|name| number(row(one, name).map(|row| row.spmv_ms)));
        let first = [one.ordering.clone(), count(one.degree_window), milliseconds(one.setup_s)];
        let last = [format!("{:.3}", ours.padding), number(ours.spmv_ms), percent(ours.of_copy)];
        Some(first.into_iter().chain(others).chain(last).collect())
    };
    let rows: Vec<Vec<String>> = ones.iter().filter_map(line).collect();
    let head = &ones[0].head;
    let mut names: Vec<&str> = ones.iter().map(|one| one.ordering.as_str()).collect();
    names.dedup();
    let peers = names
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", number(library(run, head, "sell32", Some(name))?))));
    let peers: Vec<String> = peers.collect();
    let peers =
        if peers.is_empty() { String::new() } else { format!("\ncuSPARSE's SELL-32, ms: {}.\n", peers.join(", ")) };
    let heads =
        ["order", "degree window", "pattern, ms", "csr, ms", "sell, ms", "ebw, padding", "ebw, ms", "ebw, of copy"];
    format!("\n{}, {}:\n\n{}{peers}", title(&head.problem), head.precision, table(&heads, &rows))
}
