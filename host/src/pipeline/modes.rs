//! What studies of modes have in common: products of what moves, the search for the lowest eigenpairs, and a step of each.

use super::loaded::Loaded;
use super::system::System;
use super::{ModeCount, Run, Solution, stopping};
use crate::assembly::{DeviceSupports, geometric_stiffness};
use crate::device::Buffer;
use crate::eigen::{self, EigenOptions, Eigenpairs, Pencil, Progress};
use crate::linalg::Space;
use crate::plan::{self, DeviceFacts};
use crate::precond;
use crate::result::choices::{Method, Precision, Preconditioner};
use crate::result::{
    Change, Changed, DirectError, Ending, Error, Measure, Outcome, Reason, Result, Step, Table, TableInfo,
};
use crate::solve::Iteration;
use crate::solve::direct::{self, Direct};
use crate::sparse::{LinOp, Matrix};
use crate::stress::{self, Asked};
use kernels_rs::element::Point;
use kernels_rs::form::General;
use kernels_rs::vectors::WIDTH;
use std::cell::RefCell;
use std::slice;

/// A product without what supports hold: M has no mass there.
pub(super) struct Free<'a> {
    product: &'a dyn LinOp<f64>,
    held: DeviceSupports,
    zeros: Buffer<f64>,
    scratch: RefCell<Vec<Buffer<f64>>>,
}

impl<'a> Free<'a> {
    pub(super) fn new(space: &Space, product: &'a dyn LinOp<f64>, body: &Loaded) -> Result<Self> {
        let (zeros, scratch) = (space.zeros(product.n())?, RefCell::default());
        Ok(Free { product, held: body.supports.upload(space)?, zeros, scratch })
    }
}

impl LinOp<f64> for Free<'_> {
    fn n(&self) -> usize {
        self.product.n()
    }

    fn apply(&self, space: &Space, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        self.apply_all(space, slice::from_ref(x), slice::from_mut(y))
    }

    fn apply_all(&self, space: &Space, x: &[Buffer<f64>], y: &mut [Buffer<f64>]) -> Result<()> {
        let whole = &mut *self.scratch.borrow_mut();
        for (x, y) in x.chunks(WIDTH).zip(y.chunks_mut(WIDTH)) {
            space.widen(whole, self.n(), x.len())?;
            let whole = &mut whole[..x.len()];
            self.product.apply_all(space, x, whole)?;
            whole.iter().zip(y).try_for_each(|(whole, y)| self.held.free(space, whole, &self.zeros, y))?;
        }
        Ok(())
    }

    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        self.product.row_sums(space)
    }
}

/// An inverse of the matrix of a system, by a factor or approximate, as the plan has it.
pub(super) fn preconditioner(run: &mut Run, system: &System<f64>) -> Result<Box<dyn precond::Preconditioner<f64>>> {
    if run.used.plan.method == Method::Direct {
        let factor = |matrix: &Matrix<f64>| direct::factorise::<f64, f64>(run.space, matrix, &system.body.coords);
        match system.on_reduced(run.space, factor) {
            Ok(factor) => {
                run.used.factor_nonzeros = Some(factor.nonzeros());
                run.timings.solve += run.phase.next("solve");
                return Ok(Box::new(Direct { factor }));
            }
            Err(error @ Error::Direct(DirectError::NotPositive { .. })) if run.model.prestress => return Err(error),
            Err(error @ (Error::OutOfMemory { .. } | Error::Direct(_))) if run.model.solver.method.is_none() => {
                let other = plan::without_factor(run.model, &DeviceFacts::of(run.space), Reason::FactorFailed);
                let (from, to) = (Method::Direct.name(), other.method.name());
                run.changes.push(Change { choice: Changed::Method, from, to, reason: error.to_string() });
                run.used.plan = other;
            }
            Err(error) => return Err(error),
        }
    }
    let context = system.body.context(run.model.solver.order);
    let by = run.used.plan.preconditioner.unwrap_or(Preconditioner::Amg);
    let preconditioner = match run.used.plan.precision {
        Precision::Mixed if precond::reads_matrix(by) => {
            precond::build_rounded::<f32>(by, &context, run.space, system.matrix())?
        }
        _ => precond::build(by, &context, run.space, system.matrix())?,
    };
    run.used.hierarchy = preconditioner.hierarchy().cloned();
    run.timings.solve += run.phase.next("solve");
    Ok(preconditioner)
}

/// The displacements under the loads, with what is prescribed, and how their iteration ended.
pub(super) fn displacements(
    run: &Run,
    system: &System<f64>,
    by: &dyn Iteration<f64>,
) -> Result<(Buffer<f64>, Outcome)> {
    let (v, outcome) = system.iterate(run.space, by, stopping(&run.model.solver), run.monitor)?;
    let prescribed = &system.body.supports.prescribed;
    let u = run.space.upload_vec(v.iter().zip(prescribed).map(|(v, prescribed)| v + prescribed).collect())?;
    Ok((u, outcome))
}

/// The geometric stiffness under displacements u, times a factor, after supports.
pub(super) fn geometric(space: &Space, system: &System<f64>, factor: f64, u: &Buffer<f64>) -> Result<Matrix<f64>> {
    let mesh = &system.body.mesh;
    let mut g = geometric_stiffness(space, mesh, factor, system.matrix(), &|block, points: &[Point]| {
        Ok(stress::sampled::<General>(space, mesh, block, points, u, Asked::Stress)?.stress)
    })?;
    system.support(space, &mut g)?;
    Ok(g)
}

/// The lowest `n` eigenpairs of a pencil whose A has so much of M.
pub(super) fn search(run: &Run, pencil: &Pencil, n: usize, shift: f64) -> Result<Eigenpairs> {
    let (solver, monitor) = (&run.model.solver, run.monitor);
    let options = EigenOptions { n, shift, tolerance: solver.tolerance, max_iterations: solver.max_iterations };
    eigen::lobpcg(run.space, pencil, &options, &mut |at: Progress| {
        monitor.error(at.iteration, at.error, at.tolerance);
        !monitor.is_cancelled()
    })
}

/// How much the next value is larger that modes are counted below: more than errors of those found.
const GAP: f64 = 1e-4;

/// Counts the modes by a factor of `K - s M`, if that is asked for: s lies in the last gap between those found. `told` is the
/// frequency or load factor of a value. K is no longer itself.
pub(super) fn count(
    run: &mut Run,
    system: &mut System<f64>,
    m: &Matrix<f64>,
    found: &Eigenpairs,
    told: impl Fn(f64) -> f64,
) -> Result<()> {
    if !run.model.solver.check_count || found.values.is_empty() {
        return Ok(());
    }
    let is_gap = |pair: &[f64]| pair[1] - pair[0] > GAP * pair[1];
    let before = found.values.windows(2).rposition(is_gap);
    let (at, n) = match before {
        Some(before) => (0.5 * (found.values[before] + found.values[before + 1]), before + 1),
        None => ((1.0 - GAP) * found.values[0], 0),
    };
    run.monitor.phase("count");
    system.add(run.space, -at, m)?;
    let (space, body) = (run.space, &system.body);
    let held = body.supports.held();
    let count = |matrix: &Matrix<f64>| direct::negative_eigenvalues(space, matrix, &body.coords, &held);
    let counted = system.on_reduced(space, count)?;
    run.used.count = Some(ModeCount { below: told(at), counted, found: n });
    Ok(())
}

/// Gives the vectors what is coupled.
pub(super) fn expand(space: &Space, body: &Loaded, found: &mut Eigenpairs) -> Result<()> {
    found.vectors.iter_mut().try_for_each(|x| body.expand(space, x))?;
    space.finish()
}

/// What there is to say of a mode.
pub(super) struct Told {
    /// By what its shape is multiplied.
    pub scale: f64,
    /// The frequency or the load factor.
    pub value: f64,
    pub tables: Vec<(&'static TableInfo, Vec<f64>)>,
}

/// Sends the modes that were found, of which `tell` says the rest, from their numbers and the largest components of their
/// vectors.
pub(super) fn send(run: &mut Run, body: &Loaded, found: &Eigenpairs, tell: &dyn Fn(usize, f64) -> Told) -> Result<()> {
    // Of a search that was stopped at its start nothing is worth to be seen.
    if found.ending == Ending::Cancelled && found.iterations == 0 {
        return Ok(());
    }
    for (number, vector) in found.vectors.iter().enumerate() {
        let mut u = run.space.download(vector)?;
        let larger = |largest: f64, value: &f64| if value.abs() > largest.abs() { *value } else { largest };
        let Told { scale, value, tables } = tell(number, u.iter().fold(0.0, larger));
        u.iter_mut().for_each(|value| *value *= scale);
        let step = step(run, body, &u, outcome(run, found, number), (number, value))?;
        let tables = tables.into_iter().filter(|(info, _)| run.sink.wants(info.name));
        let tables = tables.map(|(info, row)| Table { info, rows: vec![(step.label.clone(), row)] }).collect();
        take(run, Step { tables, ..step })?;
    }
    Ok(())
}

/// Sends a step, and keeps the rest.
pub(super) fn take(run: &mut Run, step: Step) -> Result<()> {
    run.timings.stress += run.phase.next("write");
    run.solutions.extend(Solution::of(step.without_results(), run.used.clone(), run.timings));
    run.sink.take(step)?;
    run.phase.next("stress");
    Ok(())
}

/// The results of displacements u that nothing holds in balance, by the number of their step and its value.
pub(super) fn step(
    run: &Run,
    body: &Loaded,
    u: &[f64],
    outcome: Outcome,
    (number, value): (usize, f64),
) -> Result<Step> {
    let (space, model) = (run.space, run.model);
    let Loaded { numbering, mesh, supports, .. } = body;
    let device_u = space.upload(u)?;
    let forces = vec![[0.0; 3]; numbering.len()];
    let context = stress::Context::new(space, model, (numbering, mesh), (u, &device_u), (supports, forces), vec![]);
    let step = context.into_step(run.sink)?;
    let label = model.step_name(number).into_owned();
    Ok(Step { label, value, study: model.study, outcome: Some(outcome), ..step })
}

pub(super) fn outcome(run: &Run, found: &Eigenpairs, number: usize) -> Outcome {
    let Eigenpairs { residuals, errors, iterations, products, converged, ending, .. } = found;
    let converged = number < *converged;
    Outcome {
        iterations: *iterations,
        spmvs: *products,
        converged,
        ending: if converged { Ending::Converged } else { *ending },
        changes: run.changes.clone(),
        measure: Measure::Energy,
        error_estimate: Some(errors[number]),
        ..Outcome::start(residuals[number], run.model.solver.tolerance)
    }
}
