//! Whether the Jacobian determinant of an element is positive everywhere.
//!
//! The map of an element is written in Bernstein form, whose control points hold it in their convex hull; so are its
//! tangents, by differences of control points, and the determinant, by products of these (Johnen, Remacle, Geuzaine
//! 2013, Geometrical validity of curvilinear finite elements). The determinant lies between its least and its largest
//! coefficient, and is equal to those at the corners. Where the sign is not decided the element is cut in two.
//!
//! Most elements are decided before that, by the tangents alone. In the axes of their mean tangents each tangent
//! control vector is to be longer along its own axis than across: then so are all tangents, for such vectors are a
//! convex cone, and a matrix whose columns all are is diagonally dominant, so its determinant is positive. That costs
//! 0.1 us for a hexahedron of 8 nodes, and does not depend on how flat or slender the element is.
//!
//! Shapes are products of simplices ([`Domain::factors`]), and so is their Bernstein form: of barycentric coordinates in
//! each. A pyramid's map is polynomial on the cube that it is made from, whose determinant is `t^2` times the pyramid's:
//! coefficients that are 0 for `t^2` are left out, and the others have the sign of the pyramid's.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::vector::{cross, dot};
use crate::element::shape::determinant;
use crate::element::{Domain, ElementKind};

const MAX_CONTROLS: usize = 27;
const MAX_TANGENTS: usize = 18;
/// Pieces of an element that are looked at; one that is not decided after as many has no positive Jacobian to speak of.
const MOST_PIECES: usize = 4096;

type Tangents = [[[f64; 3]; MAX_TANGENTS]; 3];
/// The powers of the barycentric coordinates, factor after factor.
type Index = Vec<usize>;

type Row = Vec<(usize, f64)>;

/// The origin of a piece of the reference element and the ends of its edges from there, as many as it has dimensions.
type Piece = [[f64; 3]; 4];

/// One product of tangents' control vectors.
struct Product {
    of: [u8; 3],
    /// The coefficient that it goes to.
    to: u16,
    weight: f64,
}

/// The Bernstein form of a kind.
struct Net {
    kind: ElementKind,
    dim: usize,
    domain: Domain,
    /// Where values determine the control points, along the edges of a piece, each from 0 to 1.
    lattice: Vec<[f64; 3]>,
    /// Control points by the values on the lattice.
    of_lattice: Vec<Row>,
    /// Control points by the nodes of the whole element.
    of_nodes: Vec<Row>,
    /// For each tangent the control points whose difference each of its control vectors is.
    differences: [Vec<[usize; 2]>; 3],
    products: Vec<Product>,
    n_coefficients: usize,
    /// The coefficients that are values at corners; and those of a piece at an apex.
    corners: [Vec<usize>; 2],
    /// The coefficients that are 0 at an apex.
    vanishing: Vec<usize>,
}

/// Whether the Jacobian of an element with nodes `x` is positive everywhere. It must be at the nodes; in elements where
/// these decide that is all there is to it.
pub(super) fn is_positive(kind: ElementKind, x: impl Fn(usize) -> [f64; 3]) -> bool {
    static NETS: LazyLock<Vec<Option<Net>>> = LazyLock::new(|| ElementKind::ALL.iter().map(|&k| Net::of(k)).collect());
    let Some(net) = &NETS[kind as usize] else { return true };
    let flat = |b: usize| if net.dim == 2 { [x(b)[0], x(b)[1], 0.0] } else { x(b) };
    let controls = net.sums(&net.of_nodes, flat);
    net.is_steady(&net.tangents(&controls)) || net.is_positive_in_pieces(flat)
}

impl Net {
    /// The form of a kind whose Jacobian is not given by its values at the nodes.
    fn of(kind: ElementKind) -> Option<Net> {
        let info = kind.info();
        let (dim, domain, order) = (info.dim, info.domain, if info.is_quadratic() { 2 } else { 1 });
        // A linear pyramid's Jacobian is bilinear over its base and the same all the way up.
        if dim < 2 || order == 1 && (domain.is_simplex() || dim == 2 || domain.has_apex()) {
            return None;
        }
        let (axes, indices) = (axes(domain), indices(domain, order, None));
        let at = |index: &Index| indices.iter().position(|known| known == index).expect("an index of the lattice");
        let along = |index: &Index, j: usize| axes.get(j).map_or(0.0, |axis| index[axis[1]] as f64 / order as f64);
        let lattice: Vec<[f64; 3]> = indices.iter().map(|index| [0, 1, 2].map(|j| along(index, j))).collect();
        let of_lattice: Vec<Row> = indices.iter().map(|index| control(domain, index, at)).collect();
        let of_nodes = of_lattice.iter().map(|row| of_nodes(kind, &lattice, row)).collect();
        let powers: [Vec<Index>; 3] = [0, 1, 2].map(|j| match j < dim {
            true => self::indices(domain, order, Some(j)),
            false => vec![vec![0; indices[0].len()]],
        });
        let difference = |j: usize, power: &Index| {
            let (mut plus, mut minus) = (power.clone(), power.clone());
            minus[axes[j][0]] += 1;
            plus[axes[j][1]] += 1;
            [at(&plus), at(&minus)]
        };
        let differences = [0, 1, 2].map(|j| match j < dim {
            true => powers[j].iter().map(|power| difference(j, power)).collect(),
            false => Vec::new(),
        });
        let (products, targets) = products(domain, order, &powers);
        let corners = [false, true].map(|at_apex| corners(domain, &targets, at_apex));
        let vanishes = |index: &Index| domain.has_apex() && index[axes[2][0]] < 2;
        let vanishing = targets.iter().filter(|(index, _)| vanishes(index)).map(|(_, &to)| to).collect();
        let n_coefficients = targets.len();
        Some(Net {
            kind,
            dim,
            domain,
            lattice,
            of_lattice,
            of_nodes,
            differences,
            products,
            n_coefficients,
            corners,
            vanishing,
        })
    }

    fn sums(&self, rows: &[Row], value: impl Fn(usize) -> [f64; 3]) -> [[f64; 3]; MAX_CONTROLS] {
        let mut sums = [[0.0; 3]; MAX_CONTROLS];
        for (sum, row) in sums.iter_mut().zip(rows) {
            for &(i, weight) in row {
                let value = value(i);
                (0..3).for_each(|c| sum[c] += weight * value[c]);
            }
        }
        sums
    }

    /// The control vectors of the tangents; in the plane the third is the normal.
    fn tangents(&self, controls: &[[f64; 3]; MAX_CONTROLS]) -> Tangents {
        let mut tangents = [[[0.0; 3]; MAX_TANGENTS]; 3];
        tangents[2][0] = [0.0, 0.0, 1.0];
        for (tangent, differences) in tangents.iter_mut().zip(&self.differences) {
            for (vector, &[plus, minus]) in tangent.iter_mut().zip(differences) {
                *vector = [0, 1, 2].map(|c| controls[plus][c] - controls[minus][c]);
            }
        }
        tangents
    }

    /// Whether every tangent keeps to its own axis.
    fn is_steady(&self, tangents: &Tangents) -> bool {
        let mut mean = [[0.0; 3], [0.0; 3], [0.0, 0.0, if self.dim == 2 { 1.0 } else { 0.0 }]];
        for ((mean, vectors), differences) in mean.iter_mut().zip(tangents).zip(&self.differences[..self.dim]) {
            vectors[..differences.len()].iter().for_each(|v| (0..3).for_each(|c| mean[c] += v[c]));
        }
        let [r, s, t] = mean;
        let det = determinant(3, mean);
        // Rows of the inverse, times the determinant, which is to be positive.
        let axes = [cross(s, t), cross(t, r), cross(r, s)];
        let keeps = |j: usize, v: &[f64; 3]| {
            let along = axes.map(|axis| dot(axis, *v));
            2.0 * along[j] > along.iter().map(|a| a.abs()).sum()
        };
        det > 0.0 && (0..self.dim).all(|j| tangents[j][..self.differences[j].len()].iter().all(|v| keeps(j, v)))
    }

    /// Whether the determinant is positive, by its coefficients, in the element or else in pieces of it.
    fn is_positive_in_pieces(&self, x: impl Fn(usize) -> [f64; 3]) -> bool {
        let info = self.kind.info();
        let mut pieces = vec![whole(self.domain)];
        for _ in 0..MOST_PIECES {
            let Some(piece) = pieces.pop() else { return true };
            let at = |i: usize| {
                let xi = place(&piece, self.domain, self.lattice[i]);
                let mut sum = [0.0; 3];
                for b in 0..info.n_nodes {
                    let (n, x) = ((info.shape.value)(b, xi), x(b));
                    (0..3).for_each(|c| sum[c] += n * x[c]);
                }
                sum
            };
            let mut values = [[0.0; 3]; MAX_CONTROLS];
            (0..self.lattice.len()).for_each(|i| values[i] = at(i));
            let coefficients = self.coefficients(&self.tangents(&self.sums(&self.of_lattice, |i| values[i])));
            let is_at_apex = self.domain.has_apex() && piece[3][2] == 1.0;
            if self.corners[usize::from(is_at_apex)].iter().any(|&corner| coefficients[corner] <= 0.0) {
                return false;
            }
            let counts = |i: &usize| !(is_at_apex && self.vanishing.contains(i));
            if (0..coefficients.len()).filter(counts).any(|i| coefficients[i] <= 0.0) {
                pieces.extend(self.halves(&piece));
            }
        }
        pieces.is_empty()
    }

    fn coefficients(&self, [r, s, t]: &Tangents) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.n_coefficients];
        for &Product { of: [i, j, k], to, weight } in &self.products {
            let vectors = [r[i as usize], s[j as usize], t[k as usize]];
            coefficients[to as usize] += weight * determinant(3, vectors);
        }
        coefficients
    }

    /// A piece cut in two across its longest edge, both turned as it is.
    fn halves(&self, piece: &Piece) -> [Piece; 2] {
        let square = |[a, b]: [usize; 2]| (0..3).map(|c| (piece[a][c] - piece[b][c]).powi(2)).sum::<f64>();
        let (mut first, mut longest) = (1, ([0, 1], 0.0, 1..2));
        for &n in self.domain.factors() {
            // The factor's corners are the origin and the ends of its own edges.
            let own = first..first + n;
            let corners = || [0].into_iter().chain(own.clone());
            for pair in corners().flat_map(|a| corners().filter(move |&b| b > a).map(move |b| [a, b])) {
                if square(pair) >= longest.1 {
                    longest = (pair, square(pair), own.clone());
                }
            }
            first += n;
        }
        let ([a, b], _, own) = longest;
        let middle = [0, 1, 2].map(|c| 0.5 * (piece[a][c] + piece[b][c]));
        let (mut one, mut other) = (*piece, *piece);
        one[b] = middle;
        other[a] = middle;
        if a == 0 {
            // With the origin the edges of other factors move.
            let others = (1..=self.dim).filter(|k| !own.contains(k));
            others.for_each(|k| (0..3).for_each(|c| other[k][c] += middle[c] - piece[0][c]));
        }
        [one, other]
    }
}

/// All of the reference element; of a pyramid, of its cube.
fn whole(domain: Domain) -> Piece {
    let lows = domain.factors().iter().flat_map(|&n| std::iter::repeat_n(if n == 1 { -1.0 } else { 0.0 }, n));
    let mut origin = [0.0; 3];
    origin.iter_mut().zip(lows).for_each(|(x, low)| *x = low);
    let end = |j: usize| [0, 1, 2].map(|c| if c == j { 1.0 } else { origin[c] });
    [origin, end(0), end(1), end(2)]
}

/// The reference coordinates of a point of a piece.
fn place(piece: &Piece, domain: Domain, along: [f64; 3]) -> [f64; 3] {
    let (dim, [origin, ends @ ..]) = (domain.dim(), piece);
    let u = [0, 1, 2].map(|c| {
        let way = (0..dim).map(|j| along[j] * (ends[j][c] - origin[c])).sum::<f64>();
        if c < dim { origin[c] + way } else { 0.0 }
    });
    if domain.has_apex() { domain.collapsed(u).0 } else { u }
}

/// For each direction the places in an index of its factor's first barycentric coordinate and of its own.
fn axes(domain: Domain) -> Vec<[usize; 2]> {
    let (mut axes, mut first) = (Vec::new(), 0);
    for &n in domain.factors() {
        axes.extend((1..=n).map(|k| [first, first + k]));
        first += n + 1;
    }
    axes
}

/// The places of each factor in an index.
fn parts(domain: Domain) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut first = 0;
    domain.factors().iter().map(move |&n| {
        first += n + 1;
        first - n - 1..first
    })
}

/// The degree in a factor of the tangent in a direction, of the map without one.
fn degree(domain: Domain, order: usize, factor: &std::ops::Range<usize>, tangent: Option<usize>) -> usize {
    order - usize::from(tangent.is_some_and(|j| axes(domain)[j][0] == factor.start))
}

/// The indices of the control points, or of the control vectors of the tangent in one direction.
fn indices(domain: Domain, order: usize, tangent: Option<usize>) -> Vec<Index> {
    let mut all = vec![Vec::new()];
    for part in parts(domain) {
        let degree = degree(domain, order, &part, tangent);
        for _ in part.clone() {
            let longer = |head: &Index| (0..=degree).map(|p| [head.as_slice(), &[p]].concat()).collect::<Vec<_>>();
            all = all.iter().flat_map(longer).collect();
        }
        all.retain(|index: &Index| index[part.clone()].iter().sum::<usize>() == degree);
    }
    all
}

/// A control point by the nodes, from the same by the lattice.
fn of_nodes(kind: ElementKind, lattice: &[[f64; 3]], row: &Row) -> Row {
    let info = kind.info();
    let whole = whole(info.domain);
    let of_node = |b: usize| {
        let value = |i: usize| (info.shape.value)(b, place(&whole, info.domain, lattice[i]));
        row.iter().map(|&(i, weight)| weight * value(i)).sum::<f64>()
    };
    (0..info.n_nodes).map(|b| (b, of_node(b))).filter(|(_, weight)| weight.abs() > 1e-14).collect()
}

/// The coefficients that are values at corners; for a pyramid's piece at the apex, of the determinant over `t^2`.
fn corners(domain: Domain, targets: &HashMap<Index, usize>, at_apex: bool) -> Vec<usize> {
    let is_corner = |part: &[usize], is_last: bool| match (at_apex && is_last, part) {
        (true, [base, apex]) => *apex == 0 || *base == 2,
        _ => part.iter().filter(|&&power| power > 0).count() == 1,
    };
    let n = domain.factors().len();
    let all = |index: &Index| parts(domain).enumerate().all(|(k, part)| is_corner(&index[part], k + 1 == n));
    targets.iter().filter(|(index, _)| all(index)).map(|(_, &to)| to).collect()
}

/// A control point by the values on the lattice: `2 x_1 - (x_0 + x_2) / 2` in the middle of an edge, and so on in each
/// factor.
fn control(domain: Domain, index: &Index, at: impl Fn(&Index) -> usize) -> Row {
    let mut terms = vec![(index.clone(), 1.0)];
    for part in parts(domain) {
        let ones: Vec<usize> = part.filter(|&k| index[k] == 1).collect();
        let [a, b] = ones[..] else { continue };
        let with = |index: &Index, [p, q]: [usize; 2]| {
            let mut other = index.clone();
            (other[a], other[b]) = (p, q);
            other
        };
        let split = |(index, weight): &(Index, f64)| {
            [([1, 1], 2.0), ([2, 0], -0.5), ([0, 2], -0.5)].map(|(powers, by)| (with(index, powers), by * weight))
        };
        terms = terms.iter().flat_map(split).collect();
    }
    terms.iter().map(|(index, weight)| (at(index), *weight)).collect()
}

/// All products of the tangents' control vectors, and where the coefficient of each index is.
fn products(domain: Domain, order: usize, powers: &[Vec<Index>; 3]) -> (Vec<Product>, HashMap<Index, usize>) {
    let degree_of = |j: usize, part: &std::ops::Range<usize>| match j < domain.dim() {
        true => degree(domain, order, part, Some(j)),
        false => 0,
    };
    let (mut products, mut targets) = (Vec::new(), HashMap::new());
    for (i, a) in powers[0].iter().enumerate() {
        for (j, b) in powers[1].iter().enumerate() {
            for (k, c) in powers[2].iter().enumerate() {
                let sum: Index = (0..a.len()).map(|d| a[d] + b[d] + c[d]).collect();
                let in_factor = |part: std::ops::Range<usize>| {
                    let [n, m, l] = [0, 1, 2].map(|j| degree_of(j, &part));
                    let [a, b, c, sum] = [a, b, c, &sum].map(|index| &index[part.clone()]);
                    multinomial(n, a) * multinomial(m, b) * multinomial(l, c) / multinomial(n + m + l, sum)
                };
                let weight = parts(domain).map(in_factor).product();
                let new = targets.len();
                let to = *targets.entry(sum).or_insert(new) as u16;
                products.push(Product { of: [i as u8, j as u8, k as u8], to, weight });
            }
        }
    }
    (products, targets)
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|k| k as f64).product()
}

fn multinomial(n: usize, index: &[usize]) -> f64 {
    factorial(n) / index.iter().map(|&k| factorial(k)).product::<f64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::testing::*;

    /// Whose Jacobian is not given by its values at nodes.
    fn kinds() -> impl Iterator<Item = ElementKind> {
        ElementKind::ALL.iter().copied().filter(|&kind| Net::of(kind).is_some())
    }

    /// The reference element, its nodes moved at random.
    fn moved(kind: ElementKind, by: f64, moves: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let nodes = kind.info().shape.nodes.iter().zip(moves);
        nodes.map(|(xi, m)| [0, 1, 2].map(|c| if c < kind.info().dim { xi[c] + by * m[c] } else { 0.0 })).collect()
    }

    /// The least determinant on a fine lattice.
    fn least(kind: ElementKind, x: &[[f64; 3]]) -> f64 {
        let (info, n) = (kind.info(), 12);
        let mut least = f64::INFINITY;
        for point in 0..(n + 1usize).pow(info.dim as u32) {
            let t = [0, 1, 2].map(|j| (point / (n + 1usize).pow(j) % (n + 1)) as f64 / n as f64);
            let xi = place(&whole(info.domain), info.domain, t);
            if !info.domain.has_apex() && info.domain.excess(xi) > 1e-9 {
                continue;
            }
            let mut tangents = [[0.0; 3]; 3];
            for (b, x) in x.iter().enumerate() {
                let slope = (info.shape.gradient)(b, xi);
                (0..3).for_each(|j| (0..3).for_each(|c| tangents[j][c] += slope[j] * x[c]));
            }
            least = least.min(determinant(info.dim, tangents));
        }
        least
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn it_agrees_with_a_fine_lattice(
            by in 0.02..0.6f64,
            moves in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), MAX_NODES),
        ) {
            for kind in kinds() {
                let x = moved(kind, by, &moves);
                let (found, least) = (is_positive(kind, |b| x[b]), least(kind, &x));
                // Between points of the lattice it may be lower still.
                prop_assert!(!found || least > 0.0, "{:?}: {} at a point", kind, least);
                prop_assert!(found || least < 0.5, "{:?}: nowhere below {}", kind, least);
            }
        }

        #[test]
        fn coefficients_are_those_of_the_determinant(moves in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), MAX_NODES)) {
            for kind in kinds() {
                let net = Net::of(kind).unwrap();
                let x = moved(kind, 0.3, &moves);
                let coefficients = net.coefficients(&net.tangents(&net.sums(&net.of_nodes, |b| x[b])));
                let bound = coefficients.iter().copied().fold(f64::INFINITY, f64::min);
                let factors = net.domain.factors();
                let order = if kind.info().is_quadratic() { 2f64 } else { 1.0 };
                let scale = order.powi(net.dim as i32);
                let edges = factors.iter().map(|&n| if n == 1 { 2.0 } else { 1.0 }).product::<f64>();
                prop_assert!(net.domain.has_apex() || bound * scale / edges <= least(kind, &x) + 1e-12);
                // The mean of the coefficients is that of the determinant, whose integral is the volume.
                let mean = coefficients.iter().sum::<f64>() / coefficients.len() as f64 * scale;
                let content = mean / factors.iter().map(|&n| factorial(n)).product::<f64>();
                let rule = kind.table().rule.iter();
                let volume: f64 = rule.map(|at| at.weight * determinant(net.dim, at.tangents(|b| x[b]))).sum();
                prop_assert!((content - volume).abs() < 1e-12, "{:?}: {} and {}", kind, content, volume);
            }
        }
    }

    #[test]
    fn undistorted_elements_are_steady_however_flat() {
        for kind in kinds().filter(|kind| !kind.info().domain.has_apex()) {
            let net = Net::of(kind).unwrap();
            let x = |b: usize| {
                let xi = kind.info().shape.nodes[b];
                [xi[0] + 0.9 * xi[1], 1e-3 * xi[1] + if kind.info().dim == 3 { xi[2] } else { 0.0 }, 1e-6 * xi[2]]
            };
            assert!(net.is_steady(&net.tangents(&net.sums(&net.of_nodes, x))), "{kind:?}");
        }
    }
}
