//! The whole way from a model to its stresses: the one place that sees every stage.

mod build;
mod femses;
mod groups;
mod motion;
mod system;

pub use system::{Loaded, System};

use crate::assembly::Numbering;
use crate::device::DeviceName;
use crate::linalg::Space;
use crate::model::{Model, Physics, SolverOptions};
use crate::plan::{self, DeviceFacts};
use crate::precond::Hierarchy;
use crate::result::choices::{Method, Precision};
use crate::result::{Ending, Outcome, Plan, Result};
use crate::solve::iteration::{self, Builder};
use crate::solve::{CgOptions, Monitor, direct};
use crate::stress::{self, AtNodes, Balance, Stresses};
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
    /// Displacements, `[n_nodes]`; none if the unknown is a potential.
    pub displacement: Vec<[f64; 3]>,
    /// The potential and its gradient, if that is the unknown.
    pub potential: Option<Potential>,
    /// Forces of the supports on the body; 0 in free components, `[n_nodes]`. Of a potential what flows in there, then
    /// zeros.
    pub reaction_force: Vec<[f64; 3]>,
    /// Stresses and strain energy; empty if the unknown is a potential.
    pub stresses: Stresses,
    /// Stresses at the nodes; empty if the unknown is a potential.
    pub nodal: AtNodes<6>,
    /// Yield strength over von Mises stress at the nodes; empty if no material has a yield strength.
    pub safety_factor: Vec<f64>,
    /// For each of the model's supports: the sum of `K u - f` over its nodes in the components it prescribes; of a
    /// potential the flow into the body, then zeros.
    pub reactions: Vec<[f64; 3]>,
    /// The sum of all loads; of a potential what fluxes and sources bring in, then zeros.
    pub applied: [f64; 3],
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

/// A potential, in the mesh's numbering.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Potential {
    /// Its values, `[n_nodes]`.
    pub values: Vec<f64>,
    /// Its gradient at the centroid of each cell, by position in `mesh.cells` (empty for cells that are not solved on).
    pub gradient: Vec<Vec<[f64; 3]>>,
    /// The gradient's magnitude, likewise.
    pub steepness: Vec<Vec<f64>>,
    /// The gradient at the nodes.
    pub nodal: AtNodes<3>,
}

impl Potential {
    fn new(values: Vec<f64>, gradient: Vec<Vec<[f64; 3]>>, nodal: AtNodes<3>) -> Self {
        let steepness = gradient.iter().map(|block| block.iter().map(|g| stress::norm(g)).collect()).collect();
        Potential { values, gradient, steepness, nodal }
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

/// As [`solve`], on a device that is open.
///
/// # Errors
///
/// Choices that do not go together, too little memory, a device that fails, a model that is too large.
pub fn solve_on(space: &Space, model: &Model, monitor: &dyn Monitor) -> Result<Solution> {
    let plan = plan::resolve(model, &DeviceFacts::of(space))?;
    let (method, precision) = (plan.method, plan.precision);
    let used = Used { device: space.name(), plan, factor_nonzeros: None, hierarchy: None };
    let single = |used, way| solve_with::<f32>(space, model, monitor, used, way);
    let double = |used, way| solve_with::<f64>(space, model, monitor, used, way);
    match (method, precision) {
        (Method::Femses, _) => {
            let (mut timings, mut phase) = (Timings::default(), Phase::begin(monitor, "setup"));
            let found = match precision {
                Precision::Single => femses::find::<f32>(space, model, &used.plan, monitor, &mut phase, &mut timings),
                _ => femses::find::<f64>(space, model, &used.plan, monitor, &mut phase, &mut timings),
            };
            results(space, model, used, found?, phase, timings)
        }
        (Method::Direct, Precision::Single) => single(used, SolverBuilder::Direct(direct::build::<f32, f32>, None)),
        (Method::Direct, Precision::Mixed) => double(used, SolverBuilder::Direct(direct::build::<f64, f32>, None)),
        (Method::Direct, _) => {
            let instead = model.solver.method.is_none().then_some(iteration::plain as Builder<f64>);
            double(used, SolverBuilder::Direct(direct::build::<f64, f64>, instead))
        }
        (Method::Cg, Precision::Double) => double(used, SolverBuilder::Iteration(iteration::plain)),
        (Method::Cg, Precision::Mixed) => double(used, SolverBuilder::Iteration(iteration::mixed)),
        (Method::Cg, Precision::MixedHalf) => double(used, SolverBuilder::Iteration(iteration::mixed_half)),
        (Method::Cg, Precision::Single) => single(used, SolverBuilder::Iteration(iteration::plain)),
    }
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

fn solve_with<T: Real>(
    space: &Space,
    model: &Model,
    monitor: &dyn Monitor,
    mut used: Used,
    way: SolverBuilder<T>,
) -> Result<Solution> {
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
    results(space, model, used, found, phase, timings)
}

/// What follows from what was found.
fn results(
    space: &Space,
    model: &Model,
    used: Used,
    found: Solved,
    mut phase: Phase,
    mut timings: Timings,
) -> Result<Solution> {
    let Solved { body, v, mut outcome, epsilon } = found;
    let Loaded { numbering, mesh, supports, applied, norm_f, parts, .. } = body;
    let u: Vec<f64> = v.par_iter().zip(&supports.prescribed).map(|(v, prescribed)| v + prescribed).collect();
    timings.solve = phase.next("stress");
    let device_u = space.upload(&u)?;
    let (dim, n_blocks) = (supports.components, model.mesh.cells.len());
    let (mut stresses, mut nodal, mut safety_factor, mut potential) = Default::default();
    if model.analysis.physics() == Physics::Conduction {
        let gradient = stress::gradients(space, &mesh, &device_u, n_blocks)?;
        let at_nodes = stress::nodal_gradient(space, model, &numbering, &mesh, &device_u)?;
        let values = numbering.to_mesh_order(&supports.with_motion(&u));
        potential = Some(Potential::new(values, gradient, at_nodes));
    } else {
        stresses = stress::recover(space, &mesh, &device_u, n_blocks)?;
        (nodal, safety_factor) = stress::nodal_stress(space, model, &numbering, &mesh, &device_u)?;
    }
    // A rounded matrix cannot judge itself; else it is the reactions alone that these are for.
    let is_rounded = epsilon > f64::EPSILON && norm_f > 0.0;
    let asked = (!is_rounded).then(|| supports.nodes());
    let internal = space.take(mesh.internal_force(space, &device_u, asked.as_deref())?)?;
    if is_rounded {
        outcome.relative_residual = stress::free_residual(&supports, &internal, &applied) / norm_f;
        if let Some(tolerance) = model.solver.residual_tolerance {
            outcome.converged = outcome.relative_residual <= tolerance;
            outcome.ending = match outcome.ending {
                _ if outcome.converged => Ending::Converged,
                Ending::Converged => Ending::Stagnated,
                ending => ending,
            };
        }
    }
    let support_forces = stress::support_forces(&supports, &internal, &applied);
    let reaction_force = numbering.scatter(&support_forces, dim);
    let reactions = reactions(model, &reaction_force);
    let balance = Balance::new(&support_forces, &applied, dim, model.analysis.balanced());
    let load_error = if potential.is_some() { 0.0 } else { balance.load_error(&reactions) };
    outcome.judge_by_loads(load_error);
    let displacement = if potential.is_some() { Vec::new() } else { numbering.scatter(&supports.with_motion(&u), dim) };
    let mut solution = Solution {
        displacement,
        potential,
        reactions,
        reaction_force,
        stresses,
        nodal,
        safety_factor,
        applied: stress::resultant(&applied, dim),
        equilibrium_error: balance.error(),
        load_error,
        part_balance: (0..parts.members().n_parts())
            .map(|part| parts.balance(part, &support_forces, &applied, model.analysis))
            .collect(),
        outcome,
        used,
        timings,
    };
    solution.timings.stress = phase.next("write");
    Ok(solution)
}

/// All loads as nodal forces in the solver's numbering, `[n_nodes][components]` flat.
fn loads(model: &Model, numbering: &Numbering) -> Vec<f64> {
    let components = model.analysis.components();
    let mut f = numbering.gather_components(&model.nodal_forces, components);
    if let Some(more) = model.volume_forces() {
        let more = numbering.gather_components(&more, components);
        f.iter_mut().zip(more).for_each(|(f, more)| *f += more);
    }
    f
}

/// Per support, the sum of its nodes' forces in the components it prescribes.
fn reactions(model: &Model, forces: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let sum = |support: &crate::model::Support| {
        core::array::from_fn(|i| match support.displacement[i] {
            Some(_) => support.nodes.iter().map(|node| forces[*node as usize][i]).sum(),
            None => 0.0,
        })
    };
    model.supports.iter().map(sum).collect()
}
