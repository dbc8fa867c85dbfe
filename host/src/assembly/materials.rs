//! A model's materials as kernels see them: constants, and which of them each cell has.

use crate::device::Buffer;
use crate::linalg::Space;
use crate::model::law::{in_the_plane, packed};
use crate::model::{Analysis, Material, Model, Physics};
use crate::result::Result;

/// The constants of a model's materials.
pub(super) struct Constants {
    /// Lame's parameters or (conductivity, 0), `[n_materials][2]`, if all materials are isotropic.
    isotropic: Option<Vec<[f64; 2]>>,
    /// D or C, `[n_materials][21]` or `[n_materials][6]`; behind them those of cells whose axes are their own.
    general: Vec<f64>,
    /// Numbers of a set.
    size: usize,
    thickness: f64,
    /// Thermal strain per degree of each set; empty without temperatures.
    expansion: Vec<[f64; 6]>,
}

/// The same on a device.
pub(super) struct DeviceConstants {
    pub isotropic: Option<Buffer<f64>>,
    pub general: Buffer<f64>,
    /// Thickness of a plane body; 1 of others.
    pub thickness: f64,
    /// Thermal strain per degree of each set; empty without temperatures.
    pub expansion: Buffer<[f64; 6]>,
}

impl Constants {
    /// Those of each material.
    pub(super) fn of_materials(model: &Model) -> Constants {
        let (materials, analysis) = (&model.materials, model.analysis);
        let isotropic = || materials.iter().map(|material| constants(analysis, material)).collect();
        let general: Vec<f64> =
            materials.iter().flat_map(|material| of_material(analysis, material, [0.0; 3])).collect();
        let expansion = materials.iter().map(|material| material.expansion_at([0.0; 3]));
        Constants {
            expansion: if model.temperature.is_some() { expansion.collect() } else { Vec::new() },
            isotropic: model.form().is_isotropic.then(isotropic),
            size: general.len() / materials.len().max(1),
            general,
            thickness: model.thickness,
        }
    }

    /// Which set each cell of a block has: that of its material, or one of its own, added here, by its factor, and by axes and
    /// temperature at its centroid in a step; nothing if all are by material.
    pub(super) fn of_cells(&mut self, model: &Model, step: usize, block: usize) -> Option<Vec<u32>> {
        let factors = model.cell_factors.get(block);
        let varies =
            |material: &&Material| factors.is_some() || material.axes.vary() || !material.by_temperature.is_empty();
        model.materials.iter().find(varies)?;
        let (cells, of) = (&model.mesh.cells[block], &model.cell_material[block]);
        let one = |(cell, &material): (usize, &u32)| {
            let Some(own) = model.materials.get(material as usize).filter(varies) else {
                return material;
            };
            let number = self.general.len() / self.size;
            let warm =
                model.temperature.as_ref().map_or(0.0, |of| of.reference + of.at_centre(step, block, cells, cell));
            let own = own.at(warm);
            let place = model.mesh.middle(cells.cell(cell));
            let factor = factors.map_or(1.0, |factors| factors[cell]);
            self.general.extend(of_material(model.analysis, &own, place).iter().map(|constant| factor * constant));
            if model.temperature.is_some() {
                self.expansion.push(own.expansion_at(place));
            }
            number as u32
        };
        Some(of.iter().enumerate().map(one).collect())
    }

    pub(super) fn upload(self, space: &Space) -> Result<DeviceConstants> {
        let isotropic = self.isotropic.map(|constants| space.upload(constants.as_flattened())).transpose()?;
        let (general, expansion) = (space.upload_vec(self.general)?, space.upload_vec(self.expansion)?);
        Ok(DeviceConstants { isotropic, general, thickness: self.thickness, expansion })
    }
}

/// D or C at a place, in global axes and reduced to the analysis.
fn of_material(analysis: Analysis, material: &Material, place: [f64; 3]) -> Vec<f64> {
    match analysis.physics() {
        Physics::Potential | Physics::Heat => {
            packed::<3, 6>(&material.axes.tensor(material.conductivity, place)).to_vec()
        }
        Physics::Elasticity => {
            let d = material.axes.to_global(&material.law.stiffness(), place);
            packed::<6, 21>(&if analysis.is_thin() { in_the_plane(&d) } else { d }).to_vec()
        }
    }
}

/// What kernels need of an isotropic material: Lame's parameters (lambda, mu), where in plane stress lambda is
/// `2 lambda mu / (lambda + 2 mu)`; in conduction (conductivity, 0).
fn constants(analysis: Analysis, material: &Material) -> [f64; 2] {
    let [lambda, mu] = material.law.lame().unwrap_or_default();
    match analysis.physics() {
        Physics::Potential | Physics::Heat => [material.conductivity[0], 0.0],
        // With no stress across, eps_zz = -lambda / (lambda + 2 mu) (eps_xx + eps_yy).
        Physics::Elasticity if analysis.is_thin() => [2.0 * lambda * mu / (lambda + 2.0 * mu), mu],
        Physics::Elasticity => [lambda, mu],
    }
}
