//! A solution to compare with, which owes nothing to a stopping rule.
//!
//! From each connected part the rigid motion g is taken off that fits its prescribed values best, so that no digits go
//! to a motion that strains nothing; w = u - g is solved for by a sparse factor, and refined until corrections are below
//! the rounding of doubles: `r = f - K w`, `w += L^-T L^-1 r`. K w is summed up element by element from the stresses, so
//! that the rounding of K's entries is no part of it, and w is held in extended precision.

use super::extended::Extended;
use super::matrix::Stiffness;
use super::rigid::Modes;
use crate::matrices;
use kernels_rs::material::von_mises;
use warpfem::assembly::{DeviceMesh, Numbering, Supports};
use warpfem::linalg::Space;
use warpfem::mesh::parts::connected_parts;
use warpfem::model::{Model, Physics};
use warpfem::pipeline::Loaded;
use warpfem::result::choices::Format;
use warpfem::result::{DirectError, Error, Result};
use warpfem::solve::direct::{self, Factor};
use warpfem::sparse::{LinOp, Matrix};
use warpfem::stress;

/// Corrections below this fraction of a part's largest displacement end the refinement.
const REFINED: f64 = 1e-17;

/// Most corrections.
const MOST_CORRECTIONS: usize = 30;

/// Prescribed values that are off the rigid motion by less than its rounding are on it.
const ON_MOTION: f64 = 64.0 * f64::EPSILON;

/// One connected part.
pub struct Part {
    /// Its nodes in the solver's numbering, ascending.
    pub nodes: Vec<usize>,
    /// Its rigid motions.
    pub modes: Modes,
    /// The one that is taken off.
    pub motion: Vec<f64>,
    /// `sqrt(w^T K w)`.
    pub energy: f64,
    /// The largest displacement of a node once the part's own best rigid motion is taken off.
    pub deformation: f64,
}

/// The reference of a model.
pub struct Reference {
    /// K before supports.
    pub stiffness: Stiffness,
    /// The solver's numbering.
    pub numbering: Numbering,
    /// Unknowns per node.
    pub components: usize,
    /// The connected parts.
    pub parts: Vec<Part>,
    /// Coordinates of the nodes in the solver's numbering.
    pub coords: Vec<[f64; 3]>,
    /// w, `[n_nodes][components]` flat, in the solver's numbering.
    pub w: Vec<Extended>,
    /// Von Mises stress (the gradient's magnitude for a potential) at the centres, by block of the mesh and cell.
    pub intensity: Vec<Vec<f64>>,
    /// The last correction, relative to the largest displacement of its part: the largest over parts.
    pub correction: f64,
}

impl Reference {
    /// Solves a model.
    ///
    /// # Errors
    ///
    /// [`DirectError::NotBuilt`] if the build has no factor for so many unknowns, and what a factorisation finds.
    pub fn new(model: &Model) -> Result<Reference> {
        let space = Space::cpu();
        let (system, _) = matrices::assemble(&space, model, Format::Bcsr)?;
        let Loaded { numbering, mesh, loading, .. } = &system.body;
        let stiffness = Stiffness::assemble(&space, model, mesh, system.matrix())?;
        // What the model prescribes, whatever has become of it on the way to the system.
        let supports = Supports::new(model, numbering);
        let coords = numbering.gather(&model.mesh.coords);
        let mut parts = parts(model, numbering, &coords);
        let diagonal = stiffness.diagonal();
        let applied = loading.loads.all.clone();
        let mut w = vec![Extended::ZERO; applied.len()];
        for part in &mut parts {
            part.take_off_motion(&supports, &coords, &diagonal, &mut w);
        }
        let factor = factor(&space, system.matrix(), &coords)?;
        let equations = Equations { space: &space, mesh, supports: &supports, applied: &applied, parts: &parts };
        let correction = equations.refine(&*factor, &mut w)?;
        let forces = stiffness.product(&w);
        for part in &mut parts {
            part.energy = part.norm(&w, &forces);
            part.deformation = part.deformation_of(&coords, &w);
        }
        let rounded: Vec<f64> = w.iter().map(|w| w.rounded()).collect();
        let intensity = intensity(&space, model, mesh, &rounded)?;
        let components = supports.components;
        let numbering = numbering.clone();
        Ok(Reference { stiffness, numbering, components, parts, coords, w, intensity, correction })
    }

    /// `u = g + w`, in the solver's numbering.
    pub fn displacement(&self) -> Vec<Extended> {
        let mut u = self.w.clone();
        let components = self.components;
        for part in &self.parts {
            for &node in &part.nodes {
                for i in 0..components {
                    u[node * components + i] += part.modes.motion(&part.motion, self.coords[node], i);
                }
            }
        }
        u
    }
}

impl Part {
    fn components(&self) -> usize {
        self.modes.components()
    }

    /// Its entries of a vector `[n_nodes][components]`.
    pub fn entries(&self) -> impl Iterator<Item = usize> + '_ {
        let components = self.components();
        self.nodes.iter().flat_map(move |node| node * components..(node + 1) * components)
    }

    /// `sqrt(x . y)` over its entries, where rounding may leave less than 0.
    pub fn norm(&self, x: &[Extended], y: &[Extended]) -> f64 {
        let sum = self.entries().fold(Extended::ZERO, |sum, entry| sum + x[entry].by(y[entry])).rounded();
        if sum < 0.0 { 0.0 } else { sum.sqrt() }
    }

    /// The largest magnitude of a vector's entries.
    fn largest(&self, x: &[Extended]) -> f64 {
        self.entries().map(|entry| x[entry].rounded().abs()).fold(0.0, f64::max)
    }

    /// Finds the rigid motion that fits the prescribed values best, and leaves in w by how much they are off it.
    fn take_off_motion(&mut self, supports: &Supports, coords: &[[f64; 3]], weights: &[f64], w: &mut [Extended]) {
        let components = self.components();
        let prescribed: Vec<(usize, usize)> = self
            .nodes
            .iter()
            .flat_map(|&node| (0..components).map(move |i| (node, i)))
            .filter(|&(node, i)| supports.is_fixed(node, i))
            .collect();
        let value = |node: usize, i: usize| supports.prescribed[node * components + i];
        let values: Vec<_> = prescribed
            .iter()
            .map(|&(node, i)| (coords[node], i, value(node, i), weights[node * components + i]))
            .collect();
        self.motion = self.modes.fit(&values);
        let motion = |node: usize, i: usize| self.modes.motion(&self.motion, coords[node], i);
        let size = |(node, i): (usize, usize)| value(node, i).abs().max(motion(node, i).rounded().abs());
        let negligible = ON_MOTION * prescribed.iter().copied().map(size).fold(0.0, f64::max);
        for (node, i) in prescribed {
            let off = Extended::from(value(node, i)) - motion(node, i);
            let is_on = off.rounded().abs() <= negligible;
            w[node * components + i] = if is_on { Extended::ZERO } else { off };
        }
    }

    /// The largest displacement of a node once the best rigid motion is taken off.
    fn deformation_of(&self, coords: &[[f64; 3]], u: &[Extended]) -> f64 {
        let components = self.components();
        let of_node =
            |&node: &usize| (0..components).map(move |i| (coords[node], i, u[node * components + i].rounded(), 1.0));
        let motion = self.modes.fit(&self.nodes.iter().flat_map(of_node).collect::<Vec<_>>());
        let left =
            |node: usize, i: usize| (u[node * components + i] - self.modes.motion(&motion, coords[node], i)).rounded();
        let size = |&node: &usize| (0..components).map(|i| left(node, i).powi(2)).sum::<f64>().sqrt();
        self.nodes.iter().map(size).fold(0.0, f64::max)
    }
}

fn parts(model: &Model, numbering: &Numbering, coords: &[[f64; 3]]) -> Vec<Part> {
    let (labels, n) = connected_parts(&model.mesh);
    let mut nodes = vec![Vec::new(); n];
    for (node, &of_mesh) in numbering.to_mesh.iter().enumerate() {
        nodes[labels[of_mesh as usize] as usize].push(node);
    }
    let components = model.analysis.components();
    let part = |nodes: Vec<usize>| {
        let at: Vec<[f64; 3]> = nodes.iter().map(|&node| coords[node]).collect();
        let modes = Modes::new(components, at.into_iter());
        Part { nodes, modes, motion: Vec::new(), energy: 0.0, deformation: 0.0 }
    };
    nodes.into_iter().map(part).collect()
}

/// The factor of K with supports: sparse, or dense in a build without sparse ones.
fn factor(space: &Space, matrix: &Matrix<f64>, coords: &[[f64; 3]]) -> Result<Box<dyn Factor<f64>>> {
    match direct::sparse::<f64, f64>(space, matrix, coords) {
        Err(Error::Direct(DirectError::NotBuilt { .. })) => {
            direct::check_built(space.on_host(), matrix.n())?;
            direct::dense::<f64, f64>(space, matrix, coords)
        }
        factor => factor,
    }
}

/// `K w = f` in the free entries, `w` given in the others.
struct Equations<'a> {
    space: &'a Space,
    mesh: &'a DeviceMesh,
    supports: &'a Supports,
    applied: &'a [f64],
    parts: &'a [Part],
}

impl Equations<'_> {
    /// Solves for the free entries of w; returns the last correction.
    fn refine(&self, factor: &dyn Factor<f64>, w: &mut [Extended]) -> Result<f64> {
        let space = self.space;
        let mut last = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            let r = space.upload_vec(self.residual(w)?)?;
            let mut d = space.zeros(w.len())?;
            factor.solve(space, &r, &mut d)?;
            let d: Vec<Extended> = space.take(d)?.into_iter().map(Extended::from).collect();
            (0..w.len()).filter(|&entry| self.is_free(entry)).for_each(|entry| w[entry] += d[entry]);
            let relative = |part: &Part| match part.largest(w) {
                0.0 => 0.0,
                largest => part.largest(&d) / largest,
            };
            let correction = self.parts.iter().map(relative).fold(0.0, f64::max);
            let is_done = correction <= REFINED || correction > 0.5 * last;
            last = last.min(correction);
            if is_done {
                break;
            }
        }
        Ok(last)
    }

    fn is_free(&self, entry: usize) -> bool {
        let components = self.supports.components;
        !self.supports.is_fixed(entry / components, entry % components)
    }

    /// `f - K w` in the free entries, 0 in the others.
    fn residual(&self, w: &[Extended]) -> Result<Vec<f64>> {
        let high: Vec<f64> = w.iter().map(|w| w.rounded()).collect();
        let low: Vec<f64> = w.iter().zip(&high).map(|(w, high)| (*w - Extended::from(*high)).rounded()).collect();
        let forces = |w: &[f64]| self.space.take(self.mesh.internal_force(self.space, &self.space.upload(w)?, None)?);
        let (high, low) = (forces(&high)?, forces(&low)?);
        let left = |entry: usize| {
            (Extended::from(self.applied[entry]) - Extended::from(high[entry]) - Extended::from(low[entry])).rounded()
        };
        Ok((0..w.len()).map(|entry| if self.is_free(entry) { left(entry) } else { 0.0 }).collect())
    }
}

/// Von Mises stresses, or magnitudes of a potential's gradient, at the centres.
fn intensity(space: &Space, model: &Model, mesh: &DeviceMesh, w: &[f64]) -> Result<Vec<Vec<f64>>> {
    let (w, n_blocks) = (space.upload(w)?, model.mesh.cells.len());
    if model.analysis.physics() == Physics::Elasticity {
        let stresses = stress::stresses(space, mesh, &w, n_blocks)?;
        return Ok(stresses.iter().map(|block| block.iter().map(|stress| von_mises(*stress)).collect()).collect());
    }
    let gradients = stress::gradients(space, mesh, &w, n_blocks, stress::Asked::Strain)?;
    Ok(gradients.iter().map(|block| block.iter().map(|gradient| stress::norm(gradient)).collect()).collect())
}
