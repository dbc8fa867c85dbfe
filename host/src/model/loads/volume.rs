//! Forces per volume as consistent nodal forces, `f_a = int N_a b dV`.

use crate::model::{CaseLoads, Material, Model};

impl CaseLoads<'_> {
    /// What multiplies a force per volume in each material: the density of weight, rotation and inertia, 1 of a source;
    /// nothing if nothing acts on the volume.
    pub fn loaded_volume(&self, materials: &[Material]) -> Option<Vec<f64>> {
        let density = |material: &Material| material.density.unwrap_or(0.0);
        match (self.gravity, self.rotation, self.source) {
            (None, None, None) if !self.is_free => None,
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
    /// What point masses add to a node's `int N_a w (1, x) dV`.
    pub fn point_moments(&self) -> impl Iterator<Item = (u32, [f64; 4])> + '_ {
        let shares = self.masses.iter().flat_map(|mass| &mass.shares);
        shares.map(|&(node, mass)| {
            let [x, y, z] = self.mesh.coords[node as usize];
            (node, [1.0, x, y, z].map(|x| mass * x))
        })
    }

    /// What a unit of area in the plane stands for: the thickness, or once round the axis; 1 in space.
    pub fn across(&self, place: [f64; 3]) -> f64 {
        self.thickness * self.analysis.around(place)
    }
}
