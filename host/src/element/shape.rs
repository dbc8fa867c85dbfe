//! Shape functions of an element known at run time, and tables of them where the mesh and its loads are integrated.
//!
//! The functions are those of the device code. The tables spare the search for them in loops over a million cells.

use std::sync::LazyLock;

use kernels_rs::element::rules::LINE_3;
use kernels_rs::element::{Element, Hex20, Point, Quad8};

use super::ElementKind;
use super::vector::{dot, sub};

/// An element's shape functions.
#[derive(Debug)]
pub struct Shape {
    /// Reference coordinates of the nodes, `[n_nodes]`.
    pub nodes: &'static [[f64; 3]],
    /// Where stiffness and stress are integrated.
    pub quadrature: &'static [Point],
    /// Where derivatives are most accurate; nothing of what is not solved on.
    pub sampled: &'static [Point],
    /// `N_b(xi)`.
    pub value: fn(usize, [f64; 3]) -> f64,
    /// `dN_b/dxi`.
    pub gradient: fn(usize, [f64; 3]) -> [f64; 3],
}

impl Shape {
    /// Those of an element of the device code.
    pub(super) const fn of<E: Element>() -> Shape {
        let (nodes, quadrature, sampled) = (E::NODES, E::QUADRATURE, E::SAMPLED);
        Shape { nodes, quadrature, sampled, value: E::shape, gradient: E::shape_gradient }
    }
}

/// Shape functions at a reference point.
#[derive(Debug)]
pub struct At {
    /// The point's weight, 1 if it is not of a rule.
    pub weight: f64,
    /// `N_b`, `[n_nodes]`.
    pub n: Vec<f64>,
    /// `dN_b/dxi`, `[n_nodes][3]`.
    pub dn: Vec<[f64; 3]>,
}

impl At {
    fn new(shape: &Shape, (xi, weight): Point) -> At {
        let nodes = 0..shape.nodes.len();
        let n = nodes.clone().map(|b| (shape.value)(b, xi)).collect();
        At { weight, n, dn: nodes.map(|b| (shape.gradient)(b, xi)).collect() }
    }

    /// `dx/dxi_j = sum_b x_b dN_b/dxi_j`, `[3][3]`; zero from the element's dimension on.
    pub fn tangents(&self, x: impl Fn(usize) -> [f64; 3]) -> [[f64; 3]; 3] {
        let mut tangents = [[0.0; 3]; 3];
        for (b, dn) in self.dn.iter().enumerate() {
            let x = x(b);
            for (tangent, slope) in tangents.iter_mut().zip(dn) {
                (0..3).for_each(|c| tangent[c] += slope * x[c]);
            }
        }
        tangents
    }
}

/// `det(dx/dxi)` from the tangents of a solid, or of a cell in the plane if `dim` is 2.
pub fn determinant(dim: usize, [r, s, t]: [[f64; 3]; 3]) -> f64 {
    if dim == 2 {
        return r[0] * s[1] - r[1] * s[0];
    }
    r[0] * (s[1] * t[2] - s[2] * t[1]) - r[1] * (s[0] * t[2] - s[2] * t[0]) + r[2] * (s[0] * t[1] - s[1] * t[0])
}

/// Tables of a kind.
#[derive(Debug)]
pub struct Table {
    /// At the nodes.
    pub nodes: Vec<At>,
    /// Where stiffness and stress are integrated.
    pub quadrature: Vec<At>,
    /// A rule exact for volumes, and on faces for `N_a` times the area vector, however curved they are.
    pub rule: Vec<At>,
    /// A rule for what has a square root in it: lengths of curved edges, areas of curved faces; nothing of solids.
    pub curved: Vec<At>,
    /// What each of the [sampled points](Shape::sampled) has in the value at each node, by the linear element through
    /// them: `[n_nodes][n_sampled]`, flat.
    pub extended: Vec<f64>,
    /// Which node comes at each place when the element is listed the other way round.
    pub mirrored: Vec<usize>,
    /// [`ElementInfo::edges`](super::ElementInfo::edges).
    pub edges: Vec<Vec<usize>>,
}

impl Table {
    fn of(kind: ElementKind) -> Table {
        let shape = &kind.info().shape;
        let at = |&point: &Point| At::new(shape, point);
        Table {
            nodes: shape.nodes.iter().map(|&xi| At::new(shape, (xi, 1.0))).collect(),
            quadrature: shape.quadrature.iter().map(at).collect(),
            rule: rule(kind).iter().map(at).collect(),
            curved: curved(kind).iter().map(at).collect(),
            extended: extended(kind),
            mirrored: mirrored(kind),
            edges: kind.info().edges(),
        }
    }
}

/// A curved element's volume has a Jacobian, and a curved face's load an integrand, of degree 5 at most in each
/// direction on squares and cubes, of degree 4 on triangles and 3 on tetrahedra; three Gauss points a direction do for
/// all.
fn rule(kind: ElementKind) -> Vec<Point> {
    let info = kind.info();
    let simplex = info.is_simplex();
    match info.dim {
        _ if !info.is_quadratic() => info.shape.quadrature.to_vec(),
        2 if simplex => Quad8::QUADRATURE.iter().map(collapsed_square).collect(),
        2 => Quad8::QUADRATURE.to_vec(),
        3 if simplex => Hex20::QUADRATURE.iter().map(collapsed_cube).collect(),
        3 => Hex20::QUADRATURE.to_vec(),
        _ => LINE_3.to_vec(),
    }
}

/// Gauss points a direction of [`Table::curved`]. On a parabola over an eighth of a circle three leave 6e-6 of its length,
/// ten 1e-14; over a quarter of one ten leave 1e-9.
const CURVED: usize = 10;

fn curved(kind: ElementKind) -> Vec<Point> {
    let (line, info) = (gauss(CURVED), kind.info());
    let square = || line.iter().flat_map(|&(u, a)| line.iter().map(move |&(v, b)| ([u, v, 0.0], a * b)));
    match info.dim {
        1 => line.iter().map(|&(u, weight)| ([u, 0.0, 0.0], weight)).collect(),
        2 if info.is_simplex() => square().map(|point| collapsed_square(&point)).collect(),
        2 => square().collect(),
        _ => Vec::new(),
    }
}

/// Gauss's rule of `n` points between -1 and 1: the roots of the Legendre polynomial, by Newton's method.
fn gauss(n: usize) -> Vec<(f64, f64)> {
    let root = |i: usize| {
        let (mut x, mut slope) = ((std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos(), 1.0);
        for _ in 0..10 {
            let (mut below, mut value) = (1.0, x);
            for k in 2..=n {
                let k = k as f64;
                (below, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * below) / k);
            }
            slope = n as f64 * (x * value - below) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(root).collect()
}

fn extended(kind: ElementKind) -> Vec<f64> {
    let (info, linear) = (kind.info(), &kind.linear().info().shape);
    let (points, n_corners) = (info.shape.sampled, linear.nodes.len());
    if points.len() <= 1 {
        return vec![1.0; info.n_nodes * points.len()];
    }
    let middle = info.middle();
    let from_middle = |x: &[f64; 3]| sub(*x, middle);
    // Each point is on the way from the centroid to the corner whose direction is nearest to its own, all as far.
    let towards = |point: &[f64; 3]| {
        let along = |b: &usize| dot(from_middle(point), from_middle(&linear.nodes[*b]));
        (0..n_corners).max_by(|a, b| along(a).total_cmp(&along(b))).expect("an element has corners")
    };
    let corners: Vec<usize> = points.iter().map(|(point, _)| towards(point)).collect();
    let [inner, outer] = [from_middle(&points[0].0), from_middle(&linear.nodes[corners[0]])];
    let way = (dot(inner, inner) / dot(outer, outer)).sqrt();
    let shares = |xi: &[f64; 3]| {
        let from = [0, 1, 2].map(|i| middle[i] + (xi[i] - middle[i]) / way);
        corners.iter().map(move |&b| (linear.value)(b, from)).collect::<Vec<_>>()
    };
    info.shape.nodes.iter().flat_map(shares).collect()
}

/// The square's point on the triangle (Duffy 1982): the edge `u = 1` collapses, which costs one degree.
fn collapsed_square(&([u, v, _], weight): &Point) -> Point {
    let (xi, eta) = (0.5 * (1.0 + u), 0.5 * (1.0 + v));
    ([xi, (1.0 - xi) * eta, 0.0], 0.25 * weight * (1.0 - xi))
}

/// The cube's point on the tetrahedron likewise, which costs two degrees.
fn collapsed_cube(&([u, v, w], weight): &Point) -> Point {
    let [xi, eta, zeta] = [u, v, w].map(|u| 0.5 * (1.0 + u));
    let (left, below) = (1.0 - xi, 1.0 - eta);
    ([xi, left * eta, left * below * zeta], 0.125 * weight * left * left * below)
}

/// A simplex is mirrored by exchanging its first and last coordinate, others by turning their last one round.
fn mirrored(kind: ElementKind) -> Vec<usize> {
    let (info, nodes) = (kind.info(), kind.info().shape.nodes);
    let last = info.dim.max(1) - 1;
    let image = |&xi: &[f64; 3]| {
        let mut xi = xi;
        match info.is_simplex() {
            true => xi.swap(0, last),
            false => xi[last] = -xi[last],
        }
        nodes.iter().position(|other| *other == xi).unwrap_or(0)
    };
    nodes.iter().map(image).collect()
}

impl ElementKind {
    /// Its tables.
    pub fn table(self) -> &'static Table {
        static TABLES: LazyLock<Vec<Table>> =
            LazyLock::new(|| ElementKind::ALL.iter().map(|&kind| Table::of(kind)).collect());
        &TABLES[self as usize]
    }
}
