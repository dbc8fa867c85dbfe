//! The whole way from a model to its stresses: the one place that sees every stage.

mod build;
mod femses;
mod groups;
mod motion;
mod system;

use crate::assembly::{DeviceMesh, Numbering, Ordering, Strategy};
use crate::backend::device::with_backend;
use crate::backend::{Backend, CpuBackend, Device, GpuBackend};
use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::model::options::{METHODS, PRECISIONS};
use crate::model::{Analysis, Material, Model, SolverOptions};
use crate::plan::{self, Decision, DeviceFacts, Method};
use crate::precond::{self, Hierarchy};
use crate::solve::direct::Fill;
use crate::solve::iteration::{self, Builder};
use crate::solve::{CgOptions, CgOutcome, Ending, Monitor, direct};
use crate::sparse;
use crate::stress::{self, AtNodes, Balance, Stresses};
use kernels_rs::real::Real;
use rayon::prelude::*;
use std::time::Instant;

/// Seconds each phase took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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

/// What was used, with every `auto` decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choices {
    /// Device name.
    pub device: String,
    /// Method.
    pub method: Method,
    /// Why this method and this preconditioner, see [`Decision::reason`].
    pub reason: String,
    /// The size of a factor, if it was counted beforehand.
    pub fill: Option<Fill>,
    /// Storage format.
    pub format: String,
    /// Order of the nodes.
    pub ordering: String,
    /// Preconditioner.
    pub preconditioner: String,
    /// Its order, if it is a polynomial.
    pub order: Option<usize>,
    /// Precision.
    pub precision: String,
    /// Assembly strategy.
    pub assembly: String,
    /// Values that the factors of a direct solver store.
    pub factor_nonzeros: Option<u64>,
    /// The levels of a multigrid preconditioner.
    pub hierarchy: Option<Hierarchy>,
    /// Why a direct solution, or multigrid, gave way to something else, if it did.
    pub fallback: Option<String>,
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
    pub outcome: CgOutcome,
    /// What was used.
    pub choices: Choices,
    /// Where the time went.
    pub timings: Timings,
}

/// A potential, in the mesh's numbering.
#[derive(Debug, Clone, PartialEq)]
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

/// Solves a model on a device. An iteration that ends short of the tolerance is [`Error::NotConverged`], which carries
/// what there is.
pub fn solve(model: &Model, device: Device, monitor: &dyn Monitor) -> Result<Solution> {
    let solution = with_backend!(device, backend => solve_on(backend, model, monitor))?;
    if solution.outcome.converged { Ok(solution) } else { Err(Error::NotConverged(Box::new(solution))) }
}

/// What a device would be asked to do for a model, without opening it: every `auto` decided.
///
/// # Errors
///
/// [`Error::NotAvailable`] for names that do not exist or do not go together.
pub fn choices(model: &Model, device: Device) -> Result<Choices> {
    match device.resolve() {
        Device::Cpu => choose::<CpuBackend>(model, "cpu".into(), &DeviceFacts::guess(device)),
        _ => choose::<GpuBackend>(model, "gpu".into(), &DeviceFacts::guess(device)),
    }
}

/// What `auto` stands for, and whether the names exist; the case file's names have been checked before.
fn choose<B: Backend>(model: &Model, device: String, facts: &DeviceFacts) -> Result<Choices> {
    let solver = &model.solver;
    check_name("method", &solver.method, METHODS)?;
    check_name("precision", &solver.precision, PRECISIONS)?;
    if solver.method == femses::METHOD {
        return femses::choose(model, device);
    }
    if solver.acceleration != "none" {
        let (what, name) = ("acceleration without method `femses`", solver.acceleration.clone());
        return Err(Error::NotAvailable { what, name, available: vec!["none"] });
    }
    let or = |name: &str, auto: &str| if name == "auto" { auto } else { name }.to_owned();
    let Decision { method, preconditioner, precision, reason, fill } = plan::decide(model, facts);
    if method == Method::Direct && solver.precision == "mixed_half" {
        let (what, name) = ("precision with method `direct`", solver.precision.clone());
        return Err(Error::NotAvailable { what, name, available: vec!["double", "single", "mixed"] });
    }
    if method == Method::Direct {
        direct::check_built::<B>(model.mesh.coords.len() * model.analysis.components())?;
    }
    if solver.precision == "mixed_half" && !precond::reads_matrix(&preconditioner) {
        let what = "preconditioner with precision `mixed_half`";
        return Err(Error::NotAvailable { what, name: preconditioner, available: precond::reading_matrix() });
    }
    Ok(Choices {
        device,
        method,
        reason,
        fill,
        format: or(&solver.format, sparse::AUTO),
        ordering: ordering(model)?.name().to_owned(),
        order: precond::has_order(&preconditioner).then_some(solver.order),
        preconditioner,
        precision,
        assembly: strategy::<B>(model)?.name().to_owned(),
        factor_nonzeros: None,
        hierarchy: None,
        fallback: None,
    })
}

/// Whether a choice of this name exists.
fn check_name(what: &'static str, name: &str, available: &[&'static str]) -> Result<()> {
    match available.contains(&name) {
        true => Ok(()),
        false => Err(Error::NotAvailable { what, name: name.into(), available: available.to_vec() }),
    }
}

/// The assembly strategy that the model asks for; `auto` is [`Strategy::auto`].
fn strategy<B: Backend>(model: &Model) -> Result<Strategy> {
    match model.solver.assembly.as_str() {
        "auto" => Ok(Strategy::auto::<B>(model.analysis, model.mesh.solids().map(|(_, cells)| cells.kind))),
        name => Strategy::from_name(name),
    }
}

/// The order of nodes that the model asks for; `auto` is [`natural_order`].
pub fn ordering(model: &Model) -> Result<Ordering> {
    let name = &model.solver.ordering;
    if name == "auto" {
        return Ok(natural_order(&model.mesh));
    }
    Ordering::from_name(name).ok_or_else(|| {
        let available = Ordering::names();
        Error::NotAvailable { what: "ordering", name: name.clone(), available }
    })
}

/// The order of nodes before the sort by degree: as they come where they come in an order with close neighbours, as
/// those of generated boxes do, and along a Hilbert curve otherwise.
pub fn natural_order(mesh: &Mesh) -> Ordering {
    let mut distance = 0.0;
    let mut pairs = 0.0;
    for (_, cells) in mesh.solids() {
        let n = cells.kind.info().n_nodes;
        for cell in cells.nodes.chunks_exact(n).step_by(1 + cells.len() / 10_000) {
            let (low, high) = cell.iter().fold((u32::MAX, 0), |(low, high), node| (low.min(*node), high.max(*node)));
            distance += f64::from(high - low);
            pairs += 1.0;
        }
    }
    // Lexicographic numbering of a cube of n nodes has a bandwidth of n^(2/3), of a square n^(1/2).
    let layer = if mesh.dim() == 2 { 1.0 / 2.0 } else { 2.0 / 3.0 };
    let lexicographic = 4.0 * (mesh.coords.len() as f64).powf(layer);
    if distance <= pairs * lexicographic { Ordering::Mesh } else { Ordering::Hilbert }
}

/// As [`solve`], on a device that is open; what ends short of the tolerance is no error.
///
/// # Errors
///
/// [`Error::NotAvailable`], [`Error::OutOfMemory`], [`Error::Device`], [`Error::TooLarge`]
pub fn solve_on<B: Backend>(backend: &B, model: &Model, monitor: &dyn Monitor) -> Result<Solution> {
    let choices = choose::<B>(model, backend.name(), &DeviceFacts::of(backend))?;
    if choices.method == Method::Femses {
        let (mut timings, mut phase) = (Timings::default(), Phase::begin(monitor, "setup"));
        let found = match choices.precision.as_str() {
            "single" => femses::find::<B, f32>(backend, model, monitor, &mut phase, &mut timings),
            _ => femses::find::<B, f64>(backend, model, monitor, &mut phase, &mut timings),
        };
        return results(backend, model, choices, found?, phase, timings);
    }
    if choices.method == Method::Direct {
        let instead = (model.solver.method == "auto").then_some(iteration::plain as Builder<B, f64>);
        return match choices.precision.as_str() {
            "single" => {
                solve_with::<B, f32>(backend, model, monitor, choices, Way::Direct(direct::build::<B, f32, f32>, None))
            }
            "mixed" => {
                solve_with::<B, f64>(backend, model, monitor, choices, Way::Direct(direct::build::<B, f64, f32>, None))
            }
            _ => {
                let way = Way::Direct(direct::build::<B, f64, f64>, instead);
                solve_with::<B, f64>(backend, model, monitor, choices, way)
            }
        };
    }
    match choices.precision.as_str() {
        "double" => solve_with::<B, f64>(backend, model, monitor, choices, Way::Iteration(iteration::plain)),
        "mixed" => solve_with::<B, f64>(backend, model, monitor, choices, Way::Iteration(iteration::mixed)),
        "mixed_half" => solve_with::<B, f64>(backend, model, monitor, choices, Way::Iteration(iteration::mixed_half)),
        "single" => solve_with::<B, f32>(backend, model, monitor, choices, Way::Iteration(iteration::plain)),
        _ => Err(Error::NotAvailable { what: "precision", name: choices.precision, available: PRECISIONS.to_vec() }),
    }
}

/// How the system is solved: by an iteration made of a preconditioner's name, or by factors, or by what takes their place
/// where they cannot be made.
enum Way<B: Backend, T: Real> {
    Iteration(Builder<B, T>),
    Direct(direct::Builder<B, T>, Option<Builder<B, T>>),
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

pub use system::{Loaded, System};

/// What an iteration found, and what results are made of.
struct Found<B: Backend> {
    body: Loaded<B>,
    /// The unknown less what is prescribed, in the solver's numbering.
    v: Vec<f64>,
    outcome: CgOutcome,
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

fn solve_with<B: Backend, T: Real>(
    backend: &B,
    model: &Model,
    monitor: &dyn Monitor,
    mut choices: Choices,
    way: Way<B, T>,
) -> Result<Solution> {
    let mut timings = Timings::default();
    let mut phase = Phase::begin(monitor, "setup");
    let system = System::<B, T>::assemble(backend, model, &choices.format, &mut phase, &mut timings)?;
    let options = stopping(&model.solver);
    let iteration = match way {
        Way::Iteration(build) => build::iteration(backend, model, &system, &mut choices, build)?,
        Way::Direct(build, instead) => {
            monitor.phase("factorisation");
            build::direct(backend, model, &system, &mut choices, build, instead)?
        }
    };
    choices.factor_nonzeros = iteration.factor_nonzeros();
    choices.hierarchy = iteration.hierarchy().cloned();
    monitor.phase("solve");
    let (v, outcome) = system.iterate(backend, &*iteration, options, monitor)?;
    let System { body, matrix, f } = system;
    drop((matrix, iteration, f));
    let found = Found { body, v, outcome, epsilon: T::EPSILON.to_f64() };
    results(backend, model, choices, found, phase, timings)
}

/// What follows from what was found.
fn results<B: Backend>(
    backend: &B,
    model: &Model,
    choices: Choices,
    found: Found<B>,
    mut phase: Phase,
    mut timings: Timings,
) -> Result<Solution> {
    let Found { body, v, mut outcome, epsilon } = found;
    let Loaded { numbering, mesh, supports, applied, norm_f, parts, .. } = body;
    let u: Vec<f64> = v.par_iter().zip(&supports.prescribed).map(|(v, prescribed)| v + prescribed).collect();
    timings.solve = phase.next("stress");
    let device_u = backend.upload(&u)?;
    let (dim, n_blocks) = (supports.components, model.mesh.cells.len());
    let (mut stresses, mut nodal, mut safety_factor, mut potential) = Default::default();
    if model.analysis == Analysis::Laplace {
        let gradient = stress::gradients(backend, &mesh, &device_u, n_blocks)?;
        let at_nodes = stress::nodal_gradient(backend, model, &numbering, &mesh, &device_u)?;
        let values = numbering.to_mesh_order(&supports.with_motion(&u));
        potential = Some(Potential::new(values, gradient, at_nodes));
    } else {
        stresses = stress::recover(backend, &mesh, &device_u, n_blocks)?;
        (nodal, safety_factor) = stress::nodal_stress(backend, model, &numbering, &mesh, &device_u)?;
    }
    // A rounded matrix cannot judge itself; else it is the reactions alone that these are for.
    let is_rounded = epsilon > f64::EPSILON && norm_f > 0.0;
    let asked = (!is_rounded).then(|| supports.nodes());
    let internal = backend.take(mesh.internal_force(backend, &device_u, asked.as_deref())?)?;
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
    let balance = Balance::new(&support_forces, &applied, dim);
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
            .map(|part| parts.balance(part, &support_forces, &applied, dim))
            .collect(),
        outcome,
        choices,
        timings,
    };
    solution.timings.stress = phase.next("write");
    Ok(solution)
}

/// All loads as nodal forces in the solver's numbering, `[n_nodes][components]` flat.
fn loads<B: Backend>(backend: &B, model: &Model, numbering: &Numbering, mesh: &DeviceMesh<B>) -> Result<Vec<f64>> {
    let nodal = numbering.gather_components(&model.nodal_forces, model.analysis.components());
    let per_volume = |material: &Material| match (model.gravity, model.source) {
        (Some(gravity), _) => Some(gravity.map(|g| material.density.unwrap_or(0.0) * g)),
        (_, source) => source.map(|source| [source, 0.0, 0.0]),
    };
    let Some(forces) = model.materials.iter().map(per_volume).collect::<Option<Vec<_>>>() else { return Ok(nodal) };
    let mut f = backend.upload(&nodal)?;
    mesh.add_body_force(backend, &forces, &mut f)?;
    backend.take(f)
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
