//! Stress and strain energy of the cells; of a potential its gradient.

use crate::assembly::{DeviceBlock, DeviceMesh};
use crate::device::Buffer;
use crate::element::dispatch::{match_element, with_element};
use crate::linalg::Space;
use crate::model::Analysis;
use crate::result::Result;
use kernels_rs::stress::{PotentialGradient, Recover, StressOut};

/// Stresses `[n_cells][6]` and strain energies `[n_cells]`, by position in `mesh.cells`.
pub type Stresses = (Vec<Vec<[f64; 6]>>, Vec<Vec<f64>>);

/// Recovers the stresses at the centres and the strain energies of displacements `u [n_nodes][dim]`, in the solver's
/// numbering. Both are empty for cells that are no solids.
pub fn recover(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>, n_cell_blocks: usize) -> Result<Stresses> {
    let (mut stresses, mut energies) = (vec![Vec::new(); n_cell_blocks], vec![Vec::new(); n_cell_blocks]);
    for block in &mesh.blocks {
        let (stress, _von_mises, energy) = stress_in(space, mesh, block, u)?;
        stresses[block.cells.index] = space.take(stress)?;
        energies[block.cells.index] = space.take(energy)?;
    }
    Ok((stresses, energies))
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
        let (gradient, _energy) = gradient_in(space, mesh, block, u)?;
        gradients[block.cells.index] = space.take(gradient)?;
    }
    Ok(gradients)
}

/// The stress, the von Mises stress and the strain energy of each cell.
type OfCells = (Buffer<[f64; 6]>, Buffer<f64>, Buffer<f64>);

/// Those of a block.
fn stress_in(space: &Space, mesh: &DeviceMesh, block: &DeviceBlock, u: &Buffer<f64>) -> Result<OfCells> {
    let n = block.cells.n_cells;
    let (mut stress, mut von_mises, mut energy) = (space.zeros(n)?, space.zeros(n)?, space.zeros(n)?);
    let out = StressOut { stress: stress.view_mut(), von_mises: von_mises.view_mut(), energy: energy.view_mut() };
    let (view, across, u) = (mesh.view(block), mesh.across(), u.view());
    // SAFETY: the mesh, u and the three outputs, which are returned, live and have the shapes the kernel documents.
    with_element!(block.cells.kind, E => unsafe { space.run(n, Recover::<E>::new(view, across, u, out)) })?;
    Ok((stress, von_mises, energy))
}

/// The gradient and half of `int k |grad u|^2` of each cell of a block.
fn gradient_in(
    space: &Space,
    mesh: &DeviceMesh,
    block: &DeviceBlock,
    u: &Buffer<f64>,
) -> Result<(Buffer<[f64; 3]>, Buffer<f64>)> {
    let n = block.cells.n_cells;
    let (mut gradient, mut energy) = (space.zeros(n)?, space.zeros(n)?);
    let (view, u, out, half) = (mesh.view(block), u.view(), gradient.view_mut(), energy.view_mut());
    // SAFETY: the mesh, u and the outputs, which are returned, live and have the shapes the kernel documents.
    with_element!(block.cells.kind, E => unsafe { space.run(n, PotentialGradient::<E>::new(view, u, out, half)) })?;
    Ok((gradient, energy))
}

/// Twice the strain energy of each cell, or `int k |grad u|^2`, by block of the mesh: `[n_cells]` each.
pub fn cell_energies(space: &Space, mesh: &DeviceMesh, u: &Buffer<f64>) -> Result<Vec<Vec<f64>>> {
    let of_block = |block: &DeviceBlock| {
        // What is not wanted lives until the energies are there.
        let halves = if mesh.analysis == Analysis::Laplace {
            let (_gradient, energy) = gradient_in(space, mesh, block, u)?;
            space.take(energy)?
        } else {
            let (_stress, _von_mises, energy) = stress_in(space, mesh, block, u)?;
            space.take(energy)?
        };
        Ok(halves.into_iter().map(|half| 2.0 * half).collect())
    };
    mesh.blocks.iter().map(of_block).collect()
}
