//! The summary of a solution, as data for `summary.json`.

use super::print::{bytes, count};
use super::warnings;
use crate::model::{Model, Probe};
use crate::output::Summary;
use crate::output::away::near;
use crate::output::distribution::{Distribution, Peak};
use crate::output::points::{PointValues, ProbeResult, SafetyFactor};
use crate::output::resolution::{COARSE, unresolved};
use crate::output::summary::{
    Elastic, History, Level, Multigrid, MultigridSetup, Part, Potential, Results, Solver, Timings,
};
use crate::pipeline::{self, Solution};
use crate::precond::amg::{Hierarchy, LevelSize, SetupTimes};
use crate::stress::norm;
use kernels_rs::material::von_mises;
use std::array;

/// The data; the times of writing and of the whole are filled in when they are known.
pub fn of(model: &Model, solution: &Solution, read: f64) -> Summary {
    let (used, outcome) = (&solution.used, &solution.outcome);
    let plan = &used.plan;
    let results = match &solution.potential {
        Some(found) => Results::Potential(potential(model, solution, found)),
        None => Results::Elastic(elastic(model, solution)),
    };
    Summary {
        case: model.name.clone(),
        units: model.units,
        version: env!("CARGO_PKG_VERSION").into(),
        nodes: model.mesh.coords.len(),
        elements: model.mesh.solids().map(|(_, cells)| cells.len()).sum(),
        dofs: model.analysis.components() * model.mesh.coords.len(),
        device: used.device.clone(),
        solver: Solver {
            method: plan.method.name().into(),
            reason: plan.reason(),
            changes: outcome.changes.clone(),
            format: plan.format_name().into(),
            ordering: plan.ordering.name().into(),
            preconditioner: plan.preconditioner_name().into(),
            order: plan.order,
            precision: plan.precision.name().into(),
            assembly: plan.assembly_name().into(),
            factor_nonzeros: used.factor_nonzeros,
            multigrid: used.hierarchy.as_ref().map(multigrid),
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
        timings_s: Timings { read, phases: solution.timings, write: 0.0, total: 0.0 },
        warnings: warnings::of_solution(model, solution, &results),
        pictures: vec![],
        probes: model.probes.iter().map(|probe| probed(probe, solution)).collect(),
        results,
    }
}

fn probed(probe: &Probe, solution: &Solution) -> ProbeResult {
    let found = match &solution.potential {
        Some(potential) => PointValues::Potential {
            potential: probe.of_scalars(&potential.values),
            gradient: probe.of(&potential.nodal.values),
        },
        None => {
            let (displacement, stress) = (probe.of(&solution.displacement), probe.of(&solution.nodal.values));
            PointValues::Elastic { displacement, stress, von_mises: von_mises(stress) }
        }
    };
    ProbeResult { name: probe.name.clone(), at: probe.at, found }
}

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

fn potential(model: &Model, solution: &Solution, found: &pipeline::Potential) -> Potential {
    let first = |is_better: fn(&f64, &f64) -> bool| {
        let values = found.values.iter().zip(&model.mesh.coords);
        let best = values.reduce(|best, next| if is_better(next.0, best.0) { next } else { best });
        best.map_or((f64::NAN, [0.0; 3]), |(value, at)| (*value, *at))
    };
    let ((min, min_at), (max, max_at)) = (first(f64::lt), first(f64::gt));
    let names = model.supports.iter().map(|support| support.name.clone());
    Potential {
        min,
        min_at,
        max,
        max_at,
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
    let near = near(&model.mesh, &model.supports, &model.applied);
    let away = near.largest_away(&model.mesh, &solution.nodal.sizes);
    let is_rising = away.map(|(node, _)| near.rises(&model.mesh, node, &solution.nodal.sizes));
    // A stress that rises is no measure of safety.
    let is_away = |node: usize| !near.holds(node) && is_rising != Some(true);
    let centres = Distribution::of(&model.mesh, &solution.stresses.von_mises);
    let peak = Peak::of(&model.mesh, &solution.nodal.sizes);
    // Where it rises there is nothing to resolve.
    let settled = away.filter(|_| is_rising == Some(false));
    let unresolved =
        settled.map_or(0.0, |(node, _)| unresolved(model, node, &solution.nodal, &solution.stresses.stress));
    let is_coarse = peak.excess(&centres).is_some() || unresolved > COARSE || model.is_too_stiff;
    let safety =
        |counts: &dyn Fn(usize) -> bool| SafetyFactor::of(&model.mesh, &solution.safety_factor, is_coarse, counts);
    Elastic {
        max_displacement: largest.max,
        max_displacement_at: largest.max_at,
        strain_energy: solution.stresses.strain_energy,
        reactions: names.zip(solution.reactions.iter().copied()).collect(),
        reaction_sum: array::from_fn(|i| solution.reaction_force.iter().map(|force| force[i]).sum()),
        shared_nodes: shared_nodes(model),
        applied: solution.applied,
        equilibrium_error: solution.equilibrium_error,
        von_mises: centres,
        von_mises_nodal: peak,
        unresolved,
        max_von_mises_away_rises: is_rising,
        max_von_mises_away: away.map(|(_, peak)| peak),
        min_safety_factor: safety(&|_| true),
        min_safety_factor_away: safety(&is_away),
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
