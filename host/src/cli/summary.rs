//! The summary of a solution: as data for `summary.json`, and as text for people.

use super::print::{count, seconds, vector};
use std::fmt::Write;
use std::path::PathBuf;
use warpfem::model::Model;
use warpfem::output::Summary;
use warpfem::output::summary::{Distribution, History, Results, Solver, Timings};
use warpfem::pipeline::Solution;
use warpfem::stress::norm;

/// The data; the times of writing and of the whole are filled in when they are known.
pub fn of(model: &Model, solution: &Solution, read: f64) -> Summary {
    let (choices, outcome, timings) = (&solution.choices, &solution.outcome, &solution.timings);
    Summary {
        case: model.name.clone(),
        nodes: model.mesh.coords.len(),
        elements: model.mesh.solids().map(|(_, cells)| cells.len()).sum(),
        dofs: model.analysis.dim() * model.mesh.coords.len(),
        device: choices.device.clone(),
        solver: Solver {
            method: model.solver.method.clone(),
            format: choices.format.clone(),
            ordering: choices.ordering.clone(),
            preconditioner: choices.preconditioner.clone(),
            order: choices.order,
            precision: choices.precision.clone(),
            assembly: choices.assembly.clone(),
            factor_nonzeros: choices.factor_nonzeros,
            iterations: outcome.iterations,
            spmvs: outcome.spmvs,
            relative_residual: outcome.relative_residual,
            converged: outcome.converged,
            ending: outcome.ending.name().into(),
            history: History::of(&outcome.history),
        },
        timings_s: Timings {
            read,
            setup: timings.setup,
            assembly: timings.assembly,
            boundary: timings.boundary,
            solve: timings.solve,
            stress: timings.stress,
            write: 0.0,
            total: 0.0,
        },
        results: results(model, solution),
        warnings: model.warnings.iter().cloned().chain(short_of_tolerance(model, solution)).collect(),
    }
}

/// What there is to say of single precision that has not met the tolerance.
fn short_of_tolerance(model: &Model, solution: &Solution) -> Option<String> {
    let outcome = &solution.outcome;
    let is_short = solution.choices.precision == "single" && !outcome.converged;
    is_short.then(|| {
        format!(
            "single precision reached a relative residual of {:.1e}, short of the tolerance {:.1e}",
            outcome.relative_residual, model.solver.tolerance
        )
    })
}

fn results(model: &Model, solution: &Solution) -> Results {
    let lengths = solution.displacement.iter().map(|u| norm(u));
    let largest = lengths.enumerate().fold((0, 0.0), |best, (node, u)| if u > best.1 { (node, u) } else { best });
    let names = model.supports.iter().map(|support| support.name.clone());
    Results {
        max_displacement: largest.1,
        max_displacement_at: model.mesh.coords.get(largest.0).copied().unwrap_or_default(),
        strain_energy: solution.stresses.strain_energy,
        reactions: names.zip(solution.reactions.iter().copied()).collect(),
        applied: solution.applied,
        equilibrium_error: solution.equilibrium_error,
        von_mises: Distribution::of(&solution.stresses.von_mises),
    }
}

/// What the terminal shows.
pub fn text(summary: &Summary, files: &[PathBuf]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, summary, files);
    out
}

fn write_text(out: &mut String, s: &Summary, files: &[PathBuf]) -> std::fmt::Result {
    let (solver, results, t) = (&s.solver, &s.results, &s.timings_s);
    writeln!(out, "{}: {} nodes, {} elements on {}", s.case, count(s.nodes), count(s.elements), s.device)?;
    let state = if solver.converged { "" } else { "NOT CONVERGED: " };
    let order = solver.order.map_or(String::new(), |order| format!(" of order {order}"));
    writeln!(
        out,
        "  {state}{} iterations of {} ({}{order}, {}, {}), residual {:.1e}",
        count(solver.iterations),
        solver.method,
        solver.preconditioner,
        solver.format,
        solver.precision,
        solver.relative_residual
    )?;
    let at = vector(results.max_displacement_at);
    writeln!(out, "  largest displacement {:.6e} at {at}", results.max_displacement)?;
    let v = &results.von_mises;
    writeln!(out, "  von Mises stress {:.4e} to {:.4e}, mean {:.4e}, 99 % below {:.4e}", v.min, v.max, v.mean, v.p99)?;
    writeln!(out, "  loads {}", vector(results.applied))?;
    for (name, force) in &results.reactions {
        writeln!(out, "  reaction of {name} {}", vector(*force))?;
    }
    writeln!(out, "  out of balance by {:.1e}", results.equilibrium_error)?;
    for warning in &s.warnings {
        writeln!(out, "  warning: {warning}")?;
    }
    let phases = [("read", t.read), ("setup", t.setup), ("assembly", t.assembly), ("boundary", t.boundary)];
    let phases = phases.into_iter().chain([("solve", t.solve), ("stress", t.stress), ("write", t.write)]);
    let phases: Vec<String> = phases.map(|(name, s)| format!("{name} {}", seconds(s))).collect();
    writeln!(out, "  {} ({})", seconds(t.total), phases.join(", "))?;
    for file in files {
        writeln!(out, "  wrote {}", file.display())?;
    }
    Ok(())
}
