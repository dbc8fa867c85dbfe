//! FEMSES: figures 5.7 to 5.22 and 5.28, 5.29: the GPU against one thread of its host, phase by phase.

use super::femses::{Found, by_size, is_of_blocks, sizes};
use super::markdown::{count, median, number, table};
use super::paper::{exponent, power, yes_or_no};
use super::plot::Plots;
use super::run::{Phases, Run, is_gpu};

/// Figures 5.28 and 5.29: microseconds of an iteration by atomics.
pub fn block_sizes(run: &Run, _: &mut Plots) -> String {
    let (mut lines, mut widest, mut middles) = (Vec::new(), 0.0f64, Vec::new());
    for one in run.femses.iter().filter(|one| is_of_blocks(one) && is_gpu(&one.device)) {
        let rows: Vec<Found> = one.rows.iter().filter_map(|row| Some((row, row.figures.as_ref()?))).collect();
        for unknowns in sizes(&rows) {
            let each = |found: &&Found| found.1.solve_ms / found.1.iterations.max(1) as f64;
            let same: Vec<&Found> = rows.iter().filter(|found| found.0.unknowns == unknowns).collect();
            let (low, high) =
                same.iter().map(each).fold((f64::INFINITY, 0.0f64), |(low, high), ms| (low.min(ms), high.max(ms)));
            widest = widest.max(high / low);
            let times: Vec<f64> = same.iter().map(each).collect();
            let middle = median(&times).unwrap_or_default();
            let off = median(&times.iter().map(|ms| (ms / middle - 1.0).abs()).collect::<Vec<_>>()).unwrap_or_default();
            middles.push(off);
            let cell = |found: &&Found| {
                format!("{} ({})", number(1e3 * each(found)), count(found.0.block.map(|n| n as usize)))
            };
            lines.push(vec![
                one.precision.clone(),
                count(unknowns),
                same.iter().map(cell).collect::<Vec<_>>().join(", "),
                format!("{:.1} %", 100.0 * off),
                number(high / low),
            ]);
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let most = middles.iter().copied().fold(0.0, f64::max);
    let measured = format!(
        "half of the sizes of blocks are within {:.1} % of the median of their row, or less; the slowest is up to {} \
            times the fastest, which is single outliers",
        100.0 * most,
        number(widest)
    );
    let why = "an iteration is a few short launches whose time hardly depends on the block";
    let heads = [
        "precision",
        "unknowns",
        "iteration, µs (threads of a block).",
        "median distance from the median",
        "slowest over fastest",
    ];
    format!(
        "By atomics, as the thesis does it. Erratic is a median distance of more than a tenth.\n\n{}\n{}\n",
        table(&heads, &lines),
        yes_or_no(most > 0.1, &measured, "", why)
    )
}

/// How a phase grows with the unknowns, in words.
pub fn grows(rows: &[Found], method: &str, value: fn(&Phases) -> f64) -> String {
    exponent(&by_size(rows, method, value)).map_or("-".into(), power)
}
