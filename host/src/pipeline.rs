//! The whole way from a model to its stresses: the one place that sees every stage.

mod build;
mod femses;
mod groups;
mod loads;
mod motion;
mod system;

pub use system::{Loaded, System};

use crate::device::DeviceName;
use crate::linalg::Space;
use crate::model::{Model, SolverOptions};
use crate::plan::{self, DeviceFacts};
pub use crate::precond::Hierarchy;
use crate::result::choices::{Method, Precision};
use crate::result::{Ending, LastStep, Outcome, Plan, Result, Sink, Step};
use crate::solve::iteration::{self, Builder};
use crate::solve::{CgOptions, Monitor, direct};
use crate::stress::{self, Balance, Context};
use kernels_rs::real::Real;
use rayon::prelude::*;
use std::time::Instant;

/// Seconds each phase took.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Timings {
    /// Sparsity, slots, layout, copies to the device.
    pub setup: f64,
    /// Stiffness and loads.
    pub assembly: f64,
    /// Supports.
    pub boundary: f64,
    /// Preconditioner and iteration, or factorisation and substitution.
    pub solve: f64,
    /// Stresses and reactions.
    pub stress: f64,
}

/// How a model was solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    /// The device's name.
    pub device: String,
    /// The plan, as it was carried out: with what took the place of a factor or of multigrid where they did not go, of
    /// which [`Outcome::changes`] say why.
    pub plan: Plan,
    /// Values that the factors of a direct solver store.
    pub factor_nonzeros: Option<u64>,
    /// The levels of a multigrid preconditioner.
    pub hierarchy: Option<Hierarchy>,
}

/// The answer, in the mesh's numbering.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The results; empty where another sink has taken them.
    pub step: Step,
    /// The sum of all loads but thermal strain; of a potential what fluxes and sources bring in, then zeros.
    pub applied: [f64; 3],
    /// The sum of the forces of all supports and springs on the body, or of the flows into it there; a node of several
    /// counts once.
    pub reaction_sum: [f64; 3],
    /// The sizes of the forces at nodes, thermal strain and inertia among them, added up.
    pub nodal_forces: f64,
    /// See [`Balance::error`].
    pub equilibrium_error: f64,
    /// The same of each connected part.
    pub part_balance: Vec<f64>,
    /// See [`Balance::load_error`]; 0 of a potential.
    pub load_error: f64,
    /// How the iteration ended.
    pub outcome: Outcome,
    /// How it was solved.
    pub used: Used,
    /// Where the time went.
    pub timings: Timings,
}

impl Solution {
    /// The displacements, `[n_nodes]`; none if they were not asked for.
    pub fn displacement(&self) -> &[[f64; 3]] {
        self.step.vectors("displacement")
    }

    /// The first `components` of the unknown at each node, `[n_nodes][components]` flat.
    pub fn unknown(&self, components: usize) -> Vec<f64> {
        let field = self.step.field(self.step.physics.words().unknown);
        field.map_or(vec![], |field| {
            field.values[0].chunks_exact(field.info.width()).flat_map(|value| &value[..components]).copied().collect()
        })
    }

    /// What a support does to the body, by its number in the case: the force, or the flow into it.
    pub fn reaction(&self, support: usize) -> &[f64] {
        self.step.row(self.step.physics.words().reactions[0], support)
    }

    /// The strain energy of the body; NaN if there is none.
    pub fn strain_energy(&self) -> f64 {
        self.step.row("strain_energy", 0).first().copied().unwrap_or(f64::NAN)
    }
}

/// Solves a model on a device. A solution that ends short of the tolerance is no error: its [`Outcome`] says so.
///
/// # Errors
///
/// Those of [`solve_on`], and of a device that is not there.
pub fn solve(model: &Model, device: DeviceName, monitor: &dyn Monitor) -> Result<Solution> {
    solve_on(&Space::open(device)?, model, monitor)
}

/// As [`solve`], on a device that is open. The solution has all tables, the usual fields and those of the case.
///
/// # Errors
///
/// Those of [`solve_into`].
pub fn solve_on(space: &Space, model: &Model, monitor: &dyn Monitor) -> Result<Solution> {
    solve_asked(space, model, &[], monitor)
}

/// As [`solve_on`], with more fields by name.
///
/// # Errors
///
/// Those of [`solve_into`].
pub fn solve_asked(space: &Space, model: &Model, more: &[&str], monitor: &dyn Monitor) -> Result<Solution> {
    let usual = model.analysis.physics().usual_fields().map(String::from);
    let asked = more.iter().map(|name| String::from(*name)).chain(model.fields.iter().cloned());
    let mut last = LastStep { fields: usual.chain(asked).collect(), ..LastStep::default() };
    let solution = solve_into(space, model, &mut last, monitor)?;
    Ok(Solution { step: last.step, ..solution })
}

/// Solves a model and sends its results to a sink, which has them instead of the [`Solution`].
///
/// # Errors
///
/// Choices that do not go together, too little memory, a device that fails, a model that is too large, those of the
/// sink.
pub fn solve_into(space: &Space, model: &Model, sink: &mut dyn Sink, monitor: &dyn Monitor) -> Result<Solution> {
    let plan = plan::resolve(model, &DeviceFacts::of(space))?;
    let (method, precision) = (plan.method, plan.precision);
    let used = Used { device: space.name(), plan, factor_nonzeros: None, hierarchy: None };
    let single = |used, way| solve_with::<f32>(space, model, monitor, used, way);
    let double = |used, way| solve_with::<f64>(space, model, monitor, used, way);
    let found = match (method, precision) {
        (Method::Femses, _) => {
            let (mut timings, mut phase) = (Timings::default(), Phase::begin(monitor, "setup"));
            let found = match precision {
                Precision::Single => femses::find::<f32>(space, model, &used.plan, monitor, &mut phase, &mut timings),
                _ => femses::find::<f64>(space, model, &used.plan, monitor, &mut phase, &mut timings),
            };
            (used, found?, phase, timings)
        }
        (Method::Direct, Precision::Single) => single(used, SolverBuilder::Direct(direct::build::<f32, f32>, None))?,
        (Method::Direct, Precision::Mixed) => double(used, SolverBuilder::Direct(direct::build::<f64, f32>, None))?,
        (Method::Direct, _) => {
            let instead = model.solver.method.is_none().then_some(iteration::plain as Builder<f64>);
            double(used, SolverBuilder::Direct(direct::build::<f64, f64>, instead))?
        }
        (Method::Cg, Precision::Double) => double(used, SolverBuilder::Iteration(iteration::plain))?,
        (Method::Cg, Precision::Mixed) => double(used, SolverBuilder::Iteration(iteration::mixed))?,
        (Method::Cg, Precision::MixedHalf) => double(used, SolverBuilder::Iteration(iteration::mixed_half))?,
        (Method::Cg, Precision::Single) => single(used, SolverBuilder::Iteration(iteration::plain))?,
    };
    results(space, model, found, sink)
}

/// How the system is solved: by an iteration made of a preconditioner, or by factors, or by what takes their place
/// where they cannot be made.
enum SolverBuilder<T: Real> {
    Iteration(Builder<T>),
    Direct(direct::Builder<T>, Option<Builder<T>>),
}

/// The stopwatch of the phases.
pub struct Phase<'a> {
    monitor: &'a dyn Monitor,
    since: Instant,
}

impl<'a> Phase<'a> {
    /// Starts with a phase of this name.
    pub fn begin(monitor: &'a dyn Monitor, name: &'static str) -> Self {
        monitor.phase(name);
        Phase { monitor, since: Instant::now() }
    }

    /// Seconds of the phase that ends; the next begins.
    pub fn next(&mut self, name: &'static str) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64();
        *self = Phase::begin(self.monitor, name);
        seconds
    }
}

/// What an iteration found, and what results are made of.
struct Solved {
    body: Loaded,
    /// The unknown less what is prescribed, in the solver's numbering.
    v: Vec<f64>,
    outcome: Outcome,
    /// Of the precision.
    epsilon: f64,
}

/// When to stop, as a model's options say.
fn stopping(solver: &SolverOptions) -> CgOptions {
    match solver.residual_tolerance {
        Some(tolerance) => CgOptions::new(tolerance, solver.max_iterations),
        None => CgOptions::of_energy(solver.tolerance, solver.max_iterations),
    }
}

/// How it was solved, what was found, the phase that goes on, and the times so far.
type Ended<'a> = (Used, Solved, Phase<'a>, Timings);

fn solve_with<'a, T: Real>(
    space: &Space,
    model: &Model,
    monitor: &'a dyn Monitor,
    mut used: Used,
    way: SolverBuilder<T>,
) -> Result<Ended<'a>> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(monitor, "setup");
    let system = System::<T>::assemble(space, model, &used.plan, &mut phase, &mut timings)?;
    let options = stopping(&model.solver);
    let mut maker = build::Maker { space, model, system: &system, plan: &mut used.plan, changes: Vec::new() };
    let iteration = match way {
        SolverBuilder::Iteration(build) => maker.iteration(build)?,
        SolverBuilder::Direct(build, instead) => {
            monitor.phase("factorisation");
            maker.direct(build, instead)?
        }
    };
    let changes = maker.changes;
    used.factor_nonzeros = iteration.factor_nonzeros();
    used.hierarchy = iteration.hierarchy().cloned();
    monitor.phase("solve");
    let (v, outcome) = system.iterate(space, &*iteration, options, monitor)?;
    let outcome = Outcome { changes, ..outcome };
    let System { body, matrix, f, .. } = system;
    drop((matrix, iteration, f));
    let found = Solved { body, v, outcome, epsilon: T::EPSILON.to_f64() };
    Ok((used, found, phase, timings))
}

/// Sends what follows from what was found to a sink; returns the rest.
fn results(
    space: &Space,
    model: &Model,
    (used, found, mut phase, mut timings): Ended,
    sink: &mut dyn Sink,
) -> Result<Solution> {
    let Solved { body, v, mut outcome, epsilon } = found;
    let Loaded { numbering, mesh, mut supports, loads, norm_f, parts, couplings, coords, .. } = body;
    let applied = loads.all;
    let u: Vec<f64> = v.par_iter().zip(&supports.prescribed).map(|(v, prescribed)| v + prescribed).collect();
    if let Some(relief) = &loads.relief {
        supports.motion = relief.drift(&coords, &u, supports.components);
    }
    timings.solve = phase.next("stress");
    let device_u = space.upload(&u)?;
    let dim = supports.components;
    // A rounded matrix cannot judge itself; else it is the reactions alone that these are for.
    let is_rounded = epsilon > f64::EPSILON && norm_f > 0.0;
    let asked = (!is_rounded && couplings.is_none()).then(|| supports.nodes());
    let internal = space.take(mesh.internal_force(space, &device_u, asked.as_deref())?)?;
    if is_rounded {
        let rows = couplings.as_ref().map(|couplings| &couplings.rows);
        outcome.relative_residual = stress::free_residual(&supports, rows, &internal, &applied) / norm_f;
        if let Some(tolerance) = model.solver.residual_tolerance {
            outcome.converged = outcome.relative_residual <= tolerance;
            outcome.ending = match outcome.ending {
                _ if outcome.converged => Ending::Converged,
                Ending::Converged => Ending::Stagnated,
                ending => ending,
            };
        }
    }
    let coupled = couplings.map(|couplings| couplings.rows.is_coupled());
    let mut support_forces = stress::support_forces(&supports, coupled.as_deref(), &internal, &applied);
    drop(internal);
    let mut forces = numbering.scatter(&support_forces, dim);
    let multipliers = model.constraints.take_forces(&mut forces);
    if coupled.is_some() {
        let rows = numbering.to_mesh.iter().enumerate();
        let free = rows.flat_map(|(row, node)| (0..dim).map(move |i| (row, *node as usize, i)));
        let free = free.filter(|(row, _, i)| !supports.is_slanted(*row) && !supports.is_fixed(*row, *i));
        free.for_each(|(_, node, i)| forces[node][i] = 0.0);
    }
    let mut reaction_sum = [0, 1, 2].map(|i| forces.iter().map(|force| force[i]).sum::<f64>());
    for (node, force) in model.springs.iter().flat_map(|spring| stress::spring_forces(spring, &numbering, &u, dim)) {
        let row = dim * numbering.to_solver[node as usize] as usize;
        support_forces[row..row + dim].iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
        reaction_sum.iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
    }
    for remote in &model.constraints.remotes {
        let [force, _] = model.constraints.reaction(remote, &model.mesh.coords, &multipliers);
        reaction_sum.iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
    }
    let unknown = (&u[..], &device_u);
    let mut context = Context::new(space, model, (&numbering, &mesh), unknown, (&supports, forces), multipliers);
    context.acceleration = loads.relief.map(|relief| relief.acceleration);
    let balance = Balance::new(&support_forces, &applied, dim, model.analysis.balanced());
    let load_error = context.table("reactions")?.map_or(0.0, |reactions| balance.load_error(reactions));
    outcome.judge_by_loads(load_error);
    sink.take(context.into_step(sink)?)?;
    let parts =
        (0..parts.members().n_parts()).map(|part| parts.balance(part, &support_forces, &applied, model.analysis));
    let mut solution = Solution {
        step: Step::default(),
        applied: loads.total,
        reaction_sum,
        nodal_forces: balance.magnitudes(),
        equilibrium_error: balance.error(),
        load_error,
        part_balance: parts.collect(),
        outcome,
        used,
        timings,
    };
    solution.timings.stress = phase.next("write");
    Ok(solution)
}
