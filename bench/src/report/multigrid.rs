//! Tables of multigrid: against the other preconditioners, its levels, and what is left of its set-up when a mesh is
//! solved again.

use super::lookup::{named, place, together};
use super::markdown::{count, number, ratio, table};
use super::plot::Plots;
use super::precond::called;
use super::run::{Amg, MultigridSetup, Precond, Preconditioned, ResolvedAmg, Run};

/// Iterations, and whether they came to the tolerance.
fn reached(row: &Preconditioned) -> String {
    if row.converged { count(row.iterations) } else { format!("{} (not reached)", count(row.iterations)) }
}

/// A line for each problem that multigrid was measured on.
pub fn multigrid(run: &Run, _: &mut Plots) -> String {
    let mut all: Vec<&Precond> = run.precond.iter().collect();
    all.sort_by(|a, b| place(&a.head, &b.head));
    let rows: Vec<Vec<String>> = all.iter().filter_map(|one| hierarchies(run, one)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let heads = [
        "problem",
        "to",
        "unknowns",
        "levels",
        "complexity",
        "f64: iterations",
        "f64: set-up + solution, ms",
        "f32: iterations",
        "f32: set-up + solution, ms",
        "f16: iterations",
        "f16: set-up + solution, ms",
    ];
    let against = [
        "problem",
        "to",
        "multigrid, ms",
        "hierarchy in.",
        "Jacobi, iterations",
        "Jacobi, ms",
        "x Jacobi",
        "best other.",
        "best other, ms",
        "x best other",
    ];
    let others: Vec<Vec<String>> = all.iter().filter_map(|one| with_others(run, one)).collect();
    format!(
        "{}\nSet-up and solution together, multigrid's by the hierarchy that takes least, against Jacobi in double and \
            the best of what else was measured on the problem:\n\n{}",
        table(&heads, &rows),
        table(&against, &others)
    )
}

const MULTIGRID: &str = "amg";

/// What a hierarchy in each precision takes.
fn hierarchies(run: &Run, one: &Precond) -> Option<Vec<String>> {
    let double = one.rows.iter().find(|row| row.preconditioner == MULTIGRID && !row.mixed)?;
    let hierarchy = double.multigrid.as_ref()?;
    let mut cells = vec![
        named(run, &one.head),
        format!("{:.0e}", one.tolerance),
        count(one.head.dofs),
        count(hierarchy.levels.len()),
        number(hierarchy.operator_complexity),
    ];
    for kept in ["f64", "f32", "f16"] {
        match one.rows.iter().find(|row| row.preconditioner == MULTIGRID && row.storage == kept) {
            Some(row) => cells.extend([reached(row), format!("{} + {}", number(row.setup_ms), number(row.solve_ms))]),
            None => cells.extend(["-".into(), "-".into()]),
        }
    }
    Some(cells)
}

/// The fastest hierarchy beside Jacobi and the best of the others.
fn with_others(run: &Run, one: &Precond) -> Option<Vec<String>> {
    let is_jacobi = |row: &Preconditioned| row.preconditioner == "jacobi" && !row.mixed;
    let fastest = |multigrid: bool| {
        let kind = one.rows.iter().filter(|row| (row.preconditioner == MULTIGRID) == multigrid);
        let rows = kind.filter(|row| row.converged && !is_jacobi(row));
        rows.min_by(|a, b| together(a).total_cmp(&together(b)))
    };
    let (best, other) = (fastest(true)?, fastest(false));
    let jacobi = one.rows.iter().find(|row| is_jacobi(row));
    jacobi.or(other)?;
    Some(vec![
        named(run, &one.head),
        format!("{:.0e}", one.tolerance),
        number(together(best)),
        best.storage.clone(),
        jacobi.map_or("-".into(), reached),
        number(jacobi.map(together)),
        ratio(jacobi.map(together), together(best)),
        other.map_or("-".into(), |row| format!("{}, {}", called(row), row.storage)),
        number(other.map(together)),
        ratio(other.map(together), together(best)),
    ])
}

/// Levels, parts of the set-up, and solutions again, for each problem.
pub fn levels(run: &Run, _: &mut Plots) -> String {
    if run.amg.is_empty() {
        return String::new();
    }
    let mut all: Vec<&Amg> = run.amg.iter().collect();
    all.sort_by(|a, b| place(&a.head, &b.head));
    let lines = |of: &dyn Fn(&Amg) -> Option<Vec<String>>| all.iter().filter_map(|one| of(one)).collect::<Vec<_>>();
    let sizes = table(
        &["problem", "unknowns of the levels", "blocks per row", "complexity", "MB"],
        &lines(&|one| {
            let hierarchy = one.first("f64")?.multigrid.as_ref()?;
            let each = |of: &dyn Fn(&super::run::Level) -> String| hierarchy.levels.iter().map(of).collect::<Vec<_>>();
            Some(vec![
                named(run, &one.head),
                each(&|level| count(level.unknowns)).join(" / "),
                each(&|level| number(level.stencil)).join(" / "),
                number(hierarchy.operator_complexity),
                number(hierarchy.bytes.map(|bytes| bytes / 1e6)),
            ])
        }),
    );
    let parts = table(
        &["problem", "aggregation, ms", "symbolic, ms", "numeric, ms", "smoothing, ms", "coarsest, ms", "set-up, ms"],
        &lines(&|one| {
            let first = one.first("f64")?;
            let mut cells = vec![named(run, &one.head)];
            let MultigridSetup { aggregation, symbolic, numeric, smoothing, coarsest } =
                first.multigrid.as_ref()?.setup_s?;
            let parts = [aggregation, symbolic, numeric, smoothing, coarsest];
            cells.extend(parts.map(|seconds| number(1e3 * seconds)));
            cells.push(number(first.setup_ms));
            Some(cells)
        }),
    );
    let again = again(run, &all);
    format!("{sizes}\nThe set-up of a hierarchy in double:\n\n{parts}\nThe same mesh again:\n\n{again}")
}

/// Solutions of the same mesh again, for each hierarchy.
fn again(run: &Run, all: &[&Amg]) -> String {
    let both = |row: &ResolvedAmg| format!("{} + {}", number(row.setup_ms), number(row.solve_ms));
    let line = |(one, kept): (&&Amg, &str)| {
        let of = |what: &str| one.solutions.iter().find(|row| row.what == what && row.storage == kept);
        let (first, load, materials) = (of("first")?, of("new load")?, of("new materials")?);
        Some(vec![
            named(run, &one.head),
            kept.into(),
            count(first.iterations),
            both(first),
            count(load.iterations),
            number(load.solve_ms),
            count(materials.iterations),
            both(materials),
        ])
    };
    let heads = [
        "problem",
        "hierarchy in.",
        "first: iterations",
        "first: set-up + solution, ms",
        "new load: iterations",
        "new load: solution, ms",
        "new materials: iterations",
        "new materials: set-up + solution, ms",
    ];
    let rows = all.iter().flat_map(|one| ["f64", "f32", "f16"].map(|kept| (one, kept))).filter_map(line);
    table(&heads, &rows.collect::<Vec<_>>())
}
