//! Motions that the supports stop, but hardly: turns about a line that the supported nodes lie so close to that an
//! error of their coordinates holds the part.
//!
//! Turns are the eigenvectors of a part's Gram matrix, scaled to `w` of length 1. A component held at `x` holds a turn by
//! a lever arm, `row . (t, w)` times the part's size. A turn is weak if the longest of these arms is below both
//!
//! - [`OF_EXTENT`] of the part's longest edge. The extreme plane of a round body takes the nodes within a millionth of
//!   the mesh's diagonal D, which on a cylinder of radius R <= D/2 are those within `sqrt(2 R 1e-6 D) <= 1e-3 D` of its
//!   line, at most 1.7e-3 of the longest edge;
//! - [`OF_ELEMENT`] of the shortest edges of the elements there, so that slender parts and small patches are left
//!   alone: the corners of a triangle reach half its edge to the sides of any line through their middle, and those of a
//!   rectangle do too.

use nalgebra::{Matrix6, SymmetricEigen, Vector3, Vector6};

use super::motion;
use super::pieces::Pieces;
use crate::mesh::Mesh;
use crate::model::Support;
use warpfem_text::number;

/// A lever arm is short below this fraction of the part's longest edge.
const OF_EXTENT: f64 = 1e-2;
/// And below this fraction of the shortest edges of the elements at the supports.
const OF_ELEMENT: f64 = 0.25;
/// Motions of size 1 that turn by less are shifts, which have no lever arm.
const SHIFT: f64 = 0.1;
/// Supports are named that hold a motion by at least this fraction of its longest arm.
const SHARE: f64 = 0.1;

/// What there is to say of a part that is held, whose Gram matrix this is, if short lever arms alone stop some turns.
pub(super) fn warning(parts: &Pieces<'_>, part: usize, gram: &Matrix6<f64>, supports: &[&Support]) -> Option<String> {
    let frame = &parts.frames[part];
    let short = 2.0 * OF_EXTENT;
    // A plane body turns in its plane alone.
    let axes = if parts.mesh.dim() == 2 { 5..6 } else { 3..6 };
    let eigen = SymmetricEigen::new(*gram);
    // No arm is longer than the root of the sum of all their squares, nor is there a row shorter than 1.
    let turns = (0..6).filter(|&i| eigen.eigenvalues[i] <= short * short * gram.trace()).filter_map(|i| {
        let v: Vector6<f64> = eigen.eigenvectors.column(i).into();
        let turn = v.rows_range(axes.clone()).norm();
        (turn > SHIFT).then(|| v / turn)
    });
    let is_inside = |node: u32| parts.at(node).any(|piece| piece == part);
    let arm = |v: &Vector6<f64>, support: &Support| {
        let coords = &parts.mesh.coords;
        let inside = support.held(coords).filter(|&(node, ..)| is_inside(node));
        inside.map(|(node, n, _)| frame.along(coords[node as usize], n).dot(v).abs()).fold(0.0, f64::max)
    };
    let (mut space, mut longest, mut is_holding) = (Vec::new(), 0.0, vec![false; supports.len()]);
    for v in turns {
        let arms: Vec<f64> = supports.iter().map(|support| arm(&v, support)).collect();
        let most = arms.iter().copied().fold(0.0, f64::max);
        if most < short {
            is_holding.iter_mut().zip(&arms).for_each(|(holds, arm)| *holds |= *arm >= SHARE * most);
            longest = f64::max(longest, most * frame.size());
            space.push(v);
        }
    }
    if space.is_empty() {
        return None;
    }
    let holding: Vec<&Support> = supports.iter().zip(is_holding).filter(|(_, holds)| *holds).map(|(s, _)| *s).collect();
    let nodes = holding.iter().flat_map(|support| &support.nodes).copied();
    let edge = shortest_edges(parts.mesh, nodes.filter(|&node| is_inside(node)));
    (longest < OF_ELEMENT * edge).then(|| {
        let motions = motion::name(&space, frame.centre(), frame.size());
        let motions: Vec<String> = motions.iter().map(|motion| motion.in_words(parts.mesh.dim())).collect();
        let names: Vec<String> = holding.iter().map(|support| format!("`{}`", support.name)).collect();
        format!(
            "part {} is barely held against {}: the nodes of {} lie within {} of that axis, and elements there have \
             edges of {}. Add a support away from the axis",
            part + 1,
            motions.join("; "),
            names.join(" and "),
            number(longest, 2),
            number(edge, 2)
        )
    })
}

/// The mean, over the solids that have any of some nodes, of the shortest distance between two of their corners.
fn shortest_edges(mesh: &Mesh, nodes: impl Iterator<Item = u32>) -> f64 {
    let mut on = vec![false; mesh.coords.len()];
    nodes.for_each(|node| on[node as usize] = true);
    let (mut sum, mut n) = (0.0, 0);
    for (_, cells) in mesh.solids() {
        for cell in (0..cells.len()).map(|i| &cells.cell(i)[..cells.kind.info().n_corners]) {
            if cell.iter().any(|&node| on[node as usize]) {
                let x = |k: usize| Vector3::from(mesh.coords[cell[k] as usize]);
                let pairs = (0..cell.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
                sum += pairs.map(|(a, b)| (x(a) - x(b)).norm()).fold(f64::INFINITY, f64::min);
                n += 1;
            }
        }
    }
    sum / f64::from(n.max(1))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, fix, loose, words};
    use super::*;
    use crate::element::ElementKind::{Hex8, Quad4, Tet4, Tri3};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    /// A cylinder of radius 10 and length 100 along z: a box of 4 x 4 x 10 cells whose sections are rounded. Its `xmin`
    /// without groups is a line of nodes, which are moved to and fro along y within `off`.
    fn cylinder(off: f64) -> Mesh {
        let mut mesh = generate_box(Hex8, [2.0, 2.0, 100.0], [4, 4, 10]).unwrap();
        mesh.groups.clear();
        for (i, x) in mesh.coords.iter_mut().enumerate() {
            let (a, b) = (x[0] - 1.0, x[1] - 1.0);
            let (square, round) = (a.abs().max(b.abs()), a.hypot(b).max(1e-30));
            (x[0], x[1]) = (10.0 * a * square / round, 10.0 * b * square / round);
            if x[0] < -9.999 {
                x[1] = off * [1.0, -0.5, 0.2][i / 25 % 3];
                x[0] = -(100.0 - x[1] * x[1]).sqrt();
            }
        }
        mesh
    }

    #[test]
    fn a_line_that_is_not_quite_straight_hardly_holds() {
        let mesh = cylinder(0.03);
        let line = mesh.nodes_on("xmin").unwrap();
        assert_eq!(line.len(), 11);
        let support = Support { name: "xmin".into(), ..fix(line, "xyz") };
        let warnings = check(&mesh, std::slice::from_ref(&support)).unwrap();
        assert_eq!(warnings.len(), 1);
        for word in [
            "part 1 is barely held against rotation about an axis parallel to z through (-10, ",
            "the nodes of `xmin` lie within 0.02",
            "elements there have edges of 3.8",
        ] {
            assert!(warnings[0].contains(word), "{}\ndoes not hold {word}", warnings[0]);
        }
        // A group elsewhere stops it, and then nothing is said.
        let end = fix(mesh.nodes_on("zmin").unwrap(), "xy");
        assert!(check(&mesh, &[support.clone(), end]).unwrap().is_empty());
        // However many components are held that the turn does not move.
        let flat = fix(mesh.nodes_on("zmin").unwrap(), "z");
        assert_eq!(check(&mesh, &[support, flat]).unwrap().len(), 1);
        // Where nothing is held, the line is no help.
        let parts = loose(&mesh, &[]);
        assert_eq!(parts[0].remedies, ["zmin", "zmax"]);
        // A straight one is the error that it was.
        let straight = cylinder(0.0);
        let parts = loose(&straight, &[fix(straight.nodes_on("xmin").unwrap(), "xyz")]);
        assert_eq!(words(&parts[0]), ["rotation about an axis parallel to z through (-10, 0, 50)"]);
    }

    #[test]
    fn arms_are_measured_against_elements_and_the_part() {
        // An edge of the cube's elements away it is a strip of elements, not a line; in a hundredth of that it is a
        // line.
        for (off, n) in [(2.5, 0), (0.5, 1)] {
            let mesh = cylinder(off);
            let line: Vec<u32> = (0..mesh.coords.len() as u32)
                .filter(|&i| mesh.coords[i as usize][0] < -9.0 && mesh.coords[i as usize][1].abs() <= off)
                .collect();
            assert_eq!((line.len(), check(&mesh, &[fix(line, "xyz")]).unwrap().len()), (11, n), "{off}");
        }
        // A slender beam held at its end, and a patch of a cell of a long one.
        for (kind, cells) in [(Hex8, 1000), (Tet4, 1000), (Hex8, 20)] {
            let mesh = generate_box(kind, [1.0, 1e-3, 1e-3], [cells, 1, 1]).unwrap();
            assert!(check(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "xyz")]).unwrap().is_empty(), "{kind:?}");
        }
    }

    #[test]
    fn two_points_that_nearly_coincide_hardly_hold_a_plate() {
        let mut mesh = generate_rectangle(Tri3, [1.0, 1.0], [4, 4]).unwrap();
        mesh.coords[1] = [1e-4, 0.0, 0.0];
        let pair = [Support { name: "pin".into(), ..fix(vec![0, 1], "xy") }];
        // The shortest edge of one element there is as short as the arm, so the mean of all of them is what counts.
        let warnings = check(&mesh, &pair).unwrap();
        assert!(warnings[0].starts_with("part 1 is barely held against rotation about (5e-5, 0)"), "{warnings:?}");
        assert!(check(&mesh, &[fix(vec![0, 2], "xy")]).unwrap().is_empty());
    }

    /// The turns out of a plane body's plane, which no support sees, are none that are barely held.
    #[test]
    fn a_long_clamped_edge_holds_a_plate() {
        let mesh = generate_rectangle(Quad4, [1.0, 1.0], [1, 2000]).unwrap();
        assert!(check(&mesh, &[fix(mesh.nodes_on("xmin").unwrap(), "xy")]).unwrap().is_empty());
    }
}
