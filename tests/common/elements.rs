//! The elements by their definition: `N_b(xi) = sum_k C_kb m_k(xi)` with the element's monomials `m_k` and `C` the
//! inverse of the matrix of their values at the nodes (Zienkiewicz and Taylor, sec. 8.2); Gauss rules by the
//! eigenvalues of their recurrence (Golub and Welsch 1969). Nodes are listed in the order of Gmsh's manual. Shares no
//! formula with the kernels.

use nalgebra::{DMatrix, Matrix3, Vector3};
use std::sync::LazyLock;
use warpfem::element::Domain;
use warpfem::element::ElementKind::{self, *};

/// The elements that can be solved with.
pub fn solvable() -> impl Iterator<Item = ElementKind> {
    ElementKind::ALL.iter().copied().filter(|kind| kind.is_solvable())
}

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
    /// Exponents of the monomials, the last of `1 - zeta`, `[n_nodes]`.
    powers: Vec<[i32; 4]>,
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
const WEDGE_EDGES: [[usize; 2]; 9] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [3, 5], [4, 5]];
const PYRAMID_EDGES: [[usize; 2]; 8] = [[0, 1], [0, 3], [0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]];

impl Reference {
    /// The element of this kind.
    pub fn of(kind: ElementKind) -> &'static Reference {
        static ALL: LazyLock<Vec<(ElementKind, Reference)>> =
            LazyLock::new(|| solvable().map(|kind| (kind, Reference::new(kind))).collect());
        &ALL.iter().find(|(of, _)| *of == kind).expect("an element of a plane or a solid").1
    }

    fn new(kind: ElementKind) -> Reference {
        let (corners, edges) = corners_and_edges(kind);
        let (dim, domain, order) = (kind.info().dim, kind.info().domain, if edges.is_empty() { 1 } else { 2 });
        let mut nodes = corners.clone();
        nodes.extend(edges.iter().map(|[a, b]| [0, 1, 2].map(|i| 0.5 * (corners[*a][i] + corners[*b][i]))));
        let middles = kind.info().n_nodes - nodes.len();
        nodes.extend(vec![[0.0; 3]; middles]);
        let powers = powers(kind);
        let values = DMatrix::from_fn(nodes.len(), nodes.len(), |b, k| monomial(powers[k], nodes[b]));
        let coefficients = values.try_inverse().expect("the nodes determine the polynomial");
        // The pyramid's is a quarter of its height above the base.
        let mean = |i: usize| corners.iter().map(|corner| corner[i]).sum::<f64>() / corners.len() as f64;
        let middle = if domain == Domain::Pyramid { [0.0, 0.0, 0.25] } else { [0, 1, 2].map(mean) };
        let unknown = At { shape: vec![], slopes: vec![], weight: 0.0 };
        let (rule, fine) = (vec![], vec![]);
        let mut element = Reference { dim, nodes, powers, coefficients, rule, fine, centroid: unknown };
        let (rule, fine) = match domain {
            Domain::Wedge => (wedge_rule(order), wedge(tensor(3, 4))),
            Domain::Pyramid => (pyramid_rule(order), pyramid(tensor(3, 4))),
            _ if domain.is_simplex() => (simplex_rule(dim, order), collapsed(dim, 7 - dim)),
            _ => (tensor(dim, if kind.is_reduced() { 2 } else { order as usize + 1 }), tensor(dim, 7 - dim)),
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
    let wedge_corners = || [-1.0, 1.0].iter().flat_map(|z| TRIANGLE.map(|[x, y, _]| [x, y, *z])).collect();
    let pyramid_corners = || SQUARE.into_iter().chain([[0.0, 0.0, 1.0]]).collect();
    let cube = || [-1.0, 1.0].iter().flat_map(|z| SQUARE.map(|[x, y, _]| [x, y, *z])).collect();
    match kind.of_kernels() {
        Tri3 => (TRIANGLE.into(), &[]),
        Tri6 => (TRIANGLE.into(), &[[0, 1], [1, 2], [2, 0]]),
        Quad4 => (SQUARE.into(), &[]),
        Quad8 => (SQUARE.into(), &[[0, 1], [1, 2], [2, 3], [3, 0]]),
        Tet4 => (TETRAHEDRON.into(), &[]),
        Tet10 => (TETRAHEDRON.into(), &[[0, 1], [1, 2], [0, 2], [0, 3], [2, 3], [1, 3]]),
        Wedge6 => (wedge_corners(), &[]),
        Wedge15 => (wedge_corners(), &WEDGE_EDGES),
        Pyramid5 => (pyramid_corners(), &[]),
        Pyramid13 => (pyramid_corners(), &PYRAMID_EDGES),
        Hex8 => (cube(), &[]),
        Hex20 => (cube(), &CUBE_EDGES),
        _ => (SQUARE.into(), &[[0, 1], [1, 2], [2, 3], [3, 0]]),
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

/// Of simplices all of degree up to the order; of squares and cubes those of degree up to it when variables that enter
/// linearly are not counted (Arnold and Awanou 2011), of the biquadratic square all. Of wedges those of the triangle of the
/// order times linear ones, and linear ones times `zeta^2`; of pyramids those of a tetrahedron and
/// `xi eta / (1 - zeta)`, in the quadratic one times xi and eta besides (Bedrosian 1992).
fn powers(kind: ElementKind) -> Vec<[i32; 4]> {
    let info = kind.info();
    let order = if info.is_quadratic() { 2 } else { 1 };
    let all = (0..27).map(|k| [k % 3, k / 3 % 3, k / 9]).filter(|p| info.dim == 3 || p[2] == 0);
    let quadratic = |p: &[i32; 3]| p.iter().filter(|p| **p > 1).sum::<i32>() <= order;
    let total = |p: &[i32]| p.iter().sum::<i32>() <= order;
    let counted = |p: &[i32; 3]| match info.domain {
        Domain::Wedge => total(&p[..2]) && (p[2] <= 1 || order == 2 && p[0] + p[1] <= 1),
        Domain::Quadrilateral | Domain::Hexahedron => quadratic(p) || info.n_nodes == 9,
        _ => total(p),
    };
    let rational: &[[i32; 4]] = match kind {
        Pyramid5 => &[[1, 1, 0, -1]],
        Pyramid13 => &[[1, 1, 0, -1], [2, 1, 0, -1], [1, 2, 0, -1]],
        _ => &[],
    };
    let polynomial = all.filter(|p| counted(p) && p.iter().all(|p| *p <= order)).map(|[a, b, c]| [a, b, c, 0]);
    polynomial.chain(rational.iter().copied()).collect()
}

/// `xi^a eta^b zeta^c (1 - zeta)^d`; what is not defined at the apex is 0 there.
fn monomial(powers: [i32; 4], xi: [f64; 3]) -> f64 {
    if powers[3] < 0 && xi[2] == 1.0 {
        return 0.0;
    }
    let [x, y, z] = xi;
    [x, y, z, 1.0 - z].iter().zip(powers).map(|(x, p)| x.powi(p)).product()
}

fn monomial_slope(powers: [i32; 4], xi: [f64; 3], i: usize) -> f64 {
    let lowered = |i: usize, sign: f64| {
        let mut lower = powers;
        lower[i] -= 1;
        if powers[i] == 0 { 0.0 } else { sign * f64::from(powers[i]) * monomial(lower, xi) }
    };
    lowered(i, 1.0) + if i == 2 { lowered(3, -1.0) } else { 0.0 }
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

/// The cube's rule on the wedge, by `x = a, y = b (1 - a)`.
fn wedge(cube: Vec<([f64; 3], f64)>) -> Vec<([f64; 3], f64)> {
    let fold = |([x, y, z], weight): ([f64; 3], f64)| {
        let [a, b] = [x, y].map(|x| 0.5 * (1.0 + x));
        ([a, b * (1.0 - a), z], weight / 4.0 * (1.0 - a))
    };
    cube.into_iter().map(fold).collect()
}

/// The cube's rule on the pyramid, by `x = a t, y = b t, z = 1 - t`.
fn pyramid(cube: Vec<([f64; 3], f64)>) -> Vec<([f64; 3], f64)> {
    let fold = |([x, y, z], weight): ([f64; 3], f64)| {
        let t = 0.5 * (1.0 - z);
        ([x * t, y * t, 1.0 - t], 0.5 * weight * t * t)
    };
    cube.into_iter().map(fold).collect()
}

/// A rule of the triangle at Gauss points along: of degree 2 and 3, or 4 and 5.
fn wedge_rule(order: i32) -> Vec<([f64; 3], f64)> {
    let triangle = if order == 1 { simplex_rule(2, 2) } else { six_points() };
    let line = gauss(order as usize + 1);
    let at = |&(z, w): &(f64, f64)| triangle.iter().map(move |&([x, y, _], weight)| ([x, y, z], w * weight));
    line.iter().flat_map(at).collect()
}

/// Six points of degree 4: two triples `(a, a, 1 - 2 a)` (Cowper 1973).
fn six_points() -> Vec<([f64; 3], f64)> {
    let (root, inner) = (10f64.sqrt(), (38.0 - 44.0 * 0.4f64.sqrt()).sqrt());
    let outer = (213_125.0 - 53_320.0 * root).sqrt();
    let triple = |sign: f64| {
        let (a, weight) = ((8.0 - root + sign * inner) / 18.0, (620.0 + sign * outer) / 7440.0);
        [[a, a, 0.0], [1.0 - 2.0 * a, a, 0.0], [a, 1.0 - 2.0 * a, 0.0]].map(|xi| (xi, weight))
    };
    [triple(1.0), triple(-1.0)].concat()
}

/// Gauss points of the square at the points of the rule of weight `t^2` from the apex: one, or two.
fn pyramid_rule(order: i32) -> Vec<([f64; 3], f64)> {
    let line = match order {
        1 => vec![(0.75, 1.0 / 3.0)],
        _ => {
            // The roots of `t^2 - 4 t / 3 + 2 / 5`, orthogonal to linear functions; weights from their moments.
            let [t, s] = [1.0, -1.0].map(|sign: f64| 2.0 / 3.0 + sign * (4.0f64 / 9.0 - 0.4).sqrt());
            vec![(t, (0.25 - s / 3.0) / (t - s)), (s, (0.25 - t / 3.0) / (s - t))]
        }
    };
    let square = tensor(2, order as usize + 1);
    let at = |&(t, w): &(f64, f64)| square.iter().map(move |&([x, y, _], v)| ([x * t, y * t, 1.0 - t], w * v));
    line.iter().flat_map(at).collect()
}
