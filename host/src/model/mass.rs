//! Mass, centre of mass and inertia of a model, by `int rho (1, x, x x^T) dV`.

use super::{Model, Physics};
use crate::element::shape::determinant;
use crate::mesh::Cells;
use crate::parallel::{self, PART};
use nalgebra::{Matrix3, Vector3};
use std::ops::Range;

/// The mass of a body and how it is spread.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
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
        for (material, moments) in self.moments() {
            let density = self.materials.get(material as usize)?.density?;
            mass += density * moments.volume;
            first += density * moments.first;
            second += density * moments.second;
        }
        for &(node, share) in self.masses.iter().flat_map(|mass| &mass.shares) {
            let place = Vector3::from(self.mesh.coords[node as usize]);
            mass += share;
            first += share * place;
            second += share * place * place.transpose();
        }
        for (body, at) in self.bodies().map(|(mass, of)| (mass, Vector3::from(of.at))) {
            mass += body;
            first += body * at;
            second += body * at * at.transpose();
        }
        if self.analysis.is_revolved() {
            // All round the axis the radius points to every side.
            first.x = 0.0;
            second = Matrix3::from_diagonal(&Vector3::new(0.5 * second[(0, 0)], second[(1, 1)], 0.5 * second[(0, 0)]));
        }
        let centre = first / mass;
        let about = second - mass * centre * centre.transpose();
        let own = self.bodies().map(|(_, of)| Vector3::from(of.inertia)).sum::<Vector3<f64>>();
        let inertia = Matrix3::identity() * about.trace() - about + Matrix3::from_diagonal(&own);
        let at = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];
        (mass > 0.0).then(|| MassProperties { mass, centre: centre.into(), inertia: at.map(|at| inertia[at]) })
    }

    /// How many elements are of each material, and their volume.
    pub fn made_of(&self) -> Vec<(usize, f64)> {
        let mut of = vec![(0, 0.0); self.materials.len()];
        for &material in self.cell_material.iter().flatten() {
            of.get_mut(material as usize).into_iter().for_each(|of| of.0 += 1);
        }
        for (material, moments) in self.moments() {
            of.get_mut(material as usize).into_iter().for_each(|of| of.1 += moments.volume);
        }
        of
    }

    /// The moments of the elements of each material, some of them at a time: the same sums whatever the number of threads.
    fn moments(&self) -> Vec<(u32, Moments)> {
        let mut all = Vec::new();
        for (block, cells) in self.mesh.solids() {
            // Of a case that is wrong it may not be known.
            let of_cells = self.cell_material.get(block).map_or(&[][..], Vec::as_slice);
            let of_chunk = |chunk: Range<usize>| {
                let mut found: Vec<(u32, Moments)> = Vec::new();
                for (cell, &material) in chunk.clone().zip(&of_cells[chunk]) {
                    if found.last().is_none_or(|last| last.0 != material) {
                        found.push((material, Moments::default()));
                    }
                    found.iter_mut().last().into_iter().for_each(|last| self.add(cells, cell, &mut last.1));
                }
                found
            };
            all.extend(parallel::map_ranges(of_cells.len(), PART, &of_chunk).into_iter().flatten());
        }
        all
    }

    /// Adds those of a cell, by the rule of the mass matrix.
    fn add(&self, cells: &Cells, cell: usize, sum: &mut Moments) {
        let x = |b: usize| self.mesh.coords[cells.cell(cell)[b] as usize];
        for at in &cells.kind.table().mass {
            let place = at.place(x);
            let volume = at.weight * determinant(cells.kind.info().dim, at.tangents(x)) * self.across(place);
            let place = Vector3::from(place);
            sum.volume += volume;
            sum.first += volume * place;
            sum.second += volume * place * place.transpose();
        }
    }
}

/// `int (1, x, x x^T) dV`.
#[derive(Default)]
struct Moments {
    volume: f64,
    first: Vector3<f64>,
    second: Matrix3<f64>,
}

#[cfg(test)]
mod tests {
    use crate::element::ElementKind;
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;
    use crate::model::testing;
    use approx::assert_relative_eq;

    #[test]
    fn of_a_brick_and_of_a_cylinder() {
        let tables =
            "[mesh]\nfile = \"body.msh\"\n[[material]]\nname = \"m\"\nyoung = 1.0\npoisson = 0.0\ndensity = 2.0\n";
        let clamp = "[[support]]\non = \"ymin\"\nfix = \"xyz\"\n";
        let kinds = |dim| ElementKind::ALL.iter().copied().filter(move |kind| kind.info().dim == dim);
        for kind in kinds(3) {
            let brick = generate_box(kind, [1.0, 2.0, 3.0], [2; 3]).unwrap();
            let of = testing::load_on(&format!("{tables}{clamp}"), brick).unwrap().mass_properties().unwrap();
            assert_relative_eq!(of.mass, 12.0, max_relative = 1e-14);
            assert_relative_eq!(of.centre[1], 1.0, max_relative = 1e-13);
            // `m (b^2 + c^2) / 12` and so on: sums over up to 5,000 points, less what is about 40 round the centre.
            for (found, expected) in of.inertia.iter().zip([13.0, 10.0, 5.0, 0.0, 0.0, 0.0]) {
                assert_relative_eq!(*found, expected, epsilon = 40.0 * 1e-14, max_relative = 1e-13);
            }
        }
        let tables = format!("{tables}{}[analysis]\nkind = \"axisymmetric\"\n", clamp.replace("xyz", "y"));
        let mass = 6.0 * std::f64::consts::PI;
        for kind in kinds(2) {
            let section = generate_rectangle(kind, [1.0, 3.0], [2; 2]).unwrap();
            let of = testing::load_on(&tables, section).unwrap().mass_properties().unwrap();
            assert_relative_eq!(of.mass, mass, max_relative = 1e-13);
            assert_relative_eq!(of.centre[..], [0.0, 1.5, 0.0], epsilon = 1e-13);
            // About the axis `m r^2 / 2`, across it `m (3 r^2 + h^2) / 12`.
            for (found, expected) in of.inertia.iter().zip([mass, 0.5 * mass, mass]) {
                assert_relative_eq!(*found, expected, max_relative = 1e-13);
            }
        }
    }
}
