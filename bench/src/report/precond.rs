//! Tables of preconditioners: every one and order.

use super::lookup::{find, preconditioned, storage, title, together};
use super::markdown::{count, number, ratio, table};
use super::plot::{Axis, Chart, Plots, Series, Style};
use super::run::{Precond, Preconditioned, Run};

pub fn every(run: &Run, plots: &mut Plots) -> String {
    let ones = [true, false].map(|gpu| preconditioned(run, gpu));
    let ones = if ones[0].is_empty() { &ones[1] } else { &ones[0] };
    // Those with every kind of polynomial; the others are SBELL's.
    let has = |one: &Precond, name: &str| one.rows.iter().any(|row| row.preconditioner == name);
    let full =
        ones.iter().filter(|one| ["jacobi", "neumann", "chebyshev", "least_squares"].iter().all(|name| has(one, name)));
    full.map(|one| of_problem(run, one, plots)).collect()
}

/// `least_squares 6`, or the name alone.
pub fn called(row: &Preconditioned) -> String {
    row.order.map_or(row.preconditioner.clone(), |order| format!("{} {order}", row.preconditioner))
}

fn of_problem(run: &Run, one: &Precond, plots: &mut Plots) -> String {
    let jacobi = find(one, "jacobi", None, "f64").map(together);
    let line = |row: &Preconditioned| {
        let reached = row.converged.then_some(row);
        let mut cells = vec![
            called(row),
            reached.map_or("not reached".into(), |row| count(row.iterations)),
            count(row.spmvs),
            format!("{} + {}", number(row.setup_ms), number(row.solve_ms)),
            number(1e3 * row.spmv_ms),
            ratio(jacobi, reached.map(together)),
        ];
        for kept in ["f32", "f16"] {
            let mixed = find(one, &row.preconditioner, row.order, kept);
            let time = mixed.map(together);
            cells.extend([count(mixed.map(|mixed| mixed.iterations)), number(time), ratio(jacobi, time)]);
        }
        cells
    };
    let rows: Vec<Vec<String>> = one.rows.iter().filter(|row| !row.mixed).map(line).collect();
    let heads = [
        "preconditioner",
        "iterations",
        "products",
        "set-up + solution, ms",
        "time per product, µs",
        "x Jacobi",
        "f32: iterations",
        "f32: together, ms",
        "f32: x Jacobi",
        "f16: iterations",
        "f16: together, ms",
        "f16: x Jacobi",
    ];
    let fastest = one.rows.iter().filter(|row| row.converged).min_by(|a, b| together(a).total_cmp(&together(b)));
    let fastest = fastest.map_or(String::new(), |row| {
        let kept = if row.mixed { format!(" with {}", row.storage) } else { String::new() };
        format!("\nThe fastest is {}{kept}, {} times as fast as Jacobi.\n", called(row), ratio(jacobi, together(row)))
    });
    let name = title(&one.head.problem);
    let about = format!("Residual by products, {name}, {}", one.head.device);
    let file = format!("{}-residuals-{}", run.stem(), one.head.problem.replace(' ', "-"));
    let plot = plots.add(file, &about, residuals(&about, one).svg());
    format!(
        "\n{name}, {} in {}, to {:.0e}, {} unknowns:\n{plot}\n{}{fastest}",
        one.head.precision,
        storage(&one.format),
        one.tolerance,
        count(one.head.dofs),
        table(&heads, &rows)
    )
}

/// Residuals of the plain preconditioners, and of each polynomial at its fastest order, over products.
fn residuals(about: &str, one: &Precond) -> Chart {
    let best = |name: &str| {
        let same = one.rows.iter().filter(|row| row.preconditioner == name && !row.mixed && row.converged);
        same.min_by(|a, b| together(a).total_cmp(&together(b)))
    };
    let names = ["jacobi", "block_jacobi", "neumann", "chebyshev", "least_squares"];
    let curve = |row: &Preconditioned| {
        // Products for an iteration; those of bounds and of the end are few.
        let each = row.spmvs as f64 / row.iterations.max(1) as f64;
        let points = row.history.iter().enumerate().filter(|(_, residual)| **residual > 0.0);
        let points = points.map(|(i, residual)| (Some(((i + 1) * row.history_step) as f64 * each), Some(*residual)));
        Series::new(&called(row), Style::Curve, points)
    };
    let series = names.into_iter().filter_map(best).map(curve).collect();
    Chart {
        title: about.into(),
        x: Axis::linear("products with the matrix"),
        y: Axis::log("relative residual"),
        series,
    }
}
