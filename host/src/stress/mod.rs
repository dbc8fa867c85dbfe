//! What follows from the displacements: stress in every cell, strain energy, reactions, equilibrium. Of a potential its
//! gradient, and flows for reactions. At the nodes: [`nodal_stress`], [`nodal_gradient`].

mod nodal;

use crate::assembly::forms::{match_revolved, with_body};
use crate::assembly::{DeviceBlock, DeviceMesh, Supports};
use crate::device::{Buffer, Plain, check_memory};
use crate::element::dispatch::{match_element, with_element};
use crate::linalg::Space;
use crate::model::Physics;
use crate::result::Result;
use kernels_rs::element::Point;
use kernels_rs::form::{Constitutive, General, Scalar};
use kernels_rs::material::von_mises;
use kernels_rs::stress::{Sample, Sampled};
pub use nodal::{AtNodes, nodal_gradient, nodal_stress};
use rayon::prelude::*;

/// Stresses, by position in `mesh.cells` (empty for cells that are no solids), then by cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stresses {
    /// Stress at the centroid, Voigt order.
    pub stress: Vec<Vec<[f64; 6]>>,
    /// Von Mises stress at the centroid.
    pub von_mises: Vec<Vec<f64>>,
    /// Strain energy of the whole body.
    pub strain_energy: f64,
}

/// Recovers the stresses of displacements `u [n_nodes][dim]`, in the solver's numbering.
pub fn recover(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>, n_cell_blocks: usize) -> Result<Stresses> {
    let mut stresses = Stresses {
        stress: vec![Vec::new(); n_cell_blocks],
        von_mises: vec![Vec::new(); n_cell_blocks],
        strain_energy: 0.0,
    };
    for block in &mesh.blocks {
        let stress = space.take(sampled::<General>(space, mesh, block, &at_centroid(block), u)?.stress)?;
        stresses.von_mises[block.cells.index] = stress.par_iter().map(|stress| von_mises(*stress)).collect();
        stresses.stress[block.cells.index] = stress;
        stresses.strain_energy += energies(space, mesh, block, u)?.iter().sum::<f64>();
    }
    Ok(stresses)
}

/// The gradients of a potential `u [n_nodes]`, in the solver's numbering, at the centroids of the cells: by position in
/// `mesh.cells` (empty for cells that are not solved on), then by cell.
pub fn gradients(
    space: &Space,
    mesh: &DeviceMesh,
    u: &Buffer<f64>,
    n_cell_blocks: usize,
) -> Result<Vec<Vec<[f64; 3]>>> {
    let mut gradients = vec![Vec::new(); n_cell_blocks];
    for block in &mesh.blocks {
        let found = sampled::<Scalar>(space, mesh, block, &at_centroid(block), u)?;
        gradients[block.cells.index] = space.take(found.strain)?;
    }
    Ok(gradients)
}

/// The centroid of a block's reference element.
fn at_centroid(block: &DeviceBlock) -> [Point; 1] {
    [(block.cells.kind.info().domain.centroid(), 1.0)]
}

/// Strains and stresses at points of the cells of a block, `[n_cells][n_points]`; of a potential gradients, and these times
/// the conductivity.
pub struct AtPoints<P: Constitutive> {
    /// Strains or gradients.
    pub strain: Buffer<P::Strain>,
    /// Stresses, or gradients times the conductivity.
    pub stress: Buffer<P::Strain>,
}

/// Those of `u [n_nodes][size]`, in the solver's numbering.
///
/// # Errors
///
/// [`crate::result::Error::OutOfMemory`]
pub fn sampled<P: Constitutive>(
    space: &Space,
    mesh: &DeviceMesh,
    block: &DeviceBlock,
    points: &[Point],
    u: &Buffer<f64>,
) -> Result<AtPoints<P>>
where
    P::Strain: Plain,
{
    let n = block.cells.n_cells * points.len();
    check_memory(space, 2 * (n * size_of::<P::Strain>()) as u64, " for stress")?;
    let mut found = AtPoints::<P> { strain: space.zeros(n)?, stress: space.zeros(n)? };
    let none = &mut space.zeros(0)?;
    run::<P>(space, mesh, block, points, u, [&mut found.strain, &mut found.stress], none)?;
    Ok(found)
}

/// The strain energy of each cell of a block; of a potential half of `int k |grad u|^2`.
fn energies(space: &Space, mesh: &DeviceMesh, block: &DeviceBlock, u: &Buffer<f64>) -> Result<Vec<f64>> {
    let (mut energy, rule) = (space.zeros(block.cells.n_cells)?, block.cells.kind.info().shape.quadrature);
    match mesh.form.physics {
        Physics::Elasticity => {
            let none = [&mut space.zeros(0)?, &mut space.zeros(0)?];
            run::<General>(space, mesh, block, rule, u, none, &mut energy)?;
        }
        Physics::Conduction => {
            let none = [&mut space.zeros(0)?, &mut space.zeros(0)?];
            run::<Scalar>(space, mesh, block, rule, u, none, &mut energy)?;
        }
    }
    space.take(energy)
}

/// Launches [`Sample`]; what is empty is not asked for.
fn run<P: Constitutive>(
    space: &Space,
    mesh: &DeviceMesh,
    block: &DeviceBlock,
    points: &[Point],
    u: &Buffer<f64>,
    [strain, stress]: [&mut Buffer<P::Strain>; 2],
    energy: &mut Buffer<f64>,
) -> Result<()>
where
    P::Strain: Plain,
{
    let points: Vec<[f64; 4]> = points.iter().map(|&([x, y, z], weight)| [x, y, z, weight]).collect();
    let points = space.upload_vec(points)?;
    let out = Sampled { strain: strain.view_mut(), stress: stress.view_mut(), energy: energy.view_mut() };
    let (view, u, points) = (mesh.general_view(block), u.view(), points.view());
    // SAFETY: all live until `finish`, and have the shapes that the kernel documents.
    with_body!(mesh.form, block.cells.kind, E => unsafe {
        space.run(block.cells.n_cells, Sample::<E, P>::new(view, points, u, out))
    })?;
    space.finish()
}

/// Twice the strain energy of each cell, or `int k |grad u|^2`, by block of the mesh: `[n_cells]` each.
pub fn cell_energies(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>) -> Result<Vec<Vec<f64>>> {
    let of_block =
        |block: &DeviceBlock| Ok(energies(space, mesh, block, u)?.into_iter().map(|half| 2.0 * half).collect());
    mesh.blocks.iter().map(of_block).collect()
}

/// Forces of the supports on the body, `K u - f` in the prescribed components and 0 elsewhere, `[n_nodes][dim]` flat.
pub fn support_forces(supports: &Supports, internal: &[f64], applied: &[f64]) -> Vec<f64> {
    let dim = supports.components;
    let force = |entry: usize| match supports.is_fixed(entry / dim, entry % dim) {
        true => internal[entry] - applied[entry],
        false => 0.0,
    };
    (0..internal.len()).into_par_iter().map(force).collect()
}

/// `||f - K u||` over the free components, from the internal forces and the loads, `[n_nodes][dim]` flat.
pub fn free_residual(supports: &Supports, internal: &[f64], applied: &[f64]) -> f64 {
    let dim = supports.components;
    let free = (0..internal.len()).filter(|entry| !supports.is_fixed(entry / dim, entry % dim));
    free.map(|entry| (applied[entry] - internal[entry]).powi(2)).sum::<f64>().sqrt()
}

/// Vectors per partial sum.
const CHUNK: usize = 4096;

/// The sum of vectors `[n][dim]`, flat; components past `dim` are 0.
pub fn resultant(forces: &[f64], dim: usize) -> [f64; 3] {
    sums(forces, dim).0
}

/// The sum of vectors `[n][dim]`, flat, and that of their magnitudes. Parts of a fixed length are added up in order,
/// whatever the number of threads.
fn sums(forces: &[f64], dim: usize) -> ([f64; 3], f64) {
    let add = |(mut sum, magnitude): ([f64; 3], f64), (more, size): (&[f64], f64)| {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        (sum, magnitude + size)
    };
    let zero = || ([0.0; 3], 0.0);
    let of_part = |part: &[f64]| part.chunks_exact(dim).map(|force| (force, norm(force))).fold(zero(), add);
    let parts: Vec<([f64; 3], f64)> = forces.par_chunks(dim * CHUNK).map(of_part).collect();
    parts.iter().map(|(sum, size)| (&sum[..], *size)).fold(zero(), add)
}

/// Supports and loads, added up.
pub struct Balance {
    /// `|sum of both|`.
    unbalanced: f64,
    /// `|sum of the loads|`.
    loads: f64,
    /// The sum of both's magnitudes.
    magnitudes: f64,
}

/// Reactions below this part of the nodal forces are what rounding leaves of loads that balance each other.
const ROUNDING: f64 = 1e-6;

impl Balance {
    /// Of forces of supports and loads, `[n][dim]` flat, in the components that are in [balance](crate::model::Analysis::balanced).
    pub fn new(support_forces: &[f64], applied: &[f64], dim: usize, balanced: &[usize]) -> Self {
        let ((supports, of_supports), (loads, of_loads)) = (sums(support_forces, dim), sums(applied, dim));
        let unbalanced = norm(&balanced.iter().map(|&i| supports[i] + loads[i]).collect::<Vec<_>>());
        Balance { unbalanced, loads: norm(&loads), magnitudes: of_supports + of_loads }
    }

    /// How far both are from balance, relative to the sum of their magnitudes; 0 without forces.
    pub fn error(&self) -> f64 {
        if self.magnitudes == 0.0 { 0.0 } else { self.unbalanced / self.magnitudes }
    }

    /// The same relative to the loads or the largest of the supports' `reactions`; 0 where these are rounding.
    pub fn load_error(&self, reactions: &[[f64; 3]]) -> f64 {
        let scale = reactions.iter().map(|reaction| norm(reaction)).fold(self.loads, f64::max);
        if scale > ROUNDING * self.magnitudes { self.unbalanced / scale } else { 0.0 }
    }
}

/// Euclidean norm.
pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
