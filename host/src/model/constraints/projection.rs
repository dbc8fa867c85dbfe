//! The nearest point of a surface of faces, curved ones as they are curved.

use warpfem_text::number;

use crate::element::{Domain, ElementInfo};
use crate::mesh::Mesh;
use crate::mesh::faces::Face;
use crate::mesh::vector::{cross, dot, norm, sub, unit};

/// Faces of a leaf of the tree.
const LEAF: usize = 4;
/// Newton's steps at most: those of a flat face take two, of a curved one some more where the point is off it.
const STEPS: usize = 40;
/// A step this small, in reference coordinates, is none.
const CONVERGED: f64 = 1e-15;
/// A point this far outside a face's reference domain is inside.
const INSIDE: f64 = 1e-12;
/// A weight this small is rounding.
const NO_WEIGHT: f64 = 1e-10;

/// A surface that points are projected onto.
pub struct Surface<'a> {
    mesh: &'a Mesh,
    faces: Vec<Face>,
    /// The first is the root.
    tree: Vec<Node>,
}

/// Some neighbouring faces and the box around them.
struct Node {
    low: [f64; 3],
    high: [f64; 3],
    faces: std::ops::Range<usize>,
    /// The first of two children that follow each other; none of a leaf.
    children: Option<usize>,
}

/// The nearest point of a surface.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Nodes and shape functions there; they add up to 1.
    pub weights: Vec<(u32, f64)>,
    /// How far it is.
    pub gap: f64,
    /// The outward unit normal there.
    pub normal: [f64; 3],
}

impl<'a> Surface<'a> {
    /// Of some faces, of which there is one or more.
    pub fn new(mesh: &'a Mesh, mut faces: Vec<Face>) -> Self {
        let mut tree = vec![Node { low: [0.0; 3], high: [0.0; 3], faces: 0..faces.len(), children: None }];
        let mut next = 0;
        while next < tree.len() {
            let places = tree[next].faces.clone();
            let boxes = faces[places.clone()].iter().map(|face| bounds(face, mesh));
            let around = |a: [[f64; 3]; 2], b: [[f64; 3]; 2]| {
                [[0, 1, 2].map(|c| a[0][c].min(b[0][c])), [0, 1, 2].map(|c| a[1][c].max(b[1][c]))]
            };
            [tree[next].low, tree[next].high] = boxes.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], around);
            if places.len() > LEAF {
                let extent = sub(tree[next].high, tree[next].low);
                let axis = (0..3).fold(0, |best, c| if extent[c] > extent[best] { c } else { best });
                let middle = |face: &Face| mesh.middle(face.nodes())[axis];
                faces[places.clone()].sort_by(|a, b| middle(a).total_cmp(&middle(b)));
                let half = places.start + places.len() / 2;
                tree[next].children = Some(tree.len());
                for faces in [places.start..half, half..places.end] {
                    tree.push(Node { low: [0.0; 3], high: [0.0; 3], faces, children: None });
                }
            }
            next += 1;
        }
        Surface { mesh, faces, tree }
    }

    /// The nearest point to `x`.
    pub fn nearest(&self, x: [f64; 3]) -> Projection {
        let (mut best, mut found) = (f64::INFINITY, (0, [0.0; 3]));
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            let node = &self.tree[node];
            if distance_to_box(x, node) > best {
                continue;
            }
            match node.children {
                Some(first) => {
                    // The nearer one is looked at first, as it comes last.
                    let [a, b] = [first, first + 1].map(|child| distance_to_box(x, &self.tree[child]));
                    open.extend(if a < b { [first + 1, first] } else { [first, first + 1] });
                }
                None => {
                    for face in node.faces.clone() {
                        let (xi, distance) = closest(&self.faces[face], self.mesh, x);
                        if distance < best {
                            (best, found) = (distance, (face, xi));
                        }
                    }
                }
            }
        }
        self.projection(found, best)
    }

    fn projection(&self, (face, xi): (usize, [f64; 3]), gap: f64) -> Projection {
        let face = &self.faces[face];
        let shape = &face.kind.info().shape;
        let weights = face.nodes().iter().enumerate().map(|(b, node)| (*node, (shape.value)(b, xi)));
        let mut weights: Vec<(u32, f64)> = weights.filter(|(_, weight)| weight.abs() > NO_WEIGHT).collect();
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
        let [r, s] = tangents(face, self.mesh, xi);
        let normal = if face.kind.info().dim == 1 { [r[1], -r[0], 0.0] } else { cross(r, s) };
        Projection { weights, gap, normal: unit(normal) }
    }

    /// Its faces.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The faces whose boxes come as near to that of another face as this.
    pub fn near(&self, face: &Face, distance: f64) -> Vec<&Face> {
        let [low, high] = bounds(face, self.mesh);
        let gap = |[other, last]: [[f64; 3]; 2]| {
            (0..3).all(|c| other[c] <= high[c] + distance && low[c] <= last[c] + distance)
        };
        let (mut open, mut found) = (vec![0], Vec::new());
        while let Some(node) = open.pop() {
            let node = &self.tree[node];
            match node.children {
                _ if !gap([node.low, node.high]) => {}
                Some(first) => open.extend([first, first + 1]),
                None => found.extend(self.faces[node.faces.clone()].iter().filter(|face| gap(bounds(face, self.mesh)))),
            }
        }
        found
    }

    /// The mean length of an edge of its faces.
    pub fn size(&self) -> f64 {
        size(&self.faces, self.mesh)
    }
}

/// The largest gap, beside faces of this size.
pub fn gap_in_words(widest: f64, size: f64) -> String {
    if widest <= 1e-9 * size { "no gap".into() } else { format!("gaps up to {}", number(widest, 3)) }
}

/// The mean distance between neighbouring corners of some faces.
pub fn size(faces: &[Face], mesh: &Mesh) -> f64 {
    let edges = faces.iter().flat_map(|face| {
        let n = face.kind.info().n_corners;
        let x = move |k: usize| mesh.coords[face.nodes()[k % n] as usize];
        (0..if n == 2 { 1 } else { n }).map(move |k| norm(sub(x(k + 1), x(k))))
    });
    let (sum, count) = edges.fold((0.0, 0), |(sum, count), edge| (sum + edge, count + 1));
    sum / f64::from(count.max(1))
}

/// A box around a face: a curved one may reach out of the box of its nodes.
fn bounds(face: &Face, mesh: &Mesh) -> [[f64; 3]; 2] {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for node in face.nodes() {
        let x = mesh.coords[*node as usize];
        (low, high) = ([0, 1, 2].map(|c| low[c].min(x[c])), [0, 1, 2].map(|c| high[c].max(x[c])));
    }
    let ElementInfo { n_nodes, n_corners, .. } = face.kind.info();
    let more = if n_nodes > n_corners { 0.25 * norm(sub(high, low)) } else { 0.0 };
    [low.map(|x| x - more), high.map(|x| x + more)]
}

fn distance_to_box(x: [f64; 3], node: &Node) -> f64 {
    norm([0, 1, 2].map(|c| (node.low[c] - x[c]).max(x[c] - node.high[c]).max(0.0)))
}

fn place(face: &Face, mesh: &Mesh, xi: [f64; 3]) -> [f64; 3] {
    let shape = &face.kind.info().shape;
    face.nodes().iter().enumerate().fold([0.0; 3], |sum, (b, node)| {
        let (x, n) = (mesh.coords[*node as usize], (shape.value)(b, xi));
        [0, 1, 2].map(|c| sum[c] + n * x[c])
    })
}

fn tangents(face: &Face, mesh: &Mesh, xi: [f64; 3]) -> [[f64; 3]; 2] {
    let shape = &face.kind.info().shape;
    face.nodes().iter().enumerate().fold([[0.0; 3]; 2], |sums, (b, node)| {
        let (x, dn) = (mesh.coords[*node as usize], (shape.gradient)(b, xi));
        [0, 1].map(|j| [0, 1, 2].map(|c| sums[j][c] + dn[j] * x[c]))
    })
}

/// The reference coordinates of the point of a face that is nearest to `x`, and how far it is: inside the face, or on one
/// of its edges.
fn closest(face: &Face, mesh: &Mesh, x: [f64; 3]) -> ([f64; 3], f64) {
    let domain = face.kind.info().domain;
    let distance = |xi: [f64; 3]| norm(sub(place(face, mesh, xi), x));
    if let Some(xi) = inside(face, mesh, x, domain) {
        return (xi, distance(xi));
    }
    let corners = domain.corners();
    let n = if corners.len() == 2 { 1 } else { corners.len() };
    let on_edges = (0..n).map(|k| {
        let xi = on_edge(face, mesh, x, [corners[k], corners[(k + 1) % corners.len()]]);
        (xi, distance(xi))
    });
    on_edges.fold(([0.0; 3], f64::INFINITY), |best, other| if other.1 < best.1 { other } else { best })
}

/// The foot of the perpendicular, if it is inside the face: Gauss and Newton's steps from the middle.
fn inside(face: &Face, mesh: &Mesh, x: [f64; 3], domain: Domain) -> Option<[f64; 3]> {
    if face.kind.info().dim == 1 {
        return None;
    }
    let corners = domain.corners();
    let mut xi = [0, 1, 2].map(|c| corners.iter().map(|corner| corner[c]).sum::<f64>() / corners.len() as f64);
    for _ in 0..STEPS {
        let ([r, s], d) = (tangents(face, mesh, xi), sub(x, place(face, mesh, xi)));
        let (rr, rs, ss, rd, sd) = (dot(r, r), dot(r, s), dot(s, s), dot(r, d), dot(s, d));
        let det = rr * ss - rs * rs;
        if det <= 0.0 {
            return None;
        }
        let step = [(ss * rd - rs * sd) / det, (rr * sd - rs * rd) / det];
        // What is far outside is nearest to an edge.
        xi = [0, 1]
            .map(|j| (xi[j] + step[j]).clamp(-3.0, 3.0))
            .into_iter()
            .chain([0.0])
            .collect::<Vec<_>>()
            .try_into()
            .ok()?;
        if step[0].abs().max(step[1].abs()) < CONVERGED {
            break;
        }
    }
    let is_inside = match domain {
        Domain::Triangle => xi[0] >= -INSIDE && xi[1] >= -INSIDE && xi[0] + xi[1] <= 1.0 + INSIDE,
        _ => xi[0].abs() <= 1.0 + INSIDE && xi[1].abs() <= 1.0 + INSIDE,
    };
    is_inside.then_some(xi)
}

/// The nearest point of an edge between two corners.
fn on_edge(face: &Face, mesh: &Mesh, x: [f64; 3], [a, b]: [[f64; 3]; 2]) -> [f64; 3] {
    let at = |t: f64| [0, 1, 2].map(|c| a[c] + t * (b[c] - a[c]));
    let mut t = 0.5;
    for _ in 0..STEPS {
        let ([r, s], d) = (tangents(face, mesh, at(t)), sub(x, place(face, mesh, at(t))));
        let along = [0, 1, 2].map(|c| r[c] * (b[0] - a[0]) + s[c] * (b[1] - a[1]));
        let square = dot(along, along);
        let next = if square > 0.0 { (t + dot(along, d) / square).clamp(0.0, 1.0) } else { t };
        if (next - t).abs() < CONVERGED {
            return at(next);
        }
        t = next;
    }
    at(t)
}
