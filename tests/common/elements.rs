//! The elements by their definition: `N_b(xi) = sum_k C_kb m_k(xi)` with the element's monomials `m_k` and `C` the
//! inverse of the matrix of their values at the nodes (Zienkiewicz and Taylor, sec. 8.2); Gauss rules by the
//! eigenvalues of their recurrence (Golub and Welsch 1969). Nodes are listed in the order of Gmsh's manual. Shares no
//! formula with the kernels.

use nalgebra::{DMatrix, Matrix3, Vector3};
use std::sync::LazyLock;
use warpfem::element::ElementKind::{self, *};

/// The elements, in order of dimension.
pub const PLANE: [ElementKind; 4] = [Tri3, Quad4, Tri6, Quad8];
pub const SOLID: [ElementKind; 4] = [Tet4, Hex8, Tet10, Hex20];

/// A quadrature point of an element in space: gradients `[n_nodes]`, shape functions `[n_nodes]`, weight times `|J|`.
pub struct Point {
    pub gradients: Vec<[f64; 3]>,
    pub shape: Vec<f64>,
    pub weight: f64,
}

/// Shape functions and their slopes at a reference point, `[n_nodes]`.
pub struct At {
    pub shape: Vec<f64>,
    pub slopes: Vec<[f64; 3]>,
    weight: f64,
}

/// A reference element.
pub struct Reference {
    pub dim: usize,
    /// `[n_nodes]`
    pub nodes: Vec<[f64; 3]>,
    /// Exponents of the monomials, `[n_nodes]`.
    powers: Vec<[i32; 3]>,
    /// `C [n_nodes][n_nodes]`
    coefficients: DMatrix<f64>,
    /// As many points as the element is integrated with.
    pub rule: Vec<At>,
    /// Enough points for what is no polynomial: five in each direction of the plane, four in space, which integrate
    /// degrees 9 and 7 of squares and cubes exactly, and 8 and 5 of simplices.
    pub fine: Vec<At>,
    pub centroid: At,
}

const SQUARE: [[f64; 3]; 4] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
const TRIANGLE: [[f64; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
const TETRAHEDRON: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const CUBE_EDGES: [[usize; 2]; 12] =
    [[0, 1], [0, 3], [0, 4], [1, 2], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 7], [5, 6], [6, 7]];

impl Reference {
    /// The element of this kind.
    pub fn of(kind: ElementKind) -> &'static Reference {
        static ALL: LazyLock<Vec<(ElementKind, Reference)>> =
            LazyLock::new(|| [PLANE, SOLID].concat().into_iter().map(|kind| (kind, Reference::new(kind))).collect());
        &ALL.iter().find(|(of, _)| *of == kind).expect("an element of a plane or a solid").1
    }

    fn new(kind: ElementKind) -> Reference {
        let (corners, edges) = corners_and_edges(kind);
        let (dim, order) = (kind.info().dim, if edges.is_empty() { 1 } else { 2 });
        let simplex = corners.len() == dim + 1;
        let mut nodes = corners.clone();
        nodes.extend(edges.iter().map(|[a, b]| [0, 1, 2].map(|i| 0.5 * (corners[*a][i] + corners[*b][i]))));
        let powers = powers(dim, order, simplex);
        let values = DMatrix::from_fn(nodes.len(), nodes.len(), |b, k| monomial(powers[k], nodes[b]));
        let coefficients = values.try_inverse().expect("the nodes determine the polynomial");
        let middle = [0, 1, 2].map(|i| corners.iter().map(|corner| corner[i]).sum::<f64>() / corners.len() as f64);
        let unknown = At { shape: vec![], slopes: vec![], weight: 0.0 };
        let (rule, fine) = (vec![], vec![]);
        let mut element = Reference { dim, nodes, powers, coefficients, rule, fine, centroid: unknown };
        let (rule, fine) = match simplex {
            true => (simplex_rule(dim, order), collapsed(dim, 7 - dim)),
            false => (tensor(dim, order as usize + 1), tensor(dim, 7 - dim)),
        };
        let volume = rule.iter().map(|(_, weight)| weight).sum();
        let tabulate = |rule: Vec<([f64; 3], f64)>| rule.into_iter().map(|(xi, w)| element.at(xi, w)).collect();
        (element.rule, element.fine, element.centroid) = (tabulate(rule), tabulate(fine), element.at(middle, volume));
        element
    }

    /// Shape functions and slopes at `xi`.
    pub fn at(&self, xi: [f64; 3], weight: f64) -> At {
        let combined = |values: Vec<f64>| -> Vec<f64> {
            let sum = |b: usize| values.iter().enumerate().map(|(k, value)| self.coefficients[(k, b)] * value).sum();
            (0..self.nodes.len()).map(sum).collect()
        };
        let slopes = [0, 1, 2].map(|i| combined(self.powers.iter().map(|p| monomial_slope(*p, xi, i)).collect()));
        At {
            shape: combined(self.powers.iter().map(|p| monomial(*p, xi)).collect()),
            slopes: (0..self.nodes.len()).map(|b| [0, 1, 2].map(|i| slopes[i][b])).collect(),
            weight,
        }
    }
}

/// Corners, and the corners that each edge with a node in its middle is between.
fn corners_and_edges(kind: ElementKind) -> (Vec<[f64; 3]>, &'static [[usize; 2]]) {
    let cube = || [-1.0, 1.0].iter().flat_map(|z| SQUARE.map(|[x, y, _]| [x, y, *z])).collect();
    match kind {
        Tri3 => (TRIANGLE.into(), &[]),
        Tri6 => (TRIANGLE.into(), &[[0, 1], [1, 2], [2, 0]]),
        Quad4 => (SQUARE.into(), &[]),
        Quad8 => (SQUARE.into(), &[[0, 1], [1, 2], [2, 3], [3, 0]]),
        Tet4 => (TETRAHEDRON.into(), &[]),
        Tet10 => (TETRAHEDRON.into(), &[[0, 1], [1, 2], [0, 2], [0, 3], [2, 3], [1, 3]]),
        Hex8 => (cube(), &[]),
        _ => (cube(), &CUBE_EDGES),
    }
}

impl At {
    /// The point of the element with nodes at `x`.
    pub fn of(&self, x: &[[f64; 3]]) -> Point {
        let sum = |i: usize, j: usize| self.slopes.iter().zip(x).map(|(slope, x)| slope[i] * x[j]).sum::<f64>();
        let mut jacobian = Matrix3::from_fn(sum);
        // A plane element varies along its first two coordinates only.
        if self.slopes.iter().all(|slope| slope[2] == 0.0) {
            jacobian.set_column(2, &Vector3::z());
            jacobian.set_row(2, &Vector3::z().transpose());
        }
        let inverse = jacobian.try_inverse().unwrap();
        let gradient = |slope: &[f64; 3]| (inverse * Vector3::from(*slope)).into();
        Point {
            gradients: self.slopes.iter().map(gradient).collect(),
            shape: self.shape.clone(),
            weight: self.weight * jacobian.determinant(),
        }
    }
}

/// Of simplices all of degree up to `order`; of squares and cubes those of degree up to `order` when variables that
/// enter linearly are not counted (Arnold and Awanou 2011).
fn powers(dim: usize, order: i32, simplex: bool) -> Vec<[i32; 3]> {
    let all = (0..27).map(|k| [k % 3, k / 3 % 3, k / 9]).filter(|p| dim == 3 || p[2] == 0);
    let counted = |p: &[i32; 3]| p.iter().filter(|p| simplex || **p > 1).sum::<i32>() <= order;
    all.filter(|p| counted(p) && p.iter().all(|p| *p <= order)).collect()
}

fn monomial(powers: [i32; 3], xi: [f64; 3]) -> f64 {
    (0..3).map(|i| xi[i].powi(powers[i])).product()
}

fn monomial_slope(mut powers: [i32; 3], xi: [f64; 3], i: usize) -> f64 {
    let factor = powers[i];
    powers[i] = (factor - 1).max(0);
    f64::from(factor) * monomial(powers, xi)
}

/// Points and weights of the Gauss rule on [-1, 1].
pub fn gauss(n: usize) -> Vec<(f64, f64)> {
    let off = |k: usize| k as f64 / (4.0 * (k * k) as f64 - 1.0).sqrt();
    let recurrence = DMatrix::from_fn(n, n, |i, j| if i.abs_diff(j) == 1 { off(i.max(j)) } else { 0.0 });
    let eigen = recurrence.symmetric_eigen();
    (0..n).map(|q| (eigen.eigenvalues[q], 2.0 * eigen.eigenvectors[(0, q)].powi(2))).collect()
}

/// `n` Gauss points in each direction of the square or cube.
pub fn tensor(dim: usize, n: usize) -> Vec<([f64; 3], f64)> {
    let line = gauss(n);
    let across = if dim == 3 { line.clone() } else { vec![(0.0, 1.0)] };
    let mut points = Vec::new();
    for (z, wz) in &across {
        for (y, wy) in &line {
            points.extend(line.iter().map(|(x, wx)| ([*x, *y, *z], wx * wy * wz)));
        }
    }
    points
}

/// The square's or cube's rule on the simplex (Stroud 1971, sec. 2.4), by `x = a, y = b (1 - a), z = c (1 - a)(1 - b)`.
fn collapsed(dim: usize, n: usize) -> Vec<([f64; 3], f64)> {
    let fold = |(xi, weight): ([f64; 3], f64)| {
        let [a, b, c] = xi.map(|x| 0.5 * (1.0 + x));
        match dim {
            2 => ([a, b * (1.0 - a), 0.0], weight / 4.0 * (1.0 - a)),
            _ => ([a, b * (1.0 - a), c * (1.0 - a) * (1.0 - b)], weight / 8.0 * (1.0 - a).powi(2) * (1.0 - b)),
        }
    };
    tensor(dim, n).into_iter().map(fold).collect()
}

/// One point at the centroid; or for quadratic elements one near each corner, exact to degree 2 (Hammer and Stroud
/// 1956).
fn simplex_rule(dim: usize, order: i32) -> Vec<([f64; 3], f64)> {
    let (n, volume) = (dim as f64 + 1.0, if dim == 2 { 0.5 } else { 1.0 / 6.0 });
    if order == 1 {
        let centroid = [0, 1, 2].map(|i| if i < dim { 1.0 / n } else { 0.0 });
        return vec![(centroid, volume)];
    }
    // Barycentric coordinates `(b, a, .., a)` with `b + dim a = 1` and `b^2 + dim a^2 = 2 / (dim + 2)`.
    let a = (1.0 - (1.0 / (n + 1.0)).sqrt()) / n;
    let b = 1.0 - dim as f64 * a;
    let near = |corner: usize| {
        [0, 1, 2].map(|i| {
            if i >= dim {
                0.0
            } else if i + 1 == corner {
                b
            } else {
                a
            }
        })
    };
    (0..=dim).map(|corner| (near(corner), volume / n)).collect()
}
