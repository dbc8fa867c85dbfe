//! Structured meshes of rings round the origin in the plane z = 0.
//!
//! A rectangle of cells in radius r and angle theta, mapped by `x = r cos(theta), y = r sin(theta)` and closed: node
//! `(i, j)` of the corners, i along the radius and j around, has the index `i + (n_radial + 1) j`. Quadratic elements
//! have a node on every edge besides, at the middle of the edge in (r, theta), so that circles are curved and radii
//! straight.

use std::f64::consts::TAU;

use super::generate::{check_kind, check_size, per_cell, with_sides};
use super::rectangle::{Diagonals, as_facets, faces};
use super::{Mesh, MeshError};
use crate::element::ElementKind;

const FEWEST_AROUND: usize = 3;

/// Whether radii and numbers of cells make a ring; why not, if they do not.
pub fn check(&[inner, outer]: &[f64; 2], &[radial, around]: &[usize; 2]) -> Result<(), String> {
    if !(inner > 0.0 && outer > inner && outer.is_finite()) {
        return Err(format!("the radii {inner} and {outer} make no annulus: 0 < inner < outer is needed"));
    }
    if radial == 0 || around < FEWEST_AROUND {
        return Err(format!(
            "{radial} x {around} cells make no annulus: it needs 1 along the radius and {FEWEST_AROUND} around"
        ));
    }
    Ok(())
}

/// A ring from the inner to the outer of two `radii`, divided into `cells` along the radius and around.
///
/// `kind` is of the plane. Tags count from 1, the faces first. Groups: "body", "inner" and "outer", with the body
/// on their left.
///
/// # Errors
/// [`MeshError::Generate`] for radii or a division that make no ring, [`MeshError::TooLarge`] past 32-bit indices.
pub fn generate_annulus(kind: ElementKind, radii: [f64; 2], cells: [usize; 2]) -> Result<Mesh, MeshError> {
    check_kind("annulus", kind, 2)?;
    check(&radii, &cells).map_err(MeshError::Generate)?;
    let linear = kind.linear();
    check_size(&radii, &cells, per_cell(linear.info().domain))?;
    let ring = Ring { radii, cells };
    let n_nodes = (cells[0] + 1) * cells[1];
    let coords = (0..n_nodes).map(|node| ring.point(ring.place(node as u32))).collect();
    let faces = faces(linear, cells, Diagonals::Up, |i, j| ring.node(i, j));
    let mesh = with_sides(kind, coords, faces, &ring.edges().map(as_facets))?;
    Ok(if kind.info().is_quadratic() { ring.curved(mesh) } else { mesh })
}

struct Ring {
    radii: [f64; 2],
    cells: [usize; 2],
}

impl Ring {
    fn node(&self, i: usize, j: usize) -> u32 {
        (i + (self.cells[0] + 1) * (j % self.cells[1])) as u32
    }

    /// Where a corner lies in the rectangle, in cells.
    fn place(&self, node: u32) -> [f64; 2] {
        let row = self.cells[0] + 1;
        [(node as usize % row) as f64, (node as usize / row) as f64]
    }

    /// The image of a place of the rectangle.
    fn point(&self, [i, j]: [f64; 2]) -> [f64; 3] {
        let [inner, outer] = self.radii;
        let r = inner + (outer - inner) * i / self.cells[0] as f64;
        let (sin, cos) = (TAU * j / self.cells[1] as f64).sin_cos();
        [r * cos, r * sin, 0.0]
    }

    fn edges(&self) -> [(&'static str, Vec<u32>); 2] {
        let [radial, around] = self.cells;
        let inner = (0..around).flat_map(|j| [self.node(0, j + 1), self.node(0, j)]);
        let outer = (0..around).flat_map(|j| [self.node(radial, j), self.node(radial, j + 1)]);
        [("inner", inner.collect()), ("outer", outer.collect())]
    }

    /// Moves the nodes between corners to where the mapping has them.
    fn curved(&self, mut mesh: Mesh) -> Mesh {
        let Mesh { cells, coords, .. } = &mut mesh;
        let around = self.cells[1] as f64;
        let (kind, linear) = (cells[0].kind, cells[0].kind.linear());
        for cell in cells[0].nodes.chunks_exact(kind.info().n_nodes) {
            let (n_corners, [_, start]) = (kind.info().n_corners, self.place(cell[0]));
            for (k, xi) in kind.info().shape.nodes.iter().enumerate().skip(n_corners) {
                let mut between = [0.0; 2];
                for (b, &node) in cell[..n_corners].iter().enumerate() {
                    let [i, mut j] = self.place(node);
                    // Across the seam the shorter way: with three around, too, less than half of them.
                    j += around * ((start - j) / around).round();
                    let share = (linear.info().shape.value)(b, *xi);
                    between = [between[0] + share * i, between[1] + share * j];
                }
                coords[cell[k] as usize] = self.point(between);
            }
        }
        mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;
    use std::f64::consts::PI;

    #[test]
    fn rings_are_closed_and_have_the_area_of_their_polygon() {
        for kind in [Tri3, Quad4] {
            for [radial, around] in [[1, 3], [4, 24]] {
                let mesh = generate_annulus(kind, [1.0, 3.0], [radial, around]).unwrap();
                assert_eq!(mesh.coords.len(), (radial + 1) * around, "the seam is shared");
                assert_eq!(mesh.cells[0].len(), radial * around * if kind == Tri3 { 2 } else { 1 });
                let polygon = 0.5 * around as f64 * (TAU / around as f64).sin() * (9.0 - 1.0);
                assert!((volume(&mesh) - polygon).abs() < 1e-12, "{kind:?}: {}", volume(&mesh));
                assert_eq!(crate::mesh::parts::connected_parts(&mesh).1, 1);
            }
        }
    }

    #[test]
    fn every_edge_is_shared_by_two_cells_or_lies_on_a_circle() {
        for kind in [Tri3, Quad4, Tri6, Quad8] {
            let mesh = generate_annulus(kind, [0.5, 2.0], [2, 7]).unwrap();
            assert_eq!(mesh.skin().len(), 14, "{kind:?}");
            for (name, radius) in [("inner", 0.5f64), ("outer", 2.0)] {
                let nodes = mesh.nodes_on(name).unwrap();
                assert_eq!(nodes.len(), if kind.info().is_quadratic() { 14 } else { 7 });
                for node in nodes {
                    let [x, y, z] = mesh.coords[node as usize];
                    assert!((x.hypot(y) - radius).abs() < 1e-14 && z == 0.0);
                }
            }
        }
    }

    #[test]
    fn edges_go_round_the_body_with_it_on_their_left() {
        let mesh = generate_annulus(Quad4, [1.0, 2.0], [1, 8]).unwrap();
        for (group, sign) in mesh.groups[1..].iter().zip([-1.0, 1.0]) {
            for &edge in &group.members[0].1 {
                let [a, b] = [0, 1].map(|k| mesh.coords[mesh.cells[1].cell(edge as usize)[k] as usize]);
                assert!(sign * (a[0] * b[1] - a[1] * b[0]) > 0.0, "{}", group.name);
            }
        }
    }

    #[test]
    fn quadratic_rings_are_curved() {
        for kind in [Tri6, Quad8] {
            let area = |n: usize| volume(&generate_annulus(kind, [1.0, 2.0], [n, 8 * n]).unwrap()) - 3.0 * PI;
            let (coarse, fine) = (area(1).abs(), area(2).abs());
            assert!(coarse < 0.01 && fine < coarse / 12.0, "{kind:?}: {coarse:.2e} {fine:.2e}");
            let mesh = generate_annulus(kind, [1.0, 2.0], [2, 6]).unwrap();
            assert_eq!(mesh.cells[1].kind, Line3);
            let mut places: Vec<_> = mesh.coords.iter().map(|x| x.map(|c| (c * 1e9).round() as i64)).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), mesh.coords.len(), "no two nodes at one place");
        }
    }

    #[test]
    fn impossible_rings_are_errors() {
        let make = |kind, radii, cells| generate_annulus(kind, radii, cells).unwrap_err();
        for radii in [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [1.0, f64::NAN]] {
            assert!(matches!(make(Tri3, radii, [2, 8]), MeshError::Generate(_)), "{radii:?}");
        }
        for cells in [[0, 8], [2, 2]] {
            assert!(matches!(make(Tri3, [1.0, 2.0], cells), MeshError::Generate(_)), "{cells:?}");
        }
        assert!(matches!(make(Hex8, [1.0, 2.0], [2, 8]), MeshError::Generate(_)));
        assert!(matches!(make(Tri3, [1.0, 2.0], [60_000; 2]), MeshError::TooLarge { .. }));
    }
}
