//! All loads of a model as nodal forces.

use crate::assembly::{DeviceMesh, Numbering};
use crate::linalg::Space;
use crate::model::{Inertia, Model};
use crate::parallel::{self, PART};
use crate::result::Result;
use crate::stress;

/// Nodal forces in the solver's numbering.
#[derive(Default)]
pub struct Loads {
    /// All of them, `[n_nodes][components]` flat.
    pub all: Vec<f64>,
    /// Their sum without those of thermal strain, which balance each other, and of driven springs, which are no loads.
    pub total: [f64; 3],
    /// How a free body moves.
    pub relief: Option<Relief>,
    /// The heat that the body takes up per time, of which `all` is short.
    pub stored: Option<f64>,
}

/// A free body and its acceleration.
pub struct Relief {
    /// That of the mesh.
    inertia: Inertia,
    /// `a` and `alpha`, about the centre of mass.
    pub acceleration: [[f64; 3]; 2],
}

impl Relief {
    /// The opposite of the mean motion in displacements `u [n_nodes][components]`: with it they do not depend on what held
    /// the body.
    pub fn drift(&self, coords: &[[f64; 3]], u: &[f64], components: usize) -> Vec<f64> {
        let mean = self.inertia.mean_motion(u, components);
        let of_node = |x: &[f64; 3]| self.inertia.displacement(*x, mean).into_iter().take(components).map(|u| -u);
        coords.iter().flat_map(of_node).collect()
    }
}

impl Loads {
    /// Those of a case of a model, whose nodes are at `coords`.
    pub(super) fn new(
        space: &Space,
        model: &Model,
        case: usize,
        (numbering, mesh): (&Numbering, &DeviceMesh),
        coords: &[[f64; 3]],
    ) -> Result<Loads> {
        let components = model.analysis.components();
        let loads = model.loads(case);
        let mut all = numbering.gather_components(&loads.nodal_forces, components);
        let mut relief = None;
        if let Some(weights) = loads.loaded_volume(&model.materials) {
            let mut moments = space.take(mesh.node_moments(space, &weights)?)?;
            for (node, of_mass) in model.point_moments() {
                let moments = &mut moments[numbering.to_solver[node as usize] as usize];
                moments.iter_mut().zip(of_mass).for_each(|(sum, more)| *sum += more);
            }
            parallel::map_chunks(&mut all, PART * components, &|first, all| {
                for (f, of) in all.chunks_exact_mut(components).zip(&moments[first / components..]) {
                    f.iter_mut().zip(loads.volume_force(*of)).for_each(|(f, v)| *f += v);
                }
            });
            numbering.add_forces(&mut all, components, model.forces_of_bodies(&loads));
            if !model.pins.is_empty() {
                let whole = Inertia::new(model.analysis, coords, moments.clone(), model.bodies());
                let of_bodies = |forces: &mut Vec<f64>, motion| {
                    numbering.add_forces(forces, components, model.inertia_of_bodies(whole.centre(), motion));
                };
                let acceleration = relieve(&whole, coords, &mut all, components, of_bodies);
                let inertia = Inertia::new(model.analysis, coords, moments, std::iter::empty());
                relief = Some(Relief { inertia, acceleration });
            }
        }
        let total = stress::resultant(&all, components);
        if let Some(thermal) = mesh.thermal_force(space)? {
            all.iter_mut().zip(thermal).for_each(|(f, thermal)| *f += thermal);
        }
        numbering.add_forces(&mut all, components, model.driven_forces(model.time_of(case)));
        Ok(Loads { all, total, relief, stored: None })
    }
}

/// Takes the inertia of the body's own acceleration off the forces, after which they add up to nothing.
fn relieve(
    inertia: &Inertia,
    coords: &[[f64; 3]],
    forces: &mut Vec<f64>,
    components: usize,
    of_bodies: impl Fn(&mut Vec<f64>, [[f64; 3]; 2]),
) -> [[f64; 3]; 2] {
    let (mut acceleration, given) = ([[0.0; 3]; 2], forces.clone());
    // The second time it is what rounding has left.
    for _ in 0..2 {
        let more = inertia.acceleration(coords, forces, components);
        for (node, f) in forces.chunks_exact_mut(components).enumerate() {
            f.iter_mut().zip(inertia.force(node, more)).for_each(|(f, inertia)| *f -= inertia);
        }
        of_bodies(forces, more);
        (0..2).for_each(|k| (0..3).for_each(|c| acceleration[k][c] += more[k][c]));
    }
    inertia.cleaned(acceleration, coords, &given, components)
}
