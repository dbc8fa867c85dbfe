//! Forces per volume as consistent nodal forces, `f_a = int N_a b dV`.

use crate::element::ElementKind;
use crate::element::shape::determinant;
use crate::model::{Analysis, CaseLoads, Material, Model};

/// `int N_a dV` of the nodes of a cell, in the plane per thickness, of a body of revolution once round the axis.
pub fn shares(kind: ElementKind, cell: &[u32], coords: &[[f64; 3]], analysis: Analysis) -> Vec<f64> {
    let mut shares = vec![0.0; cell.len()];
    let x = |b: usize| coords[cell[b] as usize];
    for at in &kind.table().mass {
        let volume = analysis.around(at.place(x)) * at.weight * determinant(kind.info().dim, at.tangents(x));
        shares.iter_mut().zip(&at.n).for_each(|(share, n)| *share += volume * n);
    }
    shares
}

impl CaseLoads<'_> {
    /// What multiplies a force per volume in each material: the density; nothing if nothing acts on the volume.
    pub fn loaded_volume(&self, materials: &[Material]) -> Option<Vec<f64>> {
        let density = |material: &Material| material.density.unwrap_or(0.0);
        let is_loaded = self.gravity.is_some() || self.rotation.is_some() || self.is_free;
        is_loaded.then(|| materials.iter().map(density).collect())
    }

    /// The force of weight and rotation on a node, from the node's `int N_a w (1, x) dV` with w of
    /// [`CaseLoads::loaded_volume`].
    pub fn volume_force(&self, [whole, first @ ..]: [f64; 4]) -> [f64; 3] {
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
