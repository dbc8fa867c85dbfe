//! The whole way from a model to its stresses: the one place that sees every stage.

mod buckling;
mod build;
mod each;
mod femses;
mod groups;
mod history;
mod linear;
mod loaded;
mod loads;
mod modal;
mod modes;
mod motion;
mod operator;
mod phase;
pub mod ranks;
mod response;
mod solution;
mod start;
mod strains;
mod system;
mod transient;
mod unsupported;

pub use linear::{BlockMatrix, LinearSystem};
pub use loaded::{Loaded, Loading};
pub use operator::Operator;
pub use phase::Phase;
pub use solution::{ModeCount, RankSize, Solution, Timings, Used};
pub use system::System;

use crate::device::{DeviceName, check_memory};
use crate::linalg::Space;
use crate::model::{Model, Physics, SolverOptions, Study};
use crate::parallel;
use crate::plan::{self, DeviceFacts};
pub use crate::precond::Hierarchy;
use crate::result::choices::{Method, Precision};
use crate::result::{Change, Ending, Error, ForceBalance, Outcome, Result, Sink, Step, Steps};
use crate::solve::{CgOptions, Iteration, Monitor, direct};
use crate::sparse::CoupledRows;
use crate::stress::{self, Balance, Context};
use build::Iterations;
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use ranks::{GATHERED, Ranks};
use start::Earlier;
use std::borrow::Cow;
use std::mem::{replace, take};

/// Solves a model on a device, of several load cases or modes the first. A solution that ends short of the tolerance is no error:
/// its [`Outcome`] says so.
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
    // There is a first case in any model.
    Ok(solve_kept(space, model, 1, more, monitor)?.swap_remove(0))
}

/// As [`solve_on`], all load cases or modes; the results of all are kept.
///
/// # Errors
///
/// Those of [`solve_into`].
pub fn solve_cases(space: &Space, model: &Model, monitor: &dyn Monitor) -> Result<Vec<Solution>> {
    solve_kept(space, model, model.n_steps(), &[], monitor)
}

fn solve_kept(
    space: &Space,
    model: &Model,
    n_cases: usize,
    more: &[&str],
    monitor: &dyn Monitor,
) -> Result<Vec<Solution>> {
    let mut kept = Steps { fields: asked_fields(model, more), ..Steps::default() };
    let mut solutions = run(space, model, (n_cases, GATHERED), &mut kept, monitor)?;
    solutions.iter_mut().zip(kept.steps).for_each(|(solution, step)| solution.step = step);
    Ok(solutions)
}

/// The names of the usual fields, of those of the case, and of more, as far as the study has them.
pub fn asked_fields(model: &Model, more: &[&str]) -> Vec<String> {
    let usual = model.analysis.physics().usual_fields().map(String::from);
    let asked = more.iter().map(|name| String::from(*name)).chain(model.fields.iter().cloned());
    usual.chain(asked).filter(|name| model.study.has(name)).collect()
}

/// Solves all load cases of a model, one after the other, or for its modes, and sends the results of each to a sink, which has
/// them instead of the [`Solution`]s. A case that is cancelled is the last.
///
/// # Errors
///
/// Choices that do not go together, too little memory, a device that fails, a model that is too large, those of the
/// sink.
pub fn solve_into(space: &Space, model: &Model, sink: &mut dyn Sink, monitor: &dyn Monitor) -> Result<Vec<Solution>> {
    ranks::solve_into(space, model, GATHERED, sink, monitor)
}

/// The first cases of a model, and of those of later load cases, each from the beginning; on ranks that have levels of up to
/// `gathered` unknowns whole.
fn run(
    space: &Space,
    model: &Model,
    (n_cases, gathered): (usize, usize),
    sink: &mut dyn Sink,
    monitor: &dyn Monitor,
) -> Result<Vec<Solution>> {
    ranks::with_others(space, model, gathered, |ranks| run_all(space, model, n_cases, (sink, monitor), ranks))
}

/// The same by the first of some ranks, if there are several.
fn run_all(
    space: &Space,
    model: &Model,
    n_cases: usize,
    (sink, monitor): (&mut dyn Sink, &dyn Monitor),
    ranks: Option<&Ranks>,
) -> Result<Vec<Solution>> {
    let (mut solutions, mut before): (Vec<Solution>, _) = (Vec::new(), None);
    for model in model.all() {
        let n = model.own_steps().min(n_cases - solutions.len());
        let timings = solutions.last().map_or(Timings::default(), |last| last.timings);
        let cases = Cases { before: solutions.len(), own: n, in_all: n_cases };
        let found = match n {
            0 => Vec::new(),
            _ => run_one(space, model, (cases, timings), &mut before, (sink, monitor), ranks)?,
        };
        let is_end = found.len() < n || found.iter().any(|of| of.outcome.ending == Ending::Cancelled);
        solutions.extend(found);
        if is_end {
            break;
        }
    }
    Ok(solutions)
}

/// The load cases of a model among those that are solved.
#[derive(Clone, Copy)]
struct Cases {
    /// How many of other models come before.
    before: usize,
    /// How many of the model are solved, from the first.
    own: usize,
    /// How many there are of all models.
    in_all: usize,
}

/// The cases of one model; `timings` are those of the models before, and `before` what these ended with, if it is temperatures.
fn run_one(
    space: &Space,
    model: &Model,
    (cases, timings): (Cases, Timings),
    before: &mut Option<Vec<f64>>,
    (sink, monitor): (&mut dyn Sink, &dyn Monitor),
    ranks: Option<&Ranks>,
) -> Result<Vec<Solution>> {
    let temperature = model.temperature.as_ref().filter(|_| model.bears_loads());
    if let Some((temperature, heat)) = temperature.and_then(|of| Some((of, of.unsolved()?))) {
        let unknown = heat.analysis.physics().words().unknown;
        let mut kept = Steps { fields: vec![unknown.into()], ..Steps::default() };
        let solutions = run_all(space, heat, heat.n_steps(), (&mut kept, monitor), None)?;
        let is_wrong = |of: &Solution| !of.outcome.converged && of.outcome.ending != Ending::Cancelled;
        if solutions.iter().any(is_wrong) {
            return Err(Error::Heat(heat.name.clone()));
        }
        if solutions.len() < heat.n_steps() {
            return Ok(vec![]);
        }
        temperature.take(&model.mesh, heat, kept.steps.iter().map(|step| step.nodes(unknown).to_vec()).collect());
    }
    let shared = ranks.and_then(|ranks| Some((ranks, ranks.of(model)?)));
    let plan = match shared {
        Some((_, (_, plan))) => plan.clone(),
        None => plan::resolve(model, &DeviceFacts::of(space))?,
    };
    let (device, ranks) = (space.name(), vec![]);
    let used = Used { device, plan, factor_nonzeros: None, hierarchy: None, count: None, ranks };
    let phase = Phase::begin(monitor, "setup");
    let (changes, solutions) = (vec![], vec![]);
    // The whole body is on none of several devices.
    let host = shared.map(|_| Space::cpu());
    let by = host.as_ref().unwrap_or(space);
    let mut run = Run { space: by, model, cases, before, sink, monitor, phase, timings, used, changes, solutions };
    match model.study {
        Study::Static => match shared {
            Some((ranks, (number, _))) => ranks::solve(space, &mut run, (ranks, number))?,
            None => statics(&mut run)?,
        },
        Study::Modal => modal::solve(&mut run)?,
        Study::Buckling => buckling::solve(&mut run)?,
        Study::Transient => transient::solve(&mut run)?,
    }
    Ok(run.solutions)
}

/// Solves for displacements or a potential, by the method and in the precision of the plan.
fn statics(run: &mut Run) -> Result<()> {
    match (run.used.plan.method, run.used.plan.precision) {
        (Method::Femses, Precision::Single) => femses::solve::<f32>(run)?,
        (Method::Femses, _) => femses::solve::<f64>(run)?,
        (Method::Direct, Precision::Single) => {
            run.solve::<f32>(SolverBuilder::Direct(direct::build::<f32, f32>, None))?;
        }
        (Method::Cg, Precision::Single) => run.solve::<f32>(SolverBuilder::Iteration(Iterations::PLAIN))?,
        _ => run.solve::<f64>(in_double(run))?,
    }
    Ok(())
}

/// How a plan has equations solved whose solution is in double.
fn in_double(run: &Run) -> SolverBuilder<f64> {
    match (run.used.plan.method, run.used.plan.precision) {
        (Method::Direct, Precision::Mixed) => SolverBuilder::Direct(direct::build::<f64, f32>, None),
        (Method::Direct, _) => {
            let instead = run.model.solver.method.is_none().then_some(Iterations::PLAIN);
            SolverBuilder::Direct(direct::build::<f64, f64>, instead)
        }
        (_, Precision::Mixed) => SolverBuilder::Iteration(Iterations::MIXED),
        (_, Precision::MixedHalf) => SolverBuilder::Iteration(Iterations::MIXED_HALF),
        _ => SolverBuilder::Iteration(Iterations::PLAIN),
    }
}

/// How the system is solved: by an iteration made of a preconditioner, or by factors, or by what takes their place
/// where they cannot be made.
#[derive(Clone, Copy)]
enum SolverBuilder<T: Real> {
    Iteration(Iterations<T>),
    Direct(direct::Builder<T>, Option<Iterations<T>>),
}

/// What an iteration found.
struct Found {
    /// The unknown less what is prescribed, in the solver's numbering.
    v: Vec<f64>,
    outcome: Outcome,
    /// Of the precision.
    epsilon: f64,
}

/// A model that is being solved, case by case.
struct Run<'a> {
    space: &'a Space,
    model: &'a Model,
    cases: Cases,
    /// The temperatures that the model before ended with, then those of this one, `[n_nodes]`.
    before: &'a mut Option<Vec<f64>>,
    sink: &'a mut dyn Sink,
    monitor: &'a dyn Monitor,
    phase: Phase<'a>,
    timings: Timings,
    used: Used,
    changes: Vec<Change>,
    solutions: Vec<Solution>,
}

/// When to stop, as a model's options say.
fn stopping(solver: &SolverOptions) -> CgOptions {
    match solver.residual_tolerance {
        Some(tolerance) => CgOptions::new(tolerance, solver.max_iterations),
        None => CgOptions::of_energy(solver.tolerance, solver.max_iterations),
    }
}

impl Run<'_> {
    /// Assembles, makes what solves the system, and solves the cases. What is not needed for the results of the last is
    /// dropped before these.
    fn solve<T: Real>(&mut self, way: SolverBuilder<T>) -> Result<()> {
        if self.model.stiffness_changes() {
            return self.solve_each(way);
        }
        let (space, model) = (self.space, self.model);
        let mut system = System::<T>::assemble(space, model, &self.used.plan, &mut self.phase, &mut self.timings)?;
        let iteration = self.solver(&system, way)?;
        if self.is_together(&*iteration, system.f.len()) {
            return self.solve_together(system, iteration);
        }
        let mut earlier = Earlier::default();
        for case in 0..self.cases.own {
            self.begin(case);
            if case > 0 {
                system.set_loads(space, model, case)?;
                self.timings.boundary += self.phase.next("solve");
            }
            self.monitor.phase("solve");
            let found = self.iterate(&system, &*iteration, &mut earlier)?;
            if case + 1 == self.cases.own {
                let System { body, operator, f, .. } = system;
                drop((operator, iteration, f));
                return self.take(&body, found).map(drop);
            }
            if self.take(&system.body, found)? {
                break;
            }
        }
        Ok(())
    }

    /// Makes what solves a system.
    fn solver<T: Real>(&mut self, system: &System<T>, way: SolverBuilder<T>) -> Result<Box<dyn Iteration<T>>> {
        let (space, model, plan) = (self.space, self.model, &mut self.used.plan);
        let mut maker = build::Maker { space, model, system, plan, changes: Vec::new() };
        let iteration = match way {
            SolverBuilder::Iteration(build) => maker.iteration(build)?,
            SolverBuilder::Direct(build, instead) => {
                self.monitor.phase("factorisation");
                maker.direct(build, instead)?
            }
        };
        self.changes.extend(maker.changes);
        self.used.factor_nonzeros = iteration.factor_nonzeros();
        self.used.hierarchy = iteration.hierarchy().cloned();
        Ok(iteration)
    }

    /// Solves the cases some at a time.
    fn solve_together<T: Real>(&mut self, mut system: System<T>, iteration: Box<dyn Iteration<T>>) -> Result<()> {
        let (space, model, n) = (self.space, self.model, self.cases.own);
        self.timings.solve += self.phase.next("boundary");
        let mut first = Some((take(&mut system.body.loading), replace(&mut system.f, space.zeros(0)?)));
        let mut start = 0;
        loop {
            self.begin(start);
            let end = n.min(start + WIDTH);
            let of_case = |case| first.take().map_or_else(|| system.case(space, model, case), Ok);
            let cases = (start..end).map(of_case).collect::<Result<Vec<_>>>()?;
            self.timings.boundary += self.phase.next("solve");
            let found = system.iterate_together(space, &*iteration, &cases, stopping(&model.solver), self.monitor)?;
            let found = found.into_iter().map(|(v, outcome)| Found { v, outcome, epsilon: T::EPSILON.to_f64() });
            let found = cases.into_iter().map(|(loading, _)| loading).zip(found);
            if end == n {
                let System { mut body, operator, .. } = system;
                drop((operator, iteration));
                return self.take_together(&mut body, found).map(drop);
            }
            if self.take_together(&mut system.body, found)? {
                return Ok(());
            }
            start = end;
        }
    }

    /// [`Run::take`] of several cases.
    fn take_together(&mut self, body: &mut Loaded, cases: impl Iterator<Item = (Loading, Found)>) -> Result<bool> {
        let mut is_end = false;
        for (k, (loading, found)) in cases.enumerate() {
            if k > 0 {
                self.phase = Phase::begin(self.monitor, "stress");
            }
            body.loading = loading;
            is_end |= self.take(body, found)?;
        }
        Ok(is_end)
    }

    /// Whether there are several cases, of which some are solved sooner together, and room for them.
    fn is_together<T: Real>(&self, iteration: &dyn Iteration<T>, unknowns: usize) -> bool {
        /// Vectors of a case, with those that products and multigrid keep.
        const VECTORS: usize = 14;
        let bytes = VECTORS * self.cases.own.min(WIDTH) * size_of::<T>() * unknowns;
        // Thermal strains of one step at a time are in the mesh.
        self.cases.own > 1
            && self.model.temperature.as_ref().is_none_or(|of| of.n_steps() == 1)
            && iteration.is_for_several(self.space, stopping(&self.model.solver))
            && check_memory(self.space, bytes as u64, "").is_ok()
    }

    /// Solves the system for the loads that it has, from the best that earlier solutions make. A factor needs no start.
    fn iterate<T: Real>(
        &self,
        system: &System<T>,
        iteration: &dyn Iteration<T>,
        earlier: &mut Earlier,
    ) -> Result<Found> {
        let options = CgOptions { theta: earlier.theta, ..stopping(&self.model.solver) };
        let is_iterated = self.cases.own > 1 && iteration.factor_nonzeros().is_none();
        let f: Vec<f64> = match is_iterated {
            true => self.space.download(&system.f)?.into_iter().map(T::to_f64).collect(),
            false => Vec::new(),
        };
        let (parts, size) = (system.body.parts.members(), system.body.supports.components);
        let start = if is_iterated { earlier.start(parts, size, &f) } else { None };
        let (v, outcome) = match start {
            Some(start) => system.iterate_from(self.space, iteration, &start, options, self.monitor)?,
            None => system.iterate(self.space, iteration, options, self.monitor)?,
        };
        if is_iterated && outcome.converged {
            earlier.push(parts, size, (v.clone(), &f), outcome.theta);
        }
        Ok(Found { v, outcome, epsilon: T::EPSILON.to_f64() })
    }

    /// Begins with a case.
    fn begin(&mut self, case: usize) {
        let Cases { before, in_all, .. } = self.cases;
        if in_all > 1 {
            self.monitor.case(before + case + 1, in_all);
        }
        if case > 0 {
            self.phase = Phase::begin(self.monitor, "boundary");
        }
    }

    /// Sends what follows from what was found to the sink, and keeps the rest; says whether it is the end.
    fn take(&mut self, body: &Loaded, Found { v, mut outcome, epsilon }: Found) -> Result<bool> {
        let (space, model) = (self.space, self.model);
        let Loaded { numbering, mesh, supports, loading, parts, couplings, coords, .. } = body;
        let Loading { loads, norm_f, .. } = loading;
        let (applied, mut supports) = (&loads.all, Cow::Borrowed(supports));
        outcome.changes = self.changes.clone();
        let u: Vec<f64> = parallel::map_indices(v.len(), &|i| v[i] + supports.prescribed[i]);
        if let Some(relief) = &loads.relief {
            supports.to_mut().motion = relief.drift(coords, &u, supports.components);
        }
        if model.analysis.physics() == Physics::Heat {
            *self.before = Some(numbering.to_mesh_order(&u));
        }
        self.timings.solve += self.phase.next("stress");
        let device_u = space.upload(&u)?;
        let dim = supports.components;
        let rows = couplings.as_ref().map(|couplings| &couplings.rows);
        // A rounded matrix cannot judge itself; else it is the reactions alone that these are for.
        let is_rounded = epsilon > f64::EPSILON && *norm_f > 0.0;
        let asked = (!is_rounded && rows.is_none()).then(|| supports.nodes());
        let internal = space.take(mesh.internal_force(space, &device_u, asked.as_deref())?)?;
        if is_rounded {
            outcome.relative_residual = stress::free_residual(&supports, rows, &internal, applied) / norm_f;
            if let Some(tolerance) = model.solver.residual_tolerance {
                outcome.converged = outcome.relative_residual <= tolerance;
                outcome.ending = match outcome.ending {
                    _ if outcome.converged => Ending::Converged,
                    Ending::Converged => Ending::Stagnated,
                    ending => ending,
                };
            }
        }
        let coupled = rows.map(CoupledRows::is_coupled);
        let mut support_forces = stress::support_forces(&supports, coupled.as_deref(), &internal, applied);
        drop(internal);
        let mut forces = numbering.scatter(&support_forces, dim);
        let multipliers = model.constraints.take_forces(&mut forces);
        if coupled.is_some() {
            let rows = numbering.to_mesh.iter().enumerate();
            let all = rows.flat_map(|(row, node)| (0..dim).map(move |i| (row, *node as usize, i)));
            let free = all.filter(|(row, _, i)| !supports.is_slanted(*row) && !supports.is_fixed(*row, *i));
            free.for_each(|(_, node, i)| forces[node][i] = 0.0);
            for (node, force) in model.constraints.support_forces(&multipliers) {
                forces[node as usize].iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
            }
        }
        let mut reaction_sum = [0, 1, 2].map(|i| forces.iter().map(|force| force[i]).sum::<f64>());
        let time = model.time_of(self.solutions.len());
        let of_spring =
            |(number, spring)| stress::spring_forces(spring, numbering, &u, dim, model.spring_factor(number, time));
        for (node, force) in model.springs.iter().enumerate().flat_map(of_spring) {
            numbering.add_forces(&mut support_forces, dim, [(node, force)]);
            reaction_sum.iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
        }
        for (_, force) in model.constraints.outer_forces(&multipliers) {
            reaction_sum.iter_mut().zip(force).for_each(|(sum, force)| *sum += force);
        }
        let unknown = (&u[..], &device_u);
        let mut context = Context::new(space, model, (numbering, mesh), unknown, (&supports, forces), multipliers);
        context.case = self.solutions.len();
        context.stored = loads.stored;
        context.acceleration = loads.relief.as_ref().map(|relief| relief.acceleration);
        // Driven springs are among the support forces.
        let mut outer = Cow::Borrowed(&applied[..]);
        for (node, force) in model.driven_forces(time) {
            numbering.add_forces(outer.to_mut(), dim, [(node, force.map(|f| -f))]);
        }
        let balance = Balance::new(&support_forces, &outer, dim, model.analysis.balanced());
        let load_error = context.table("reactions")?.map_or(0.0, |reactions| balance.load_error(reactions));
        outcome.judge_by_loads(load_error);
        let step = context.into_step(self.sink)?;
        let of_part = |part| parts.balance(part, &support_forces, &outer, model.analysis);
        let balance = ForceBalance {
            applied: loads.total,
            reaction_sum,
            nodal_forces: balance.magnitudes(),
            equilibrium_error: balance.error(),
            load_error,
            parts: (0..parts.members().n_parts()).map(of_part).collect(),
        };
        let is_end = outcome.ending == Ending::Cancelled;
        let (case, is_case) = (self.solutions.len(), !model.load_cases.is_empty());
        let label = model.step_name(case).into_owned();
        let number = if is_case { (self.cases.before + case + 1) as f64 } else { 0.0 };
        let value = model.step_time(case).unwrap_or(number);
        let step = Step { label, value, balance, outcome: Some(outcome), ..step };
        self.timings.stress += self.phase.next("write");
        self.solutions.extend(Solution::of(step.without_results(), self.used.clone(), self.timings));
        self.sink.take(step)?;
        Ok(is_end)
    }
}
