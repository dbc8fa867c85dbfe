//! Strain, stress and strain energy of the cells; of a potential its gradient.

use crate::assembly::forms::{match_revolved, with_body, with_general};
use crate::assembly::{DeviceBlock, DeviceMesh};
use crate::device::{Buffer, Plain, check_memory};
use crate::element::dispatch::{match_element, with_element};
use crate::linalg::{self, Space};
use crate::result::Result;
use cuda_std::prelude::ViewMut;
use kernels_rs::eigenstrain::Eigenstrain;
use kernels_rs::element::Point;
use kernels_rs::form::{Constitutive, General, Scalar};
use kernels_rs::stress::{Displacements, Sample, Sampled};

/// The stresses at the centroids of the cells, of displacements `u [n_nodes][dim]`, in the solver's numbering: by position
/// in `mesh.cells` (empty for cells that are no solids), then by cell.
pub fn stresses(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>, n_cell_blocks: usize) -> Result<Vec<Vec<[f64; 6]>>> {
    let mut stresses = vec![Vec::new(); n_cell_blocks];
    for block in &mesh.blocks {
        let found = sampled::<General>(space, mesh, block, &at_centroid(block), u, Asked::Stress)?;
        stresses[block.cells.index] = space.take(found.stress)?;
    }
    Ok(stresses)
}

/// The gradients of a potential `u [n_nodes]`, or these times the conductivity, in the solver's numbering, at the centroids of
/// the cells: by position in `mesh.cells` (empty for cells that are not solved on), then by cell.
pub fn gradients(
    space: &Space,
    mesh: &DeviceMesh,
    u: &Buffer<f64>,
    n_cell_blocks: usize,
    asked: Asked,
) -> Result<Vec<Vec<[f64; 3]>>> {
    let mut gradients = vec![Vec::new(); n_cell_blocks];
    for block in &mesh.blocks {
        let found = sampled::<Scalar>(space, mesh, block, &at_centroid(block), u, asked)?;
        gradients[block.cells.index] = space.take(found.one())?;
    }
    Ok(gradients)
}

/// The centroid of a block's reference element.
fn at_centroid(block: &DeviceBlock) -> [Point; 1] {
    [(block.cells.kind.info().domain.centroid(), 1.0)]
}

/// What [`sampled`] gives.
#[derive(Debug, Clone, Copy)]
pub enum Asked {
    /// Strains, or gradients.
    Strain,
    /// Stresses, or gradients times the conductivity.
    Stress,
    /// Both.
    Both,
}

/// Strains and stresses at points of the cells of a block, `[n_cells][n_points]`; of a potential gradients, and these times
/// the conductivity.
pub struct AtPoints<P: Constitutive> {
    /// Strains or gradients; empty if not asked for.
    pub strain: Buffer<P::Strain>,
    /// Stresses, or gradients times the conductivity, likewise.
    pub stress: Buffer<P::Strain>,
}

impl<P: Constitutive> AtPoints<P>
where
    P::Strain: Plain,
{
    /// The one of the two that was asked for.
    pub fn one(self) -> Buffer<P::Strain> {
        if self.strain.is_empty() { self.stress } else { self.strain }
    }
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
    asked: Asked,
) -> Result<AtPoints<P>>
where
    P::Strain: Plain,
{
    let n = block.cells.n_cells * points.len();
    let [strains, stresses] = match asked {
        Asked::Strain => [n, 0],
        Asked::Stress => [0, n],
        Asked::Both => [n, n],
    };
    check_memory(space, ((strains + stresses) * size_of::<P::Strain>()) as u64, " for stress")?;
    let mut found = AtPoints::<P> { strain: space.zeros(strains)?, stress: space.zeros(stresses)? };
    let (rule, view, eigen) = (table(space, points)?, mesh.general_view(block), mesh.eigenstrain(block));
    let modes = mesh.amplitudes(space, block, eigen, u)?;
    let u = Displacements { nodal: u.view(), modes: modes.view() };
    let (points, energy) = (rule.view(), ViewMut::from_slice(&mut []));
    let out = Sampled { strain: found.strain.view_mut(), stress: found.stress.view_mut(), energy };
    // SAFETY: all live until `finish`, and have the shapes that the kernel documents.
    with_body!(mesh.form, block.cells.kind, E => unsafe {
        space.run(block.cells.n_cells, Sample::<E, P>::new(view, points, eigen, u, out))
    })?;
    space.finish()?;
    Ok(found)
}

/// The strain energy of each cell of a block beside some thermal strains; of a potential half of `int k |grad u|^2`.
fn energies(
    space: &Space,
    mesh: &DeviceMesh,
    block: &DeviceBlock,
    eigen: Eigenstrain,
    u: &Buffer<f64>,
) -> Result<Buffer<f64>> {
    let mut energy = space.zeros(block.cells.n_cells)?;
    let rule = table(space, block.cells.kind.info().shape.quadrature)?;
    let modes = mesh.amplitudes(space, block, eigen, u)?;
    let u = Displacements { nodal: u.view(), modes: modes.view() };
    let (points, view, to) = (rule.view(), mesh.general_view(block), energy.view_mut());
    // SAFETY: as above.
    with_general!(mesh.form, block.cells.kind, P, E => unsafe {
        let [strain, stress] = [ViewMut::from_slice(&mut []); 2];
        let out = Sampled { strain, stress, energy: to };
        space.run(block.cells.n_cells, Sample::<E, P>::new(view, points, eigen, u, out))
    })?;
    space.finish()?;
    Ok(energy)
}

/// The strain energy of the whole body. It is summed on the device: the cells' energies are many.
pub fn strain_energy(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>) -> Result<f64> {
    const SUM: linalg::Scalar = linalg::Scalar::new(0);
    let of_block = |block: &DeviceBlock| {
        let energy = energies(space, mesh, block, mesh.eigenstrain(block), u)?;
        let mut ones = space.zeros(energy.len())?;
        space.fill(1.0, &mut ones)?;
        space.dot(&energy, &ones, SUM)?;
        Ok(space.read([SUM])?[0])
    };
    mesh.blocks.iter().map(of_block).sum()
}

/// Points as [`Sample`] takes them.
fn table(space: &Space, points: &[Point]) -> Result<Buffer<[f64; 4]>> {
    space.upload_vec(points.iter().map(|&([x, y, z], weight)| [x, y, z, weight]).collect())
}

/// `u . K u` of each cell, twice the strain energy without thermal strain, or `int k |grad u|^2`, by block of the mesh:
/// `[n_cells]` each.
pub fn cell_energies(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>) -> Result<Vec<Vec<f64>>> {
    let of_block = |block: &DeviceBlock| {
        let energies = energies(space, mesh, block, Eigenstrain::NONE, u)?;
        Ok(space.take(energies)?.into_iter().map(|half| 2.0 * half).collect())
    };
    mesh.blocks.iter().map(of_block).collect()
}
