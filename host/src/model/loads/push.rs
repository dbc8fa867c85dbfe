//! Pushes (DSM sec. I.C calls them contact): another body pushes on the nodes furthest along a direction.
//!
//! The force is spread over the surface faces between those nodes by their oriented area, `int n . d dA`, and acts
//! along `-d`. A vertex or an edge has no such face; then the nodes share the force equally.

use super::surface::FaceIntegral;
use super::{NodalForce, scaled};
use crate::mesh::Mesh;
use crate::mesh::vector::{dot, norm, sub};
use crate::model::Analysis;

/// How far behind the furthest node another one may lie, as a fraction of the mesh's diagonal.
const TOLERANCE: f64 = 1e-6;

/// Pushes with `total` against `direction` (any length) on the solids' nodes furthest along it: the nodal forces, and how
/// many nodes share them equally where no face lies between these.
pub fn push(
    mesh: &Mesh,
    in_solid: &[bool],
    direction: [f64; 3],
    total: f64,
    analysis: Analysis,
) -> (Vec<NodalForce>, Option<usize>) {
    let d = scaled(direction, 1.0 / norm(direction));
    let (low, high) = mesh.extent();
    let slack = TOLERANCE * norm(sub(high, low));
    let solid = || in_solid.iter().zip(&mesh.coords).filter(|(solid, _)| **solid);
    let furthest = solid().map(|(_, &x)| dot(x, d)).fold(f64::NEG_INFINITY, f64::max);
    let touched: Vec<bool> =
        in_solid.iter().zip(&mesh.coords).map(|(&solid, &x)| solid && dot(x, d) >= furthest - slack).collect();

    let mut shares: Vec<(u32, f64)> = Vec::new();
    for face in mesh.skin_within(&touched) {
        let integral = FaceIntegral::of(&face, &mesh.coords, analysis);
        if integral.normal.iter().map(|&normal| dot(normal, d)).sum::<f64>() > 0.0 {
            shares.extend(face.nodes().iter().zip(integral.normal).map(|(&node, normal)| (node, dot(normal, d))));
        }
    }
    let is_faceless = shares.is_empty();
    if is_faceless {
        shares.extend((0..touched.len()).filter(|&node| touched[node]).map(|node| (node as u32, 1.0)));
    }
    let n_alone = is_faceless.then_some(shares.len());
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    let forces = shares.into_iter().map(|(node, share)| (node, scaled(d, -total * share / sum))).collect();
    (forces, n_alone)
}
