//! The summary of a solution: as data for `summary.json`, and as text for people.

use super::earlier::Earlier;
use super::print::{Tone, bytes, count, seconds, toned, vector};
use crate::model::{Model, Probe};
use crate::output::Summary;
use crate::output::away::largest_away;
use crate::output::points::{Found, ProbeResult, SafetyFactor};
use crate::output::summary::{
    Distribution, Elastic, History, Level, Multigrid, MultigridSetup, Part, Peak, Potential, Results, Solver, Timings,
    shared,
};
use crate::pipeline::{self, Solution};
use crate::plan::AS_ASKED;
use crate::precond::amg::{Hierarchy, LevelSize, SetupTimes};
use crate::solve::Ending;
use crate::stress::norm;
use kernels_rs::material::von_mises;
use std::array;
use std::fmt::Write;
use std::path::PathBuf;
use warpfem_text::{clean, engineering as number, vector_beside};

/// The data; the times of writing and of the whole are filled in when they are known.
pub fn of(model: &Model, solution: &Solution, read: f64) -> Summary {
    let (choices, outcome, timings) = (&solution.choices, &solution.outcome, &solution.timings);
    let results = results(model, solution);
    Summary {
        case: model.name.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        nodes: model.mesh.coords.len(),
        elements: model.mesh.solids().map(|(_, cells)| cells.len()).sum(),
        dofs: model.analysis.components() * model.mesh.coords.len(),
        device: choices.device.clone(),
        units: model.units,
        solver: Solver {
            method: choices.method.name().into(),
            reason: choices.reason.clone(),
            format: choices.format.clone(),
            ordering: choices.ordering.clone(),
            preconditioner: choices.preconditioner.clone(),
            order: choices.order,
            precision: choices.precision.clone(),
            assembly: choices.assembly.clone(),
            factor_nonzeros: choices.factor_nonzeros,
            multigrid: choices.hierarchy.as_ref().map(multigrid),
            iterations: outcome.iterations,
            spmvs: outcome.spmvs,
            relative_residual: outcome.relative_residual,
            error_estimate: outcome.error_estimate,
            backward_error: outcome.backward_error,
            digits: outcome.digits,
            converged: outcome.converged,
            ending: outcome.ending.name().into(),
            history: History::of(&outcome.history),
            parts: parts(solution),
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
        warnings: warnings(model, solution, &results),
        pictures: vec![],
        probes: model.probes.iter().map(|probe| probed(probe, solution)).collect(),
        results,
    }
}

/// What a solution is at a probe.
fn probed(probe: &Probe, solution: &Solution) -> ProbeResult {
    let found = match &solution.potential {
        Some(potential) => Found::Potential {
            potential: probe.of_scalars(&potential.values),
            gradient: probe.of(&potential.nodal.values),
        },
        None => {
            let stress = probe.of(&solution.nodal.values);
            Found::Elastic { displacement: probe.of(&solution.displacement), stress, von_mises: von_mises(stress) }
        }
    };
    ProbeResult { name: probe.name.clone(), at: probe.at, found }
}

/// Error and balance of each part.
fn parts(solution: &Solution) -> Vec<Part> {
    let errors = &solution.outcome.part_errors;
    let part = |(part, balance): (usize, &f64)| Part {
        error_estimate: errors.get(part).copied(),
        equilibrium_error: *balance,
    };
    solution.part_balance.iter().enumerate().map(part).collect()
}

/// The levels of a preconditioner as data.
pub fn multigrid(hierarchy: &Hierarchy) -> Multigrid {
    let level = |level: &LevelSize| {
        let LevelSize { rows, blocks, .. } = *level;
        Level { unknowns: level.unknowns(), rows, blocks, stencil: level.stencil() }
    };
    let levels = hierarchy.levels.iter().map(level).collect();
    let SetupTimes { aggregation, symbolic, numeric, smoothing, coarsest } = hierarchy.times;
    Multigrid {
        operator_complexity: hierarchy.operator_complexity(),
        bytes: hierarchy.bytes,
        setup_s: MultigridSetup { aggregation, symbolic, numeric, smoothing, coarsest },
        levels,
    }
}

/// What the model, the choices and the end of the iteration give cause to say.
fn warnings(model: &Model, solution: &Solution, results: &Results) -> Vec<String> {
    let short = short_of_tolerance(model, solution);
    // That it hardly can was said before.
    let expected = model.solver.warning().filter(|_| short.is_some());
    let of_model = model.warnings.iter().filter(|said| Some(*said) != expected.as_ref()).cloned();
    let of_solution = solution.choices.fallback.clone().into_iter().chain(short).chain(rounded(solution));
    let of_results = large_displacement(model, solution, results).into_iter().chain(unbalanced(solution));
    of_model.chain(of_solution).chain(of_results).collect()
}

/// Displacements of a tenth of the part are none that a theory of small ones is for.
const MOST_OF_EXTENT: f64 = 0.1;

/// What there is to say of displacements that are not small.
fn large_displacement(model: &Model, solution: &Solution, results: &Results) -> Option<String> {
    let Results::Elastic(Elastic { max_displacement: largest, .. }) = *results else { return None };
    let extent = model.mesh.longest_side();
    (solution.outcome.converged && largest > MOST_OF_EXTENT * extent).then(|| {
        format!(
            "the largest displacement, {}, is {:.0} % of the mesh's extent of {}: the theory of small displacements does not \
             hold; see whether loads and materials are in the same units",
            number(largest),
            100.0 * largest / extent,
            number(extent)
        )
    })
}

/// What there is to say of single precision that has not met the tolerance on the residual.
fn short_of_tolerance(model: &Model, solution: &Solution) -> Option<String> {
    let outcome = &solution.outcome;
    let tolerance = model.solver.residual_tolerance.filter(|_| !outcome.converged)?;
    (solution.choices.precision == "single").then(|| {
        format!(
            "single precision reached a relative residual of {:.1e}, short of the tolerance {tolerance:.1e}",
            outcome.relative_residual
        )
    })
}

/// What there is to say of an answer that rounding has ended, though it is good enough.
fn rounded(solution: &Solution) -> Option<String> {
    let outcome = &solution.outcome;
    let error = outcome.error_estimate.filter(|_| outcome.converged && outcome.ending == Ending::Stagnated)?;
    let digits = outcome.digits.unwrap_or_default();
    Some(format!(
        "rounding allows about {digits} digits on this model: the estimated error is {error:.0e}, and {:.0e} was asked for",
        outcome.tolerance
    ))
}

/// A balance of forces that is off by more than this, relative to their magnitudes, is said.
const UNBALANCED: f64 = 1e-4;

/// What there is to say of forces of a part that do not balance.
fn unbalanced(solution: &Solution) -> Option<String> {
    let errors = solution.part_balance.iter().enumerate();
    let (part, worst) = errors.max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, error)| **error > UNBALANCED)?;
    let of = if solution.part_balance.len() > 1 { format!("part {} of the mesh", part + 1) } else { "the mesh".into() };
    Some(format!(
        "loads and reactions of {of} do not balance: they are off by {worst:.0e} of the sum of their magnitudes"
    ))
}

fn results(model: &Model, solution: &Solution) -> Results {
    match &solution.potential {
        Some(found) => Results::Potential(potential(model, solution, found)),
        None => Results::Elastic(elastic(model, solution)),
    }
}

fn potential(model: &Model, solution: &Solution, found: &pipeline::Potential) -> Potential {
    let values = || found.values.iter().copied().enumerate();
    let [low, high] = [
        values().reduce(|best, next| if next.1 < best.1 { next } else { best }),
        values().reduce(|best, next| if next.1 > best.1 { next } else { best }),
    ];
    let at = |node: Option<(usize, f64)>| node.map_or([0.0; 3], |(node, _)| model.mesh.coords[node]);
    let names = model.supports.iter().map(|support| support.name.clone());
    Potential {
        min: low.map_or(f64::NAN, |(_, value)| value),
        min_at: at(low),
        max: high.map_or(f64::NAN, |(_, value)| value),
        max_at: at(high),
        flows: names.zip(solution.reactions.iter().map(|flow| flow[0])).collect(),
        flow_sum: solution.reaction_force.iter().map(|flow| flow[0]).sum(),
        shared_nodes: shared_nodes(model),
        applied: solution.applied[0],
        equilibrium_error: solution.equilibrium_error,
        gradient: Distribution::of(&model.mesh, &found.steepness),
        gradient_nodal: Peak::of(&model.mesh, &found.nodal.sizes),
    }
}

fn elastic(model: &Model, solution: &Solution) -> Elastic {
    let lengths: Vec<f64> = solution.displacement.iter().map(|u| norm(u)).collect();
    let largest = Peak::of(&model.mesh, &lengths);
    let names = model.supports.iter().map(|support| support.name.clone());
    Elastic {
        max_displacement: largest.max,
        max_displacement_at: largest.max_at,
        strain_energy: solution.stresses.strain_energy,
        reactions: names.zip(solution.reactions.iter().copied()).collect(),
        reaction_sum: array::from_fn(|i| solution.reaction_force.iter().map(|force| force[i]).sum()),
        shared_nodes: shared_nodes(model),
        applied: solution.applied,
        equilibrium_error: solution.equilibrium_error,
        von_mises: Distribution::of(&model.mesh, &solution.stresses.von_mises),
        von_mises_nodal: Peak::of(&model.mesh, &solution.nodal.sizes),
        max_von_mises_away: largest_away(&model.mesh, &model.supports, &model.applied, &solution.nodal.sizes),
        min_safety_factor: SafetyFactor::of(&model.mesh, &solution.safety_factor),
        nodal_forces: sizes(&model.nodal_forces).max(sizes(&solution.reaction_force)),
    }
}

/// The number of nodes at which several supports prescribe the same component.
fn shared_nodes(model: &Model) -> usize {
    let mut held = vec![[0u8; 3]; model.mesh.coords.len()];
    for support in &model.supports {
        for node in &support.nodes {
            for (times, prescribed) in held[*node as usize].iter_mut().zip(&support.displacement) {
                *times = (*times + u8::from(prescribed.is_some())).min(2);
            }
        }
    }
    held.iter().filter(|times| times.contains(&2)).count()
}

/// The sizes of forces added up.
fn sizes(forces: &[[f64; 3]]) -> f64 {
    forces.iter().map(|force| norm(force)).sum()
}

/// The levels of a preconditioner in words.
pub fn levels(multigrid: &Multigrid) -> String {
    let unknowns: Vec<String> = multigrid.levels.iter().map(|level| count(level.unknowns)).collect();
    format!(
        "levels of {} unknowns, operator complexity {:.2}, {}",
        unknowns.join(" / "),
        multigrid.operator_complexity,
        bytes(multigrid.bytes)
    )
}

/// What the terminal shows; `before` is what the folder held.
pub fn text(summary: &Summary, files: &[PathBuf], before: Option<&Earlier>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, summary, files, before);
    out
}

fn write_text(out: &mut String, s: &Summary, files: &[PathBuf], before: Option<&Earlier>) -> std::fmt::Result {
    let (solver, t) = (&s.solver, &s.timings_s);
    writeln!(out, "{}: {} nodes, {} elements on {}", s.case, count(s.nodes), count(s.elements), s.device)?;
    let state = if solver.converged { String::new() } else { toned(Tone::Bad, "NOT CONVERGED: ") };
    writeln!(out, "  {state}{}", way(solver))?;
    writeln!(out, "  {}", s.accuracy())?;
    if !solver.reason.ends_with(AS_ASKED) {
        writeln!(out, "  {}", solver.reason)?;
    }
    if let Some(multigrid) = &solver.multigrid {
        writeln!(out, "  {}", levels(multigrid))?;
    }
    if s.is_zero() && solver.converged {
        writeln!(out, "  what was solved for is 0 everywhere, so there is no picture")?;
    }
    match &s.results {
        _ if s.is_zero() && !solver.converged => writeln!(out, "  {NOWHERE}, so there is no picture")?,
        Results::Elastic(results) => write_elastic(out, results, s.least_force())?,
        Results::Potential(results) => write_potential(out, results, s.least_force())?,
    }
    for probe in &s.probes {
        writeln!(out, "  probe {} {}", probe.name, probe.in_words())?;
    }
    for warning in &s.warnings {
        writeln!(out, "  {}: {warning}", toned(Tone::Doubtful, "warning"))?;
    }
    let phases = [("read", t.read), ("setup", t.setup), ("assembly", t.assembly), ("boundary", t.boundary)];
    let phases = phases.into_iter().chain([("solve", t.solve), ("stress", t.stress), ("write", t.write)]);
    let phases: Vec<String> = phases.map(|(name, s)| format!("{name} {}", seconds(s))).collect();
    writeln!(out, "  {} ({})", seconds(t.total), phases.join(", "))?;
    for file in files {
        // Every case has a summary of that name.
        let replaced = before.filter(|before| before.case == s.case || file.ends_with("summary.json"));
        writeln!(out, "  wrote {}{}", file.display(), replaced.map_or(String::new(), |before| before.replaced(s)))?;
    }
    write_result(out, s)
}

/// All of it in a line.
fn write_result(out: &mut String, s: &Summary) -> std::fmt::Result {
    let solver = &s.solver;
    let state = match (solver.converged, solver.iterations) {
        (true, _) if solver.method == "direct" => toned(Tone::Good, "solved"),
        (true, 0) => toned(Tone::Good, "solved"),
        (true, n) => format!("{} in {} iterations", toned(Tone::Good, "converged"), count(n)),
        (false, n) => format!("{} after {} iterations", toned(Tone::Bad, "not converged"), count(n)),
    };
    let found = match &s.results {
        _ if s.is_zero() && !solver.converged => NOWHERE.into(),
        Results::Elastic(results) => {
            let nodal = &results.von_mises_nodal;
            let (most, beside) = (number(nodal.max), nodal.beside(&results.von_mises));
            format!("max |u| {}, max von Mises {most} ({beside})", number(results.max_displacement))
        }
        Results::Potential(results) => format!("potential {} to {}", number(results.min), number(results.max)),
    };
    writeln!(out, "{}: {state}, {found}, {}", s.case, seconds(s.timings_s.total))
}

/// What there is to say of an iteration that ended before it found anything.
const NOWHERE: &str = "the iteration has not got anywhere yet: its best result is still 0";

/// How it was solved, in words.
fn way(solver: &Solver) -> String {
    let (method, iterations) = (&solver.method, count(solver.iterations));
    match method.as_str() {
        "direct" => {
            format!("direct factorisation ({}, {}), {iterations} solutions with it", solver.format, solver.precision)
        }
        _ => {
            let order = solver.order.map_or(String::new(), |order| format!(" of order {order}"));
            let (preconditioner, format, precision) = (&solver.preconditioner, &solver.format, &solver.precision);
            format!("{iterations} iterations of {method} ({preconditioner}{order}, {format}, {precision})")
        }
    }
}

/// The largest value at the nodes, its place, what stands beside it, and what to think of that.
fn write_peak(out: &mut String, name: &str, nodal: &Peak, centres: &Distribution) -> std::fmt::Result {
    let (most, at) = (number(nodal.max), vector(nodal.max_at));
    writeln!(out, "  {name} {most} at {at} ({})", nodal.beside(centres))?;
    nodal.doubt(centres).map_or(Ok(()), |doubt| writeln!(out, "    {doubt}"))
}

fn write_elastic(out: &mut String, results: &Elastic, least: f64) -> std::fmt::Result {
    let at = vector(results.max_displacement_at);
    writeln!(out, "  largest displacement {} at {at}", number(results.max_displacement))?;
    write_peak(out, "largest von Mises stress", &results.von_mises_nodal, &results.von_mises)?;
    if let Some(peak) = results.away() {
        let (most, at) = (number(peak.max), vector(peak.max_at));
        writeln!(out, "    away from supports, point loads, inner corners {most} at {at}")?;
    }
    if let Some(SafetyFactor { value, at, .. }) = results.min_safety_factor.filter(|factor| factor.value.is_finite()) {
        writeln!(out, "  smallest safety factor {} at {}", number(value), vector(at))?;
    }
    writeln!(out, "  99 % of the elements below {}, at their centres", number(results.von_mises.p99))?;
    let of = |force| vector_beside(force, least, results.largest_force());
    writeln!(out, "  loads {}", of(results.applied))?;
    for (name, force) in &results.reactions {
        writeln!(out, "  reaction of {name} {}", of(*force))?;
    }
    if let Some(note) = shared(results.shared_nodes) {
        writeln!(out, "  all reactions {}: {note}", of(results.reaction_sum))?;
    }
    writeln!(out, "  out of balance by {:.1e}", results.equilibrium_error)
}

fn write_potential(out: &mut String, results: &Potential, least: f64) -> std::fmt::Result {
    let (low, high) = (vector(results.min_at), vector(results.max_at));
    writeln!(out, "  potential {} at {low} to {} at {high}", number(results.min), number(results.max))?;
    write_peak(out, "steepest gradient", &results.gradient_nodal, &results.gradient)?;
    writeln!(out, "  fluxes and sources bring in {}", number(results.applied))?;
    for (name, flow) in &results.flows {
        writeln!(out, "  flow in at {name} {}", number(clean(*flow, least)))?;
    }
    if let Some(note) = shared(results.shared_nodes) {
        writeln!(out, "  flow in at all supports {}: {note}", number(clean(results.flow_sum, least)))?;
    }
    writeln!(out, "  out of balance by {:.1e}", results.equilibrium_error)
}
