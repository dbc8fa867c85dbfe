//! What some nodes do together: a force and a moment spread over them, and their mean motion.
//!
//! The traction is linear in the place, `t(x) = F / A + w x (x - c)`, with c the centre of the faces, A their area and w from
//! `J w = M + (at - c) x F`, `J = int |x - c|^2 I - (x - c)(x - c)^T dA`: of all tractions with this force and moment that of
//! the least size, and that of beam theory on a cross-section in bending. Its consistent nodal forces,
//! `f_a = F / A int N_a dA + w x int N_a (x - c) dA`, have the force and the moment to rounding. The mean motion is what
//! these do work with: `u = sum_a w_a u_a / A + theta x (at - c)`, `theta = J^-1 sum_a s_a x u_a`, `s_a = int N_a (x - c) dA`;
//! of a rigid motion it is that motion. Points have equal weights.

use nalgebra::{Matrix3, Vector3};
use toml::Spanned;

use super::Dof;
use crate::mesh::faces::Face;
use crate::mesh::vector::{add, axis, cross, norm, sub};
use crate::model::Checked;
use crate::model::case::Names;
use crate::model::select::Selector;

/// Eigenvalues of J below this part of the largest are zero: all points lie in a line.
const LINE: f64 = 1e-10;

/// Some nodes with their shares.
#[derive(Debug, Clone)]
pub struct Patch {
    /// The nodes, each once.
    pub nodes: Vec<u32>,
    /// `int N_a dA` and `int N_a (x - c) dA` of each.
    shares: Vec<(f64, [f64; 3])>,
    /// Where its centre is.
    pub centre: [f64; 3],
    area: f64,
    /// `J^-1`; nothing if all nodes lie in a line.
    inverse: Option<Matrix3<f64>>,
}

impl Patch {
    /// Of the faces of some groups, or of their points if all are groups of points.
    pub fn on(selector: &Selector<'_>, names: &Spanned<Names>) -> Checked<Self> {
        let (coords, is_plane) = (&selector.mesh.coords, selector.mesh.dim() == 2);
        Ok(match selector.points(names)? {
            Some(points) => Patch::of_points(&points, coords, is_plane),
            None => Patch::of_faces(&selector.faces(names)?, coords, is_plane),
        })
    }

    /// Of points.
    pub fn of_points(points: &[u32], coords: &[[f64; 3]], is_plane: bool) -> Self {
        let shares = points.iter().map(|&node| (node, 1.0, coords[node as usize]));
        Patch::new(shares.collect(), coords, is_plane)
    }

    /// Of faces.
    pub fn of_faces(faces: &[Face], coords: &[[f64; 3]], is_plane: bool) -> Self {
        let of_face = |face: &Face| {
            let nodes = face.nodes();
            let mut shares: Vec<(u32, f64, [f64; 3])> = nodes.iter().map(|node| (*node, 0.0, [0.0; 3])).collect();
            for at in &face.kind.table().curved {
                let size = at.weight * norm(face.area_vector(at, coords));
                let place = at.place(|b| coords[nodes[b] as usize]);
                for ((_, weight, first), n) in shares.iter_mut().zip(&at.n) {
                    *weight += size * n;
                    *first = add(*first, place.map(|x| size * n * x));
                }
            }
            shares
        };
        Patch::new(faces.iter().flat_map(of_face).collect(), coords, is_plane)
    }

    /// Of nodes with `int N_a dA` and `int N_a x dA`; a node may come several times.
    fn new(mut all: Vec<(u32, f64, [f64; 3])>, coords: &[[f64; 3]], is_plane: bool) -> Self {
        all.sort_by_key(|of| of.0);
        let sum = |same: &[(u32, f64, [f64; 3])]| {
            let sum = same.iter().fold((0.0, [0.0; 3]), |sum, of| (sum.0 + of.1, add(sum.1, of.2)));
            (same[0].0, sum)
        };
        let (nodes, mut shares): (Vec<u32>, Vec<(f64, [f64; 3])>) = all.chunk_by(|a, b| a.0 == b.0).map(sum).unzip();
        let area: f64 = shares.iter().map(|share| share.0).sum();
        let centre = shares.iter().map(|share| share.1).fold([0.0; 3], add).map(|x| x / area);
        shares.iter_mut().for_each(|(weight, first)| *first = sub(*first, centre.map(|x| *weight * x)));
        // `sum_a x_a x (w x s_a)` is J w.
        let mut tensor = Matrix3::zeros();
        for (node, (_, first)) in nodes.iter().zip(&shares) {
            let (x, s) = (Vector3::from(sub(coords[*node as usize], centre)), Vector3::from(*first));
            tensor += x.dot(&s) * Matrix3::identity() - s * x.transpose();
        }
        tensor = 0.5 * (tensor + tensor.transpose());
        let inverse = match is_plane {
            true => Some(Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, 1.0 / tensor[(2, 2)]))),
            false => {
                let sizes = tensor.symmetric_eigenvalues();
                tensor.try_inverse().filter(|_| sizes.min() > LINE * sizes.max())
            }
        };
        let inverse = inverse.filter(|inverse| inverse.iter().all(|x| x.is_finite()));
        Patch { nodes, shares, centre, area, inverse }
    }

    /// The forces on its nodes of a force and a moment at a point; nothing if all nodes lie in a line that the moment would
    /// turn.
    pub fn spread(&self, force: [f64; 3], moment: [f64; 3], at: [f64; 3]) -> Option<Vec<(u32, [f64; 3])>> {
        let moment = Vector3::from(add(moment, cross(sub(at, self.centre), force)));
        let turn = if moment == Vector3::zeros() { moment } else { self.inverse? * moment };
        let of_node =
            |(weight, first): &(f64, [f64; 3])| add(force.map(|f| f * weight / self.area), cross(turn.into(), *first));
        Some(self.nodes.iter().copied().zip(self.shares.iter().map(of_node)).collect())
    }

    /// Its mean motion at a point as sums over the nodes: displacements along x, y, z, then rotations about them; nothing
    /// if all nodes lie in a line.
    pub fn mean(&self, at: [f64; 3]) -> Option<[Vec<(Dof, f64)>; 6]> {
        // What a force or a moment of 1 spreads to does work with the motion.
        let mut rows = [const { Vec::new() }; 6];
        for (k, row) in rows.iter_mut().enumerate() {
            let (force, moment) = if k < 3 { (axis(k), [0.0; 3]) } else { ([0.0; 3], axis(k - 3)) };
            for (node, force) in self.spread(force, moment, at)? {
                let of_node = (0u8..).zip(force).filter(|(_, f)| *f != 0.0);
                row.extend(of_node.map(|(component, f)| (Dof { node, component }, f)));
            }
        }
        Some(rows)
    }

    /// The mean motion at a point of displacements `[n_nodes][3]`: displacement, then rotation.
    pub fn motion(&self, u: &[[f64; 3]], at: [f64; 3]) -> Option<[f64; 6]> {
        let of_row = |row: Vec<(Dof, f64)>| {
            row.iter().map(|(dof, factor)| factor * u[dof.node as usize][usize::from(dof.component)]).sum()
        };
        Some(self.mean(at)?.map(of_row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn forces_are_equivalent_and_the_mean_of_a_rigid_motion_is_that_motion() {
        let coords = [[0.0, 0.0, 0.0], [2.0, 0.1, 0.0], [0.3, 1.5, 0.2], [1.0, 1.0, -0.4], [0.2, 0.4, 1.0]];
        let patch = Patch::of_points(&[0, 1, 2, 3, 4], &coords, false);
        let (force, moment, at) = ([1.0, -2.0, 3.0], [0.5, 0.7, -0.2], [5.0, 1.0, -2.0]);
        let forces = patch.spread(force, moment, at).unwrap();
        let total = forces.iter().map(|(_, f)| *f).fold([0.0; 3], add);
        let about = forces.iter().map(|(node, f)| cross(sub(coords[*node as usize], at), *f)).fold([0.0; 3], add);
        assert_relative_eq!(total[..], force[..], max_relative = 1e-13);
        assert_relative_eq!(about[..], moment[..], epsilon = 1e-12);
        let (shift, turn) = ([0.1, 0.2, -0.3], [0.01, -0.02, 0.05]);
        let u = coords.map(|x| add(shift, cross(turn, sub(x, at))));
        let found = patch.motion(&u, at).unwrap();
        assert_relative_eq!(found[..3], shift[..], epsilon = 1e-14);
        assert_relative_eq!(found[3..], turn[..], epsilon = 1e-14);
        let line = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        assert!(Patch::of_points(&[0, 1, 2], &line, false).mean([0.0; 3]).is_none());
    }
}
