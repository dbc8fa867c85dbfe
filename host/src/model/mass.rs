//! Mass, centre of mass and inertia of a model, by `int rho (1, x, x x^T) dV`.

use super::{Model, Physics};
use crate::element::shape::determinant;
use nalgebra::{Matrix3, Vector3};

/// The mass of a body and how it is spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Its mass.
    pub mass: f64,
    /// The centre of mass.
    pub centre: [f64; 3],
    /// Moments of inertia about axes through the centre along x, y, z: xx, yy, zz, xy, yz, xz, the last three
    /// `-int rho x y dV` and so on.
    pub inertia: [f64; 6],
}

impl Model {
    /// Those of the model; nothing of a potential, or if a material in use has no density.
    pub fn mass_properties(&self) -> Option<MassProperties> {
        if self.analysis.physics() != Physics::Elasticity {
            return None;
        }
        let (mut mass, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for (block, cells) in self.mesh.solids() {
            let (dim, table) = (cells.kind.info().dim, cells.kind.table());
            for (cell, &material) in self.cell_material[block].iter().enumerate() {
                let density = self.materials.get(material as usize)?.density?;
                let x = |b: usize| self.mesh.coords[cells.cell(cell)[b] as usize];
                for at in &table.rule {
                    let place = at.place(x);
                    let share = density * at.weight * determinant(dim, at.tangents(x)) * self.across(place);
                    let place = Vector3::from(place);
                    mass += share;
                    first += share * place;
                    second += share * place * place.transpose();
                }
            }
        }
        if self.analysis.is_revolved() {
            // All round the axis the radius points to every side.
            first.x = 0.0;
            second = Matrix3::from_diagonal(&Vector3::new(0.5 * second[(0, 0)], second[(1, 1)], 0.5 * second[(0, 0)]));
        }
        let centre = first / mass;
        let about = second - mass * centre * centre.transpose();
        let inertia = Matrix3::identity() * about.trace() - about;
        let at = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];
        (mass > 0.0).then(|| MassProperties { mass, centre: centre.into(), inertia: at.map(|at| inertia[at]) })
    }
}
