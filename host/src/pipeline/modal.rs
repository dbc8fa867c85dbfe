//! Vibration: the lowest eigenpairs of `K u = lambda M u`, `lambda = (2 pi f)^2`, of a model with supports and couplings.
//!
//! What is iterated with is `K + sigma M`, which has the same modes, and is positive definite where parts or mechanisms are
//! free. Rigid motions of free parts are modes of frequency 0 that need no iteration.

use super::system::{Loaded, Operator, System};
use super::{Run, Solution};
use crate::assembly::{DeviceSlanted, mass_matrix};
use crate::device::Buffer;
use crate::eigen::{self, EigenOptions, Eigenpairs, Pencil};
use crate::linalg::{Quotient, Space};
use crate::precond::{self, Context};
use crate::result::choices::Preconditioner;
use crate::result::{Ending, FieldInfo, Outcome, Result, Sink, Step, Table, TableInfo};
use crate::solve::energy::parts::about_centre;
use crate::sparse::{Coupled, Epilogue, LinOp, Matrix};
use crate::stress;
use kernels_rs::assembly::supports::Unbalanced;
use nalgebra::{DMatrix, SymmetricEigen};
use std::cell::RefCell;
use std::f64::consts::TAU;

/// The shift, as a part of what the first elastic eigenvalue of a compact body is about: small beside it, and large beside
/// what rounding makes of 0.
const SMALL_SHIFT: f64 = 1e-4;
/// Eigenvalues are right to about the square of the residual that modes are found to.
const RESIDUAL: f64 = 0.1;
/// Parts whose rigid motions are looked for before the iteration; of more it finds them.
const MOST_PARTS: usize = 8;
/// What rounding leaves of the energy of a motion without strain, relative to the largest eigenvalue.
const ROUNDING: f64 = 1e4 * f64::EPSILON;

/// Finds the modes of a model and sends each as a step.
pub(super) fn solve(run: &mut Run) -> Result<()> {
    let (space, model) = (run.space, run.model);
    let mut system = System::<f64>::assemble(space, model, &run.used.plan, &mut run.phase, &mut run.timings)?;
    let mut mass = mass_matrix(space, model, &system.body.numbering, &system.body.mesh, system.matrix())?;
    let motions = WholeMotions::new(space, &system.body, &mass)?;
    let scale = Scale::new(space, &system, &mass)?;
    let shift = model.shift.max(scale.small_shift);
    system.shift(space, &mut mass, shift)?;
    run.timings.boundary += run.phase.next("preconditioner");
    let found = find(run, &system, &mass, (shift, &scale))?;
    run.timings.solve += run.phase.next("stress");
    let body = system.body;
    drop((system.operator, mass, system.f));
    let modes = Modes { body: &body, motions, found, shift, zero: ROUNDING * scale.largest };
    modes.send(run)
}

/// About how large eigenvalues are.
struct Scale {
    /// About the largest.
    largest: f64,
    small_shift: f64,
}

impl Scale {
    /// From the diagonals of K and M, whose quotients grow with the square of a wave's number.
    fn new(space: &Space, system: &System<f64>, mass: &Matrix<f64>) -> Result<Self> {
        let flexibility = space.take(precond::inverse_diagonal(space, system.matrix())?)?;
        let lightness = space.take(precond::inverse_diagonal(space, mass)?)?;
        let both = flexibility.iter().zip(&lightness).filter(|(k, m)| **k > 0.0 && **m > 0.0);
        let (mut largest, mut sum, mut n) = (0.0, 0.0, 0.0);
        for (flexibility, lightness) in both {
            (largest, sum, n) = (f64::max(largest, lightness / flexibility), sum + flexibility / lightness, n + 1.0);
        }
        let body = &system.body;
        let dim = body.mesh.blocks.iter().map(|block| block.cells.kind.info().dim).max().unwrap_or(3);
        let across = (body.coords.len() as f64).powf(1.0 / dim as f64);
        Ok(Scale { largest, small_shift: if sum > 0.0 { SMALL_SHIFT * n / (sum * across * across) } else { 0.0 } })
    }
}

/// M of the free unknowns: what is held has no mass.
struct FreeMass<'a> {
    product: &'a dyn LinOp<f64>,
    size: usize,
    fixed: Buffer<u8>,
    slanted: DeviceSlanted,
    zeros: Buffer<f64>,
    scratch: RefCell<Buffer<f64>>,
}

impl<'a> FreeMass<'a> {
    fn new(space: &Space, product: &'a dyn LinOp<f64>, body: &Loaded) -> Result<Self> {
        let supports = &body.supports;
        let (fixed, slanted) = (space.upload(&supports.fixed)?, supports.slanted.upload(space)?);
        let (zeros, scratch) = (space.zeros(product.n())?, RefCell::new(space.zeros(product.n())?));
        Ok(FreeMass { product, size: supports.components, fixed, slanted, zeros, scratch })
    }
}

impl LinOp<f64> for FreeMass<'_> {
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

/// The rigid motions of the whole body, and what they do with the mass.
struct WholeMotions {
    /// `M r` of each, `[n]`.
    forces: Vec<Vec<f64>>,
    /// `r . M r` of each.
    inertia: Vec<f64>,
}

impl WholeMotions {
    /// Translations, then rotations about the origin's axes through the centre of mass.
    fn new(space: &Space, body: &Loaded, mass: &Matrix<f64>) -> Result<Self> {
        let all: Vec<u32> = (0..body.coords.len() as u32).collect();
        let centre = [0.0, 0.0, 0.0, 1.0];
        let (mut forces, mut inertia) = (Vec::new(), Vec::new());
        for motion in 0..6 {
            let r = body.motion(&all, centre, motion);
            let mut force = space.zeros(r.len())?;
            mass.apply(space, &space.upload(&r)?, &mut force)?;
            let force = space.take(force)?;
            inertia.push(stress::dot(&r, &force));
            forces.push(force);
        }
        Ok(WholeMotions { forces, inertia })
    }
}

impl Loaded {
    /// A rigid motion of some rows about a frame, `[n_nodes][components]`, flat; 0 elsewhere.
    fn motion(&self, rows: &[u32], frame: [f64; 4], motion: usize) -> Vec<f64> {
        let size = self.supports.components;
        let mut r = vec![0.0; size * self.coords.len()];
        for row in rows {
            let y = about_centre(self.coords[*row as usize], frame);
            for i in 0..size {
                r[size * *row as usize + i] = self.parts.lists.row(i, y)[motion];
            }
        }
        r
    }
}

/// The eigenpairs of `K + sigma M`, after the rigid motions of free parts.
fn find(run: &mut Run, system: &System<f64>, mass: &Matrix<f64>, (shift, scale): (f64, &Scale)) -> Result<Eigenpairs> {
    let (space, model, monitor) = (run.space, run.model, run.monitor);
    let (body, coupling) = (&system.body, system.coupling.as_ref());
    let (stiffness, mass) = (Coupled::new(system.matrix(), coupling), Coupled::new(mass, coupling));
    let mass = FreeMass::new(space, mass.operator(), body)?;
    let context = Context::of_nodes(model.solver.order, body.mesh.coords(), body.mesh.ends())
        .with_coupled(body.couplings.as_ref().map(|couplings| &couplings.rows));
    let by = run.used.plan.preconditioner.unwrap_or(Preconditioner::Amg);
    let preconditioner = precond::build(by, &context, space, system.matrix())?;
    run.used.hierarchy = preconditioner.hierarchy().cloned();
    run.timings.setup += run.phase.next("solve");
    let a = stiffness.operator();
    let rigid = rigid_modes(space, body, (a, &mass), shift + ROUNDING * scale.largest)?;
    let n = model.modes.saturating_sub(rigid.len());
    let pencil = Pencil { a, m: &mass, preconditioner: &*preconditioner, deflated: &rigid };
    let tolerance = RESIDUAL * model.solver.tolerance.sqrt();
    let options = EigenOptions { n, tolerance, max_iterations: model.solver.max_iterations };
    let mut watch = |iteration: usize, residual: f64| {
        monitor.error(iteration, residual, tolerance);
        !monitor.is_cancelled()
    };
    let mut found = eigen::lobpcg(space, &pencil, &options, &mut watch)?;
    drop(pencil);
    found.values.splice(0..0, rigid.iter().map(|_| shift));
    found.residuals.splice(0..0, rigid.iter().map(|_| 0.0));
    found.vectors.splice(0..0, rigid);
    Ok(found)
}

/// The rigid motions of the parts that strain nothing, M-orthonormal: those whose Rayleigh quotients are no larger than this.
fn rigid_modes(
    space: &Space,
    body: &Loaded,
    (a, m): (&dyn LinOp<f64>, &dyn LinOp<f64>),
    most: f64,
) -> Result<Vec<Buffer<f64>>> {
    let (parts, mut modes) = (&body.parts.lists, Vec::new());
    if parts.n_parts() > MOST_PARTS {
        return Ok(modes);
    }
    for part in 0..parts.n_parts() {
        let mut motions = Vec::new();
        for motion in 0..6 {
            let mut r = body.motion(parts.members().of(part), parts.frames()[part], motion);
            body.supports.free_part(&mut r);
            body.couplings.iter().for_each(|couplings| couplings.rows.expand(&mut r));
            if r.iter().any(|value| *value != 0.0) {
                motions.push(space.upload_vec(r)?);
            }
        }
        let products = |operator: &dyn LinOp<f64>| -> Result<Vec<Buffer<f64>>> {
            let product = |r: &Buffer<f64>| {
                let mut y = space.zeros(r.len())?;
                operator.apply(space, r, &mut y)?;
                Ok(y)
            };
            motions.iter().map(product).collect()
        };
        let refs = |of: &'_ [Buffer<f64>]| -> Vec<*const Buffer<f64>> { of.iter().map(|x| x as *const _).collect() };
        let _ = refs;
        let gram = |y: &[Buffer<f64>]| space.gram(&motions.iter().collect::<Vec<_>>(), &y.iter().collect::<Vec<_>>());
        let (stiffness, mass) = (gram(&products(a)?)?, gram(&products(m)?)?);
        let Some(combinations) = free_combinations(stiffness, mass, most) else { continue };
        let mut free = (0..combinations.ncols()).map(|_| space.zeros(a.n())).collect::<Result<Vec<_>>>()?;
        space.combine(&motions.iter().collect::<Vec<_>>(), &combinations, &mut free)?;
        modes.append(&mut free);
    }
    Ok(modes)
}

/// The combinations of motions with small Rayleigh quotients, orthonormal with the mass.
fn free_combinations(stiffness: DMatrix<f64>, mass: DMatrix<f64>, most: f64) -> Option<DMatrix<f64>> {
    if mass.is_empty() {
        return None;
    }
    let of_mass = SymmetricEigen::new(mass);
    let limit = 1e-12 * of_mass.eigenvalues.max();
    let kept: Vec<usize> = (0..of_mass.eigenvalues.len()).filter(|i| of_mass.eigenvalues[*i] > limit).collect();
    let unit = |j: usize| of_mass.eigenvectors.column(kept[j]) / of_mass.eigenvalues[kept[j]].sqrt();
    let basis = DMatrix::from_columns(&(0..kept.len()).map(unit).collect::<Vec<_>>());
    let within = SymmetricEigen::new(basis.transpose() * stiffness * &basis);
    let free: Vec<_> = (0..kept.len())
        .filter(|i| within.eigenvalues[*i] <= most)
        .map(|i| &basis * within.eigenvectors.column(i))
        .collect();
    (!free.is_empty()).then(|| DMatrix::from_columns(&free))
}

/// What was found, to be sent.
struct Modes<'a> {
    body: &'a Loaded,
    motions: WholeMotions,
    found: Eigenpairs,
    shift: f64,
    /// Eigenvalues below are 0.
    zero: f64,
}

/// What a sink wants of a mode: neither reactions nor balances, as inertia is no load.
struct OfMode<'a>(&'a dyn Sink);

impl Sink for OfMode<'_> {
    fn wants(&self, name: &str) -> bool {
        FieldInfo::named(name).is_some() && !["reaction_force", "nodal_force"].contains(&name) && self.0.wants(name)
    }

    fn take(&mut self, _: Step) -> Result<()> {
        Ok(())
    }
}

impl Modes<'_> {
    fn send(&self, run: &mut Run) -> Result<()> {
        let (space, model) = (run.space, run.model);
        let Loaded { numbering, mesh, supports, couplings, .. } = self.body;
        for (number, vector) in self.found.vectors.iter().enumerate() {
            let lambda = self.found.values[number] - self.shift;
            let lambda = if lambda.abs() <= self.zero { 0.0 } else { lambda };
            let frequency = lambda.max(0.0).sqrt() / TAU;
            let mut u = space.download(vector)?;
            couplings.iter().for_each(|couplings| couplings.rows.expand(&mut u));
            normalise(&mut u);
            let device_u = space.upload(&u)?;
            let forces = vec![[0.0; 3]; numbering.len()];
            let unknown = (&u[..], &device_u);
            let mut context = stress::Context::new(space, model, (numbering, mesh), unknown, (supports, forces), vec![]);
            context.case = number;
            let mut step = context.into_step(&OfMode(run.sink))?;
            let participation: Vec<f64> = self.motions.forces.iter().map(|force| stress::dot(force, &u)).collect();
            let effective = participation.iter().map(|factor| factor * factor).collect();
            for (name, row) in [
                ("modes", vec![lambda, frequency, self.found.residuals[number]]),
                ("participation", participation),
                ("effective_mass", effective),
            ] {
                let label = format!("mode {}", number + 1);
                let table = TableInfo::named(name).filter(|_| run.sink.wants(name));
                step.tables.extend(table.map(|info| Table { info, rows: vec![(label, row)] }));
            }
            let step = Step {
                label: format!("mode {}", number + 1),
                value: frequency,
                outcome: Some(self.outcome(run, number)),
                ..step
            };
            run.timings.stress += run.phase.next("write");
            run.solutions.extend(Solution::of(step.without_results(), run.used.clone(), run.timings));
            run.sink.take(step)?;
            run.phase.next("stress");
        }
        Ok(())
    }

    fn outcome(&self, run: &Run, number: usize) -> Outcome {
        let Eigenpairs { residuals, iterations, products, ending, .. } = &self.found;
        let tolerance = RESIDUAL * run.model.solver.tolerance.sqrt();
        let converged = residuals[number] <= tolerance;
        Outcome {
            iterations: *iterations,
            spmvs: *products,
            relative_residual: residuals[number],
            tolerance,
            converged,
            ending: if converged { Ending::Converged } else { *ending },
            changes: run.changes.clone(),
            ..Outcome::default()
        }
    }
}
