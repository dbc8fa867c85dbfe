//! Shape functions of an element known at run time, and tables of them where the mesh and its loads are integrated.
//!
//! The functions are those of the device code. The tables spare the search for them in loops over a million cells.

use std::sync::LazyLock;

use kernels_rs::element::{Element, Point, rules};

use super::vector::{norm, sub};
use super::{Domain, ElementKind};

/// An element's shape functions.
#[derive(Debug)]
pub struct Shape {
    /// Reference coordinates of the nodes, `[n_nodes]`.
    pub nodes: &'static [[f64; 3]],
    /// Where stiffness and stress are integrated.
    pub quadrature: &'static [Point],
    /// Where derivatives are most accurate.
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

    /// `sum_b N_b x_b`.
    pub fn place(&self, x: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        let mut place = [0.0; 3];
        for (b, n) in self.n.iter().enumerate() {
            let x = x(b);
            (0..3).for_each(|c| place[c] += n * x[c]);
        }
        place
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
    /// A rule exact for volumes, and on faces but those of reduced integration for `N_a` times the area vector, however curved they
    /// are.
    pub rule: Vec<At>,
    /// A rule exact for products of two shape functions on undistorted elements, of sections also when turned about an axis.
    pub mass: Vec<At>,
    /// A rule for what has a square root in it: lengths of curved edges, areas of curved faces; nothing of solids.
    pub curved: Vec<At>,
    /// What each of the [sampled points](Shape::sampled) has in the value at each node, by a least-squares fit:
    /// `[n_nodes][n_sampled]`, flat.
    pub extended: Vec<f64>,
    /// Which node comes at each place when the element is listed the other way round.
    pub mirrored: Vec<usize>,
    /// [`ElementKind::faces`].
    pub faces: Vec<(ElementKind, Vec<usize>)>,
    /// [`ElementKind::edges`].
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
            mass: mass(kind).iter().map(at).collect(),
            curved: curved(kind).iter().map(at).collect(),
            extended: extended(kind),
            mirrored: mirrored(kind),
            faces: faces(kind),
            edges: edges(kind),
        }
    }
}

/// The node of a kind at a place of its reference element.
fn node_at(kind: ElementKind, xi: [f64; 3]) -> Option<usize> {
    kind.info().shape.nodes.iter().position(|node| norm(sub(*node, xi)) < 1e-12)
}

/// Of the kinds that a side's shape can have, the one with most nodes that are all nodes of the whole. Sides of reduced
/// integration belong to elements of it, as in CalculiX.
fn faces(kind: ElementKind) -> Vec<(ElementKind, Vec<usize>)> {
    let domain = kind.info().domain;
    let facets = domain.facets().iter().map(|facet| {
        let nodes_of = |side: ElementKind| {
            let linear = &side.linear().info().shape;
            let place = |xi: &[f64; 3]| {
                let corners = || facet.corners.iter().map(|&k| domain.corners()[k]).enumerate();
                [0, 1, 2].map(|c| corners().map(|(b, x)| (linear.value)(b, *xi) * x[c]).sum())
            };
            let nodes = side.info().shape.nodes.iter().map(|xi| node_at(kind, place(xi)));
            Some((side, nodes.collect::<Option<Vec<usize>>>()?))
        };
        let is_side = |side: &ElementKind| {
            side.info().domain == facet.domain && side.is_reduced() == (kind.is_reduced() && side.info().dim == 2)
        };
        let sides = ElementKind::ALL.iter().copied().filter(is_side);
        sides.filter_map(nodes_of).max_by_key(|(_, nodes)| nodes.len()).expect("a side of corners is an element")
    });
    facets.collect()
}

fn edges(kind: ElementKind) -> Vec<Vec<usize>> {
    let (domain, mut edges) = (kind.info().domain, Vec::new());
    domain.edges(|[a, b]| {
        let middle = [0, 1, 2].map(|c| 0.5 * (domain.corners()[a][c] + domain.corners()[b][c]));
        edges.push([a, b].into_iter().chain(node_at(kind, middle)).collect());
    });
    edges
}

/// Gauss points a direction that do for curved elements: a volume has a Jacobian, and a face's load an integrand, of degree
/// 5 at most in each direction of squares, cubes, pyramids and along wedges, of degree 4 on triangles and 3 on tetrahedra.
const ENOUGH: usize = 3;

fn rule(kind: ElementKind) -> Vec<Point> {
    // 2 x 2 points are exact for areas, and what CalculiX has on sides of hex20r.
    let is_reduced_side = kind.is_reduced() && kind.info().dim == 2;
    match kind.info().is_quadratic() && !is_reduced_side {
        true => product(kind, ENOUGH),
        false => kind.info().shape.quadrature.to_vec(),
    }
}

fn mass(kind: ElementKind) -> Vec<Point> {
    let info = kind.info();
    let quadratic = |of: &&ElementKind| of.info().domain == info.domain && of.info().is_quadratic();
    match (info.domain, info.is_quadratic()) {
        (Domain::Triangle, _) => rules::TRIANGLE_7.to_vec(),
        (Domain::Tetrahedron, true) => rules::TETRAHEDRON_14.to_vec(),
        // Degree 4 along, beside `t^2`.
        (Domain::Pyramid, true) => product(kind, ENOUGH + 1),
        // Meshes of solids are large: these are fewer points than of a product.
        (_, false) if info.dim == 3 => {
            ElementKind::ALL.iter().find(quadratic).unwrap_or(&kind).info().shape.sampled.to_vec()
        }
        _ => product(kind, ENOUGH),
    }
}

/// Gauss points a direction of [`Table::curved`]. On a parabola over an eighth of a circle three leave 6e-6 of its length,
/// ten 1e-14; over a quarter of one ten leave 1e-9.
const CURVED: usize = 10;

fn curved(kind: ElementKind) -> Vec<Point> {
    if (1..3).contains(&kind.info().dim) { product(kind, CURVED) } else { Vec::new() }
}

/// Gauss's rule of `n` points in each direction, brought from the line, square or cube to the kind's shape.
fn product(kind: ElementKind, n: usize) -> Vec<Point> {
    let mut points = vec![([0.0; 3], 1.0)];
    for i in 0..kind.info().dim {
        let along = |&(mut u, weight): &Point| {
            gauss(n).into_iter().map(move |(x, w)| {
                u[i] = x;
                (u, weight * w)
            })
        };
        points = points.iter().flat_map(along).collect();
    }
    let bring = |(u, weight): Point| {
        let (xi, scale) = kind.info().domain.collapsed(u);
        (xi, scale * weight)
    };
    points.into_iter().map(bring).collect()
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

/// Constant, linear, linear in each factor of the shape, quadratic: bases of fits, of powers up to 2.
const LADDER: [usize; 4] = [0, 1, 2, 3];

/// The fit in the richest basis that the sampled points determine: `sum_j q_j(node) q_j(point)` with a basis q that is
/// orthonormal over the points.
fn extended(kind: ElementKind) -> Vec<f64> {
    let (info, n) = (kind.info(), kind.info().shape.sampled.len());
    let places: Vec<[f64; 3]> =
        info.shape.sampled.iter().map(|(xi, _)| *xi).chain(info.shape.nodes.iter().copied()).collect();
    let values = |powers: [usize; 3]| -> Vec<f64> {
        let from = info.domain.centroid();
        places.iter().map(|x| (0..3).map(|c| (x[c] - from[c]).powi(powers[c] as i32)).product()).collect()
    };
    let fit = |step: usize| {
        let powers = (0..27).map(|k| [k % 3, k / 3 % 3, k / 9]).filter(|&p| info.domain.has_monomial(step, p));
        orthonormal(powers.map(values).collect(), n)
    };
    let basis = LADDER.iter().rev().find_map(|&step| fit(step)).unwrap_or_default();
    let share = |node: usize, k: usize| basis.iter().map(|q| q[n + node] * q[k]).sum();
    (0..info.n_nodes).flat_map(|node| (0..n).map(move |k| (node, k))).map(|(node, k)| share(node, k)).collect()
}

/// The functions by Gram and Schmidt, orthonormal in their first `n` values; `None` if these do not tell them apart.
fn orthonormal(mut functions: Vec<Vec<f64>>, n: usize) -> Option<Vec<Vec<f64>>> {
    let product = |a: &[f64], b: &[f64]| a[..n].iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for i in 0..functions.len() {
        let (done, rest) = functions.split_at_mut(i);
        let before = product(&rest[0], &rest[0]).sqrt();
        for q in done.iter() {
            let along = product(q, &rest[0]);
            rest[0].iter_mut().zip(q).for_each(|(value, q)| *value -= along * q);
        }
        let length = product(&rest[0], &rest[0]).sqrt();
        if length <= 1e-8 * before || before == 0.0 {
            return None;
        }
        rest[0].iter_mut().for_each(|value| *value /= length);
    }
    Some(functions)
}

/// Where the nodes of the mirrored element are.
fn mirrored(kind: ElementKind) -> Vec<usize> {
    let info = kind.info();
    info.shape.nodes.iter().map(|&xi| node_at(kind, info.domain.mirrored(xi)).unwrap_or(0)).collect()
}

impl ElementKind {
    /// Its tables.
    pub fn table(self) -> &'static Table {
        static TABLES: LazyLock<Vec<Table>> =
            LazyLock::new(|| ElementKind::ALL.iter().map(|&kind| Table::of(kind)).collect());
        &TABLES[self as usize]
    }
}
