//! What studies of modes have in common: products of what moves, the search for the lowest eigenpairs, and a step of each.

use super::system::{Loaded, System};
use super::{Run, Solution};
use crate::assembly::DeviceSlanted;
use crate::device::Buffer;
use crate::eigen::{self, EigenOptions, Eigenpairs, Pencil, Progress};
use crate::linalg::Space;
use crate::precond::{self, Context};
use crate::result::choices::Preconditioner;
use crate::result::{Ending, Outcome, Result, Step, Table, TableInfo};
use crate::sparse::LinOp;
use crate::stress;
use kernels_rs::assembly::supports::Unbalanced;
use std::cell::RefCell;

/// A product without what supports hold: M has no mass there.
pub(super) struct Free<'a> {
    product: &'a dyn LinOp<f64>,
    size: usize,
    fixed: Buffer<u8>,
    slanted: DeviceSlanted,
    zeros: Buffer<f64>,
    scratch: RefCell<Buffer<f64>>,
}

impl<'a> Free<'a> {
    pub(super) fn new(space: &Space, product: &'a dyn LinOp<f64>, body: &Loaded) -> Result<Self> {
        let supports = &body.supports;
        let (fixed, slanted) = (space.upload(&supports.fixed)?, supports.slanted.upload(space)?);
        let (zeros, scratch) = (space.zeros(product.n())?, RefCell::new(space.zeros(product.n())?));
        Ok(Free { product, size: supports.components, fixed, slanted, zeros, scratch })
    }
}

impl LinOp<f64> for Free<'_> {
    fn n(&self) -> usize {
        self.product.n()
    }

    fn apply(&self, space: &Space, x: &Buffer<f64>, y: &mut Buffer<f64>) -> Result<()> {
        let whole = &mut *self.scratch.borrow_mut();
        self.product.apply(space, x, whole)?;
        let (fixed, loads, forces) = (self.fixed.view(), whole.view(), self.zeros.view());
        let kernel = Unbalanced { size: self.size, fixed, loads, forces, r: y.view_mut() };
        // SAFETY: all live, and have the body's rows; y is none of the others.
        unsafe { space.run(self.fixed.len(), kernel) }?;
        self.slanted.project(space, self.size, y)
    }

    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        self.product.row_sums(space)
    }
}

/// An approximate inverse of the matrix of a system, as the plan has it.
pub(super) fn preconditioner(run: &mut Run, system: &System<f64>) -> Result<Box<dyn precond::Preconditioner<f64>>> {
    let Loaded { mesh, couplings, .. } = &system.body;
    let context = Context::of_nodes(run.model.solver.order, mesh.coords(), mesh.ends())
        .with_coupled(couplings.as_ref().map(|couplings| &couplings.rows));
    let by = run.used.plan.preconditioner.unwrap_or(Preconditioner::Amg);
    let preconditioner = precond::build(by, &context, run.space, system.matrix())?;
    run.used.hierarchy = preconditioner.hierarchy().cloned();
    run.timings.solve += run.phase.next("solve");
    Ok(preconditioner)
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

/// The shape of a mode with what is coupled, its largest component positive.
pub(super) fn shape(run: &Run, body: &Loaded, vector: &Buffer<f64>) -> Result<Vec<f64>> {
    let mut u = run.space.download(vector)?;
    body.couplings.iter().for_each(|couplings| couplings.rows.expand(&mut u));
    let largest = largest(&u);
    u.iter_mut().for_each(|value| *value *= largest.signum());
    Ok(u)
}

/// The component of the largest magnitude.
pub(super) fn largest(u: &[f64]) -> f64 {
    u.iter().fold(0.0, |largest: f64, value| if value.abs() > largest.abs() { *value } else { largest })
}

/// What there is to say of a mode besides its shape.
pub(super) struct Told {
    /// The frequency or the load factor.
    pub value: f64,
    pub tables: Vec<(&'static TableInfo, Vec<f64>)>,
}

/// Sends the modes that were found, of which `tell` scales the shapes and says the rest.
pub(super) fn send(
    run: &mut Run,
    body: &Loaded,
    found: &Eigenpairs,
    tell: &dyn Fn(usize, &mut [f64]) -> Told,
) -> Result<()> {
    for (number, vector) in found.vectors.iter().enumerate() {
        let mut u = shape(run, body, vector)?;
        let told = tell(number, &mut u);
        let step = step(run, body, &u, outcome(run, found, number), (number, told))?;
        run.timings.stress += run.phase.next("write");
        run.solutions.extend(Solution::of(step.without_results(), run.used.clone(), run.timings));
        run.sink.take(step)?;
        run.phase.next("stress");
    }
    Ok(())
}

fn step(run: &Run, body: &Loaded, u: &[f64], outcome: Outcome, (number, told): (usize, Told)) -> Result<Step> {
    let (space, model) = (run.space, run.model);
    let Loaded { numbering, mesh, supports, .. } = body;
    let device_u = space.upload(u)?;
    let forces = vec![[0.0; 3]; numbering.len()];
    let context = stress::Context::new(space, model, (numbering, mesh), (u, &device_u), (supports, forces), vec![]);
    let step = context.into_step(run.sink)?;
    let label = model.step_name(number).into_owned();
    let tables = told.tables.into_iter().filter(|(info, _)| run.sink.wants(info.name));
    let tables = tables.map(|(info, row)| Table { info, rows: vec![(label.clone(), row)] }).collect();
    Ok(Step { label, value: told.value, study: model.study, tables, outcome: Some(outcome), ..step })
}

fn outcome(run: &Run, found: &Eigenpairs, number: usize) -> Outcome {
    let Eigenpairs { residuals, iterations, products, converged, ending, .. } = found;
    let converged = number < *converged;
    Outcome {
        iterations: *iterations,
        spmvs: *products,
        converged,
        ending: if converged { Ending::Converged } else { *ending },
        changes: run.changes.clone(),
        ..Outcome::start(residuals[number], run.model.solver.tolerance)
    }
}
