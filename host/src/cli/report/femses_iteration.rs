//! FEMSES: its own iteration, figures 5.27 and 5.31 to 5.34, and its solution.

use super::femses::{at, both, by_size, found, sizes};
use super::femses_gpu::grows;
use super::markdown::{count, number, quotient, table};
use super::paper::{exponent, in_range, power, yes_or_no};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Phases, Run};

/// FEMSES as it is in the thesis, and accelerated.
const ITERATIONS: [&str; 4] = ["femses", "femses_chebyshev", "femses_cg", "cg"];

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
    let mut last = None;
    for unknowns in sizes(&gpu) {
        let Some(ours) = at(&gpu, "femses", unknowns) else { continue };
        let over = |other: Option<&Phases>| quotient(other.map(|other| other.total_ms), ours.total_ms);
        let solver = |other: Option<&Phases>| quotient(other.map(|other| other.solve_ms), ours.solve_ms);
        let all = [
            at(&serial, "sparse", unknowns),
            at(&serial, "dense", unknowns),
            at(&gpu, "sparse", unknowns),
            at(&gpu, "dense", unknowns),
            at(&gpu, "cg", unknowns),
        ];
        lines.push(
            [
                vec![count(unknowns)],
                all.map(|other| format!("{} ({})", number(over(other)), number(solver(other)))).to_vec(),
            ]
            .concat(),
        );
        last = over(at(&gpu, "cg", unknowns)).map(|cg| (cg, unknowns)).or(last);
    }
    for line in &mut lines {
        line.iter_mut().filter(|cell| *cell == "- (-)").for_each(|cell| *cell = "-".into());
    }
    let best = sizes(&gpu).into_iter().filter_map(|size| {
        quotient(at(&serial, "dense", size).map(|p| p.total_ms), at(&gpu, "femses", size).map(|p| p.total_ms))
    });
    let Some(best) = best.max_by(f64::total_cmp) else { return String::new() };
    let sparse = sizes(&gpu).into_iter().filter_map(|size| {
        quotient(at(&serial, "sparse", size).map(|p| p.total_ms), at(&gpu, "femses", size).map(|p| p.total_ms))
    });
    let least = sparse.min_by(f64::total_cmp);
    let heads = ["unknowns", "serial sparse", "serial dense", "GPU sparse", "GPU dense", "GPU, CG with a matrix"];
    let cg = last.map_or(String::new(), |(cg, unknowns)| {
        format!(
            "\nConjugate gradients with an assembled matrix take {} of FEMSES's time at {} unknowns.\n",
            number(cg),
            count(unknowns)
        )
    });
    format!(
        "How many times as fast as the others FEMSES on the GPU is, f64: totals, and solvers in \
            brackets.\n\n{}\nFaster than the serial dense program: {}\n\nSlower than the serial sparse one: {}\n{cg}",
        table(&heads, &lines),
        yes_or_no(
            best > 1.0,
            &format!("up to {} times as fast (thesis: 10)", number(best)),
            "",
            "a dense solution of these sizes takes less than its many iterations"
        ),
        yes_or_no(
            least.is_some_and(|least| least < 1.0),
            &format!("down to {} times as fast", number(least)),
            "its iterations grow with the unknowns",
            ""
        )
    )
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
        "{}\nLinear: {}\n\nUp to 7.5 times as fast as a dense matrix's: {}\n",
        table(&["unknowns", "FEMSES, ms", "dense, ms", "FEMSES, times as fast"], &rows),
        in_range(grows, [1.0, 1.0], &format!("allocation grows as {}", power(grows)), ["", "", pool]),
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
        "To {:.0e}.\n\n{}{plot}\nFaster than linearly: {}\n",
        run.femses.iter().map(|one| one.tolerance).fold(0.0, f64::max),
        table(&heads, &lines),
        yes_or_no(found > 1.05, &format!("iterations grow as {}", power(found)), why_yes, why)
    )
}
