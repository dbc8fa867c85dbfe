//! Finds figures in a run.

use super::run::is_gpu;
use super::run::{Assembled, Assembly, Cg, Iterations, Peer, Precond, Preconditioned, Product, Row, Run, Spmv};
use crate::header::Header;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The format that `auto` stands for.
pub const OURS: &str = "ebw";
/// Precisions, the one that tables begin with first.
pub const PRECISIONS: [&str; 2] = ["f64", "f32"];
/// Elements in the order of tables.
pub const ELEMENTS: [&str; 8] = ["tet4", "hex8", "tet10", "hex20", "tri3", "quad4", "tri6", "quad8"];

/// `tet4, n = 40` for a cube or square, else the problem's name.
pub fn title(problem: &str) -> String {
    match problem.split(' ').collect::<Vec<_>>()[..] {
        [element, _, cells] => format!("{element}, n = {cells}"),
        _ => problem.into(),
    }
}

/// The problem by its title, with its device where that is not the run's.
pub fn named(run: &Run, head: &Header) -> String {
    let device = if is_main(run, &head.device) { String::new() } else { format!(", {}", head.device) };
    format!("{}{device}", title(&head.problem))
}

/// Generated meshes by element, then files; small ones first; double precision first.
pub fn place(a: &Header, b: &Header) -> Ordering {
    let rank = |head: &Header| {
        let first = head.problem.split(' ').next().unwrap_or_default();
        ELEMENTS.iter().position(|element| *element == first).unwrap_or(ELEMENTS.len())
    };
    let key = |head| (rank(head), head.dofs, head.problem.clone(), head.precision != "f64");
    key(a).cmp(&key(b))
}

/// The figures of a format or strategy, if it has them.
pub fn of<'a, F>(rows: &'a [Row<F>], name: &str) -> Option<&'a F> {
    rows.iter().find(|row| row.format == name)?.figures.as_ref()
}

/// Whether a problem is a mesh from a file.
pub fn is_file(problem: &str) -> bool {
    !problem.contains(' ')
}

/// For each problem and precision the report of most rows, in order: the others study a part.
fn fullest<'a, R>(reports: impl Iterator<Item = &'a R>, head: fn(&R) -> &Header, rows: fn(&R) -> usize) -> Vec<&'a R> {
    let mut best: BTreeMap<(&str, usize, &str), &R> = BTreeMap::new();
    for one in reports {
        let Header { problem, block_size, precision, .. } = head(one);
        let slot = best.entry((problem, *block_size, precision)).or_insert(one);
        if rows(one) > rows(slot) {
            *slot = one;
        }
    }
    let mut found: Vec<&R> = best.into_values().collect();
    found.sort_by(|a, b| place(head(a), head(b)));
    found
}

/// Products by problem and precision.
pub fn products(run: &Run) -> Vec<&Spmv> {
    fullest(run.spmv.iter(), |one| &one.head, |one| one.rows.len())
}

/// Products of one precision.
pub fn products_in<'a>(run: &'a Run, precision: &str) -> Vec<&'a Spmv> {
    products(run).into_iter().filter(|one| one.head.precision == precision).collect()
}

/// The figures of a format's product.
pub fn row<'a>(one: &'a Spmv, format: &str) -> Option<&'a Product> {
    of(&one.rows, format)
}

/// The best time of cuSPARSE's variants that begin so, on a problem in its precision; of all orders of nodes or of one.
pub fn library(run: &Run, head: &Header, variant: &str, ordering: Option<&str>) -> Option<f64> {
    let of_problem =
        run.cusparse.iter().filter(|other| (&other.problem, other.block_size) == (&head.problem, head.block_size));
    of_problem
        .filter(|other| ordering.is_none_or(|ordering| other.ordering == ordering))
        .flat_map(|other| &other.rows)
        .filter(|row| row.variant.starts_with(variant) && row.precision == head.precision)
        .filter_map(|row| row.ms)
        .min_by(f64::total_cmp)
}

/// The fused CG's figures on a problem.
pub fn peer<'a>(run: &'a Run, head: &Header) -> Option<&'a Peer> {
    run.peer.get(&head.problem)?.get(&head.precision)
}

/// Iterations on the run's device to a tolerance, whatever they were stepped by.
pub fn whole(run: &Run) -> Vec<&Cg> {
    let wanted = run.cg.iter().filter(|one| one.max_iterations.is_none() && is_main(run, &one.head.device));
    let mut found: Vec<&Cg> = wanted.collect();
    found.sort_by(|a, b| place(&a.head, &b.head));
    found
}

/// Whether a device is the one that a run is of; a GPU's run may have its host's figures beside its own.
pub fn is_main(run: &Run, device: &str) -> bool {
    if run.is_gpu() { is_gpu(device) } else { device == run.device }
}

/// Iterations on the run's device to a tolerance, as `auto` steps.
pub fn iterations(run: &Run) -> Vec<&Cg> {
    whole(run).into_iter().filter(|one| one.stepping == "auto").collect()
}

/// Iterations that were stopped early, to compare formats: on the run's device or on others, small problems first.
pub fn stopped(run: &Run, main: bool) -> Vec<&Cg> {
    let several = run.cg.iter().filter(|one| one.max_iterations.is_some() && one.rows.len() > 1);
    let mut found: Vec<&Cg> = several.filter(|one| is_main(run, &one.head.device) == main).collect();
    found.sort_by_key(|one| (one.head.dofs, one.head.precision != "f64"));
    found
}

/// Those of one precision.
pub fn stopped_in<'a>(run: &'a Run, main: bool, precision: &str) -> Vec<&'a Cg> {
    stopped(run, main).into_iter().filter(|one| one.head.precision == precision).collect()
}

/// The figures of a format's iterations.
pub fn iterated<'a>(one: &'a Cg, format: &str) -> Option<&'a Iterations> {
    of(&one.rows, format)
}

/// Iterations per second of the fastest of some formats.
pub fn rate(one: &Cg, formats: &[&str]) -> Option<f64> {
    formats.iter().filter_map(|format| Some(iterated(one, format)?.iterations_per_s)).max_by(f64::total_cmp)
}

/// The report of the cube of so many nodes, within a twentieth: meshers do not meet a number of nodes.
pub fn nearest<'a>(reports: &[&'a Cg], nodes: usize) -> Option<&'a Cg> {
    let off = |one: &Cg| one.head.nodes.abs_diff(nodes);
    reports.iter().copied().filter(|one| 20 * off(one) < nodes).min_by_key(|one| off(one))
}

/// Assemblies of one precision into one format, by problem.
pub fn assemblies<'a>(run: &'a Run, precision: &str, format: &str) -> Vec<&'a Assembly> {
    let wanted =
        run.assembly.iter().filter(|one| (one.head.precision.as_str(), storage(&one.format)) == (precision, format));
    fullest(wanted, |one| &one.head, |one| one.rows.len())
}

/// The figures of an assembly's strategy.
pub fn assembled<'a>(one: &'a Assembly, strategy: &str) -> Option<&'a Assembled> {
    of(&one.rows, strategy)
}

/// A format; `auto` is the one it stands for.
pub fn storage(format: &str) -> &str {
    if format == "auto" { OURS } else { format }
}

/// Preconditioners on the GPU or on processors, by problem, precision and format: the reports of most rows.
pub fn preconditioned(run: &Run, gpu: bool) -> Vec<&Precond> {
    let mut formats: Vec<&str> = run.precond.iter().map(|one| storage(&one.format)).collect();
    formats.sort_unstable();
    formats.dedup();
    let of_format = |format: &str| {
        let ones = run.precond.iter().filter(|one| storage(&one.format) == format && is_gpu(&one.head.device) == gpu);
        fullest(ones, |one| &one.head, |one| one.rows.len())
    };
    let mut found: Vec<&Precond> = formats.into_iter().flat_map(of_format).collect();
    found.sort_by(|a, b| place(&a.head, &b.head));
    found
}

/// A preconditioner's figures, if it has them and came to the tolerance.
pub fn find<'a>(one: &'a Precond, name: &str, order: Option<u32>, storage: &str) -> Option<&'a Preconditioned> {
    one.rows.iter().find(|row| {
        (row.preconditioner.as_str(), row.order, row.storage.as_str()) == (name, order, storage) && row.converged
    })
}

/// Milliseconds from the assembled matrix to the solution.
pub fn together(row: &Preconditioned) -> f64 {
    row.setup_ms + row.solve_ms
}
