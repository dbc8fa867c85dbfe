//! Temperatures over time, `C du/dt + K u = f`, by backward differences: with `g = 3/2`, of backward Euler 1,
//!
//! ```text
//! (K + g C / dt) d = f - K b - C (g b + h) / dt,   u = b + d,   h = -2 u_1 + u_2 / 2,   of backward Euler -u_1
//! ```
//!
//! where `u_1`, `u_2` are those of one and two steps before, and b is `u_1` with what supports prescribe now (Hairer, Wanner,
//! "Solving ordinary differential equations II", sec. V.1). The first step is one of backward Euler. One matrix, and what it is
//! preconditioned or factorised by, serve as long as steps have one length.
//!
//! Where steps are chosen, the error of one is told from how far it is off what a polynomial through those before predicts:
//! 2/11 of that, of backward Euler 1/3 (ibid., sec. III.5). A step is doubled or halved, in a grid that hits the times of
//! results; those before are then interpolated.

use super::history::History;
use super::system::System;
use super::{Found, Loading, Run, in_double, stopping};
use crate::assembly::{DeviceSupports, Supports, capacity_matrix};
use crate::device::Buffer;
use crate::linalg::{N_SCALARS, Quotient, Scalar, Space};
use crate::model::time::Steps;
use crate::model::{Model, Transient};
use crate::result::choices::Scheme;
use crate::result::{Curve, Ending, Outcome, Quantity, Result, Series};
use crate::solve::energy::Body;
use crate::solve::{Equations, Iteration};
use crate::sparse::{Coupled, LinOp, Matrix};
use crate::stress;

/// What a curve has at each time.
const COLUMNS: &[(&str, Quantity)] = &[("temperature", Quantity::Unlabelled)];
/// The part of the whole temperatures that errors of a step are relative to where its change is smaller: errors of less are
/// rounding.
const LEAST: f64 = 1e-4;
/// The first of chosen steps is the time to the first results, halved so many times.
const FIRST: u32 = 10;
/// And the shortest that is tried.
const MOST_HALVINGS: u32 = 40;
/// Of a step that is as long as its error allows.
const SAFETY: f64 = 0.9;
/// Where products that are read at once are.
const SUM: Scalar = Scalar::new(N_SCALARS - 4);
const NEXT: Scalar = Scalar::new(N_SCALARS - 3);

/// Goes through the times of a model, and sends each that results are asked at as a step.
pub(super) fn solve(run: &mut Run) -> Result<()> {
    let (space, model) = (run.space, run.model);
    let Some(time) = &model.time else { return Ok(()) };
    let mut system = System::<f64>::assemble(space, model, &run.used.plan, &mut run.phase, &mut run.timings)?;
    system.body.parts.unite_materials();
    system.body.parts.lists.hold_motions();
    let before = run.before.take().filter(|_| time.goes_on);
    let mut march = March::new(space, model, time, before.as_deref().unwrap_or(&time.initial), system)?;
    run.timings.boundary += run.phase.next("solve");
    for (number, &end) in time.times.iter().enumerate().take(run.cases.own) {
        run.begin(number);
        run.monitor.phase("solve");
        let Some(outcome) = march.go_on(run, end)? else { break };
        let v = march.results(space, model)?;
        if run.take(&march.system.body, Found { v, outcome, epsilon: f64::EPSILON })? {
            break;
        }
    }
    let March { curves, at, .. } = march;
    match curves.is_empty() {
        true => Ok(()),
        false => run.sink.take_series(Series {
            name: "history",
            over: ("time", Quantity::Time),
            at,
            columns: COLUMNS,
            curves,
        }),
    }
}

/// A body on its way through time.
struct March<'a> {
    model: &'a Model,
    time: &'a Transient,
    system: System<f64>,
    /// C, before supports.
    capacity: Matrix<f64>,
    /// The sum of all of C.
    content: f64,
    /// So many times C are in the system's matrix, and what that is solved with; none before the first step.
    solver: Option<Box<dyn Iteration<f64>>>,
    rate: f64,
    /// The temperatures of the steps before.
    history: History,
    /// Where it is.
    now: f64,
    /// The last step: how long it was, and `C du`, that times `C du/dt` at its end.
    step: f64,
    stored: Buffer<f64>,
    /// What supports hold, on the device, and zeros.
    held: DeviceSupports,
    zeros: Buffer<f64>,
    /// Loads and what supports prescribe, at the time that they are of.
    outer: Option<(f64, [Buffer<f64>; 2])>,
    /// What the probes have had.
    at: Vec<f64>,
    curves: Vec<Curve>,
}

/// A step that is tried.
struct Trial {
    u: Buffer<f64>,
    /// `C du` of the step.
    stored: Buffer<f64>,
    outcome: Outcome,
    /// How much it is off, if that is known.
    error: Option<f64>,
    /// Of the scheme.
    order: i32,
}

impl<'a> March<'a> {
    fn new(
        space: &Space,
        model: &'a Model,
        time: &'a Transient,
        initial: &[f64],
        mut system: System<f64>,
    ) -> Result<Self> {
        let capacity = capacity_matrix(space, model, &system.body.mesh, system.matrix())?;
        let n = system.f.len();
        let mut stored = space.zeros(n)?;
        let mut ones = space.zeros(n)?;
        space.fill(1.0, &mut ones)?;
        capacity.apply(space, &ones, &mut stored)?;
        space.dot(&ones, &stored, SUM)?;
        let [content] = space.read([SUM])?;
        system.body.supports = Supports::new(model, &system.body.numbering);
        let held = system.body.supports.upload(space)?;
        let initial: Vec<f64> = system.body.numbering.gather(initial);
        let curves = model.probes.iter().map(|probe| Curve { name: probe.name.clone(), rows: vec![] }).collect();
        let mut march = March {
            model,
            time,
            system,
            capacity,
            content,
            solver: None,
            rate: 0.0,
            history: History::default(),
            now: time.start,
            step: 0.0,
            stored,
            held,
            zeros: space.zeros(n)?,
            outer: None,
            at: vec![],
            curves,
        };
        march.set_outer(space, time.start)?;
        let first = march.with_prescribed(space, &space.upload_vec(initial)?)?;
        march.history.push(first);
        march.probe(space)?;
        Ok(march)
    }

    /// Steps until a time; the outcome of all, none if it was cancelled.
    fn go_on(&mut self, run: &mut Run, end: f64) -> Result<Option<Outcome>> {
        let (from, mut all) = (self.now, None::<Outcome>);
        let length = end - from;
        let n_of = |step: f64| (length / step - 1e-9).ceil().max(1.0) as u64;
        let (mut done, mut n) = (
            0,
            match self.time.steps {
                Steps::Fixed(step) => n_of(step),
                Steps::Within(_) if self.step == 0.0 => 1 << FIRST,
                Steps::Within(_) => n_of(self.step).next_power_of_two(),
            },
        );
        while done < n {
            // A factor solves too soon to ask.
            if run.monitor.is_cancelled() {
                return Ok(None);
            }
            let step = length / n as f64;
            let reaches = if done + 1 == n { end } else { from + (done + 1) as f64 * step };
            let Trial { u, stored, outcome, error, order } = self.try_step(run, step, reaches)?;
            if outcome.ending == Ending::Cancelled {
                return Ok(None);
            }
            merge(&mut all, outcome);
            let fits = match (self.time.steps, error) {
                (Steps::Within(tolerance), Some(error)) => {
                    SAFETY * (tolerance / error).powf(1.0 / f64::from(order + 1))
                }
                _ => 1.0,
            };
            if fits < SAFETY && n < 1 << MOST_HALVINGS {
                let halvings = (-fits.log2()).ceil().clamp(1.0, 10.0) as u32;
                (n, done) = (n << halvings, done << halvings);
                continue;
            }
            (self.now, self.step, self.stored, done) = (reaches, step, stored, done + 1);
            self.history.push(u);
            self.probe(run.space)?;
            if fits >= 2.0 && n % 2 == 0 && done % 2 == 0 {
                (n, done) = (n / 2, done / 2);
            }
        }
        self.now = end;
        Ok(all)
    }

    /// A step of some length that ends at a time.
    fn try_step(&mut self, run: &mut Run, step: f64, reaches: f64) -> Result<Trial> {
        let space = run.space;
        self.history.space_by(space, step)?;
        let order = if self.time.scheme == Scheme::Bdf2 && self.history.len() > 1 { 2 } else { 1 };
        let (g, weights): (f64, &[f64]) = if order == 2 { (1.5, &[-2.0, 0.5]) } else { (1.0, &[-1.0]) };
        self.set_rate(run, g / step)?;
        self.set_outer(space, reaches)?;
        let b = self.with_prescribed(space, self.history.last())?;
        let mut h = space.zeros(b.len())?;
        self.history.sum(space, weights, &mut h)?;
        space.axpy(Quotient::ONE.times(g), &b, &mut h)?;
        let (rhs, energy) = self.right_side(space, &b, &h, step)?;
        let predicted = self.history.predicted(space, order as usize + 1)?;
        let mut d = space.zeros(b.len())?;
        space.copy(&predicted, &mut d)?;
        space.axpy(Quotient::MINUS_ONE, &b, &mut d)?;
        let mut d = self.free_part(space, &d)?;
        let outcome = self.iterate(run, &rhs, &mut d, (&b, energy))?;
        self.system.body.expand(space, &mut d)?;
        let mut u = b;
        space.axpy(Quotient::ONE, &d, &mut u)?;
        // Now h is g u + h.
        space.axpy(Quotient::ONE.times(g), &d, &mut h)?;
        let mut stored = space.zeros(u.len())?;
        self.capacity.apply(space, &h, &mut stored)?;
        let error = self.error(space, &u, predicted, order)?;
        Ok(Trial { u, stored, outcome, error, order })
    }

    /// `f - K b - C h / dt` where it is free, and b's energy in the norm of the matrix.
    fn right_side(&self, space: &Space, b: &Buffer<f64>, h: &Buffer<f64>, step: f64) -> Result<(Buffer<f64>, f64)> {
        let mut forces = space.zeros(b.len())?;
        self.capacity.apply(space, b, &mut forces)?;
        let conducted = self.system.body.mesh.internal_force(space, b, None)?;
        space.dot(b, &forces, SUM)?;
        space.dot(b, &conducted, NEXT)?;
        let [of_capacity, of_conduction] = space.read([SUM, NEXT])?;
        let energy = self.rate * of_capacity + of_conduction;
        self.capacity.apply(space, h, &mut forces)?;
        space.axpby([Quotient::ONE, Quotient::ONE.times(1.0 / step)], &conducted, &mut forces)?;
        let loads = self.outer.as_ref().map_or(&self.zeros, |(_, [loads, _])| loads);
        let mut rhs = self.free(space, loads, &forces)?;
        let coupling = self.system.coupling.as_deref();
        coupling.map_or(Ok(()), |coupling| coupling.restrict(space, &mut rhs))?;
        Ok((rhs, energy))
    }

    /// Solves for the change d of a step from a guess, beside the temperatures b and their energy.
    fn iterate(
        &self,
        run: &Run,
        rhs: &Buffer<f64>,
        d: &mut Buffer<f64>,
        (b, energy): (&Buffer<f64>, f64),
    ) -> Result<Outcome> {
        let (space, System { body, operator, coupling, .. }) = (run.space, &self.system);
        let Some(solver) = &self.solver else { unreachable!("set before each step") };
        let n_parts = body.parts.members().n_parts();
        let loading = Loading::beside(vec![LEAST * LEAST * energy / n_parts as f64; n_parts]);
        let coupled = Coupled::new(operator.product(), coupling.as_deref());
        let residual = Residual { space, operator: coupled.operator(), rhs };
        let unasked = || space.zeros(0);
        let mut norm = body.energy_norm(space, &loading, &residual, coupling.as_deref(), unasked)?;
        let mut least = space.zeros(b.len())?;
        space.axpy(Quotient::ONE.times(LEAST), b, &mut least)?;
        norm.prescribed = Some(least);
        let equations = Equations::new(coupled.operator(), rhs).measured(Some(&norm));
        solver.solve(space, &equations, d, stopping(&self.model.solver), run.monitor)
    }

    /// How much a step is off, in the root mean square over C; none where too little is known to say, or nobody asks.
    fn error(&self, space: &Space, u: &Buffer<f64>, predicted: Buffer<f64>, order: i32) -> Result<Option<f64>> {
        let (known, of_order) = (self.history.len(), order as usize + 1);
        if matches!(self.time.steps, Steps::Fixed(_)) || (known > 1 && known < of_order) {
            return Ok(None);
        }
        let share = match (order, known) {
            (2, _) => 2.0 / 11.0,
            (_, 1) => 0.5,
            _ => 1.0 / 3.0,
        };
        let mut off = predicted;
        space.axpy(Quotient::MINUS_ONE, u, &mut off)?;
        let mut weighted = space.zeros(off.len())?;
        self.capacity.apply(space, &off, &mut weighted)?;
        space.dot(&off, &weighted, SUM)?;
        let [square] = space.read([SUM])?;
        Ok(Some(share * (square.max(0.0) / self.content).sqrt()))
    }

    /// Makes the matrix `K + rate C`, and what it is solved with, unless they are there.
    fn set_rate(&mut self, run: &mut Run, rate: f64) -> Result<()> {
        let is_there = self.solver.is_some() && (rate - self.rate).abs() <= 1e-9 * rate;
        if is_there {
            return Ok(());
        }
        self.solver = None;
        let mut capacity = capacity_matrix(run.space, self.model, &self.system.body.mesh, self.system.matrix())?;
        self.system.support(run.space, &mut capacity)?;
        self.system.add(run.space, rate - self.rate, &capacity)?;
        drop(capacity);
        self.rate = rate;
        self.solver = Some(run.solver(&self.system, in_double(run))?);
        run.monitor.phase("solve");
        Ok(())
    }

    /// Loads and prescribed values of a time.
    fn set_outer(&mut self, space: &Space, time: f64) -> Result<()> {
        if self.outer.as_ref().is_some_and(|(of, _)| *of == time || self.time.is_steady()) {
            return Ok(());
        }
        let (model, body) = (self.model, &mut self.system.body);
        let mut loads = body.numbering.gather_components(&model.loads_at(time).nodal_forces, 1);
        body.numbering.add_forces(&mut loads, 1, model.driven_forces(Some(time)));
        for (number, support) in model.supports.iter().enumerate() {
            let value = model.support_factor(number, time) * support.displacement[0].unwrap_or(0.0);
            let rows = support.nodes.iter().map(|node| body.numbering.to_solver[*node as usize] as usize);
            rows.for_each(|row| body.supports.prescribed[row] = value);
        }
        for (slave, value) in body.couplings.iter().flat_map(|couplings| &couplings.values) {
            body.supports.prescribed[*slave] = *value;
        }
        self.outer = Some((time, [space.upload_vec(loads)?, space.upload(&body.supports.prescribed)?]));
        Ok(())
    }

    /// Temperatures with what supports and couplings prescribe.
    fn with_prescribed(&self, space: &Space, u: &Buffer<f64>) -> Result<Buffer<f64>> {
        let mut b = self.free_part(space, u)?;
        self.system.body.expand(space, &mut b)?;
        if let Some((_, [_, prescribed])) = &self.outer {
            space.axpy(Quotient::ONE, prescribed, &mut b)?;
        }
        Ok(b)
    }

    /// A vector without what supports hold of it.
    fn free_part(&self, space: &Space, of: &Buffer<f64>) -> Result<Buffer<f64>> {
        self.free(space, of, &self.zeros)
    }

    /// `a - b` where it is free.
    fn free(&self, space: &Space, a: &Buffer<f64>, b: &Buffer<f64>) -> Result<Buffer<f64>> {
        let mut r = space.zeros(a.len())?;
        self.held.free(space, a, b, &mut r)?;
        space.finish()?;
        Ok(r)
    }

    /// Leaves the loads, less what the body takes up, for results; returns the temperatures less what is prescribed.
    fn results(&mut self, space: &Space, model: &Model) -> Result<Vec<f64>> {
        let stored: Vec<f64> = space.download(&self.stored)?.into_iter().map(|heat| heat / self.step).collect();
        let body = &mut self.system.body;
        let case = model.time.as_ref().map_or(0, |time| time.times.partition_point(|time| *time < self.now));
        let mut loading = body.loading::<f64>(space, model, case)?.0;
        loading.loads.all.iter_mut().zip(&stored).for_each(|(f, stored)| *f -= stored);
        loading.loads.stored = Some(stored.iter().sum());
        loading.norm_f = stress::norm(&loading.loads.all);
        body.loading = loading;
        let u = space.download(self.history.last())?;
        Ok(u.iter().zip(&body.supports.prescribed).map(|(u, prescribed)| u - prescribed).collect())
    }

    /// Notes what the probes have.
    fn probe(&mut self, space: &Space) -> Result<()> {
        if self.curves.is_empty() {
            return Ok(());
        }
        self.at.push(self.now);
        for (probe, curve) in self.model.probes.iter().zip(&mut self.curves) {
            let row = |node: u32| self.system.body.numbering.to_solver[node as usize] as usize;
            let share = |(node, share): &(u32, f64)| Ok(share * space.read_at(self.history.last(), row(*node))?);
            let shares = probe.shares.iter().map(share).collect::<Result<Vec<f64>>>()?;
            curve.rows.push(vec![shares.iter().sum()]);
        }
        Ok(())
    }
}

/// Takes the outcome of a step into that of several: iterations add up, and the worst counts.
fn merge(all: &mut Option<Outcome>, step: Outcome) {
    let Some(all) = all else {
        *all = Some(step);
        return;
    };
    let is_worse = !step.converged && all.converged;
    let (iterations, spmvs) = (all.iterations + step.iterations, all.spmvs + step.spmvs);
    let (residual, error) = (all.relative_residual, all.error_estimate);
    if is_worse {
        *all = step.clone();
    }
    (all.iterations, all.spmvs) = (iterations, spmvs);
    all.relative_residual = residual.max(step.relative_residual);
    all.error_estimate = error.zip(step.error_estimate).map(|(a, b)| f64::max(a, b));
}

/// `rhs - A d`.
struct Residual<'a> {
    space: &'a Space,
    operator: &'a dyn LinOp<f64>,
    rhs: &'a Buffer<f64>,
}

impl Body<f64> for Residual<'_> {
    fn strain_energies(&self, _: &Buffer<f64>, _: bool) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    fn residual(&self, d: &Buffer<f64>, r: &mut Buffer<f64>) -> Result<()> {
        self.operator.apply(self.space, d, r)?;
        self.space.axpby([Quotient::ONE, Quotient::MINUS_ONE], self.rhs, r)
    }
}
