//! Hanging nodes: nodes on a side of an element that does not have them. The sides of the two elements do not match
//! there, and the body opens a gap as it deforms.
//!
//! Both sides of such a place are of the skin, since neither is shared. So each side of the skin is compared with the
//! nodes of the skin near it, which a k-d tree gives. A node hangs if it lies on a side of its own part within
//! [`ON_SIDE`] of the side's size, and at none of the side's nodes: nodes at one place are a slit, or parts that are
//! not merged, which the model tells of. A quadrilateral and a triangle with three of its corners do not match either.

use rayon::prelude::*;

use super::faces::Face;
use super::parts::connected_parts;
use super::vector::{cross, dot, norm, sub, unit};
use super::{Mesh, MeshError};
use crate::element::ElementKind;
use crate::parallel;

/// A node this far from a side lies on it, as a fraction of the side's longest diagonal.
const ON_SIDE: f64 = 1e-6;
const LEAF: usize = 8;
/// Steps towards the nearest point of a curved side.
const STEPS: usize = 20;

type Point = [f64; 3];

impl Mesh {
    /// Checks that the sides of its elements match.
    ///
    /// # Errors
    ///
    /// [`MeshError::Hanging`]
    pub fn check_hanging(&self) -> Result<(), MeshError> {
        let mut found = on_sides(self);
        if !found.is_empty() {
            let (parts, _) = connected_parts(self);
            found.retain(|&(node, side)| parts[node as usize] == parts[self.skin()[side].nodes()[0] as usize]);
        }
        let sides = self.unmatched();
        let of_found = found.first().map(|&(node, side)| (node, self.skin()[side]));
        // A triangle has a node of the quadrilateral, and the quadrilateral a diagonal that is an edge of the triangle.
        let of_unmatched = || self.skin().iter().find(|side| sides.contains_key(&side.key()));
        let Some((node, side)) = of_found.or_else(|| of_unmatched().map(|side| (side.nodes()[0], *side))) else {
            return Ok(());
        };
        found.dedup_by_key(|(node, _)| *node);
        Err(MeshError::Hanging {
            nodes: found.len(),
            sides: sides.len(),
            node: self.node_tags[node as usize],
            element: self.cells[side.block].tags[side.cell as usize],
            at: super::Place { middle: self.coords[node as usize], dim: self.dim() },
        })
    }
}

/// Nodes of the skin that lie on its sides without being theirs, with the position of one such side, by node.
fn on_sides(mesh: &Mesh) -> Vec<(u32, usize)> {
    let skin = mesh.skin();
    let mut marked = vec![false; mesh.coords.len()];
    skin.iter().flat_map(|face| face.nodes()).for_each(|&node| marked[node as usize] = true);
    let mut nodes: Vec<u32> = (0..mesh.coords.len() as u32).filter(|&node| marked[node as usize]).collect();
    divide(&mesh.coords, &mut nodes, 0);
    let mut found: Vec<(u32, usize)> = parallel::flat_map(skin.len(), &|i, found| {
        let side = Side::of(mesh, &skin[i]);
        visit(&mesh.coords, &nodes, 0, &side.extent, &mut |node| {
            if !skin[i].nodes().contains(&node) && side.holds(mesh.coords[node as usize]) {
                found.push((node, i));
            }
        });
    });
    found.par_sort_unstable();
    found
}

/// Puts nodes in the order of a k-d tree: the median of each range, and its axis, divide the nodes before it from those
/// behind.
fn divide(coords: &[Point], nodes: &mut [u32], axis: usize) {
    if nodes.len() <= LEAF {
        return;
    }
    let middle = nodes.len() / 2;
    let along = |node: &u32| coords[*node as usize][axis];
    nodes.select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)));
    let (low, high) = nodes.split_at_mut(middle);
    rayon::join(|| divide(coords, low, (axis + 1) % 3), || divide(coords, &mut high[1..], (axis + 1) % 3));
}

/// Calls `found` with the nodes of such a tree that are in a box.
fn visit(coords: &[Point], nodes: &[u32], axis: usize, extent: &[Point; 2], found: &mut impl FnMut(u32)) {
    let [low, high] = extent;
    let is_inside = |node: u32| (0..3).all(|c| (low[c]..=high[c]).contains(&coords[node as usize][c]));
    if nodes.len() <= LEAF {
        return nodes.iter().copied().filter(|&node| is_inside(node)).for_each(found);
    }
    let middle = nodes.len() / 2;
    let at = coords[nodes[middle] as usize][axis];
    if low[axis] <= at {
        visit(coords, &nodes[..middle], (axis + 1) % 3, extent, found);
    }
    if is_inside(nodes[middle]) {
        found(nodes[middle]);
    }
    if at <= high[axis] {
        visit(coords, &nodes[middle + 1..], (axis + 1) % 3, extent, found);
    }
}

struct Side {
    kind: ElementKind,
    x: Vec<Point>,
    /// How near is on it.
    tolerance: f64,
    /// How far it may lie from its corners' plane and the straight lines between them.
    bulge: f64,
    extent: [Point; 2],
    middle: Point,
    /// Unit normal; in the plane that of the edge.
    normal: Point,
    /// For each edge of a face, and each end of an edge, a point and the unit direction outwards from it.
    bounds: Vec<[Point; 2]>,
}

impl Side {
    fn of(mesh: &Mesh, face: &Face) -> Side {
        let info = face.kind.info();
        let flat = |x: Point| if info.dim == 1 { [x[0], x[1], 0.0] } else { x };
        let x: Vec<Point> = face.nodes().iter().map(|&node| mesh.coords[node as usize]).map(flat).collect();
        let corners = &x[..info.n_corners];
        let middle = crate::element::middle(corners.iter().copied());
        let size = corners.iter().map(|&a| norm(sub(a, corners[0]))).fold(0.0, f64::max);
        let normal = match corners {
            [a, b] => unit([b[1] - a[1], a[0] - b[0], 0.0]),
            [a, b, c] => unit(cross(sub(*b, *a), sub(*c, *a))),
            _ => unit(cross(sub(corners[2], corners[0]), sub(corners[3], corners[1]))),
        };
        let edges = &face.kind.table().edges;
        let middles = edges.iter().filter_map(|edge| {
            let &[a, b, m] = edge.as_slice() else { return None };
            Some(norm([0, 1, 2].map(|c| x[m][c] - 0.5 * (x[a][c] + x[b][c]))))
        });
        let warp = corners.iter().map(|&a| dot(sub(a, middle), normal).abs()).fold(0.0, f64::max);
        // The functions of the nodes between corners add up to 2 at most.
        let bulge = warp + 2.0 * middles.fold(0.0, f64::max);
        let tolerance = ON_SIDE * size;
        let outward = |a: usize, b: usize| [x[a], unit(cross(sub(x[b], x[a]), normal))];
        let bounds = match corners {
            [a, b] => vec![[*a, unit(sub(*a, *b))], [*b, unit(sub(*b, *a))]],
            _ => (0..corners.len()).map(|k| outward(k, (k + 1) % corners.len())).collect(),
        };
        let reach = bulge + tolerance;
        let mut extent = [corners[0].map(|c| c - reach), corners[0].map(|c| c + reach)];
        for corner in corners {
            (0..3).for_each(|c| extent[0][c] = extent[0][c].min(corner[c] - reach));
            (0..3).for_each(|c| extent[1][c] = extent[1][c].max(corner[c] + reach));
        }
        if info.dim == 1 {
            (extent[0][2], extent[1][2]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        Side { kind: face.kind, x, tolerance, bulge, extent, middle, normal, bounds }
    }

    /// Whether a point lies on it, and at none of its nodes.
    fn holds(&self, point: Point) -> bool {
        let point = if self.kind.info().dim == 1 { [point[0], point[1], 0.0] } else { point };
        let reach = self.bulge + self.tolerance;
        let is_far = dot(sub(point, self.middle), self.normal).abs() > reach
            || self.bounds.iter().any(|&[from, out]| dot(sub(point, from), out) > reach);
        !is_far
            && self.x.iter().all(|&x| norm(sub(point, x)) > self.tolerance)
            && (self.bulge <= self.tolerance || self.distance(point) <= self.tolerance)
    }

    /// The distance of a point from the side, by Gauss and Newton from its middle.
    fn distance(&self, point: Point) -> f64 {
        let info = self.kind.info();
        let mut xi = info.domain.centroid();
        let mut distance = f64::INFINITY;
        for _ in 0..STEPS {
            let (mut away, mut tangents) = (point, [[0.0; 3]; 2]);
            for (b, x) in self.x.iter().enumerate() {
                let (n, slope) = ((info.shape.value)(b, xi), (info.shape.gradient)(b, xi));
                (0..3).for_each(|c| away[c] -= n * x[c]);
                (0..2).for_each(|j| (0..3).for_each(|c| tangents[j][c] += slope[j] * x[c]));
            }
            distance = norm(away);
            if distance <= 0.5 * self.tolerance {
                break;
            }
            let [r, s] = tangents;
            let (rr, rs, ss) = (dot(r, r), dot(r, s), if info.dim == 1 { 1.0 } else { dot(s, s) });
            let (ra, sa, det) = (dot(r, away), dot(s, away), rr * ss - rs * rs);
            xi[0] += (ss * ra - rs * sa) / det;
            xi[1] += (rr * sa - rs * ra) / det;
            xi = info.domain.nearest(xi);
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::testing::*;

    /// Two meshes in one, the second shifted along x; nodes at one place are one, if `joined`.
    fn beside(a: &Mesh, b: &Mesh, shift: f64, joined: bool) -> Mesh {
        let mut mesh = Mesh { coords: a.coords.clone(), cells: vec![a.cells[0].clone()], ..Mesh::default() };
        let mut new = Vec::new();
        for x in &b.coords {
            let x = [x[0] + shift, x[1], x[2]];
            let known = a.coords.iter().position(|y| joined && norm(sub(*y, x)) < 1e-12);
            new.push(known.unwrap_or(mesh.coords.len()) as u32);
            if known.is_none() {
                mesh.coords.push(x);
            }
        }
        let Cells { kind, nodes, tags } = &b.cells[0];
        let nodes: Vec<u32> = nodes.iter().map(|&node| new[node as usize]).collect();
        mesh.cells.push(Cells { kind: *kind, nodes, tags: tags.iter().map(|tag| tag + 1000).collect() });
        mesh.node_tags = (1..=mesh.coords.len() as u64).collect();
        mesh
    }

    fn found(mesh: &Mesh) -> (usize, usize) {
        match mesh.check_hanging() {
            Ok(()) => (0, 0),
            Err(MeshError::Hanging { nodes, sides, .. }) => (nodes, sides),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn coarse_cells_beside_fine_ones() {
        for kind in [Hex8, Tet4] {
            assert_eq!(found(&beside(&cube(kind, 1), &cube(kind, 2), 1.0, true)), (5, 0), "{kind:?}");
            assert_eq!(found(&beside(&cube(kind, 4), &cube(kind, 2), 1.0, true)), (16, 0), "{kind:?}");
            assert_eq!(found(&beside(&cube(kind, 2), &cube(kind, 2), 1.0, true)), (0, 0), "{kind:?}");
        }
        // With middles: of 21 nodes 8 are the coarse face's; of a tetrahedron's 25, 9.
        assert_eq!(found(&beside(&cube(Hex20, 1), &cube(Hex20, 2), 1.0, true)), (13, 0));
        assert_eq!(found(&beside(&cube(Tet10, 1), &cube(Tet10, 2), 1.0, true)), (16, 0));
        for kind in [Tri3, Quad4] {
            let plate = |n| generate_rectangle(kind, [1.0; 2], [n; 2]).unwrap();
            assert_eq!(found(&beside(&plate(1), &plate(3), 1.0, true)), (2, 0), "{kind:?}");
            assert_eq!(found(&beside(&plate(3), &plate(3), 1.0, true)), (0, 0), "{kind:?}");
        }
    }

    #[test]
    fn however_the_body_is_turned() {
        let mut mesh = beside(&cube(Hex8, 1), &cube(Hex8, 2), 1.0, true);
        let (c, s) = (0.7f64.cos(), 0.7f64.sin());
        mesh.coords
            .iter_mut()
            .for_each(|x| *x = [c * x[0] - s * x[1] + 50.0, s * x[0] + c * x[1], 1e-3 * x[2] + 0.3 * x[1]]);
        assert_eq!(found(&mesh), (5, 0));
    }

    #[test]
    fn first_order_beside_second_and_quadrilaterals_against_triangles() {
        // The middles of the face's four edges, and the centre where a diagonal has one.
        assert_eq!(found(&beside(&cube(Hex8, 1), &cube(Tet10, 1), 1.0, true)), (5, 3));
        assert_eq!(found(&beside(&cube(Hex20, 1), &cube(Tet4, 1), 1.0, true)), (4, 3));
        assert_eq!(found(&beside(&cube(Hex8, 2), &cube(Tet4, 2), 1.0, true)), (0, 12));
    }

    #[test]
    fn parts_that_touch_and_slits_are_not_meant() {
        // No node in common: two parts.
        assert_eq!(found(&beside(&cube(Hex8, 1), &cube(Hex8, 2), 1.0, false)), (0, 0));
        // A slit across half of a plate and of a body: nodes at the same places, hung together behind it.
        for kind in [Tet4, Hex8, Tet10, Hex20] {
            let mut mesh = cube(kind, 4);
            let n = mesh.coords.len() as u32;
            let slit: Vec<u32> =
                (0..n).filter(|&i| mesh.coords[i as usize][2] == 0.5 && mesh.coords[i as usize][0] < 0.5).collect();
            let width = kind.info().n_nodes;
            for cell in mesh.cells[0].nodes.chunks_mut(width) {
                if cell.iter().map(|&i| mesh.coords[i as usize][2]).sum::<f64>() > 0.5 * width as f64 {
                    cell.iter_mut().for_each(|node| {
                        if let Ok(k) = slit.binary_search(node) {
                            *node = n + k as u32;
                        }
                    });
                }
            }
            slit.iter().for_each(|&i| mesh.coords.push(mesh.coords[i as usize]));
            assert!(!slit.is_empty());
            assert_eq!(found(&mesh), (0, 0), "{kind:?}");
        }
    }

    #[test]
    fn curved_sides_hold_what_lies_on_them_alone() {
        let bend = |mesh: &mut Mesh| mesh.coords.iter_mut().for_each(|x| x[0] += 0.3 * x[1] * x[1]);
        // A parabola along y: every node of the fine side lies on the coarse one.
        let mut mesh = beside(&cube(Hex20, 1), &cube(Hex20, 2), 1.0, true);
        bend(&mut mesh);
        assert_eq!(found(&mesh), (13, 0));
        let plate = |n| generate_rectangle(Quad8, [1.0; 2], [n; 2]).unwrap();
        let mut mesh = beside(&plate(1), &plate(2), 1.0, true);
        bend(&mut mesh);
        assert_eq!(found(&mesh), (2, 0));
        // Of another curve, the ends are on it at most, and a body alone has none.
        let mut mesh = beside(&plate(1), &plate(2), 1.0, true);
        mesh.coords.iter_mut().for_each(|x| x[0] += 0.3 * x[1].powi(4));
        assert_eq!(found(&mesh), (0, 0));
        for kind in [Hex20, Tet10, Hex8, Tet4] {
            let mut mesh = cube(kind, 3);
            mesh.coords
                .iter_mut()
                .for_each(|x| *x = [x[0] + 0.2 * x[1] * x[2], x[1] - 0.3 * x[0] * x[0], x[2] + 0.1 * x[1]]);
            assert_eq!(found(&mesh), (0, 0), "{kind:?}");
        }
        let round = quadratic(cube(Hex8, 2), Hex20).unwrap();
        assert_eq!(found(&round), (0, 0));
    }
}
