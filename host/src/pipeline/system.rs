//! A model assembled on a backend, and the energy norm that its errors are measured in.

use super::groups::Parts;
use super::{Phase, Timings, loads, motion};
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{Assembly, DeviceMesh, Numbering, Supports, Topology};
use crate::backend::{Backend, Buffer, Vector};
use crate::model::Model;
use crate::precond::inverse_diagonal;
use crate::result::choices::Strategy;
use crate::result::{Error, Outcome, Plan, Result};
use crate::solve::Iteration;
use crate::solve::energy::{Body, EnergyNorm, Equations, Groups};
use crate::solve::{CgOptions, Monitor};
use crate::sparse::{self, Matrix, Tuning};
use crate::stress;
use kernels_rs::assembly::supports::{TotalDisplacement, Unbalanced};
use kernels_rs::blas::quotient;
use kernels_rs::real::Real;
use std::cell::OnceCell;

/// A model assembled on a backend: `K v = f`, with `v` the displacement, or the potential, less what is prescribed.
pub struct System<B: Backend, T: Real> {
    /// The mesh, its supports and loads.
    pub body: Loaded<B>,
    /// K.
    pub matrix: Matrix<B, T>,
    /// f.
    pub f: Vector<B, T>,
    strategy: Strategy,
}

/// A body on a backend with its supports and loads, in the solver's numbering.
pub struct Loaded<B: Backend> {
    /// The solver's numbering.
    pub numbering: Numbering,
    /// The mesh on the backend.
    pub mesh: DeviceMesh<B>,
    /// The supports.
    pub supports: Supports,
    /// All loads as nodal forces, `[n_nodes][components]` flat.
    pub applied: Vec<f64>,
    /// `||f||` of the right-hand side, before rounding.
    pub norm_f: f64,
    pub(super) parts: Parts<B>,
    /// Coordinates of the nodes.
    pub(super) coords: Vec<[f64; 3]>,
    /// `w_D . K w_D` of each part.
    offset: Vec<f64>,
    /// Whether the right-hand side of each part is not 0.
    active: Vec<bool>,
    /// `2 f - b`; empty where nothing is prescribed.
    weights: Vec<f64>,
}

impl<B: Backend> Loaded<B> {
    /// A body whose right-hand side is not known yet.
    pub(super) fn new(backend: &B, model: &Model, numbering: Numbering, mesh: DeviceMesh<B>) -> Result<Self> {
        let applied = loads(backend, model, &numbering, &mesh)?;
        let coords = numbering.gather(&model.mesh.coords);
        Ok(Loaded {
            supports: Supports::new(model, &numbering),
            parts: Parts::new(backend, model, &numbering, &coords)?,
            coords,
            numbering,
            mesh,
            applied,
            norm_f: 0.0,
            offset: Vec::new(),
            active: Vec::new(),
            weights: Vec::new(),
        })
    }

    /// Takes the rigid motions off the prescribed values; `diagonal` is that of K.
    pub(super) fn take_off_motion(
        &mut self,
        model: &Model,
        diagonal: impl FnOnce(&DeviceMesh<B>) -> Result<Vec<f64>>,
    ) -> Result<()> {
        self.supports = Supports::new(model, &self.numbering);
        if self.supports.prescribed.iter().any(|value| *value != 0.0) {
            let weights = diagonal(&self.mesh)?;
            motion::take_off(&mut self.supports, &self.parts.lists, &self.coords, &weights);
        }
        Ok(())
    }

    /// `K w_D`, w_D what is prescribed; empty where that is 0.
    pub(super) fn prescribed_forces(&self, backend: &B) -> Result<Vec<f64>> {
        let prescribed = &self.supports.prescribed;
        if prescribed.iter().all(|value| *value == 0.0) {
            return Ok(Vec::new());
        }
        backend.take(self.mesh.internal_force(backend, &backend.upload(prescribed)?, None)?)
    }

    /// Takes the right-hand side that follows from loads and supports, and the [`Self::prescribed_forces`], both
    /// `[n_nodes][components]` flat, in double.
    ///
    /// # Errors
    ///
    /// [`Error::Breakdown`] where the loads of a part are too small for T.
    pub(super) fn set_rhs<T: Real>(&mut self, rhs: &[f64], forces: &[f64]) -> Result<()> {
        let (size, members) = (self.supports.components, self.parts.members());
        let entries =
            |part: usize| members.of(part).iter().flat_map(|row| size * *row as usize..size * (*row as usize + 1));
        let largest: Vec<f64> =
            (0..members.n_parts()).map(|part| entries(part).map(|k| rhs[k].abs()).fold(0.0, f64::max)).collect();
        largest.iter().try_for_each(|load| check_magnitude::<T>(*load))?;
        self.active = largest.iter().map(|load| *load > 0.0).collect();
        (self.offset, self.weights) = (vec![0.0; members.n_parts()], Vec::new());
        let prescribed = &self.supports.prescribed;
        if !forces.is_empty() {
            let work = |k: usize| prescribed[k] * forces[k];
            self.offset = (0..members.n_parts()).map(|part| entries(part).map(work).sum()).collect();
            let is_fixed = |k: usize| self.supports.is_fixed(k / size, k % size);
            let weight = |k: usize| if is_fixed(k) { 0.0 } else { 2.0 * self.applied[k] - rhs[k] };
            self.weights = (0..rhs.len()).map(weight).collect();
        }
        self.norm_f = stress::norm(rhs);
        Ok(())
    }

    /// What errors are measured by; `inverse` is that of the diagonal of K.
    pub(super) fn energy_norm<'a, T: Real>(
        &'a self,
        backend: &B,
        body: &'a dyn Body<B, T>,
        inverse: impl FnOnce() -> Result<Vector<B, T>>,
    ) -> Result<EnergyNorm<'a, B, T>> {
        let rounded = |values: &[f64]| backend.upload_vec(values.iter().map(|v| T::from_f64(*v)).collect());
        let some = |values: &[f64]| if self.weights.is_empty() { Ok(None) } else { rounded(values).map(Some) };
        let Parts { lists, layout, several, .. } = &self.parts;
        let (pieces, diagonal) = match several {
            None => (lists, None),
            Some((_, pieces)) => {
                let diagonal = reciprocals(&backend.take(inverse()?)?);
                (pieces, Some(backend.upload_vec(diagonal.iter().map(|entry| *entry as f32).collect())?))
            }
        };
        let (coords, fixed) = (self.mesh.coords(), backend.upload(&self.supports.fixed)?);
        Ok(EnergyNorm {
            parts: lists,
            coords: (coords, &self.coords),
            active: &self.active,
            offset: &self.offset,
            weights: some(&self.weights)?,
            prescribed: some(&self.supports.prescribed)?,
            groups: Groups::new(pieces, coords, layout, fixed, diagonal),
            body,
        })
    }
}

/// The diagonal of a matrix from its inverse; 0 where that is 0.
pub(super) fn reciprocals<T: Real>(inverse: &[T]) -> Vec<f64> {
    inverse.iter().map(|inverse| quotient(1.0, inverse.to_f64())).collect()
}

/// How a body strains.
pub(super) struct Strains<'a, B: Backend> {
    backend: &'a B,
    body: &'a Loaded<B>,
    loaded: OnceCell<Loads<B>>,
}

/// Supports and loads on the backend.
struct Loads<B: Backend> {
    fixed: Vector<B, u8>,
    applied: Vector<B, f64>,
}

impl<'a, B: Backend> Strains<'a, B> {
    pub(super) fn new(backend: &'a B, body: &'a Loaded<B>) -> Self {
        Strains { backend, body, loaded: OnceCell::new() }
    }

    /// v as it is, or with what is prescribed, in double.
    fn displacement<T: Real>(&self, v: &Vector<B, T>, total: bool) -> Result<Vector<B, f64>> {
        let prescribed = self.backend.upload(if total { &self.body.supports.prescribed[..] } else { &[] })?;
        let mut w = self.backend.zeros(v.len())?;
        let kernel = TotalDisplacement { v: v.view(), prescribed: prescribed.view(), w: w.view_mut() };
        // SAFETY: all live until `finish`, and have the body's unknowns.
        unsafe { self.backend.run(v.len(), kernel) }?;
        self.backend.finish()?;
        Ok(w)
    }

    /// Supports and loads on the backend.
    fn loads(&self) -> Result<&Loads<B>> {
        if let Some(loads) = self.loaded.get() {
            return Ok(loads);
        }
        let Loaded { supports, applied, .. } = self.body;
        let loads = Loads { fixed: self.backend.upload(&supports.fixed)?, applied: self.backend.upload(applied)? };
        Ok(self.loaded.get_or_init(|| loads))
    }
}

impl<B: Backend, T: Real> Body<B, T> for Strains<'_, B> {
    fn strain_energies(&self, v: &Vector<B, T>, total: bool) -> Result<Vec<f64>> {
        let Some((of_cells, _)) = &self.body.parts.several else { return Ok(Vec::new()) };
        let mesh = &self.body.mesh;
        let cells = stress::cell_energies(self.backend, mesh, &self.displacement(v, total)?)?;
        let mut energies = vec![0.0; self.body.parts.layout.part.len()];
        for (block, cells) in mesh.blocks.iter().zip(cells) {
            for (group, energy) in of_cells[block.cells.index].iter().zip(cells) {
                energies[*group as usize] += energy;
            }
        }
        Ok(energies)
    }

    fn residual(&self, v: &Vector<B, T>, r: &mut Vector<B, T>) -> Result<()> {
        let forces = self.body.mesh.internal_force(self.backend, &self.displacement(v, true)?, None)?;
        let Loads { fixed, applied } = self.loads()?;
        let (fixed, loads, forces, size) = (fixed.view(), applied.view(), forces.view(), self.body.supports.components);
        let kernel = Unbalanced { size, fixed, loads, forces, r: r.view_mut() };
        // SAFETY: all live until `finish`, and have the body's rows.
        unsafe { self.backend.run(self.body.supports.fixed.len(), kernel) }?;
        self.backend.finish()
    }
}

impl<B: Backend, T: Real> System<B, T> {
    /// Assembles a model as a plan says and applies its supports.
    pub fn assemble(backend: &B, model: &Model, plan: &Plan, phase: &mut Phase, timings: &mut Timings) -> Result<Self> {
        // What is needed once is handed over or dropped on the way: at six million tetrahedra the slots, lists and
        // sparsity take half a gigabyte.
        let format = plan.format.unwrap_or(sparse::AUTO);
        let strategy = plan.assembly.unwrap_or(Strategy::RowOwner);
        let Topology { numbering, pattern, blocks, coords } =
            Topology::new(backend, &model.mesh, plan.ordering, DEGREE_WINDOW)?;
        let mut matrix = Matrix::zeros(backend, format, model.analysis.components(), &pattern, Tuning::default())?;
        let mesh = DeviceMesh::new(backend, model, blocks, coords)?;
        let mut assembly = Assembly::new(backend, &mesh, &pattern, strategy)?;
        backend.finish()?;
        timings.setup = phase.next("assembly");
        assembly.assemble(backend, &mesh, &mut matrix)?;
        drop(assembly);
        let mut body = Loaded::new(backend, model, numbering, mesh)?;
        timings.assembly = phase.next("boundary");
        let f = constrain(backend, model, &mut body, &mut matrix)?;
        timings.boundary = phase.next("preconditioner");
        Ok(System { body, matrix, f, strategy })
    }

    /// Assembles it again, in the blocks that it has, for a model of other materials on the same mesh; loads stay as
    /// they are.
    pub fn set_materials(&mut self, backend: &B, model: &Model) -> Result<()> {
        self.body.mesh.set_materials(backend, model)?;
        self.body.parts = Parts::new(backend, model, &self.body.numbering, &self.body.coords)?;
        let mut assembly = Assembly::new(backend, &self.body.mesh, self.matrix.pattern(), self.strategy)?;
        assembly.assemble(backend, &self.body.mesh, &mut self.matrix)?;
        self.f = constrain(backend, model, &mut self.body, &mut self.matrix)?;
        Ok(())
    }

    /// Iterates from 0; returns `v [n]` too.
    pub fn iterate(
        &self,
        backend: &B,
        iteration: &dyn Iteration<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        self.iterate_on(backend, iteration, backend.zeros(self.f.len())?, options, monitor)
    }

    /// As [`System::iterate`] from a `v` that is near, as that of another load or of other materials may be.
    pub fn iterate_from(
        &self,
        backend: &B,
        iteration: &dyn Iteration<B, T>,
        start: &[f64],
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        let start = backend.upload_vec(start.iter().map(|v| T::from_f64(*v)).collect())?;
        self.iterate_on(backend, iteration, start, options, monitor)
    }

    fn iterate_on(
        &self,
        backend: &B,
        iteration: &dyn Iteration<B, T>,
        mut v: Vector<B, T>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        let strains = Strains::new(backend, &self.body);
        let energy = self.body.energy_norm(backend, &strains, || inverse_diagonal(backend, &self.matrix))?;
        let equations = Equations::new(&self.matrix, &self.f).measured(Some(&energy));
        let outcome = iteration.solve(backend, &equations, &mut v, options, monitor)?;
        Ok((backend.take(v)?.into_iter().map(T::to_f64).collect(), outcome))
    }
}

/// Refuses the largest load of a part if T does not hold it to its digits, or double not its square.
fn check_magnitude<T: Real>(load: f64) -> Result<()> {
    let lost = (T::from_f64(load).to_f64() - load).abs();
    let is_held = lost <= T::EPSILON.to_f64() * load && load * load >= f64::MIN_POSITIVE;
    if load == 0.0 || is_held { Ok(()) } else { Err(Error::Breakdown) }
}

/// Applies supports to a matrix and to the loads; returns the right-hand side in the matrix's precision.
fn constrain<B: Backend, T: Real>(
    backend: &B,
    model: &Model,
    body: &mut Loaded<B>,
    matrix: &mut Matrix<B, T>,
) -> Result<Vector<B, T>> {
    body.take_off_motion(model, |_| Ok(reciprocals(&backend.take(inverse_diagonal(backend, matrix)?)?)))?;
    let mut f = backend.upload(&body.applied)?;
    body.supports.eliminate(backend, matrix, &mut f)?;
    let f = backend.take(f)?;
    body.set_rhs::<T>(&f, &body.prescribed_forces(backend)?)?;
    backend.upload_vec(f.into_iter().map(T::from_f64).collect())
}
