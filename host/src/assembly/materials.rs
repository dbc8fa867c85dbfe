//! A model's materials as kernels see them: constants, and which of them each cell has.

use super::topology::CellBlock;
use crate::device::Buffer;
use crate::linalg::Space;
use crate::mesh::Mesh;
use crate::model::law::{in_the_plane, packed};
use crate::model::{Analysis, Material, Model, Physics};
use crate::result::Result;

/// The constants of a model's materials on a device.
pub(super) struct Constants {
    /// Lame's parameters or (conductivity, 0), `[n_materials][2]`, if all materials are isotropic.
    pub isotropic: Option<Buffer<f64>>,
    /// D or C, `[n_materials][21]` or `[n_materials][6]`; behind them those of cells whose axes are their own.
    pub general: Buffer<f64>,
    /// Of each block of the mesh which of these its cells have, if that is not by material.
    pub of_cells: Vec<Option<Buffer<u32>>>,
    /// Thickness of a plane body; 1 of others.
    pub thickness: f64,
}

impl Constants {
    /// Those of a model; `blocks` are its mesh's on the device.
    pub(super) fn new<'a>(
        space: &Space,
        model: &Model,
        blocks: impl Iterator<Item = &'a CellBlock>,
    ) -> Result<Constants> {
        let (materials, analysis) = (&model.materials, model.analysis);
        let isotropic = model.form().is_isotropic.then(|| {
            let constants: Vec<[f64; 2]> = materials.iter().map(|material| constants(analysis, material)).collect();
            space.upload(constants.as_flattened())
        });
        let mut general: Vec<f64> =
            materials.iter().flat_map(|material| of_material(analysis, material, [0.0; 3])).collect();
        let size = general.len() / materials.len().max(1);
        let of_cells = blocks.map(|block| match materials.iter().any(|material| material.axes.vary()) {
            true => space.upload(&of_cells(model, block.index, size, &mut general)).map(Some),
            false => Ok(None),
        });
        let of_cells = of_cells.collect::<Result<_>>()?;
        let thickness = if analysis.is_revolved() { 1.0 } else { model.thickness };
        Ok(Constants { isotropic: isotropic.transpose()?, general: space.upload(&general)?, of_cells, thickness })
    }
}

/// The constants of each cell of a block: those of its material, or a set of its own, added to `general`, by the axes at
/// its centroid.
fn of_cells(model: &Model, block: usize, size: usize, general: &mut Vec<f64>) -> Vec<u32> {
    let (cells, of) = (&model.mesh.cells[block], &model.cell_material[block]);
    let one = |(cell, &material): (usize, &u32)| {
        let Some(own) = model.materials.get(material as usize).filter(|material| material.axes.vary()) else {
            return material;
        };
        let number = general.len() / size;
        general.extend(of_material(model.analysis, own, centroid(&model.mesh, cells.cell(cell))));
        number as u32
    };
    of.iter().enumerate().map(one).collect()
}

fn centroid(mesh: &Mesh, nodes: &[u32]) -> [f64; 3] {
    crate::element::middle(nodes.iter().map(|&node| mesh.coords[node as usize]))
}

/// D or C at a place, in global axes and reduced to the analysis.
fn of_material(analysis: Analysis, material: &Material, place: [f64; 3]) -> Vec<f64> {
    match analysis.physics() {
        Physics::Potential => packed::<3, 6>(&material.axes.tensor(material.conductivity, place)).to_vec(),
        Physics::Elasticity => {
            let d = material.axes.to_global(&material.law.stiffness(), place);
            packed::<6, 21>(&if analysis.is_thin() { in_the_plane(&d) } else { d }).to_vec()
        }
    }
}

/// What kernels need of an isotropic material: Lame's parameters (lambda, mu), where in plane stress lambda is
/// `2 lambda mu / (lambda + 2 mu)`; in conduction (conductivity, 0).
pub fn constants(analysis: Analysis, material: &Material) -> [f64; 2] {
    let [lambda, mu] = material.law.lame().unwrap_or_default();
    match analysis.physics() {
        Physics::Potential => [material.conductivity[0], 0.0],
        // With no stress across, eps_zz = -lambda / (lambda + 2 mu) (eps_xx + eps_yy).
        Physics::Elasticity if analysis.is_thin() => [2.0 * lambda * mu / (lambda + 2.0 * mu), mu],
        Physics::Elasticity => [lambda, mu],
    }
}
