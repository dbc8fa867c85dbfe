//! A model assembled on a device, and the energy norm that its errors are measured in.

use super::groups::Parts;
use super::loaded::{Loaded, Loading, in_precision, reciprocals};
use super::loads::Loads;
use super::operator::Operator;
use super::strains::Strains;
use super::unsupported::{Made, unsupported, without_matrix};
use super::{Phase, Timings};
use crate::assembly::matrix_free::Division;
use crate::assembly::{Assembly, MatrixFree};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::precond::inverse_diagonal;
use crate::result::choices::{self, Strategy};
use crate::result::{Error, Outcome, Plan, Result};
use crate::solve::Iteration;
use crate::solve::energy::{EnergyNorm, Equations};
use crate::solve::{CgOptions, Monitor};
use crate::sparse::{self, Coupled, Coupling, Halo, LinOp, Matrix, Shared};
use kernels_rs::real::Real;
use std::rc::Rc;

/// A model assembled on a device: `K v = f`, with `v` the displacement, or the potential, less what is prescribed.
pub struct System<T: Real> {
    /// The mesh, its supports and loads.
    pub body: Loaded,
    /// K.
    pub operator: Operator<T>,
    /// f; `T^T f` where something is coupled.
    pub f: Buffer<T>,
    pub(super) coupling: Option<Rc<Coupling<T>>>,
    /// What the rows of a rank have of other ranks' nodes.
    pub(super) halo: Option<Halo<T>>,
    pub(super) strategy: Strategy,
}

impl<T: Real> System<T> {
    /// Assembles a model as a plan says, or divides its mesh into patches, and applies its supports.
    pub fn assemble(
        space: &Space,
        model: &Model,
        plan: &Plan,
        phase: &mut Phase,
        timings: &mut Timings,
    ) -> Result<Self> {
        Self::assemble_at(space, (model, 0), plan, phase, timings)
    }

    /// The same with the constants of materials as they are in a step; loads are of the first.
    pub(super) fn assemble_at(
        space: &Space,
        (model, step): (&Model, usize),
        plan: &Plan,
        phase: &mut Phase,
        timings: &mut Timings,
    ) -> Result<Self> {
        let is_assembled = plan.operator != Some(choices::Operator::MatrixFree);
        let (mut body, made) = match is_assembled {
            true => assembled(space, (model, step), plan, (&mut *phase, &mut *timings))?,
            false => (patched(space, (model, step), plan)?, None),
        };
        let (operator, strategy) = match made {
            Some((mut matrix, strategy)) => {
                timings.assembly += phase.next("boundary");
                constrain(space, model, &mut body, &mut matrix)?;
                (Operator::Assembled(matrix), strategy)
            }
            None => {
                timings.setup += phase.next("boundary");
                let product = MatrixFree::new(space, &body.mesh, &body.supports, Division::default())?;
                body.take_off_motion(model, |_| space.download(product.diagonal()))?;
                (Operator::MatrixFree(product), Strategy::RowOwner)
            }
        };
        let f = in_precision(space, body.take_right_side::<T>(space)?)?;
        let coupling = body.couplings.as_ref().map(|couplings| couplings.in_precision(space)).transpose()?;
        timings.boundary += phase.next("preconditioner");
        Ok(System { body, operator, f, coupling, halo: None, strategy })
    }

    /// The matrix.
    ///
    /// # Panics
    ///
    /// Without one.
    pub fn matrix(&self) -> &Matrix<T> {
        match &self.operator {
            Operator::Assembled(matrix) => matrix,
            Operator::MatrixFree(_) => panic!("a system without a matrix"),
        }
    }

    /// Does something with the matrix of what is free of couplings, `T^T K T`.
    pub(super) fn on_reduced<R>(&self, space: &Space, work: impl FnOnce(&Matrix<T>) -> Result<R>) -> Result<R> {
        match &self.body.couplings {
            None => work(self.matrix()),
            Some(couplings) => work(&sparse::reduced(space, self.matrix(), &couplings.rows)?),
        }
    }

    /// Applies supports to another matrix of the body.
    pub(super) fn support(&self, space: &Space, other: &mut Matrix<T>) -> Result<()> {
        self.body.supports.eliminate(space, other)
    }

    /// Adds so many times another matrix to K.
    pub(super) fn add(&mut self, space: &Space, factor: f64, other: &Matrix<T>) -> Result<()> {
        let Operator::Assembled(matrix) = &mut self.operator else { panic!("a system without a matrix") };
        matrix.add(space, factor, other)
    }

    /// Assembles it again, in the blocks that it has, for a model of other materials on the same mesh; loads stay as
    /// they are, but for those of thermal strain.
    ///
    /// # Errors
    ///
    /// [`Error::Unsuited`] without a matrix, besides those of assembly.
    pub fn set_materials(&mut self, space: &Space, model: &Model) -> Result<()> {
        let (Operator::Assembled(matrix), Some(mesh)) = (&mut self.operator, Rc::get_mut(&mut self.body.mesh)) else {
            let (name, why) = ("matrix_free", "has no matrix to assemble again".into());
            return Err(Error::Unsuited { what: "operator", name, why, available: vec!["assembled"] });
        };
        mesh.set_materials(space, model, 0)?;
        self.body.parts = Parts::new(space, model, &self.body.numbering, &self.body.coords)?;
        if model.temperature.is_some() {
            let Loaded { numbering, mesh, coords, .. } = &self.body;
            self.body.loading.loads = Loads::new(space, model, 0, (numbering, mesh), coords)?;
        }
        let mut assembly = Assembly::new(space, &self.body.mesh, matrix.pattern(), self.strategy)?;
        assembly.assemble(space, &self.body.mesh, matrix)?;
        constrain(space, model, &mut self.body, matrix)?;
        self.f = in_precision(space, self.body.take_right_side::<T>(space)?)?;
        Ok(())
    }

    /// Takes the loads of another case of the model.
    pub fn set_loads(&mut self, space: &Space, model: &Model, case: usize) -> Result<()> {
        if model.temperature.as_ref().is_some_and(|of| of.n_steps() > 1) {
            self.body.mesh.set_step(space, model, &self.body.numbering, case)?;
        }
        (self.body.loading, self.f) = self.case(space, model, case)?;
        Ok(())
    }

    /// The loads of a case of the model, and their right-hand side.
    pub(super) fn case(&self, space: &Space, model: &Model, case: usize) -> Result<(Loading, Buffer<T>)> {
        let (loading, f) = self.body.loading::<T>(space, model, case)?;
        Ok((loading, in_precision(space, f)?))
    }

    /// Iterates from 0; returns `v [n]` too.
    pub fn iterate(
        &self,
        space: &Space,
        iteration: &dyn Iteration<T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        self.iterate_on(space, iteration, space.zeros(self.f.len())?, options, monitor)
    }

    /// As [`System::iterate`] from a `v` that is near, as that of another load or of other materials may be.
    pub fn iterate_from(
        &self,
        space: &Space,
        iteration: &dyn Iteration<T>,
        start: &[f64],
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        self.iterate_on(space, iteration, in_precision(space, start.iter().copied())?, options, monitor)
    }

    fn iterate_on(
        &self,
        space: &Space,
        iteration: &dyn Iteration<T>,
        mut v: Buffer<T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        let strains = self.strains(space, &self.body.loading);
        let energy = self.energy_norm(space, &self.body.loading, &strains)?;
        let outcome = self.with_operator(|operator| {
            let equations = Equations::new(operator, &self.f).measured(Some(&energy));
            iteration.solve(space, &equations, &mut v, options, monitor)
        })?;
        Ok((self.displacements(space, v)?, outcome))
    }

    /// Does something with the operator of the equations: `T^T K T`, K of all ranks.
    pub fn with_operator<R>(&self, work: impl FnOnce(&dyn LinOp<T>) -> R) -> R {
        let shared = Shared::new(self.operator.product(), self.halo.as_ref());
        work(Coupled::new(shared.operator(), self.coupling.as_deref()).operator())
    }

    /// Iterates from 0 for the loads of several cases together.
    pub(super) fn iterate_together(
        &self,
        space: &Space,
        iteration: &dyn Iteration<T>,
        cases: &[(Loading, Buffer<T>)],
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<Vec<(Vec<f64>, Outcome)>> {
        let strains: Vec<Strains<T>> = cases.iter().map(|(loading, _)| self.strains(space, loading)).collect();
        let energies =
            cases.iter().zip(&strains).map(|((loading, _), strains)| self.energy_norm(space, loading, strains));
        let energies = energies.collect::<Result<Vec<_>>>()?;
        let coupled = Coupled::new(self.operator.product(), self.coupling.as_deref());
        let equations = cases.iter().zip(&energies);
        let equations: Vec<Equations<T>> =
            equations.map(|((_, f), energy)| Equations::new(coupled.operator(), f).measured(Some(energy))).collect();
        let mut v = space.vectors(coupled.operator().n(), cases.len())?;
        let outcomes = iteration.solve_together(space, &equations, &mut v, options, monitor)?;
        let found = v.into_iter().zip(outcomes);
        found.map(|(v, outcome)| Ok((self.displacements(space, v)?, outcome))).collect()
    }

    fn strains<'a>(&'a self, space: &'a Space, loading: &'a Loading) -> Strains<'a, T> {
        Strains::new(space, &self.body, loading, self.coupling.as_deref())
    }

    fn energy_norm<'a>(
        &'a self,
        space: &Space,
        loading: &'a Loading,
        strains: &'a Strains<'a, T>,
    ) -> Result<EnergyNorm<'a, T>> {
        let inverse = || self.operator.inverse_diagonal(space);
        self.body.energy_norm(space, loading, strains, self.coupling.as_deref(), inverse)
    }

    /// What an iteration has found, on the host, slaves with it.
    pub(super) fn displacements(&self, space: &Space, v: Buffer<T>) -> Result<Vec<f64>> {
        let mut v: Vec<f64> = space.take(v)?.into_iter().map(T::to_f64).collect();
        self.body.couplings.iter().for_each(|couplings| couplings.rows.expand(&mut v));
        Ok(v)
    }
}

/// A body and its matrix before supports.
fn assembled<T: Real>(
    space: &Space,
    (model, step): (&Model, usize),
    plan: &Plan,
    (phase, timings): (&mut Phase, &mut Timings),
) -> Result<(Loaded, Option<Made<T>>)> {
    // What is needed once is handed over or dropped on the way: at six million tetrahedra the slots, lists and
    // sparsity take half a gigabyte.
    let (numbering, mesh, made) = unsupported(space, (model, step), plan, (phase, timings))?;
    Ok((Loaded::new(space, model, plan.method, numbering, mesh)?, Some(made)))
}

/// A body that has no matrix.
pub(super) fn patched(space: &Space, (model, step): (&Model, usize), plan: &Plan) -> Result<Loaded> {
    let (numbering, mesh) = without_matrix(space, (model, step))?;
    Loaded::new(space, model, plan.method, numbering, mesh)
}

/// Applies supports to a matrix.
fn constrain<T: Real>(space: &Space, model: &Model, body: &mut Loaded, matrix: &mut Matrix<T>) -> Result<()> {
    body.take_off_motion(model, |_| Ok(reciprocals(&space.take(inverse_diagonal(space, matrix)?)?)))?;
    body.supports.eliminate(space, matrix)
}
