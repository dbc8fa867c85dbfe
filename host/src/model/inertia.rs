//! `[inertia_relief]`: a free body in balance with its own acceleration.
//!
//! The loads accelerate it by `a + alpha x r`, r from its centre of mass; with the forces `-rho (a + alpha x r)` per volume
//! all adds up to nothing. What its rigid motions are held by, so that displacements are unique, then has no force.

use super::density::has_density;
use super::problems::Problems;
use super::select::Selector;
use super::{Analysis, Body, Material, Support};
use crate::mesh::Mesh;
use kernels_rs::parts::rigid_motion;
use nalgebra::{Matrix3, Vector3, Vector6};

/// Accelerations below this part of those that all forces would make in one direction are rounding.
const ROUNDING: f64 = 1e-13;

/// Whether a body is free; nothing holds it then, and everything in use has a density.
pub(super) fn resolve(
    selector: &Selector<'_>,
    materials: &[Material],
    cell_material: &[Vec<u32>],
    problems: &mut Problems,
) -> bool {
    let case = selector.case;
    let Some(table) = &case.tables.inertia_relief else { return false };
    let mut is_sound = has_density(case, "inertia_relief", materials, cell_material, problems);
    if let Some(support) = case.tables.support.first() {
        let line = case.source.line_of(&table.span());
        let message = format!("a body that moves freely, by [inertia_relief] ({line}), has no [[support]]");
        problems.add(case.error_at(support.span(), message, "leave one of them out"));
        is_sound = false;
    }
    let n_parts = selector.mesh.parts().1;
    if n_parts > 1 {
        let message = format!("the mesh has {n_parts} parts that are not connected: each would fly off by itself");
        let help = "[inertia_relief] is for one body: solve each part by itself, or join their meshes";
        problems.add(case.error_at(table.span(), message, help));
        is_sound = false;
    }
    is_sound
}

/// Nodes and components that hold the rigid motions of a body, no more than these need: those that hold most of what those
/// before leave free (Gram-Schmidt with pivots).
pub(super) fn pins(analysis: Analysis, mesh: &Mesh, in_solid: &[bool]) -> Vec<(u32, usize)> {
    let (size, free) = (analysis.components(), Vector6::from(analysis.rigid_motions()));
    let (low, high) = mesh.extent();
    let scale = 0.5 * mesh.longest_side();
    let row = |node: usize, i: usize| {
        let y = [0, 1, 2].map(|c| (mesh.coords[node][c] - 0.5 * (low[c] + high[c])) / scale);
        let motion = |k: usize, _| if k < size * (size + 1) / 2 { rigid_motion(size, k, i, y) } else { 0.0 };
        Vector6::from_fn(motion).component_mul(&free)
    };
    let mut taken: Vec<Vector6<f64>> = Vec::new();
    let mut pins = Vec::new();
    for _ in 0..free.iter().filter(|motion| **motion != 0.0).count() {
        let left = |row: Vector6<f64>| taken.iter().fold(row, |row, known| row - known.dot(&row) * known);
        let nodes = (0..mesh.coords.len()).filter(|&node| in_solid[node]);
        let rows = nodes.flat_map(|node| (0..size).map(move |i| (node, i)));
        let sized = rows.map(|(node, i)| (left(row(node, i)).norm(), node, i));
        let largest = sized.fold((0.0, 0, 0), |most, next| if next.0 > most.0 * (1.0 + 1e-9) { next } else { most });
        pins.push((largest.1 as u32, largest.2));
        // Twice: what rounding leaves of the first.
        taken.push(left(left(row(largest.1, largest.2))).normalize());
    }
    pins
}

/// The same as supports.
pub(super) fn as_supports(pins: &[(u32, usize)]) -> Vec<Support> {
    let one = |&(node, c): &(u32, usize)| {
        let displacement = [0, 1, 2].map(|i| (i == c).then_some(0.0));
        Support { nodes: vec![node], displacement, ..Support::default() }
    };
    pins.iter().map(one).collect()
}

/// The inertia of a body, from what its nodes have of it.
#[derive(Debug, Clone)]
pub struct Inertia {
    /// `int N_a rho (1, x - c) dV` of each node, c the centre of mass.
    moments: Vec<[f64; 4]>,
    mass: f64,
    centre: Vector3<f64>,
    /// The inverse of the moments of inertia about the centre.
    inverse: Matrix3<f64>,
    free: [f64; 6],
}

impl Inertia {
    /// From the place of each node, `[n_nodes]`, and its `int N_a rho (1, x) dV`; and of masses that are bodies.
    pub fn new<'a>(
        analysis: Analysis,
        coords: &[[f64; 3]],
        mut moments: Vec<[f64; 4]>,
        bodies: impl Iterator<Item = (f64, &'a Body)> + Clone,
    ) -> Inertia {
        let free = analysis.free_motions();
        let sum = |i: usize| moments.iter().map(|of| of[i]).sum::<f64>();
        let mass = sum(0) + bodies.clone().map(|(mass, _)| mass).sum::<f64>();
        let of_bodies = bodies.clone().map(|(mass, of)| mass * Vector3::from(of.at)).sum::<Vector3<f64>>();
        let mut centre = (Vector3::new(sum(1), sum(2), sum(3)) + of_bodies) / mass;
        if analysis.is_revolved() {
            centre.x = 0.0;
        }
        let mut tensor = Matrix3::zeros();
        for (x, [whole, first @ ..]) in coords.iter().zip(&mut moments) {
            (0..3).for_each(|c| first[c] -= *whole * centre[c]);
            let (r, s) = (Vector3::from(*x) - centre, Vector3::from(*first));
            tensor += r.dot(&s) * Matrix3::identity() - s * r.transpose();
        }
        for (mass, body) in bodies {
            let r = Vector3::from(body.at) - centre;
            tensor += mass * (r.dot(&r) * Matrix3::identity() - r * r.transpose());
            tensor += Matrix3::from_diagonal(&body.inertia.into());
        }
        let inverse = match free[3..] {
            [1.0, 1.0, 1.0] => tensor.try_inverse().unwrap_or_default(),
            [_, _, 1.0] => Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, 1.0 / tensor[(2, 2)])),
            _ => Matrix3::zeros(),
        };
        Inertia { moments, mass, centre, inverse, free }
    }

    /// The centre of mass.
    pub fn centre(&self) -> [f64; 3] {
        self.centre.into()
    }

    /// The acceleration and the angular acceleration that nodal forces at the nodes' places give the body, `[n_nodes]
    /// [components]` flat.
    pub fn acceleration(&self, coords: &[[f64; 3]], forces: &[f64], components: usize) -> [[f64; 3]; 2] {
        let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
        for (x, f) in coords.iter().zip(forces.chunks_exact(components)) {
            let f = vector(f);
            force += f;
            moment += (Vector3::from(*x) - self.centre).cross(&f);
        }
        self.motion(force, moment)
    }

    /// Accelerations without what rounding of these forces leaves of those that are 0.
    pub fn cleaned(
        &self,
        acceleration: [[f64; 3]; 2],
        coords: &[[f64; 3]],
        forces: &[f64],
        components: usize,
    ) -> [[f64; 3]; 2] {
        let (mut force, mut moment) = (0.0, 0.0);
        for (x, f) in coords.iter().zip(forces.chunks_exact(components)) {
            force += vector(f).norm();
            moment += (Vector3::from(*x) - self.centre).norm() * vector(f).norm();
        }
        let least = [ROUNDING * force / self.mass, ROUNDING * moment * self.inverse.amax()];
        [0, 1].map(|k| acceleration[k].map(|a| if a.abs() < least[k] { 0.0 } else { a }))
    }

    /// The rigid motion of which velocities at the nodes have the momentum: the mean of their motion.
    pub fn mean_motion(&self, velocities: &[f64], components: usize) -> [[f64; 3]; 2] {
        let (mut momentum, mut spin) = (Vector3::zeros(), Vector3::zeros());
        for ([whole, first @ ..], v) in self.moments.iter().zip(velocities.chunks_exact(components)) {
            let v = vector(v);
            momentum += *whole * v;
            spin += Vector3::from(*first).cross(&v);
        }
        self.motion(momentum, spin)
    }

    fn motion(&self, force: Vector3<f64>, moment: Vector3<f64>) -> [[f64; 3]; 2] {
        let along = force.component_mul(&Vector3::new(self.free[0], self.free[1], self.free[2])) / self.mass;
        [along.into(), (self.inverse * moment).into()]
    }

    /// What a node takes of the force that such an acceleration needs: `int N_a rho (a + alpha x r) dV`.
    pub fn force(&self, node: usize, [along, turn]: [[f64; 3]; 2]) -> [f64; 3] {
        let [whole, first @ ..] = self.moments[node];
        (whole * Vector3::from(along) + Vector3::from(turn).cross(&Vector3::from(first))).into()
    }

    /// The displacement at a place by a rigid motion.
    pub fn displacement(&self, place: [f64; 3], [along, turn]: [[f64; 3]; 2]) -> [f64; 3] {
        (Vector3::from(along) + Vector3::from(turn).cross(&(Vector3::from(place) - self.centre))).into()
    }
}

/// Of two or three components.
fn vector(of: &[f64]) -> Vector3<f64> {
    Vector3::from_fn(|i, _| of.get(i).copied().unwrap_or(0.0))
}
