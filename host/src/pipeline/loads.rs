//! All loads of a model as nodal forces.

use crate::assembly::{DeviceMesh, Numbering};
use crate::linalg::Space;
use crate::model::{Inertia, Model};
use crate::result::Result;
use crate::stress;
use rayon::prelude::*;

/// Nodal forces in the solver's numbering.
pub struct Loads {
    /// All of them, `[n_nodes][components]` flat.
    pub all: Vec<f64>,
    /// Their sum without those of thermal strain, which balance each other.
    pub total: [f64; 3],
    /// How a free body moves.
    pub relief: Option<Relief>,
}

/// A free body and its acceleration.
pub struct Relief {
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
            let add =
                |(f, of): (&mut [f64], &[f64; 4])| f.iter_mut().zip(loads.volume_force(*of)).for_each(|(f, v)| *f += v);
            all.par_chunks_mut(components).zip(&moments).for_each(add);
            if !model.pins.is_empty() {
                relief = Some(relieve(Inertia::new(model.analysis, coords, moments), coords, &mut all, components));
            }
        }
        let total = stress::resultant(&all, components);
        if let Some(thermal) = mesh.thermal_force(space)? {
            all.iter_mut().zip(thermal).for_each(|(f, thermal)| *f += thermal);
        }
        Ok(Loads { all, total, relief })
    }
}

/// Takes the inertia of the body's own acceleration off the forces, after which they add up to nothing.
fn relieve(inertia: Inertia, coords: &[[f64; 3]], forces: &mut [f64], components: usize) -> Relief {
    let (mut acceleration, given) = ([[0.0; 3]; 2], forces.to_vec());
    // The second time it is what rounding has left.
    for _ in 0..2 {
        let more = inertia.acceleration(coords, forces, components);
        for (node, f) in forces.chunks_exact_mut(components).enumerate() {
            f.iter_mut().zip(inertia.force(node, more)).for_each(|(f, inertia)| *f -= inertia);
        }
        (0..2).for_each(|k| (0..3).for_each(|c| acceleration[k][c] += more[k][c]));
    }
    let acceleration = inertia.cleaned(acceleration, coords, &given, components);
    Relief { inertia, acceleration }
}
