//! The summary of a solution, as data for `summary.json`.

use super::print::{bytes, count};
use super::warnings;
use std::collections::HashMap;
use std::f64::consts::TAU;

use crate::mesh::Mesh;
use crate::model::{HeldSpace, MassProperties, Model, Probe, Support};
use crate::output::away::near;
use crate::output::distribution::{Distribution, Peak, Range, place};
use crate::output::modes::{Mode, Vibration};
use crate::output::points::{PointValue, ProbeResult, SafetyFactor};
use crate::output::resolution::{COARSE, unresolved};
use crate::output::solver::{History, Part, Solver};
use crate::output::summary::{Results, Timings};
use crate::output::{self, Summary};
use crate::pipeline::Solution;
use crate::precond::Hierarchy;
use crate::result::{At, Field, FieldInfo, MODES, Moment, Quantity, REVERSED, Step, Study, Table, When};
use crate::stress::norm;
use kernels_rs::material::von_mises;

/// The data of a step, by its number; the times of writing and of the whole are filled in when they are known.
pub fn of(model: &Model, case: usize, solution: &Solution, mass: Option<MassProperties>, read: f64) -> Summary {
    let (results, probes) = (results(model, case, &solution.step), probes(model, &solution.step));
    with(model, solution, (results, probes), mass, read)
}

/// The same from results, with the warnings of one case.
pub(super) fn with(
    model: &Model,
    solution: &Solution,
    (results, probes): Shown,
    mass: Option<MassProperties>,
    read: f64,
) -> Summary {
    let (used, outcome) = (&solution.used, &solution.outcome);
    let plan = &used.plan;
    Summary {
        case: model.name.clone(),
        step: solution.step.label.clone(),
        steps: vec![],
        governing_case: None,
        units: model.units,
        mass,
        version: env!("CARGO_PKG_VERSION").into(),
        nodes: model.mesh.coords.len(),
        elements: model.mesh.n_solids(),
        dofs: model.analysis.components() * model.mesh.coords.len(),
        device: used.device.clone(),
        solver: Solver {
            study: plan.study.name().into(),
            method: plan.method.name().into(),
            reason: plan.reason(),
            changes: outcome.changes.clone(),
            operator: plan.operator_name().into(),
            format: plan.format_name().into(),
            ordering: plan.ordering_name().into(),
            preconditioner: plan.preconditioner_name().into(),
            order: plan.order,
            precision: plan.precision.name().into(),
            assembly: plan.assembly_name().into(),
            factor_nonzeros: used.factor_nonzeros,
            count: used.count,
            ranks: used.ranks.clone(),
            multigrid: used.hierarchy.clone(),
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
        response: vec![],
        probes,
        results,
    }
}

/// The results of a step in a few numbers, and at probes.
pub(super) type Shown = (Results, Vec<ProbeResult>);

/// The results at the probes of a model.
pub(super) fn probes(model: &Model, step: &Step) -> Vec<ProbeResult> {
    model.probes.iter().map(|probe| probed(probe, step)).collect()
}

fn probed(probe: &Probe, step: &Step) -> ProbeResult {
    let words = step.physics.words();
    let asked =
        step.fields.iter().map(|field| field.info).filter(|info| info.at == At::Node && info.when == When::Asked);
    let asked = asked.map(|info| [info.name; 2]);
    let value = |[key, name]: [&str; 2]| {
        let info = FieldInfo::named(name)?;
        let values = probe.of_flat(step.nodes(name), info.width());
        let (title, unit) = (info.short_name().replace('_', " "), info.unit);
        Some(PointValue { key: key.into(), title, unit, components: info.components, values })
    };
    let mut values: Vec<PointValue> = words.probed.iter().copied().chain(asked).filter_map(value).collect();
    // That of the stress between the nodes, not between theirs.
    let size = values.iter().find(|value| value.key == "stress").and_then(|value| value.values.as_array());
    let size = size.map(|stress| vec![von_mises(*stress)]);
    let of_stress = |values| PointValue {
        key: "von_mises".into(),
        title: "von Mises".into(),
        unit: Quantity::Stress,
        components: &[],
        values,
    };
    values.splice(words.probed.len()..words.probed.len(), size.map(of_stress));
    ProbeResult { name: probe.name.clone(), at: probe.at, values }
}

fn parts(solution: &Solution) -> Vec<Part> {
    let errors = &solution.outcome.part_errors;
    let part = |(part, balance): (usize, &f64)| Part {
        error_estimate: errors.get(part).copied(),
        equilibrium_error: *balance,
    };
    solution.part_balance.iter().enumerate().map(part).collect()
}

/// The results of a step in a few numbers.
pub(super) fn results(model: &Model, case: usize, step: &Step) -> Results {
    let (mesh, at) = (&model.mesh, |node: usize| model.mesh.coords[node]);
    let (loads, balance) = (model.loads(case), &step.balance);
    let (model, _) = model.of_case(case);
    let words = step.physics.words();
    let magnitudes = |name: &str| step.field(name).map_or(vec![], Field::magnitudes);
    let sizes = output::sizes(step);
    let centres = Distribution::of(mesh, &magnitudes(words.centres));
    let nodal = Peak::of(mesh, &sizes);
    let near =
        words.away.filter(|_| !step.is_mode()).map(|_| near(mesh, &model.supports, &loads.applied, &ties(model)));
    let away = near.as_ref().and_then(|near| near.largest_away(mesh, &sizes));
    let is_rising = near.as_ref().zip(away).map(|(near, (node, _))| near.rises(mesh, node, &sizes));
    let elsewhere = away.map_or(f64::NEG_INFINITY, |(_, peak)| peak.max);
    let singular = near.as_ref().map_or(vec![], |near| near.singular(mesh, &sizes, elsewhere));
    // Where it rises there is nothing to resolve.
    let settled = away.filter(|_| is_rising == Some(false));
    let unresolved = settled.map_or(0.0, |(node, _)| unresolved(model, node, step));
    let is_coarse = nodal.excess(&centres).is_some() || unresolved > COARSE || model.is_too_stiff;
    // A stress that rises is no measure of safety.
    let is_away = |node: usize| near.as_ref().is_none_or(|near| !near.holds(node)) && is_rising != Some(true);
    let factors = step.nodes("safety_factor");
    let safety = |counts: &dyn Fn(usize) -> bool| SafetyFactor::of(mesh, factors, is_coarse, counts);
    let reactions = step.table(words.reactions[0]);
    let n = reactions.map_or(3, |reactions| reactions.info.columns.len());
    let has_a_key = |table: &&Table| !["strain_energy", "mesh_error", words.reactions[0]].contains(&table.info.name);
    // Thermal strain, and loads on a free body, balance themselves.
    let is_balanced = model.temperature.is_some() || !model.pins.is_empty();
    let balanced = if is_balanced { step.balance.nodal_forces } else { 0.0 };
    Results {
        physics: step.physics,
        mode: mode(step),
        vibration: vibration(step),
        is_response: step.moment.is_some(),
        time: model.step_time(case),
        unknown: Range::of(magnitudes(words.unknown).first().map_or(&[], Vec::as_slice), at),
        strain_energy: step.row("strain_energy", 0).first().copied(),
        mesh_error: step.row("mesh_error", 0).first().copied(),
        reactions: reactions.map_or(vec![], |reactions| reactions.rows.clone()),
        reaction_sum: balance.reaction_sum[..n].to_vec(),
        shared_nodes: shared_nodes(model),
        applied: balance.applied[..n].to_vec(),
        equilibrium_error: balance.equilibrium_error,
        centres,
        nodal,
        unresolved,
        max_away_rises: is_rising,
        max_away: away.map(|(_, peak)| peak),
        singular,
        min_safety_factor: safety(&|_| true),
        min_safety_factor_away: safety(&is_away),
        ranges: step
            .fields
            .iter()
            .filter(|field| field.info.when == When::Asked && field.info.at != At::CellPoint)
            .flat_map(|field| ranges(mesh, field))
            .collect(),
        tables: step.tables.iter().filter(has_a_key).cloned().collect(),
        nodal_forces: sizes_of(&loads.nodal_forces).max(sizes_of(step.vectors("reaction_force"))).max(balanced),
    }
}

/// What a step is of, if it is part of a vibration.
fn vibration(step: &Step) -> Option<Vibration> {
    let part = match step.moment? {
        Moment::Real => "real",
        Moment::Imaginary => "imaginary",
        Moment::Time => return None,
    };
    Some(Vibration { frequency: step.value, part })
}

/// The ties by name, and their slave nodes.
pub(super) fn ties(model: &Model) -> Vec<(String, Vec<u32>)> {
    let joined = model.constraints.joined().into_iter();
    joined.filter_map(|(name, nodes)| Some((format!("tie `{}`", name.strip_prefix("tie ")?), nodes))).collect()
}

/// What a step is of, if it is a mode.
fn mode(step: &Step) -> Option<Mode> {
    match step.study {
        _ if !step.is_mode() => None,
        Study::Static | Study::Transient => None,
        Study::Modal => {
            let eigenvalue = step.row(MODES.name, 0).first().copied();
            let eigenvalue = eigenvalue.unwrap_or((TAU * step.value).powi(2));
            Some(Mode::Vibration { frequency: step.value, eigenvalue })
        }
        Study::Buckling => {
            let reversed_load_factor = step.row(REVERSED.name, 0).first().copied();
            Some(Mode::Buckling { load_factor: step.value, reversed_load_factor })
        }
    }
}

/// The range of each scalar of a field.
fn ranges(mesh: &Mesh, field: &Field) -> Vec<(String, Quantity, Range)> {
    let (info, width) = (field.info, field.info.width());
    let at = |i: usize| match info.at {
        At::Node => mesh.coords[i],
        _ => place(mesh, &field.values, width, i).0,
    };
    let range = |(c, name): (usize, String)| {
        let values: Vec<f64> =
            field.values.iter().flat_map(|list| list.iter().skip(c).step_by(width)).copied().collect();
        (name, info.unit, Range::of(&values, at))
    };
    let names = match info.components {
        [] => vec![info.name.into()],
        components => components.iter().map(|component| format!("{}_{component}", info.name)).collect(),
    };
    names.into_iter().enumerate().map(range).collect()
}

/// The number of nodes at which several supports prescribe the same component or direction.
fn shared_nodes(model: &Model) -> usize {
    let mut held = vec![[0u8; 3]; model.mesh.coords.len()];
    for (node, c, _) in model.supports.iter().filter(|support| !support.is_slanted()).flat_map(Support::prescribed) {
        held[node as usize][c] = (held[node as usize][c] + 1).min(2);
    }
    let mut slanted: HashMap<u32, (HeldSpace, usize)> = HashMap::new();
    for support in model.supports.iter().filter(|support| support.is_slanted()) {
        slanted.extend(support.nodes.iter().map(|node| (*node, Default::default())));
    }
    for (node, direction, value) in model.supports.iter().flat_map(|support| support.held(&model.mesh.coords)) {
        if let Some((space, n)) = slanted.get_mut(&node) {
            space.add(direction, value);
            *n += 1;
        }
    }
    let depend = slanted
        .iter()
        .filter(|(node, (space, n))| space.directions().len() < *n && !held[**node as usize].contains(&2));
    held.iter().filter(|times| times.contains(&2)).count() + depend.count()
}

fn sizes_of(forces: &[[f64; 3]]) -> f64 {
    forces.iter().map(|force| norm(force)).sum()
}

/// The levels of a preconditioner in words.
pub fn levels(multigrid: &Hierarchy) -> String {
    let unknowns: Vec<String> = multigrid.levels.iter().map(|level| count(level.unknowns())).collect();
    format!(
        "levels of {} unknowns, operator complexity {:.2}, {}",
        unknowns.join(" / "),
        multigrid.operator_complexity(),
        bytes(multigrid.bytes)
    )
}
