//! FEMSES: its own iteration, figures 5.27 and 5.31 to 5.34, and its solution.

use super::femses::{Found, at, both, by_size, found, own_iterations, sizes};
use super::femses_gpu::grows;
use super::markdown::{count, number, quotient, table};
use super::paper::{exponent, in_range, power, yes_or_no};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Phases, Run};

/// FEMSES by gathering, plain and accelerated, and what assembles a matrix.
const ITERATIONS: [&str; 4] = ["femses", "femses_chebyshev", "femses_cg", "cg"];

/// The thesis's own form, ours, and the accelerations.
const OWN: [&str; 4] = ["femses_atomic", "femses", "femses_chebyshev", "femses_cg"];

/// Figures 2.5, 2.6 and 5.6: the largest error of a node's potential.
pub fn exact(run: &Run, _: &mut Plots) -> String {
    let rows = found(run, |_| true, "f64");
    let mut methods: Vec<&str> = rows.iter().map(|found| found.0.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    let worst = |method: &str| {
        let same = rows.iter().filter(|found| found.0.method == method && found.1.converged);
        same.filter_map(|found| Some((found.1.error?, found.0.unknowns))).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let lines: Vec<Vec<String>> = methods
        .iter()
        .filter_map(|method| {
            worst(method).map(|(error, unknowns)| vec![(*method).to_owned(), format!("{error:.0e}"), count(unknowns)])
        })
        .collect();
    let direct = ["dense", "sparse"].into_iter().filter_map(worst).map(|pair| pair.0).max_by(f64::total_cmp);
    let Some(error) = direct else { return String::new() };
    let measured = format!("by factors no node is further off than {error:.0e}");
    format!(
        "The exact potential is x, from 0 to 1, and these elements can hold it; what is left is the iteration's \
            tolerance.\n\n{}\n{}\n",
        table(&["method, f64", "largest error", "at unknowns"], &lines),
        yes_or_no(error < 1e-9, &measured, "", "rounding in the factors")
    )
}

/// Figures 5.27 and 5.31.
pub fn others(run: &Run, _: &mut Plots) -> String {
    let (gpu, serial) = both(run);
    let mut lines = Vec::new();
    for unknowns in sizes(&gpu) {
        let Some(ours) = at(&gpu, "femses", unknowns) else { continue };
        let cell = |other: Option<&Phases>| match other {
            Some(other) => {
                format!("{} ({})", number(other.total_ms / ours.total_ms), number(other.solve_ms / ours.solve_ms))
            }
            None => "-".into(),
        };
        let all = [
            at(&serial, "sparse", unknowns),
            at(&serial, "dense", unknowns),
            at(&gpu, "sparse", unknowns),
            at(&gpu, "dense", unknowns),
            at(&gpu, "cg", unknowns),
        ];
        lines.push([vec![count(unknowns)], all.map(cell).to_vec()].concat());
    }
    let over = |rows: &[Found], method: &str| -> Vec<(usize, f64)> {
        let ratio = |size| Some((size, at(rows, method, size)?.total_ms / at(&gpu, "femses", size)?.total_ms));
        sizes(&gpu).into_iter().filter_map(ratio).collect()
    };
    let [sparse, dense] = ["sparse", "dense"].map(|method| over(&serial, method));
    if sparse.is_empty() || dense.is_empty() {
        return String::new();
    }
    let heads = ["unknowns", "serial sparse", "serial dense", "GPU sparse", "GPU dense", "GPU, CG with a matrix"];
    let cg = over(&gpu, "cg").last().map_or(String::new(), |(unknowns, cg)| {
        let takes = format!("take {} of FEMSES's time at {} unknowns", number(*cg), count(*unknowns));
        format!("\nConjugate gradients with an assembled matrix {takes}.\n")
    });
    format!(
        "How many times as fast as the others FEMSES on the GPU is, f64: totals, and solvers in brackets. Verdicts are \
            on totals.\n\n{}\n{}{}{}{}{cg}",
        table(&heads, &lines),
        against_sparse(&sparse),
        against_dense(&dense),
        against_gpu_sparse(&over(&gpu, "sparse")),
        against_gpu_dense(&over(&gpu, "dense"))
    )
}

/// `0.3 at 400 unknowns, 14 at 2,500`.
fn listed(ratios: &[(usize, f64)]) -> String {
    let one = |(i, (unknowns, ratio)): (usize, &(usize, f64))| {
        format!("{} at {}{}", number(*ratio), count(*unknowns), if i == 0 { " unknowns" } else { "" })
    };
    ratios.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

fn against_sparse(ratios: &[(usize, f64)]) -> String {
    let slower =
        yes_or_no(ratios.iter().all(|pair| pair.1 < 1.0), &listed(ratios), "its iterations grow with the unknowns", "");
    let falls = ratios.windows(2).any(|pair| pair[1].1 < pair[0].1);
    let why = "at these sizes launches bound an iteration, whose time hardly grows; larger ones were not measured";
    let trend = match ratios.len() {
        0 | 1 => String::new(),
        _ => {
            let measured =
                if falls { "it falls among the measured sizes" } else { "it rises at all of the measured sizes" };
            format!("The ratio decreases as sizes grow. {}\n\n", yes_or_no(falls, measured, "", why))
        }
    };
    format!("Slower than the serial sparse program at all sizes. {slower}\n\n{trend}")
}

fn against_dense(ratios: &[(usize, f64)]) -> String {
    let best = ratios.iter().map(|pair| pair.1).fold(0.0, f64::max);
    let why = "a dense solution of these sizes takes less than its many iterations";
    let verdict =
        in_range(best, [10.0, 10.0], &listed(ratios), ["", "the dense work grows as the cube of the unknowns", why]);
    format!("Faster than the serial dense program, up to 10 times. {verdict}\n\n")
}

fn against_gpu_sparse(ratios: &[(usize, f64)]) -> String {
    let [first, .., last] = ratios else { return String::new() };
    let decays = ratios.windows(2).all(|pair| pair[1].1 < pair[0].1) && first.1 > 1.0 && last.1 < 1.0;
    let verdict = yes_or_no(decays, &listed(ratios), "", "");
    format!("Ahead of the GPU's sparse one at first, then behind and decaying. {verdict}\n\n")
}

fn against_gpu_dense(ratios: &[(usize, f64)]) -> String {
    let Some(least) = ratios.iter().map(|pair| pair.1).min_by(f64::total_cmp) else { return String::new() };
    let turns = ratios.first().is_some_and(|pair| pair.1 > least) && ratios.last().is_some_and(|pair| pair.1 > least);
    format!("Behind the GPU's dense one, then improving. {}\n", yes_or_no(turns, &listed(ratios), "", ""))
}

/// Figures 5.32 and 5.33.
pub fn femses_allocation(run: &Run, _: &mut Plots) -> String {
    let (gpu, _) = both(run);
    let allocate = |phases: &Phases| phases.allocate_ms;
    let line = |unknowns: usize| {
        let (ours, dense) = (at(&gpu, "femses", unknowns)?.allocate_ms, at(&gpu, "dense", unknowns).map(allocate));
        let ratio = quotient(dense, ours);
        Some((vec![count(unknowns), number(ours), number(dense), number(ratio)], ratio))
    };
    let lines: Vec<(Vec<String>, Option<f64>)> = sizes(&gpu).into_iter().filter_map(line).collect();
    let most = lines.iter().filter_map(|pair| pair.1).max_by(f64::total_cmp);
    let (Some(most), Some(grows)) = (most, exponent(&by_size(&gpu, "femses", allocate))) else { return String::new() };
    let rows: Vec<Vec<String>> = lines.into_iter().map(|pair| pair.0).collect();
    let pool = "memory comes from the driver's pool, in a time that hardly depends on the size";
    let larger = "element matrices take memory in proportion to the cells, a dense matrix to the square of the nodes";
    format!(
        "{}\nLinear. {}\n\nUp to 7.5 times as fast as a dense matrix's. {}\n",
        table(&["unknowns", "FEMSES, ms", "dense, ms", "FEMSES, times as fast"], &rows),
        yes_or_no((0.9..1.1).contains(&grows), &format!("allocation grows as {}", power(grows)), "", pool),
        in_range(most, [7.5, 7.5], &format!("it is up to {} times as fast", number(most)), ["", larger, ""])
    )
}

/// Figure 5.34.
pub fn growth(run: &Run, plots: &mut Plots) -> String {
    let (gpu, serial) = both(run);
    let rows = if gpu.is_empty() { serial } else { gpu };
    let iterations = |phases: &Phases| phases.iterations as f64;
    let sizes = sizes(&rows);
    let line = |method: &&str| {
        let cells = sizes.iter().map(|size| count(at(&rows, method, *size).map(|phases| phases.iterations)));
        [vec![(*method).to_owned()], cells.collect(), vec![grows(&rows, method, iterations)]].concat()
    };
    let lines: Vec<Vec<String>> = ITERATIONS.iter().map(line).collect();
    let Some(found) = exponent(&by_size(&rows, "femses", iterations)) else { return String::new() };
    let heads: Vec<String> = sizes.iter().map(|size| count(*size)).collect();
    let heads: Vec<&str> = std::iter::once("iterations, by unknowns")
        .chain(heads.iter().map(String::as_str))
        .chain(["grows as"])
        .collect();
    let title = format!("Iterations by unknowns, {}, f64", run.device);
    let points = |method: &str| by_size(&rows, method, iterations).into_iter().map(|(x, y)| (Some(x), Some(y)));
    let series = ITERATIONS.iter().map(|method| Series::new(method, Style::Line, points(method)));
    let chart =
        Chart { title: title.clone(), x: Axis::log("unknowns"), y: Axis::log("iterations"), series: series.collect() };
    let plot = plots.add(format!("{}-femses-iterations", run.stem()), &title, chart.svg());
    let why_yes = "FEMSES is the Jacobi method in element-local form, whose iterations grow with the square of the \
        nodes along an edge";
    let why = "FEMSES is the Jacobi method in element-local form, whose iterations are proportional to the unknowns \
        in the plane; that is the cause which the thesis leaves open, and accelerations that keep the form need the \
        square root of them";
    format!(
        "To {:.0e}.\n\n{}{plot}\nFaster than linearly. {}\n{}{}{}",
        run.femses.iter().map(|one| one.tolerance).fold(0.0, f64::max),
        table(&heads, &lines),
        yes_or_no(found > 1.05, &format!("iterations grow as {}", power(found)), why_yes, why),
        errors(&rows, &sizes),
        stalls(run),
        four_sides(run)
    )
}

/// The errors at which the iterations stopped: one residual is not one error.
fn errors(rows: &[Found], sizes: &[usize]) -> String {
    let error = |method: &str, size: usize| at(rows, method, size).and_then(|phases| phases.error);
    let line = |method: &&str| {
        let cells = sizes.iter().map(|size| error(method, *size).map_or("-".into(), |error| format!("{error:.0e}")));
        std::iter::once((*method).to_owned()).chain(cells).collect()
    };
    let lines: Vec<Vec<String>> = ITERATIONS.iter().map(line).collect();
    let heads: Vec<String> = sizes.iter().map(|size| count(*size)).collect();
    let heads: Vec<&str> =
        std::iter::once("largest error, by unknowns").chain(heads.iter().map(String::as_str)).collect();
    format!(
        "\nAll stop at the same residual, which is not the same error: where an iteration changes little, the residual is \
            small long before the error is, so that the iterations above buy different solutions.\n\n{}",
        table(&heads, &lines)
    )
}

/// Whether the iteration of the thesis and its accelerations stall in either precision.
fn stalls(run: &Run) -> String {
    let mut out = String::new();
    for precision in ["f32", "f64"] {
        let rows = own_iterations(run, 2, precision);
        let short: Vec<&Found> = rows.iter().filter(|found| !found.1.converged).collect();
        let residuals: Vec<f64> = short.iter().map(|found| found.1.relative_residual).collect();
        let of = format!("{} of {} runs end above their tolerance", short.len(), rows.len());
        let measured = match residuals.iter().copied().max_by(f64::total_cmp) {
            Some(most) => {
                let least = residuals.iter().copied().fold(f64::INFINITY, f64::min);
                let from = |method: &&str| {
                    let of_method = short.iter().filter(|found| found.0.method == **method);
                    of_method
                        .map(|found| found.0.unknowns)
                        .min()
                        .map(|n| format!("{method} from {} unknowns on", count(n)))
                };
                let from = OWN.iter().filter_map(from).collect::<Vec<_>>().join(", ");
                format!("{of}, at residuals of {least:.0e} to {most:.0e}: {from}")
            }
            None => of,
        };
        let (yes, no) = ("rounding has eaten what is left", "what stalls is not the iteration but the precision");
        if !rows.is_empty() {
            out += &format!("\nStalls in {precision}. {}\n", yes_or_no(!short.is_empty(), &measured, yes, no));
        }
    }
    out
}

/// Whether a problem that is held on four sides needs fewer iterations, as the thesis proposes.
fn four_sides(run: &Run) -> String {
    let rows = own_iterations(run, 4, "f64");
    let Some(found) = exponent(&by_size(&rows, "femses", |phases| phases.iterations as f64)) else {
        return String::new();
    };
    let measured = format!("held on four sides the iterations grow as {}", power(found));
    let why = "so the boundary is not the cause";
    format!("\nTwo sides are the cause. {}\n", yes_or_no(found < 0.75, &measured, "", why))
}
