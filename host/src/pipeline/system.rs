//! A model assembled on a device, and the energy norm that its errors are measured in.

use super::groups::Parts;
use super::loads::Loads;
use super::operator::Operator;
use super::ranks::Ghosts;
use super::strains::Strains;
use super::{Phase, Timings, motion};
use crate::assembly::matrix_free::Division;
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{
    Addition, Assembly, Couplings, DeviceMesh, DeviceSupports, MatrixFree, Numbering, Supports, Topology,
};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::parallel::{self, PART};
use crate::precond::{Context, inverse_diagonal};
use crate::result::choices::{self, Method, Strategy};
use crate::result::{Error, Outcome, Plan, Result};
use crate::solve::Iteration;
use crate::solve::energy::{Body, EnergyNorm, Equations, Groups};
use crate::solve::{CgOptions, Monitor};
use crate::sparse::{self, Coupled, Coupling, Halo, Matrix, Shared, Tuning};
use crate::stress;
use kernels_rs::blas::quotient;
use kernels_rs::real::Real;
use std::ops::Range;
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

/// A body on a device with its supports and loads, in the solver's numbering.
pub struct Loaded {
    /// The solver's numbering.
    pub numbering: Numbering,
    /// The mesh on the device.
    pub mesh: Rc<DeviceMesh>,
    /// The supports.
    pub supports: Supports,
    /// The loads of the case that it is in.
    pub loading: Loading,
    pub(super) parts: Parts,
    /// What couples unknowns, if anything does.
    pub couplings: Option<Couplings>,
    /// Coordinates of the nodes.
    pub(super) coords: Vec<[f64; 3]>,
    /// How the values of other ranks' nodes come.
    pub(super) ghosts: Option<Ghosts>,
}

/// The loads of a case, and what follows of them.
#[derive(Default)]
pub struct Loading {
    /// All loads.
    pub loads: Loads,
    /// `||f||` of the right-hand side, before rounding.
    pub norm_f: f64,
    /// `w_D . K w_D` of each part.
    pub(super) offset: Vec<f64>,
    /// Whether the right-hand side of each part is not 0.
    pub(super) active: Vec<bool>,
    /// `2 f - b`; empty where nothing is prescribed.
    pub(super) weights: Vec<f64>,
}

impl Loading {
    /// Of loads that are known otherwise, for errors beside an energy of each part.
    pub(super) fn beside(offset: Vec<f64>) -> Self {
        Loading { active: vec![true; offset.len()], offset, ..Loading::default() }
    }
}

impl Loaded {
    /// A body whose right-hand side is not known yet.
    pub(super) fn new(
        space: &Space,
        model: &Model,
        method: Method,
        numbering: Numbering,
        mut mesh: DeviceMesh,
    ) -> Result<Self> {
        mesh.set_temperature(space, model, &numbering)?;
        let coords = numbering.gather(&model.mesh.coords);
        let loads = Loads::new(space, model, 0, (&numbering, &mesh), &coords)?;
        Ok(Loaded {
            supports: Supports::new(model, &numbering),
            couplings: Couplings::new(space, model, &numbering, method == Method::Direct)?,
            parts: Parts::new(space, model, &numbering, &coords)?,
            ghosts: None,
            coords,
            numbering,
            mesh: Rc::new(mesh),
            loading: Loading { loads, ..Loading::default() },
        })
    }

    /// What preconditioners may know of it.
    pub(super) fn context(&self, order: usize) -> Context<'_> {
        let coupled = self.couplings.as_ref().map(|couplings| &couplings.rows);
        Context::of_nodes(order, self.mesh.coords(), self.mesh.ends()).with_coupled(coupled)
    }

    /// Takes the rigid motions off the prescribed values; `diagonal` is that of K.
    pub(super) fn take_off_motion(
        &mut self,
        model: &Model,
        diagonal: impl FnOnce(&DeviceMesh) -> Result<Vec<f64>>,
    ) -> Result<()> {
        self.supports = Supports::new(model, &self.numbering);
        if let Some(couplings) = &self.couplings {
            // The values of couplings are those of the whole displacement: no motion is taken off.
            couplings.values.iter().for_each(|(slave, value)| self.supports.prescribed[*slave] = *value);
            return Ok(());
        }
        // Springs strain where the body moves.
        if model.springs.is_empty() && self.supports.prescribed.iter().any(|value| *value != 0.0) {
            let weights = diagonal(&self.mesh)?;
            motion::take_off(&mut self.supports, &self.parts.lists, &self.coords, &weights);
        }
        Ok(())
    }

    /// `K w_D`, w_D what is prescribed; empty where that is 0.
    pub(super) fn prescribed_forces(&self, space: &Space) -> Result<Vec<f64>> {
        let prescribed = &self.supports.prescribed;
        if prescribed.iter().all(|value| *value == 0.0) {
            return Ok(Vec::new());
        }
        space.take(self.mesh.internal_force(space, &space.upload(prescribed)?, None)?)
    }

    /// The right-hand side `f - K w_D` of the loads, from the [`Self::prescribed_forces`]: what elimination makes of it.
    fn lifted(&self, loads: &Loads, forces: &[f64]) -> Vec<f64> {
        let force = |i: usize| forces.get(i).copied().unwrap_or(0.0);
        let mut lifted: Vec<f64> = parallel::map_indices(loads.all.len(), &|i| loads.all[i] - force(i));
        self.free(&mut lifted);
        lifted
    }

    /// The right-hand side without loads.
    pub(super) fn forces_of_prescribed(&self, space: &Space) -> Result<Vec<f64>> {
        let mut forces = vec![0.0; self.supports.prescribed.len()];
        forces.iter_mut().zip(self.prescribed_forces(space)?).for_each(|(f, prescribed)| *f -= prescribed);
        self.free(&mut forces);
        Ok(forces)
    }

    /// Gives a vector what is coupled.
    pub(super) fn expand(&self, space: &Space, u: &mut Buffer<f64>) -> Result<()> {
        self.couplings.as_ref().map_or(Ok(()), |couplings| couplings.on_device.expand(space, u))
    }

    /// Leaves forces where nothing is prescribed, on what others follow.
    pub(super) fn free(&self, forces: &mut [f64]) {
        self.supports.free_part(forces);
        self.couplings.iter().for_each(|couplings| couplings.rows.restrict(forces));
    }

    /// The loads of a case, with their right-hand side.
    pub(super) fn loading<T: Real>(&self, space: &Space, model: &Model, case: usize) -> Result<(Loading, Vec<f64>)> {
        let loads = Loads::new(space, model, case, (&self.numbering, &self.mesh), &self.coords)?;
        self.right_side::<T>(space, loads)
    }

    /// Takes what follows of the loads that it has; returns the right-hand side.
    fn take_right_side<T: Real>(&mut self, space: &Space) -> Result<Vec<f64>> {
        let loads = std::mem::take(&mut self.loading.loads);
        let (loading, f) = self.right_side::<T>(space, loads)?;
        self.loading = loading;
        Ok(f)
    }

    /// Loads with their right-hand side: `T^T (f - K w_D)` where something is coupled.
    fn right_side<T: Real>(&self, space: &Space, loads: Loads) -> Result<(Loading, Vec<f64>)> {
        let forces = self.prescribed_forces(space)?;
        let f = self.lifted(&loads, &forces);
        Ok((self.loaded::<T>(loads, &f, &forces)?, f))
    }

    /// What follows of loads whose right-hand side is known, and of the [`Self::prescribed_forces`], both
    /// `[n_nodes][components]` flat, in double.
    ///
    /// # Errors
    ///
    /// [`Error::Breakdown`] where the loads of a part are too small for T.
    fn loaded<T: Real>(&self, loads: Loads, rhs: &[f64], forces: &[f64]) -> Result<Loading> {
        let (size, members) = (self.supports.components, self.parts.members());
        let entries = |part: usize| entries_of(members.of(part), size);
        let largest_of = |part: usize| {
            let rows = members.of(part);
            let most = |range: Range<usize>| entries_of(&rows[range], size).map(|k| rhs[k].abs()).fold(0.0, f64::max);
            parallel::map_ranges(rows.len(), PART, &most).into_iter().fold(0.0, f64::max)
        };
        let largest: Vec<f64> = (0..members.n_parts()).map(largest_of).collect();
        largest.iter().try_for_each(|load| check_magnitude::<T>(*load))?;
        let active = largest.iter().map(|load| *load > 0.0).collect();
        let (mut offset, mut weights) = (vec![0.0; members.n_parts()], Vec::new());
        let prescribed = &self.supports.prescribed;
        if !forces.is_empty() {
            let work = |k: usize| prescribed[k] * forces[k];
            offset = (0..members.n_parts()).map(|part| entries(part).map(work).sum()).collect();
            let mut applied = loads.all.clone();
            self.couplings.iter().for_each(|couplings| couplings.rows.restrict(&mut applied));
            weights = rhs.iter().zip(&applied).map(|(rhs, applied)| 2.0 * applied - rhs).collect();
            self.supports.free_part(&mut weights);
        }
        Ok(Loading { loads, norm_f: stress::norm(rhs), offset, active, weights })
    }

    /// What errors under some loads are measured by; `inverse` is that of the diagonal of K.
    pub(super) fn energy_norm<'a, T: Real>(
        &'a self,
        space: &Space,
        loading: &'a Loading,
        body: &'a dyn Body<T>,
        coupling: Option<&'a Coupling<T>>,
        inverse: impl FnOnce() -> Result<Buffer<T>>,
    ) -> Result<EnergyNorm<'a, T>> {
        let rounded = |values: &[f64]| space.upload_vec(values.iter().map(|v| T::from_f64(*v)).collect());
        let some = |values: &[f64]| if loading.weights.is_empty() { Ok(None) } else { rounded(values).map(Some) };
        let Parts { lists, layout, several, .. } = &self.parts;
        let (pieces, diagonal) = match several {
            None => (lists, None),
            Some((_, pieces)) => {
                let diagonal = reciprocals(&space.take(inverse()?)?);
                (pieces, Some(space.upload_vec(diagonal.iter().map(|entry| *entry as f32).collect())?))
            }
        };
        let coords = self.mesh.coords();
        let DeviceSupports { fixed, slanted, .. } = self.supports.upload(space)?;
        Ok(EnergyNorm {
            parts: lists,
            coords: (coords, &self.coords),
            active: &loading.active,
            offset: &loading.offset,
            weights: some(&loading.weights)?,
            prescribed: some(&self.supports.prescribed)?,
            coupling,
            groups: Groups::new(pieces, coords, layout, (fixed, slanted), diagonal),
            body,
        })
    }
}

/// The entries of some rows of `size` components.
fn entries_of(rows: &[u32], size: usize) -> impl Iterator<Item = usize> + '_ {
    rows.iter().flat_map(move |row| size * *row as usize..size * (*row as usize + 1))
}

/// The diagonal of a matrix from its inverse; 0 where that is 0.
pub(super) fn reciprocals<T: Real>(inverse: &[T]) -> Vec<f64> {
    inverse.iter().map(|inverse| quotient(1.0, inverse.to_f64())).collect()
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
        let (operator, strategy, f) = match made {
            Some((mut matrix, strategy)) => {
                timings.assembly += phase.next("boundary");
                let f = constrain(space, model, &mut body, &mut matrix)?;
                (Operator::Assembled(matrix), strategy, f)
            }
            None => {
                timings.setup += phase.next("boundary");
                let product = MatrixFree::new(space, &body.mesh, &body.supports, Division::default())?;
                body.take_off_motion(model, |_| space.download(product.diagonal()))?;
                let f = body.take_right_side::<T>(space)?.into_iter().map(T::from_f64).collect();
                (Operator::MatrixFree(product), Strategy::RowOwner, space.upload_vec(f)?)
            }
        };
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
        self.body.supports.eliminate(space, other, &mut space.zeros(self.f.len())?)
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
        self.f = constrain(space, model, &mut self.body, matrix)?;
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
        Ok((loading, space.upload_vec(f.into_iter().map(T::from_f64).collect())?))
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
        let start = space.upload_vec(start.iter().map(|v| T::from_f64(*v)).collect())?;
        self.iterate_on(space, iteration, start, options, monitor)
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
        let coupled = Coupled::new(self.operator.product(), self.coupling.as_deref());
        let shared = Shared::new(coupled.operator(), self.halo.as_ref());
        let equations = Equations::new(shared.operator(), &self.f).measured(Some(&energy));
        let outcome = iteration.solve(space, &equations, &mut v, options, monitor)?;
        Ok((self.displacements(space, v)?, outcome))
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

/// A matrix and the strategy that it is assembled by.
pub(super) type Made<T> = (Matrix<T>, Strategy);

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

/// A mesh and its matrix before supports.
pub(super) fn unsupported<T: Real>(
    space: &Space,
    (model, step): (&Model, usize),
    plan: &Plan,
    (phase, timings): (&mut Phase, &mut Timings),
) -> Result<(Numbering, DeviceMesh, Made<T>)> {
    let format = plan.format.unwrap_or(sparse::AUTO);
    let strategy = plan.assembly.unwrap_or(Strategy::RowOwner);
    let Topology { numbering, pattern, blocks, coords } =
        Topology::new(space, &model.mesh, &model.constraints.pairs(), plan.ordering, DEGREE_WINDOW)?;
    let mut matrix = Matrix::zeros(space, format, model.analysis.components(), &pattern, Tuning::default())?;
    let mut mesh = DeviceMesh::at_step(space, (model, step), blocks, coords)?;
    mesh.addition = Addition::new(space, model, &numbering)?;
    let mut assembly = Assembly::new(space, &mesh, &pattern, strategy)?;
    space.finish()?;
    timings.setup += phase.next("assembly");
    assembly.assemble(space, &mesh, &mut matrix)?;
    Ok((numbering, mesh, (matrix, strategy)))
}

/// A body that has no matrix.
pub(super) fn patched(space: &Space, (model, step): (&Model, usize), plan: &Plan) -> Result<Loaded> {
    let (numbering, mesh) = without_matrix(space, (model, step))?;
    Loaded::new(space, model, plan.method, numbering, mesh)
}

/// A mesh that has no matrix.
pub(super) fn without_matrix(space: &Space, (model, step): (&Model, usize)) -> Result<(Numbering, DeviceMesh)> {
    let Topology { numbering, blocks, coords, .. } = Topology::without_matrix(space, &model.mesh)?;
    let mut mesh = DeviceMesh::at_step(space, (model, step), blocks, coords)?;
    mesh.addition = Addition::new(space, model, &numbering)?;
    Ok((numbering, mesh))
}

/// Refuses the largest load of a part if T does not hold it to its digits, or double not its square.
fn check_magnitude<T: Real>(load: f64) -> Result<()> {
    let lost = (T::from_f64(load).to_f64() - load).abs();
    let is_held = lost <= T::EPSILON.to_f64() * load && load * load >= f64::MIN_POSITIVE;
    if load == 0.0 || is_held { Ok(()) } else { Err(Error::Breakdown) }
}

/// Applies supports to a matrix and to the loads; returns the right-hand side in the matrix's precision.
fn constrain<T: Real>(space: &Space, model: &Model, body: &mut Loaded, matrix: &mut Matrix<T>) -> Result<Buffer<T>> {
    body.take_off_motion(model, |_| Ok(reciprocals(&space.take(inverse_diagonal(space, matrix)?)?)))?;
    let mut f = space.upload(&body.loading.loads.all)?;
    body.supports.eliminate(space, matrix, &mut f)?;
    let mut f = space.take(f)?;
    // Elimination has lifted what supports prescribe, not the values of couplings.
    if body.couplings.is_some() {
        f = body.take_right_side::<T>(space)?;
    } else {
        let loads = std::mem::take(&mut body.loading.loads);
        body.loading = body.loaded::<T>(loads, &f, &body.prescribed_forces(space)?)?;
    }
    space.upload_vec(f.into_iter().map(T::from_f64).collect())
}
