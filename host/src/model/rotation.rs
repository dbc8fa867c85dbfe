//! The warning of supports whose displacements are a finite rotation: `u = R x - x` instead of `u = w x r`.
//!
//! Displacements are small here, so `R x - x` is no rigid motion: it shrinks the support by `1 - cos(angle)` across the
//! axis, and stresses it. Such a support is found by two fits to its prescribed displacements, that of a small rotation
//! and that of a finite one, found by small ones in turn.

use nalgebra::{Matrix3, Rotation3, Vector3};
use std::collections::BTreeMap;

use super::{Analysis, Support};
use crate::mesh::Mesh;
use crate::mesh::parts::{find, unite};
use warpfem_text::{number, point};

/// A support that is strained by less is left alone.
const STRAIN: f64 = 1e-6;
/// The finite rotation leaves at most this share of what the small one leaves.
const SHARE: f64 = 0.1;
/// Small rotations that make a finite one: each leaves a sixth of the cube of the angle that was left.
const STEPS: usize = 10;
/// Squares of lever arms below this share of their sum are rounding.
const RANK: f64 = 1e-9;
/// An axis this near to one of coordinates is called by it.
const ALONG: f64 = 1e-6;
/// Supports named.
const SHOWN: usize = 2;

/// A warning for each support that rotates by a finite angle.
pub fn warnings(analysis: Analysis, mesh: &Mesh, supports: &[Support]) -> Vec<String> {
    let supports = &supports.iter().filter(|support| !support.is_slanted()).collect::<Vec<_>>()[..];
    let first = supports.first().map(|support| support.displacement);
    if analysis.physics().is_scalar() || supports.iter().all(|support| Some(support.displacement) == first) {
        return Vec::new();
    }
    let size = analysis.components();
    let mut prescribed = vec![[None; 3]; mesh.coords.len()];
    for (node, c, value) in supports.iter().flat_map(|support| support.prescribed()) {
        prescribed[node as usize][c] = Some(value);
    }
    let held: Vec<bool> = prescribed.iter().map(|u| u[..size].iter().all(Option::is_some)).collect();
    let mut said = Vec::new();
    for nodes in clamps(mesh, &held) {
        let displacement = |node: u32| prescribed[node as usize].map(Option::unwrap_or_default).into();
        let moved: Vec<_> =
            nodes.iter().map(|node| (mesh.coords[*node as usize].into(), displacement(*node))).collect();
        let Some(rotation) = finite_rotation(&moved) else { continue };
        let is_there = |support: &&&Support| support.nodes.iter().any(|node| nodes.binary_search(node).is_ok());
        let names: Vec<&str> = supports.iter().filter(is_there).map(|support| support.name.as_str()).collect();
        said.push(warning(&names, &rotation));
    }
    said
}

fn warning(names: &[&str], rotation: &Rotation3<f64>) -> String {
    let mut shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        shown += &format!(" and {} more", names.len() - SHOWN);
    }
    let angle = rotation.angle();
    let axis = rotation.axis().map_or([0.0; 3], |axis| [axis.x, axis.y, axis.z]);
    format!(
        "{shown}: the displacements rotate the support by {} degrees about {} (u = R x - x). In linear theory such a \
         rotation strains the support by {} %. Prescribe u = w x r instead, with w = {} rad along the axis and r from the \
         axis. Beyond about 10 degrees the stresses are wrong either way",
        number(angle.to_degrees(), 3),
        direction(axis),
        number(100.0 * (1.0 - angle.cos()), 2),
        number(angle, 4)
    )
}

/// `the z axis`, or the direction by its components.
fn direction(axis: [f64; 3]) -> String {
    let along = (0..3).find(|&c| axis[c].abs() > 1.0 - ALONG);
    along.map_or_else(|| format!("the direction {}", point(axis, 3)), |c| format!("the {} axis", ["x", "y", "z"][c]))
}

/// Nodes that are prescribed in full, in sets that hang together by edges of solids; each set is ascending.
fn clamps(mesh: &Mesh, held: &[bool]) -> Vec<Vec<u32>> {
    let is_held = |node: &u32| held[*node as usize];
    let mut parent: Vec<u32> = (0..mesh.coords.len() as u32).collect();
    for (_, block) in mesh.solids() {
        let info = block.kind.info();
        let edges = block.kind.edges();
        for cell in block.nodes.chunks_exact(info.n_nodes) {
            if cell.iter().filter(|node| is_held(node)).count() < 2 {
                continue;
            }
            for edge in edges {
                let mut nodes = edge.iter().map(|k| cell[*k]).filter(is_held);
                let Some(first) = nodes.next() else { continue };
                for node in nodes {
                    let (a, b) = (find(&mut parent, first), find(&mut parent, node));
                    unite(&mut parent, a, b);
                }
            }
        }
    }
    let mut sets = BTreeMap::<u32, Vec<u32>>::new();
    for node in (0..parent.len() as u32).filter(is_held) {
        sets.entry(find(&mut parent, node)).or_default().push(node);
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}

/// The rotation that places make with their displacements, if it is a finite one.
fn finite_rotation(moved: &[(Vector3<f64>, Vector3<f64>)]) -> Option<Rotation3<f64>> {
    let n = moved.len() as f64;
    let from = moved.iter().map(|(x, _)| x).sum::<Vector3<f64>>() / n;
    let shift = moved.iter().map(|(_, u)| u).sum::<Vector3<f64>>() / n;
    let extent = moved.iter().map(|(x, _)| (x - from).norm()).fold(0.0, f64::max);
    // Places about their middle, in units of their extent, and where they go.
    let pairs = moved.iter().map(|(x, u)| ((x - from) / extent, (x - from + u - shift) / extent));
    let mut pairs: Vec<(Vector3<f64>, Vector3<f64>)> = pairs.collect();
    let least = STRAIN * STRAIN * pairs.iter().map(|(r, _)| r.norm_squared()).sum::<f64>();
    let missed = |pairs: &[(Vector3<f64>, Vector3<f64>)], turn: Vector3<f64>| -> f64 {
        pairs.iter().map(|(r, to)| (to - r - turn.cross(r)).norm_squared()).sum()
    };
    let mut turn = small_rotation(&pairs);
    let by_small = missed(&pairs, turn);
    if by_small.is_nan() || by_small <= least {
        return None;
    }
    let mut total = Rotation3::identity();
    for _ in 0..STEPS {
        let step = Rotation3::from_scaled_axis(turn);
        total = step * total;
        pairs.iter_mut().for_each(|(r, _)| *r = step * *r);
        turn = small_rotation(&pairs);
    }
    (missed(&pairs, turn) <= SHARE * SHARE * by_small).then_some(total)
}

/// The w of least size for which `r + w x r` is nearest to where each place r goes.
fn small_rotation(pairs: &[(Vector3<f64>, Vector3<f64>)]) -> Vector3<f64> {
    let gram: Matrix3<f64> =
        pairs.iter().map(|(r, _)| Matrix3::from_diagonal_element(r.norm_squared()) - r * r.transpose()).sum();
    let moments: Vector3<f64> = pairs.iter().map(|(r, to)| r.cross(to)).sum();
    gram.pseudo_inverse(RANK * gram.trace()).map_or(Vector3::zeros(), |inverse| inverse * moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Hex20, Quad4};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    /// A support for each node of a plane, rotated about an axis through the origin; rounded to so many digits.
    fn rotated(mesh: &Mesh, on: &str, axis: usize, angle: f64, digits: i32) -> Vec<Support> {
        let rotation = Rotation3::from_scaled_axis(angle * Vector3::ith(axis, 1.0));
        let nodes = mesh.nodes_on(on).unwrap();
        let support = |node: u32| {
            let x = Vector3::from(mesh.coords[node as usize]);
            let unit = angle * 10f64.powi(-digits);
            let u = (rotation * x - x).map(|u| (u / unit).round() * unit);
            Support {
                name: format!("{on}[{node}]"),
                nodes: vec![node],
                displacement: [0, 1, 2].map(|c| Some(u[c])),
                ..Support::default()
            }
        };
        nodes.into_iter().map(support).collect()
    }

    fn clamp(mesh: &Mesh, on: &str) -> Support {
        Support {
            name: on.into(),
            nodes: mesh.nodes_on(on).unwrap(),
            displacement: [Some(0.0); 3],
            ..Support::default()
        }
    }

    #[test]
    fn a_clamp_that_rotates_by_a_finite_angle_is_named() {
        for kind in [Hex8, Hex20] {
            let mesh = generate_box(kind, [1.0, 1.0, 0.1], [3, 3, 1]).unwrap();
            for (axis, degrees) in [(1, 5.0), (2, 5.0), (0, 0.1), (2, -30.0), (0, 150.0)] {
                for other in [None, Some(clamp(&mesh, "xmax"))] {
                    let mut supports = rotated(&mesh, "xmin", axis, f64::to_radians(degrees), 12);
                    let n = supports.len();
                    supports.extend(other);
                    let said = warnings(Analysis::Elasticity, &mesh, &supports);
                    assert_eq!(said.len(), 1, "{kind:?} {axis} {degrees}: {said:?}");
                    let (angle, more) = (format!("by {} degrees", degrees.abs()), format!("and {} more", n - 2));
                    let about = format!("about the {} axis", ["x", "y", "z"][axis]);
                    assert!([&angle, &more, &about].iter().all(|words| said[0].contains(*words)), "{}", said[0]);
                }
            }
        }
    }

    #[test]
    fn digits_that_were_left_out_are_no_matter() {
        let mesh = generate_box(Hex8, [1.0, 1.0, 0.1], [3, 3, 1]).unwrap();
        let said = |digits| {
            let supports = rotated(&mesh, "xmin", 2, f64::to_radians(5.0), digits);
            warnings(Analysis::Elasticity, &mesh, &supports).len()
        };
        assert_eq!([4, 5, 6].map(said), [1, 1, 1]);
    }

    #[test]
    fn a_line_of_nodes_in_the_plane_rotates_too() {
        let mesh = generate_rectangle(Quad4, [1.0, 1.0], [2, 3]).unwrap();
        let mut supports = rotated(&mesh, "xmin", 2, f64::to_radians(2.0), 12);
        supports.iter_mut().for_each(|support| support.displacement[2] = None);
        let said = warnings(Analysis::PlaneStress, &mesh, &supports);
        assert!(said.len() == 1 && said[0].contains("by 2 degrees"), "{said:?}");
        assert!(said[0].contains("0.061 %") && said[0].contains("w = 0.03491"), "{said:?}");
        // What is free in one direction can give way.
        supports.iter_mut().for_each(|support| support.displacement[1] = None);
        assert!(warnings(Analysis::PlaneStress, &mesh, &supports).is_empty());
    }

    #[test]
    fn what_is_no_finite_rotation_is_left_alone() {
        let mesh = generate_box(Hex8, [1.0, 1.0, 0.1], [3, 3, 1]).unwrap();
        let said = |u: &dyn Fn([f64; 3]) -> [f64; 3]| {
            let supports: Vec<Support> = (mesh.nodes_on("xmin").unwrap().into_iter())
                .map(|node| Support {
                    name: "xmin".into(),
                    nodes: vec![node],
                    displacement: u(mesh.coords[node as usize]).map(Some),
                    ..Support::default()
                })
                .collect();
            warnings(Analysis::Elasticity, &mesh, &supports).len()
        };
        // A small rotation however large, a shift, both; a stretch, a shear, a bulge; a turn too small to strain.
        assert_eq!(said(&|[x, y, z]| [-0.3 * y + 0.1 * z, 0.3 * x, -0.1 * x]), 0);
        assert_eq!(said(&|_| [0.1, 0.2, 0.0]), 0);
        assert_eq!(said(&|[x, y, _]| [0.5 - 0.1 * y, 0.1 * x, 0.0]), 0);
        assert_eq!(said(&|[_, y, _]| [0.0, 0.01 * y, 0.0]), 0);
        assert_eq!(said(&|[_, y, z]| [0.0, 0.1 * z, 0.1 * y]), 0);
        assert_eq!(said(&|[_, y, _]| [0.1 * y * y, 0.0, 0.0]), 0);
        assert_eq!(said(&|[_, y, _]| [-1e-3f64.sin() * y, (1e-3f64.cos() - 1.0) * y, 0.0]), 0);
        // Two clamps that each are moved by themselves.
        let ends =
            [clamp(&mesh, "xmin"), Support { displacement: [Some(0.1), Some(0.3), Some(0.0)], ..clamp(&mesh, "xmax") }];
        assert!(warnings(Analysis::Elasticity, &mesh, &ends).is_empty());
    }
}
