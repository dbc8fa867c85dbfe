//! A model assembled on a device, and the energy norm that its errors are measured in.

use super::groups::Parts;
use super::{Phase, Timings, loads, motion};
use crate::assembly::numbering::DEGREE_WINDOW;
use crate::assembly::{Assembly, DeviceMesh, Numbering, Supports, Topology};
use crate::device::Buffer;
use crate::linalg::Space;
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

/// A model assembled on a device: `K v = f`, with `v` the displacement, or the potential, less what is prescribed.
pub struct System<T: Real> {
    /// The mesh, its supports and loads.
    pub body: Loaded,
    /// K.
    pub matrix: Matrix<T>,
    /// f.
    pub f: Buffer<T>,
    strategy: Strategy,
}

/// A body on a device with its supports and loads, in the solver's numbering.
pub struct Loaded {
    /// The solver's numbering.
    pub numbering: Numbering,
    /// The mesh on the device.
    pub mesh: DeviceMesh,
    /// The supports.
    pub supports: Supports,
    /// All loads as nodal forces, `[n_nodes][components]` flat.
    pub applied: Vec<f64>,
    /// `||f||` of the right-hand side, before rounding.
    pub norm_f: f64,
    pub(super) parts: Parts,
    /// Coordinates of the nodes.
    pub(super) coords: Vec<[f64; 3]>,
    /// `w_D . K w_D` of each part.
    offset: Vec<f64>,
    /// Whether the right-hand side of each part is not 0.
    active: Vec<bool>,
    /// `2 f - b`; empty where nothing is prescribed.
    weights: Vec<f64>,
}

impl Loaded {
    /// A body whose right-hand side is not known yet.
    pub(super) fn new(space: &Space, model: &Model, numbering: Numbering, mesh: DeviceMesh) -> Result<Self> {
        let applied = loads(space, model, 0, &numbering, &mesh)?;
        let coords = numbering.gather(&model.mesh.coords);
        Ok(Loaded {
            supports: Supports::new(model, &numbering),
            parts: Parts::new(space, model, &numbering, &coords)?,
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
        diagonal: impl FnOnce(&DeviceMesh) -> Result<Vec<f64>>,
    ) -> Result<()> {
        self.supports = Supports::new(model, &self.numbering);
        if self.supports.prescribed.iter().any(|value| *value != 0.0) {
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

    /// The right-hand side `f - K w_D` of the loads, from the [`Self::prescribed_forces`]; 0 where it is prescribed: what
    /// elimination makes of it.
    pub(super) fn lifted(&self, forces: &[f64]) -> Vec<f64> {
        let Loaded { supports, applied, .. } = self;
        let size = supports.components;
        let force = |i: usize| forces.get(i).copied().unwrap_or(0.0);
        let free = |i: usize| if supports.is_fixed(i / size, i % size) { 0.0 } else { applied[i] - force(i) };
        (0..applied.len()).map(free).collect()
    }

    /// Takes the loads of another case; returns the right-hand side.
    pub(super) fn set_loads<T: Real>(&mut self, space: &Space, model: &Model, case: usize) -> Result<Vec<f64>> {
        self.applied = loads(space, model, case, &self.numbering, &self.mesh)?;
        let forces = self.prescribed_forces(space)?;
        let f = self.lifted(&forces);
        self.set_rhs::<T>(&f, &forces)?;
        Ok(f)
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
        space: &Space,
        body: &'a dyn Body<T>,
        inverse: impl FnOnce() -> Result<Buffer<T>>,
    ) -> Result<EnergyNorm<'a, T>> {
        let rounded = |values: &[f64]| space.upload_vec(values.iter().map(|v| T::from_f64(*v)).collect());
        let some = |values: &[f64]| if self.weights.is_empty() { Ok(None) } else { rounded(values).map(Some) };
        let Parts { lists, layout, several, .. } = &self.parts;
        let (pieces, diagonal) = match several {
            None => (lists, None),
            Some((_, pieces)) => {
                let diagonal = reciprocals(&space.take(inverse()?)?);
                (pieces, Some(space.upload_vec(diagonal.iter().map(|entry| *entry as f32).collect())?))
            }
        };
        let (coords, fixed) = (self.mesh.coords(), space.upload(&self.supports.fixed)?);
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
pub(super) struct Strains<'a> {
    space: &'a Space,
    body: &'a Loaded,
    loaded: OnceCell<Loads>,
}

/// Supports and loads on the device.
struct Loads {
    fixed: Buffer<u8>,
    applied: Buffer<f64>,
}

impl<'a> Strains<'a> {
    pub(super) fn new(space: &'a Space, body: &'a Loaded) -> Self {
        Strains { space, body, loaded: OnceCell::new() }
    }

    /// v as it is, or with what is prescribed, in double.
    fn displacement<T: Real>(&self, v: &Buffer<T>, total: bool) -> Result<Buffer<f64>> {
        let prescribed = self.space.upload(if total { &self.body.supports.prescribed[..] } else { &[] })?;
        let mut w = self.space.zeros(v.len())?;
        let kernel = TotalDisplacement { v: v.view(), prescribed: prescribed.view(), w: w.view_mut() };
        // SAFETY: all live until `finish`, and have the body's unknowns.
        unsafe { self.space.run(v.len(), kernel) }?;
        self.space.finish()?;
        Ok(w)
    }

    /// Supports and loads on the device.
    fn loads(&self) -> Result<&Loads> {
        if let Some(loads) = self.loaded.get() {
            return Ok(loads);
        }
        let Loaded { supports, applied, .. } = self.body;
        let loads = Loads { fixed: self.space.upload(&supports.fixed)?, applied: self.space.upload(applied)? };
        Ok(self.loaded.get_or_init(|| loads))
    }
}

impl<T: Real> Body<T> for Strains<'_> {
    fn strain_energies(&self, v: &Buffer<T>, total: bool) -> Result<Vec<f64>> {
        let Some((of_cells, _)) = &self.body.parts.several else { return Ok(Vec::new()) };
        let mesh = &self.body.mesh;
        let cells = stress::cell_energies(self.space, mesh, &self.displacement(v, total)?)?;
        let mut energies = vec![0.0; self.body.parts.layout.part.len()];
        for (block, cells) in mesh.blocks.iter().zip(cells) {
            for (group, energy) in of_cells[block.cells.index].iter().zip(cells) {
                energies[*group as usize] += energy;
            }
        }
        Ok(energies)
    }

    fn residual(&self, v: &Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
        let forces = self.body.mesh.internal_force(self.space, &self.displacement(v, true)?, None)?;
        let Loads { fixed, applied } = self.loads()?;
        let (fixed, loads, forces, size) = (fixed.view(), applied.view(), forces.view(), self.body.supports.components);
        let kernel = Unbalanced { size, fixed, loads, forces, r: r.view_mut() };
        // SAFETY: all live until `finish`, and have the body's rows.
        unsafe { self.space.run(self.body.supports.fixed.len(), kernel) }?;
        self.space.finish()
    }
}

impl<T: Real> System<T> {
    /// Assembles a model as a plan says and applies its supports.
    pub fn assemble(
        space: &Space,
        model: &Model,
        plan: &Plan,
        phase: &mut Phase,
        timings: &mut Timings,
    ) -> Result<Self> {
        // What is needed once is handed over or dropped on the way: at six million tetrahedra the slots, lists and
        // sparsity take half a gigabyte.
        let format = plan.format.unwrap_or(sparse::AUTO);
        let strategy = plan.assembly.unwrap_or(Strategy::RowOwner);
        let Topology { numbering, pattern, blocks, coords } =
            Topology::new(space, &model.mesh, plan.ordering, DEGREE_WINDOW)?;
        let mut matrix = Matrix::zeros(space, format, model.analysis.components(), &pattern, Tuning::default())?;
        let mesh = DeviceMesh::new(space, model, blocks, coords)?;
        let mut assembly = Assembly::new(space, &mesh, &pattern, strategy)?;
        space.finish()?;
        timings.setup = phase.next("assembly");
        assembly.assemble(space, &mesh, &mut matrix)?;
        drop(assembly);
        let mut body = Loaded::new(space, model, numbering, mesh)?;
        timings.assembly = phase.next("boundary");
        let f = constrain(space, model, &mut body, &mut matrix)?;
        timings.boundary = phase.next("preconditioner");
        Ok(System { body, matrix, f, strategy })
    }

    /// Assembles it again, in the blocks that it has, for a model of other materials on the same mesh; loads stay as
    /// they are.
    pub fn set_materials(&mut self, space: &Space, model: &Model) -> Result<()> {
        self.body.mesh.set_materials(space, model)?;
        self.body.parts = Parts::new(space, model, &self.body.numbering, &self.body.coords)?;
        let mut assembly = Assembly::new(space, &self.body.mesh, self.matrix.pattern(), self.strategy)?;
        assembly.assemble(space, &self.body.mesh, &mut self.matrix)?;
        self.f = constrain(space, model, &mut self.body, &mut self.matrix)?;
        Ok(())
    }

    /// Takes the loads of another case of the model.
    pub fn set_loads(&mut self, space: &Space, model: &Model, case: usize) -> Result<()> {
        let f = self.body.set_loads::<T>(space, model, case)?;
        self.f = space.upload_vec(f.into_iter().map(T::from_f64).collect())?;
        Ok(())
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
        let strains = Strains::new(space, &self.body);
        let energy = self.body.energy_norm(space, &strains, || inverse_diagonal(space, &self.matrix))?;
        let equations = Equations::new(&self.matrix, &self.f).measured(Some(&energy));
        let outcome = iteration.solve(space, &equations, &mut v, options, monitor)?;
        Ok((space.take(v)?.into_iter().map(T::to_f64).collect(), outcome))
    }
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
    let mut f = space.upload(&body.applied)?;
    body.supports.eliminate(space, matrix, &mut f)?;
    let f = space.take(f)?;
    body.set_rhs::<T>(&f, &body.prescribed_forces(space)?)?;
    space.upload_vec(f.into_iter().map(T::from_f64).collect())
}
