//! A body on a device with its supports and loads, and the energy norm that its errors are measured in.

use super::groups::Parts;
use super::loads::Loads;
use super::motion;
use super::ranks::Ghosts;
use crate::assembly::{Couplings, DeviceMesh, DeviceSupports, Numbering, Supports};
use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::Model;
use crate::parallel::{self, PART};
use crate::precond::Context;
use crate::result::choices::Method;
use crate::result::{Error, Result};
use crate::solve::energy::{Body, EnergyNorm, Groups};
use crate::sparse::Coupling;
use crate::stress;
use kernels_rs::blas::quotient;
use kernels_rs::real::Real;
use std::ops::Range;
use std::rc::Rc;

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
        if !self.supports.motion.is_empty() {
            self.supports = Supports::new(model, &self.numbering);
        }
        if let Some(couplings) = &self.couplings {
            // The values of couplings are those of the whole displacement: no motion is taken off.
            couplings.values.iter().for_each(|(slave, value)| self.supports.prescribed[*slave] = *value);
            return Ok(());
        }
        // Springs strain where the body moves.
        if model.springs.is_empty() && !self.supports.is_at_rest() {
            let weights = diagonal(&self.mesh)?;
            motion::take_off(&mut self.supports, &self.parts.lists, &self.coords, &weights);
        }
        Ok(())
    }

    /// Leaves no more than a component of what supports prescribe; returns the supports as they were.
    pub(super) fn keep_component(&mut self, model: &Model, component: usize) -> Supports {
        let mut supports = Supports::new(model, &self.numbering);
        let (n, size) = (supports.prescribed.len(), supports.components);
        let others = supports.prescribed.iter_mut().enumerate().filter(|(k, _)| k % size != component);
        others.for_each(|(_, value)| *value = 0.0);
        if model.springs.is_empty() && self.couplings.is_none() {
            motion::take_off(&mut supports, &self.parts.lists, &self.coords, &vec![1.0; n]);
        }
        std::mem::replace(&mut self.supports, supports)
    }

    /// `K w_D`, w_D what is prescribed; empty where that is 0.
    pub(super) fn prescribed_forces(&self, space: &Space) -> Result<Vec<f64>> {
        if self.supports.is_at_rest() {
            return Ok(Vec::new());
        }
        space.take(self.mesh.internal_force(space, &space.upload(&self.supports.prescribed)?, None)?)
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
    pub(super) fn take_right_side<T: Real>(&mut self, space: &Space) -> Result<Vec<f64>> {
        let loads = std::mem::take(&mut self.loading.loads);
        let (loading, f) = self.right_side::<T>(space, loads)?;
        self.loading = loading;
        Ok(f)
    }

    /// Loads with their right-hand side, `f - K w_D` of what is free: `T^T (f - K w_D)` where something is coupled.
    fn right_side<T: Real>(&self, space: &Space, loads: Loads) -> Result<(Loading, Vec<f64>)> {
        let forces = self.prescribed_forces(space)?;
        let force = |i: usize| forces.get(i).copied().unwrap_or(0.0);
        let mut f: Vec<f64> = parallel::map_indices(loads.all.len(), &|i| loads.all[i] - force(i));
        self.free(&mut f);
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
        let rounded = |values: &[f64]| in_precision(space, values.iter().copied()).map(Some);
        let some = |values: &[f64]| if loading.weights.is_empty() { Ok(None) } else { rounded(values) };
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

/// A vector on a device in the precision of the iteration.
pub(super) fn in_precision<T: Real>(space: &Space, vector: impl IntoIterator<Item = f64>) -> Result<Buffer<T>> {
    space.upload_vec(vector.into_iter().map(T::from_f64).collect())
}

/// The diagonal of a matrix from its inverse; 0 where that is 0.
pub(super) fn reciprocals<T: Real>(inverse: &[T]) -> Vec<f64> {
    inverse.iter().map(|inverse| quotient(1.0, inverse.to_f64())).collect()
}

/// Refuses the largest load of a part if T does not hold it to its digits, or double not its square.
fn check_magnitude<T: Real>(load: f64) -> Result<()> {
    let lost = (T::from_f64(load).to_f64() - load).abs();
    let is_held = lost <= T::EPSILON.to_f64() * load && load * load >= f64::MIN_POSITIVE;
    if load == 0.0 || is_held { Ok(()) } else { Err(Error::Breakdown) }
}
