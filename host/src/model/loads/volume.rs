//! Forces per volume as consistent nodal forces, `f_a = int N_a b dV`.

use crate::model::{CaseLoads, Material, Model};

impl CaseLoads<'_> {
    /// What multiplies a force per volume in each material: the density of weight and rotation, 1 of a source; nothing if
    /// nothing acts on the volume.
    pub fn loaded_volume(&self, materials: &[Material]) -> Option<Vec<f64>> {
        let density = |material: &Material| material.density.unwrap_or(0.0);
        match (self.gravity, self.rotation, self.source) {
            (None, None, None) => None,
            (None, None, Some(_)) => Some(vec![1.0; materials.len()]),
            _ => Some(materials.iter().map(density).collect()),
        }
    }

    /// The force of weight, rotation and sources on a node, of a source its flow and zeros, from the node's
    /// `int N_a w (1, x) dV` with w of [`CaseLoads::loaded_volume`].
    pub fn volume_force(&self, [whole, first @ ..]: [f64; 4]) -> [f64; 3] {
        if let (None, None, Some(source)) = (self.gravity, self.rotation, self.source) {
            return [source * whole, 0.0, 0.0];
        }
        let spun = self.rotation.map_or([0.0; 3], |rotation| rotation.force(whole, first));
        [0, 1, 2].map(|c| whole * self.gravity.unwrap_or_default()[c] + spun[c])
    }
}

impl Model {
    /// What a unit of area in the plane stands for: the thickness, or once round the axis; 1 in space.
    pub fn across(&self, place: [f64; 3]) -> f64 {
        self.thickness * self.analysis.around(place)
    }
}
