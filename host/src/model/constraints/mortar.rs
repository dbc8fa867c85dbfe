//! Weights of a tie that pass constant stress on exactly, whatever the two meshes are: a mortar method with dual functions.
//!
//! On each slave face there are functions psi_a with `int psi_a N_c = delta_ac int N_a` (Wohlmuth 2000), which add up to 1. The
//! condition `int psi_a (u_s - u_m) = 0` then gives each slave node by masters alone, `D_a u_a = sum_b R_ab u_b` with `D_a =
//! int N_a`, `R_ab = int psi_a N_b`, over the pieces in which the faces of both sides overlap. Nodes on the rim of the slave
//! surface follow the point that they lie on instead, `u_c = sum_b T_cb u_b`, as what holds the rim often holds both sides. What
//! that leaves of their condition, `R_c - D_c T_c`, goes to their neighbours: the sum of all conditions stays, and with it the
//! sum of forces on each master node.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::projection::{Projection, Surface};
use crate::element::ElementKind::{Line2, Tri3};
use crate::element::shape::At;
use crate::mesh::Mesh;
use crate::mesh::faces::Face;
use crate::mesh::vector::{cross, dot, sub, unit};
use crate::parallel;
use nalgebra::DMatrix;

/// A slave face of which less than this part is not covered, or covered twice, is covered: facets of a curved surface do not
/// meet those of another along their edges.
const UNCOVERED: f64 = 0.02;
/// Weights below this part of 1 are rounding.
const NO_WEIGHT: f64 = 1e-10;
/// Newton's steps at most, and the last one's size.
const STEPS: usize = 20;
const CONVERGED: f64 = 1e-14;

type Point = [f64; 2];

/// A sum of masters.
type Row = BTreeMap<u32, f64>;

/// The plane of a slave face.
struct Plane {
    at: [f64; 3],
    axes: [[f64; 3]; 2],
    normal: [f64; 3],
}

impl Plane {
    fn of(face: &Face, mesh: &Mesh) -> Plane {
        let corners = face.nodes();
        let x = |k: usize| mesh.coords[corners[k] as usize];
        let (at, along) = (mesh.middle(corners), unit(sub(x(1), x(0))));
        let normal = match corners.len() {
            2 => [along[1], -along[0], 0.0],
            3 => unit(cross(sub(x(1), x(0)), sub(x(2), x(0)))),
            _ => unit(cross(sub(x(2), x(0)), sub(x(3), x(1)))),
        };
        let along = unit(sub(along, normal.map(|c| c * dot(along, normal))));
        Plane { at, axes: [along, cross(normal, along)], normal }
    }

    /// Where points are in the plane, seen along its normal.
    fn seen(&self, face: &Face, mesh: &Mesh) -> Vec<Point> {
        let place = |node: &u32| {
            let arm = sub(mesh.coords[*node as usize], self.at);
            self.axes.map(|axis| dot(arm, axis))
        };
        face.nodes().iter().map(place).collect()
    }

    /// The mean height of a face above the plane.
    fn height(&self, face: &Face, mesh: &Mesh) -> f64 {
        dot(sub(mesh.middle(face.nodes()), self.at), self.normal)
    }
}

/// What a slave face adds: `D_a`, `R_a` of each of its nodes; and how much of it is covered.
struct Share {
    size: Vec<f64>,
    rows: Vec<Row>,
    is_covered: bool,
}

/// The masters of slave nodes with their weights, from the faces of both sides and where the nodes are projected to; none for
/// nodes that follow this projection, and if a face has nodes beside its corners.
pub fn weights(
    mesh: &Mesh,
    slaves: &[Face],
    surface: &Surface<'_>,
    feet: &HashMap<u32, &Projection>,
    tolerance: f64,
) -> HashMap<u32, Vec<(u32, f64)>> {
    let is_linear = |face: &Face| !face.kind.info().is_quadratic();
    if !slaves.iter().all(is_linear) || !surface.faces().iter().all(is_linear) {
        return HashMap::new();
    }
    let shares: Vec<Share> = parallel::map_items(slaves, &|face| share(mesh, face, surface, tolerance));
    let (mut size, mut rows) = (HashMap::<u32, f64>::new(), HashMap::<u32, Row>::new());
    let mut follows = rim(slaves);
    for (face, share) in slaves.iter().zip(&shares) {
        if !share.is_covered {
            follows.extend(face.nodes());
            continue;
        }
        for (a, node) in face.nodes().iter().enumerate() {
            *size.entry(*node).or_default() += share.size[a];
            add_to(rows.entry(*node).or_default(), &share.rows[a], 1.0);
        }
    }
    let neighbours = neighbours(slaves, &shares, &follows, &size);
    let mut given: Vec<(u32, Row)> = Vec::new();
    for (node, near) in &neighbours {
        let (Some(row), Some(foot)) = (rows.get(node), feet.get(node).filter(|foot| foot.gap <= tolerance)) else {
            continue;
        };
        let mut left = row.clone();
        foot.weights.iter().for_each(|(master, weight)| *left.entry(*master).or_default() -= size[node] * weight);
        given.extend(near.iter().map(|(other, part)| {
            let mut share = Row::new();
            add_to(&mut share, &left, *part);
            (*other, share)
        }));
    }
    given.iter().for_each(|(node, share)| add_to(rows.entry(*node).or_default(), share, 1.0));
    let found =
        rows.into_iter().filter(|(node, row)| !follows.contains(node) && !row.is_empty() && feet.contains_key(node));
    let weighted = found.map(|(node, row)| {
        let weights = row.into_iter().map(|(master, weight)| (master, weight / size[&node]));
        (node, weights.filter(|(_, weight)| weight.abs() > NO_WEIGHT).collect())
    });
    weighted.collect()
}

fn add_to(sum: &mut Row, row: &Row, times: f64) {
    row.iter().for_each(|(master, weight)| *sum.entry(*master).or_default() += times * weight);
}

/// The nodes on the rim of a surface: of edges, in the plane of ends, that are there once.
fn rim(faces: &[Face]) -> HashSet<u32> {
    let mut edges = HashMap::<[u32; 2], usize>::new();
    for face in faces {
        let (nodes, n) = (face.nodes(), face.nodes().len());
        let ends = |k: usize| if n == 2 { [nodes[k]; 2] } else { [nodes[k], nodes[(k + 1) % n]] };
        (0..n).for_each(|k| {
            let [a, b] = ends(k);
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
        });
    }
    edges.into_iter().filter(|(_, count)| *count == 1).flat_map(|(edge, _)| edge).collect()
}

/// For each node that follows a point, the nearest others that do not and the parts that they take over; by size.
fn neighbours(
    faces: &[Face],
    shares: &[Share],
    follows: &HashSet<u32>,
    size: &HashMap<u32, f64>,
) -> BTreeMap<u32, Vec<(u32, f64)>> {
    let mut around = BTreeMap::<u32, Vec<usize>>::new();
    let covered = || faces.iter().zip(shares).enumerate().filter(|(_, (_, share))| share.is_covered);
    for (i, (face, _)) in covered() {
        face.nodes().iter().for_each(|node| around.entry(*node).or_default().push(i));
    }
    let of = |node: &u32| {
        let (mut met, mut reached) = (HashSet::from([*node]), vec![*node]);
        loop {
            let mut next: Vec<u32> =
                reached.iter().flat_map(|node| &around[node]).flat_map(|i| faces[*i].nodes()).copied().collect();
            next.sort_unstable();
            next.dedup();
            next.retain(|node| met.insert(*node));
            let free: Vec<u32> = next.iter().copied().filter(|node| !follows.contains(node)).collect();
            if !free.is_empty() || next.is_empty() {
                let sum: f64 = free.iter().map(|node| size[node]).sum();
                return free.into_iter().map(|node| (node, size[&node] / sum)).collect();
            }
            reached = next;
        }
    };
    around.keys().filter(|node| follows.contains(node)).map(|node| (*node, of(node))).collect()
}

/// A point of a face that lies on one of the other side.
pub struct Shared {
    /// The area that it stands for.
    pub weight: f64,
    /// The shape functions of the face's nodes.
    pub own: Vec<f64>,
    /// Nodes of the other side with theirs.
    pub other: Vec<(u32, f64)>,
}

/// Points that integrate over what a face shares with those in front of it; and whether it is covered. Edges of both are taken for straight.
pub fn shared(mesh: &Mesh, face: &Face, surface: &Surface<'_>, tolerance: f64) -> (Vec<Shared>, bool) {
    let plane = Plane::of(face, mesh);
    let corners = |of: &Face| of.kind.info().n_corners;
    let (own, mut found) = (plane.seen(face, mesh), Vec::new());
    for other in surface.near(face, tolerance) {
        let away = Plane::of(other, mesh);
        if dot(plane.normal, away.normal) >= 0.0 || plane.height(other, mesh).abs() > tolerance {
            continue;
        }
        let theirs = plane.seen(other, mesh);
        for (at, weight) in overlap(&own[..corners(face)], &theirs[..corners(other)]) {
            let masters = other.nodes().iter().copied().zip(shapes(other, &theirs, at));
            found.push(Shared { weight, own: shapes(face, &own, at), other: masters.collect() });
        }
    }
    let outline = &own[..corners(face)];
    let whole: f64 = overlap(outline, outline).iter().map(|(_, weight)| weight).sum();
    let covered: f64 = found.iter().map(|of| of.weight).sum();
    (found, (covered - whole).abs() <= UNCOVERED * whole)
}

/// What a slave face has of the masters in front of it.
fn share(mesh: &Mesh, face: &Face, surface: &Surface<'_>, tolerance: f64) -> Share {
    let n = face.nodes().len();
    let (mut mass, mut products) = (DMatrix::<f64>::zeros(n, n), HashMap::<u32, Vec<f64>>::new());
    let (points, is_covered) = shared(mesh, face, surface, tolerance);
    for Shared { weight, own, other } in points {
        for a in 0..n {
            (0..n).for_each(|c| mass[(a, c)] += weight * own[a] * own[c]);
        }
        for (node, value) in other {
            let row = products.entry(node).or_insert_with(|| vec![0.0; n]);
            (0..n).for_each(|a| row[a] += weight * own[a] * value);
        }
    }
    let size: Vec<f64> = mass.row_iter().map(|row| row.sum()).collect();
    let inverse = mass.try_inverse().filter(|_| is_covered).unwrap_or_else(|| DMatrix::zeros(n, n));
    let mut rows = vec![Row::new(); n];
    for (node, of_values) in products {
        for (a, row) in rows.iter_mut().enumerate() {
            // psi_a = D_a sum_c (M^-1)_ac N_c.
            let weight = size[a] * (0..n).map(|c| inverse[(a, c)] * of_values[c]).sum::<f64>();
            row.insert(node, weight);
        }
    }
    Share { size, rows, is_covered }
}

/// Points and weights that integrate over what two polygons, or two stretches of a line, share.
fn overlap(one: &[Point], two: &[Point]) -> Vec<(Point, f64)> {
    let mut found = Vec::new();
    if one.len() == 2 {
        let ends = |of: &[Point]| [of[0][0].min(of[1][0]), of[0][0].max(of[1][0])];
        let ([a, b], [c, d]) = (ends(one), ends(two));
        let (low, high) = (a.max(c), b.min(d));
        if low < high {
            found.extend(Line2.table().mass.iter().map(|at| {
                let x = at.n[0] * low + at.n[1] * high;
                ([x, 0.0], 0.5 * at.weight * (high - low))
            }));
        }
        return found;
    }
    let piece = clipped(counterclockwise(one.to_vec()), &counterclockwise(two.to_vec()));
    for k in 2..piece.len() {
        let [a, b, c] = [piece[0], piece[k - 1], piece[k]];
        let double = turn(a, b, c);
        let point = |at: &At| {
            let x = |i: usize| at.n[0] * a[i] + at.n[1] * b[i] + at.n[2] * c[i];
            ([x(0), x(1)], at.weight * double)
        };
        found.extend(Tri3.table().mass.iter().map(point));
    }
    found
}

/// Twice the area of a triangle.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn counterclockwise(mut polygon: Vec<Point>) -> Vec<Point> {
    let area: f64 = (1..polygon.len() - 1).map(|k| turn(polygon[0], polygon[k], polygon[k + 1])).sum();
    if area < 0.0 {
        polygon.reverse();
    }
    polygon
}

/// The part of a convex polygon that is inside another (Sutherland and Hodgman 1974).
fn clipped(polygon: Vec<Point>, by: &[Point]) -> Vec<Point> {
    (0..by.len()).fold(polygon, |polygon, k| {
        let (a, b) = (by[k], by[(k + 1) % by.len()]);
        let side: Vec<f64> = polygon.iter().map(|p| turn(a, b, *p)).collect();
        let mut left = Vec::new();
        for i in 0..polygon.len() {
            let j = (i + 1) % polygon.len();
            if side[i] >= 0.0 {
                left.push(polygon[i]);
            }
            if (side[i] > 0.0 && side[j] < 0.0) || (side[i] < 0.0 && side[j] > 0.0) {
                let t = side[i] / (side[i] - side[j]);
                left.push([0, 1].map(|c| polygon[i][c] + t * (polygon[j][c] - polygon[i][c])));
            }
        }
        left
    })
}

/// The shape functions of a face, seen as these points, at a place.
fn shapes(face: &Face, seen: &[Point], at: Point) -> Vec<f64> {
    let info = face.kind.info();
    let mut xi = info.domain.centroid();
    for _ in 0..STEPS {
        let (mut rest, mut slopes) = (at, [[0.0; 2]; 2]);
        for (b, x) in seen.iter().enumerate() {
            let (value, dn) = ((info.shape.value)(b, xi), (info.shape.gradient)(b, xi));
            (0..2).for_each(|c| rest[c] -= value * x[c]);
            (0..2).for_each(|j| (0..2).for_each(|c| slopes[j][c] += dn[j] * x[c]));
        }
        let [r, s] = slopes;
        let step = match info.dim {
            1 => [rest[0] / r[0], 0.0],
            _ => {
                let det = r[0] * s[1] - r[1] * s[0];
                [(rest[0] * s[1] - rest[1] * s[0]) / det, (r[0] * rest[1] - r[1] * rest[0]) / det]
            }
        };
        (xi[0], xi[1]) = (xi[0] + step[0], xi[1] + step[1]);
        if step[0].abs().max(step[1].abs()) < CONVERGED {
            break;
        }
    }
    (0..seen.len()).map(|b| (info.shape.value)(b, xi)).collect()
}
