//! FEMSES: its own iteration, figures 5.27 and 5.31 to 5.34, and its solution.

use super::femses::{Found, at, both, by_size, found, own_iterations, sizes};
use super::femses_gpu::grows;
use super::markdown::{count, table};
use super::paper::{exponent, power, yes_or_no};
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
