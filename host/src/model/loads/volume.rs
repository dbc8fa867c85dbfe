//! Forces per volume as consistent nodal forces, `f_a = int N_a b dV`.

use rayon::prelude::*;

use crate::element::shape::{At, determinant};
use crate::mesh::Cells;
use crate::mesh::vector::add;
use crate::model::{Material, Model};

/// Cells whose forces are found at the same time, before they are added up in order.
const CHUNK: usize = 1 << 16;

impl Model {
    /// The consistent nodal forces of weight, rotation and sources, `[n_nodes][3]`, of a source its flow and zeros; nothing if there
    /// are none.
    pub fn volume_forces(&self) -> Option<Vec<[f64; 3]>> {
        let density = |material: &Material| material.density.unwrap_or(0.0);
        let density: Vec<f64> = self.materials.iter().map(density).collect();
        match (self.gravity, self.rotation, self.source) {
            (None, None, None) => None,
            (None, None, Some(source)) => Some(self.consistent_forces(|_, _| [source, 0.0, 0.0])),
            (gravity, rotation, _) => Some(self.consistent_forces(|material, place| {
                let spun = rotation.map_or([0.0; 3], |rotation| rotation.acceleration(place));
                add(gravity.unwrap_or_default(), spun).map(|acceleration| density[material] * acceleration)
            })),
        }
    }

    /// The consistent nodal forces `[n_nodes][3]` of a force per volume, by material and place.
    pub fn consistent_forces(&self, force: impl Fn(usize, [f64; 3]) -> [f64; 3] + Sync) -> Vec<[f64; 3]> {
        let mut sum = vec![[0.0; 3]; self.mesh.coords.len()];
        for (block, cells) in self.mesh.solids() {
            let of_cell = |cell: usize| {
                let material = self.cell_material[block][cell] as usize;
                self.of_cell(cells, cell, |x| force(material, x))
            };
            for first in (0..cells.len()).step_by(CHUNK) {
                let found: Vec<_> = (first..cells.len().min(first + CHUNK)).into_par_iter().map(of_cell).collect();
                for (cell, forces) in (first..).zip(found) {
                    for (&node, force) in cells.cell(cell).iter().zip(forces) {
                        (0..3).for_each(|c| sum[node as usize][c] += force[c]);
                    }
                }
            }
        }
        sum
    }

    /// The same of one cell, `[N][3]`.
    fn of_cell(&self, cells: &Cells, cell: usize, force: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<[f64; 3]> {
        let x = |b: usize| self.mesh.coords[cells.cell(cell)[b] as usize];
        let mut forces = vec![[0.0; 3]; cells.kind.info().n_nodes];
        for at in &cells.kind.table().quadrature {
            let place = at.place(x);
            let volume = at.weight * determinant(cells.kind.info().dim, at.tangents(x)) * self.across(place);
            let force = force(place);
            for (sum, n) in forces.iter_mut().zip(&at.n) {
                (0..3).for_each(|c| sum[c] += volume * n * force[c]);
            }
        }
        forces
    }

    /// What a unit of area in the plane stands for: the thickness, or once round the axis; 1 in space.
    pub fn across(&self, place: [f64; 3]) -> f64 {
        if self.analysis.is_revolved() { 2.0 * std::f64::consts::PI * place[0] } else { self.thickness }
    }
}

impl At {
    /// `sum_b N_b x_b`.
    pub fn place(&self, x: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        let mut place = [0.0; 3];
        for (b, n) in self.n.iter().enumerate() {
            let x = x(b);
            (0..3).for_each(|c| place[c] += n * x[c]);
        }
        place
    }
}
