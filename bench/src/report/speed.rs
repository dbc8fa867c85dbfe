//! The figures of speed.md: products and iterations in double precision side by side, of the newest run on a GPU; whole
//! programs on processors.

use super::lookup::{OURS, is_file, iterated, iterations, library, peer, products_in, row, title};
use super::markdown::{count, number, percent, ratio, table};
use super::phases::{NAMES, PHASES, other};
use super::provenance::listed;
use super::run::{Cg, Program, Run, Spmv, is_gpu};
use warpfem_text as text;

/// What the table stands between in speed.md.
pub const MARKS: [&str; 2] = ["<!-- speed -->", "<!-- /speed -->"];

/// The table with its days, and how long whole solutions took; nothing where no product or iteration was measured.
pub fn speed(run: &Run) -> Option<String> {
    let figures = measured(run)?;
    let days = listed(&run.dates(&run.behind(measured)));
    let days = if days.is_empty() { days } else { format!(", {days}") };
    Some(format!("{}, double precision{days}; {figures}", run.device))
}

/// What of it is measured.
fn measured(run: &Run) -> Option<String> {
    let solutions: Vec<&Cg> = iterations(run).into_iter().filter(|one| one.head.precision == "f64").collect();
    let solution = |one: &Spmv| solutions.iter().copied().find(|cg| cg.head.problem == one.head.problem);
    // Boxes that were only multiplied or only iterated on stand in the report alone.
    let shown = products_in(run, "f64").into_iter().filter(|one| one.head.block_size == 3);
    let shown = shown.filter(|one| solution(one).is_some() || is_file(&one.head.problem));
    let line = |one: &Spmv| {
        let (cg, product) = (solution(one), row(one, OURS));
        let (found, other) = (cg.and_then(|cg| iterated(cg, OURS)), peer(run, &one.head));
        let own = product.map(|row| row.spmv_ms);
        vec![
            title(&one.head.problem),
            count(one.head.dofs),
            number(own),
            percent(product.map(|row| row.of_copy)),
            ratio(library(run, &one.head, "sell32", None), own),
            count(found.map(|found| found.iterations)),
            number(found.map(|found| found.iteration_ms)),
            percent(found.map(|found| found.of_copy)),
            ratio(other.map(|other| other.iteration_ms), found.map(|found| found.iteration_ms)),
        ]
    };
    let rows: Vec<Vec<String>> = shown.map(line).collect();
    let heads = [
        "mesh",
        "unknowns",
        "K u, ms",
        "K u, of copy",
        "x SELL-32",
        "CG iterations",
        "CG, ms each",
        "CG, of copy",
        "x fused CG",
    ];
    let copies = run.spmv.iter().map(|one| &one.head).chain(run.cg.iter().map(|one| &one.head));
    let copy = copies.filter(|head| is_gpu(&head.device)).map(|head| head.copy_gb_per_s).max_by(f64::total_cmp)?;
    let copy = text::count(copy.round() as usize);
    Some(format!("copy: {copy} GB/s.\n\n{}{}", table(&heads, &rows), whole(run)))
}

/// Solutions of the cubes from case to files.
fn whole(run: &Run) -> String {
    let mut out = String::new();
    for one in run.solve.iter().filter(|one| one.case.starts_with("cube")) {
        let time = |phase: &str| one.timings_s.get(phase).copied();
        let two = |s: Option<f64>| s.map_or("-".into(), |s| text::number(s, 2));
        let parts: Vec<String> =
            PHASES.iter().zip(NAMES).map(|(phase, name)| format!("{name} {}", two(time(phase)))).collect();
        let (elements, total) = (count(one.elements), number(time("total")));
        out += &format!(
            "\n`warpfem solve` of {}, {elements} elements, from case to files, a single run: {total} s ({}; the rest, {}: \
                opening the driver, loading kernels, and what no phase counts).\n",
            one.case,
            parts.join(", "),
            two(other(one))
        );
    }
    out
}

/// Whole programs on a processor, a paragraph each; nothing where none were measured.
pub fn programs(run: &Run) -> String {
    let mut out = String::new();
    for one in &run.programs {
        let said = |found: &Program| {
            let [seconds, peak] = [found.seconds, found.peak_mib].map(|value| text::number(value, 3));
            format!("{}: {seconds} s, {peak} MiB", found.program)
        };
        let dates = listed(&run.dates(&one.run.into_iter().collect::<Vec<_>>()));
        out += &format!(
            "\nOn {}, {dates}, a pressed cube of {}, {} unknowns, from the command to the results on disk. {}.\n",
            one.device,
            title(&one.problem),
            count(one.dofs),
            one.programs.iter().map(said).collect::<Vec<_>>().join("; ")
        );
    }
    out
}

/// A text with the table between its marks; nothing if it lacks them.
pub fn fill(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARKS[0])?;
    let (_, after) = rest.split_once(MARKS[1])?;
    Some(format!("{before}{}\n\n{table}\n{}{after}", MARKS[0], MARKS[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_between_the_marks() {
        let text = "a\n<!-- speed -->\nold\n<!-- /speed -->\nb\n";
        assert_eq!(fill(text, "| new |\n").unwrap(), "a\n<!-- speed -->\n\n| new |\n\n<!-- /speed -->\nb\n");
        assert_eq!(fill("a <!-- speed --> b", "new"), None);
    }
}
