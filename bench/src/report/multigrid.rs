//! Tables of multigrid: against the other preconditioners, its levels, and what is left of its set-up when a mesh is
//! solved again.

use super::lookup::{named, place};
use super::markdown::{count, number, table};
use super::plot::Plots;
use super::run::{Amg, MultigridSetup, ResolvedAmg, Run};

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
