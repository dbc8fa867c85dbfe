//! The table of every way to a potential.

use super::femses::is_of_blocks;
use super::markdown::{count, number, percent, table};
use super::plot::Plots;
use super::run::{Femses, Method, Phases, Run, is_gpu};

/// The heads of [`phases`].
pub const PHASES: [&str; 7] =
    ["transfer, ms", "set-up, ms", "allocation, ms", "assembly, ms", "solution, ms", "total, ms", "solution, of total"];

/// What a way took, phase by phase.
pub fn phases(found: &Phases) -> [String; 7] {
    let Phases { transfer_ms, setup_ms, allocate_ms, assembly_ms, solve_ms, total_ms, .. } = *found;
    let times = [transfer_ms, setup_ms, allocate_ms, assembly_ms, solve_ms, total_ms];
    let [transfer, setup, allocate, assembly, solve, total] = times.map(number);
    [transfer, setup, allocate, assembly, solve, total, percent(solve_ms / total_ms)]
}

/// Phase by phase, every method and size once.
pub fn every(run: &Run, _: &mut Plots) -> String {
    let mut ones: Vec<&Femses> = run.femses.iter().filter(|one| !is_of_blocks(one)).collect();
    let place = |one: &Femses| (!is_gpu(&one.device), one.device.clone(), one.precision != "f64", one.sides);
    ones.sort_by_key(|one| place(one));
    let all =
        ones.iter().flat_map(|one| one.rows.iter().filter_map(move |row| Some((*one, row, row.figures.as_ref()?))));
    let mut all: Vec<(&Femses, &Method, &Phases)> = all.collect();
    // Those of one machine and precision are together, whatever run they are from.
    all.sort_by_key(|(one, row, _)| (place(one), row.nodes));
    let line = |(_, row, found): &(&Femses, &Method, &Phases)| {
        let reached = if found.converged { "" } else { " (not reached)" };
        let first = [
            row.method.clone(),
            count(row.unknowns),
            format!("{}{reached}", count(found.iterations)),
            format!("{:.0e}", found.relative_residual),
            found.error.map_or("-".into(), |error| format!("{error:.0e}")),
        ];
        first.into_iter().chain(phases(found)).collect()
    };
    let heads = [["method", "unknowns", "iterations", "residual", "error"].as_slice(), &PHASES].concat();
    let same = |a: &(&Femses, &Method, &Phases), b: &(&Femses, &Method, &Phases)| place(a.0) == place(b.0);
    let group = |rows: &[(&Femses, &Method, &Phases)]| {
        let Femses { device, precision, sides, .. } = rows[0].0;
        // Factors are not iterated with.
        let iterated = rows.iter().find(|row| !["dense", "sparse"].contains(&row.1.method.as_str()));
        let tolerance = iterated.map_or(String::new(), |row| format!(", iterations to {:.0e}", row.0.tolerance));
        let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
        format!("\n{device}, {precision}, {sides} sides{tolerance}:\n\n{}", table(&heads, &lines))
    };
    all.chunk_by(same).map(group).collect()
}
