//! `[[load]]`: a force and a moment on faces, as a coupling spreads them that leaves the faces soft.
//!
//! The traction is linear in the place, `t(x) = F / A + w x (x - c)`, with c the centre of the faces, A their area and w from
//! `J w = M + (at - c) x F`, `J = int |x - c|^2 I - (x - c)(x - c)^T dA`: of all tractions with this force and moment that of
//! the least size, and that of beam theory on a cross-section in bending. Its consistent nodal forces,
//! `f_a = F / A int N_a dA + w x int N_a (x - c) dA`, have the force and the moment to rounding, as the shape functions make
//! `sum_a N_a = 1` and `sum_a N_a x_a = x`. Groups of points share them with equal weights.

use super::{NodalForce, scaled};
use crate::mesh::faces::Face;
use crate::mesh::vector::{add, cross, norm, sub};
use crate::model::case::Couple;
use nalgebra::{Matrix3, Vector3};

/// Eigenvalues of J below this part of the largest are zero: all points lie in a line.
const LINE: f64 = 1e-10;

/// What a node has of the faces: `int N_a dA` and `int N_a (x - o) dA` about some point o, or 1 and `x - o`.
type Share = (u32, f64, [f64; 3]);

/// Why points cannot take a moment.
pub(super) struct InALine;

/// The shares of the nodes of faces about a point.
pub(super) fn of_faces(faces: &[Face], coords: &[[f64; 3]], about: [f64; 3]) -> Vec<Share> {
    let of_face = |face: &Face| {
        let nodes = face.nodes().to_vec();
        let mut shares: Vec<Share> = nodes.iter().map(|&node| (node, 0.0, [0.0; 3])).collect();
        for at in &face.kind.table().curved {
            let size = at.weight * norm(face.area_vector(at, coords));
            let place = sub(at.place(|b| coords[nodes[b] as usize]), about);
            for (share, n) in shares.iter_mut().zip(&at.n) {
                share.1 += size * n;
                share.2 = add(share.2, scaled(place, size * n));
            }
        }
        shares
    };
    faces.iter().flat_map(of_face).collect()
}

/// The nodal forces of a force and a moment about the centre, or of a force at a point and a moment. The plane of a plane
/// body has moments across it alone.
pub(super) fn spread(
    shares: &[Share],
    coords: &[[f64; 3]],
    about: [f64; 3],
    load: &Couple,
    is_plane: bool,
) -> Result<Vec<NodalForce>, InALine> {
    let area: f64 = shares.iter().map(|share| share.1).sum();
    let centre = scaled(shares.iter().map(|share| share.2).fold([0.0; 3], add), 1.0 / area);
    let first = |share: &Share| sub(share.2, scaled(centre, share.1));
    // `sum_a x_a x (w x s_a)` is J w.
    let mut tensor = Matrix3::zeros();
    for share in shares {
        let (x, s) = (Vector3::from(sub(sub(coords[share.0 as usize], about), centre)), Vector3::from(first(share)));
        tensor += x.dot(&s) * Matrix3::identity() - s * x.transpose();
    }
    let force = load.force;
    let arm = load.at.map_or([0.0; 3], |at| sub(sub(at, about), centre));
    let moment = Vector3::from(add(load.moment, cross(arm, force)));
    let turn = if moment == Vector3::zeros() {
        moment
    } else if is_plane {
        Vector3::new(0.0, 0.0, moment.z / tensor[(2, 2)])
    } else {
        let sizes = (0.5 * (tensor + tensor.transpose())).symmetric_eigenvalues();
        let inverse = tensor.try_inverse().filter(|_| sizes.min() > LINE * sizes.max()).ok_or(InALine)?;
        inverse * moment
    };
    if !(0..3).all(|c| turn[c].is_finite()) {
        return Err(InALine);
    }
    let of_node = |share: &Share| (share.0, add(scaled(force, share.1 / area), cross(turn.into(), first(share))));
    Ok(shares.iter().map(of_node).collect())
}
