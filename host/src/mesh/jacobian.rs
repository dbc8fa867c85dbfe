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

use std::collections::HashMap;
use std::sync::LazyLock;

use super::vector::{cross, dot};
use crate::element::ElementKind;
use crate::element::shape::determinant;

const MAX_CONTROLS: usize = 27;
const MAX_TANGENTS: usize = 18;
/// Pieces of an element that are looked at; one that is not decided after as many has no positive Jacobian to speak of.
const MOST_PIECES: usize = 4096;

type Tangents = [[[f64; 3]; MAX_TANGENTS]; 3];
/// A power of each direction (of a simplex: of each barycentric coordinate).
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
    simplex: bool,
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
    /// The coefficients that are values at corners.
    corners: Vec<usize>,
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
        let (dim, simplex, order) = (info.dim, info.is_simplex(), if info.is_quadratic() { 2 } else { 1 });
        if dim < 2 || order == 1 && (simplex || dim == 2) {
            return None;
        }
        let indices = indices(simplex, dim, order, None);
        let at = |index: &Index| indices.iter().position(|known| known == index).expect("an index of the lattice");
        let along = |index: &Index, j: usize| index[j + usize::from(simplex)] as f64 / order as f64;
        let lattice: Vec<[f64; 3]> =
            indices.iter().map(|index| [0, 1, 2].map(|j| if j < dim { along(index, j) } else { 0.0 })).collect();
        let of_lattice: Vec<Row> = indices.iter().map(|index| control(simplex, order, index, at)).collect();
        let of_nodes = of_lattice.iter().map(|row| of_nodes(kind, &lattice, row)).collect();
        let powers: [Vec<Index>; 3] = [0, 1, 2].map(|j| match j < dim {
            true => self::indices(simplex, dim, order, Some(j)),
            false => vec![vec![0; dim + usize::from(simplex)]],
        });
        let difference = |j: usize, power: &Index| {
            let (mut plus, mut minus) = (power.clone(), power.clone());
            plus[j + usize::from(simplex)] += 1;
            minus[0] += usize::from(simplex);
            [at(&plus), at(&minus)]
        };
        let differences = [0, 1, 2].map(|j| match j < dim {
            true => powers[j].iter().map(|power| difference(j, power)).collect(),
            false => Vec::new(),
        });
        let (products, targets) = products(simplex, dim, order, &powers);
        let corners = corners(simplex, dim * order - 1, &targets);
        let n_coefficients = targets.len();
        Some(Net { kind, dim, simplex, lattice, of_lattice, of_nodes, differences, products, n_coefficients, corners })
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
        let mut pieces = vec![whole(self.simplex)];
        for _ in 0..MOST_PIECES {
            let Some(piece) = pieces.pop() else { return true };
            let at = |i: usize| {
                let xi = place(&piece, self.dim, self.lattice[i]);
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
            if self.corners.iter().any(|&corner| coefficients[corner] <= 0.0) {
                return false;
            }
            if coefficients.iter().any(|&coefficient| coefficient <= 0.0) {
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
        let n = self.dim + 1;
        let square = |a: usize, b: usize| (0..3).map(|c| (piece[a][c] - piece[b][c]).powi(2)).sum::<f64>();
        let pairs = (0..if self.simplex { n } else { 1 }).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let longest = pairs.max_by(|&(a, b), &(c, d)| square(a, b).total_cmp(&square(c, d)));
        let (a, b) = longest.unwrap_or((0, 1));
        let middle = [0, 1, 2].map(|c| 0.5 * (piece[a][c] + piece[b][c]));
        let (mut first, mut second) = (*piece, *piece);
        first[b] = middle;
        if self.simplex {
            second[a] = middle;
        } else {
            let shift = [0, 1, 2].map(|c| middle[c] - piece[0][c]);
            (0..n).filter(|&k| k != b).for_each(|k| (0..3).for_each(|c| second[k][c] += shift[c]));
        }
        [first, second]
    }
}

fn whole(simplex: bool) -> Piece {
    match simplex {
        true => [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        false => [[-1.0; 3], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]],
    }
}

/// The reference coordinates of a point of a piece.
fn place(piece: &Piece, dim: usize, along: [f64; 3]) -> [f64; 3] {
    let [origin, ends @ ..] = piece;
    [0, 1, 2].map(|c| {
        let way = (0..dim).map(|j| along[j] * (ends[j][c] - origin[c])).sum::<f64>();
        if c < dim { origin[c] + way } else { 0.0 }
    })
}

/// The indices of the control points, or of the control vectors of the tangent in one direction.
fn indices(simplex: bool, dim: usize, order: usize, tangent: Option<usize>) -> Vec<Index> {
    let n = dim + usize::from(simplex);
    let largest = |k: usize| order - usize::from(tangent.is_some_and(|j| simplex || j == k));
    let mut all = vec![Vec::new()];
    for k in 0..n {
        all = all.iter().flat_map(|head: &Index| (0..=largest(k)).map(|p| [head.as_slice(), &[p]].concat())).collect();
    }
    all.retain(|index| !simplex || index.iter().sum::<usize>() == largest(0));
    all
}

/// A control point by the nodes, from the same by the lattice.
fn of_nodes(kind: ElementKind, lattice: &[[f64; 3]], row: &Row) -> Row {
    let info = kind.info();
    let whole = whole(info.is_simplex());
    let of_node = |b: usize| {
        let value = |i: usize| (info.shape.value)(b, place(&whole, info.dim, lattice[i]));
        row.iter().map(|&(i, weight)| weight * value(i)).sum::<f64>()
    };
    (0..info.n_nodes).map(|b| (b, of_node(b))).filter(|(_, weight)| weight.abs() > 1e-14).collect()
}

/// The coefficients that are values at corners, of a polynomial that has this degree in each direction of a cube.
fn corners(simplex: bool, degree: usize, targets: &HashMap<Index, usize>) -> Vec<usize> {
    let is_corner = |index: &Index| match simplex {
        true => index.iter().filter(|&&power| power > 0).count() == 1,
        false => index.iter().all(|&power| power == 0 || power == degree),
    };
    targets.iter().filter(|(index, _)| is_corner(index)).map(|(_, &to)| to).collect()
}

/// A control point by the values on the lattice: `2 x_1 - (x_0 + x_2) / 2` in the middle of an edge, and so on along
/// each direction.
fn control(simplex: bool, order: usize, index: &Index, at: impl Fn(&Index) -> usize) -> Row {
    let middles: Vec<usize> = (0..index.len()).filter(|&k| order == 2 && index[k] == 1).collect();
    let with = |changes: &[(usize, usize)]| {
        let mut other = index.clone();
        changes.iter().for_each(|&(k, power)| other[k] = power);
        at(&other)
    };
    if simplex {
        return match middles[..] {
            [a, b] => vec![(at(index), 2.0), (with(&[(a, 2), (b, 0)]), -0.5), (with(&[(a, 0), (b, 2)]), -0.5)],
            _ => vec![(at(index), 1.0)],
        };
    }
    let mut terms: Vec<(Vec<(usize, usize)>, f64)> = vec![(Vec::new(), 1.0)];
    for k in middles {
        let split = |(changes, weight): &(Vec<(usize, usize)>, f64)| {
            let (changes, weight) = (changes.clone(), *weight);
            [(0, -0.5), (1, 2.0), (2, -0.5)].map(|(power, by)| ([&changes[..], &[(k, power)]].concat(), by * weight))
        };
        terms = terms.iter().flat_map(split).collect();
    }
    terms.iter().map(|(changes, weight)| (with(changes), *weight)).collect()
}

/// All products of the tangents' control vectors, and where the coefficient of each index is.
fn products(
    simplex: bool,
    dim: usize,
    order: usize,
    powers: &[Vec<Index>; 3],
) -> (Vec<Product>, HashMap<Index, usize>) {
    let degree = |j: usize, k: usize| match j < dim {
        true => order - usize::from(simplex || j == k),
        false => 0,
    };
    let (mut products, mut targets) = (Vec::new(), HashMap::new());
    for (i, a) in powers[0].iter().enumerate() {
        for (j, b) in powers[1].iter().enumerate() {
            for (k, c) in powers[2].iter().enumerate() {
                let sum: Index = (0..a.len()).map(|d| a[d] + b[d] + c[d]).collect();
                let weight = match simplex {
                    true => {
                        let of_one = |index: &Index, j: usize| multinomial(degree(j, 0), index);
                        of_one(a, 0) * of_one(b, 1) * of_one(c, 2) / multinomial(dim * (order - 1), &sum)
                    }
                    false => (0..dim)
                        .map(|d| {
                            let [n, m, l] = [0, 1, 2].map(|j| degree(j, d));
                            choose(n, a[d]) * choose(m, b[d]) * choose(l, c[d]) / choose(n + m + l, sum[d])
                        })
                        .product(),
                };
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

fn choose(n: usize, k: usize) -> f64 {
    factorial(n) / (factorial(k) * factorial(n - k))
}

fn multinomial(n: usize, index: &Index) -> f64 {
    factorial(n) / index.iter().map(|&k| factorial(k)).product::<f64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::testing::*;

    const KINDS: [ElementKind; 5] = [Tri6, Quad8, Tet10, Hex8, Hex20];

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
            if info.is_simplex() && t[..info.dim].iter().sum::<f64>() > 1.0 + 1e-9 {
                continue;
            }
            let xi = place(&whole(info.is_simplex()), info.dim, t);
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
            for kind in KINDS {
                let x = moved(kind, by, &moves);
                let (found, least) = (is_positive(kind, |b| x[b]), least(kind, &x));
                // Between points of the lattice it may be lower still.
                prop_assert!(!found || least > 0.0, "{:?}: {} at a point", kind, least);
                prop_assert!(found || least < 0.5, "{:?}: nowhere below {}", kind, least);
            }
        }

        #[test]
        fn coefficients_are_those_of_the_determinant(moves in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), MAX_NODES)) {
            for kind in KINDS {
                let net = Net::of(kind).unwrap();
                let x = moved(kind, 0.3, &moves);
                let coefficients = net.coefficients(&net.tangents(&net.sums(&net.of_nodes, |b| x[b])));
                let bound = coefficients.iter().copied().fold(f64::INFINITY, f64::min);
                let per_edge = if kind.info().is_simplex() { 1.0 } else { 2f64.powi(kind.info().dim as i32) };
                let order = if kind.info().is_quadratic() { 2f64 } else { 1.0 };
                let scale = order.powi(kind.info().dim as i32) / per_edge;
                prop_assert!(bound * scale <= least(kind, &x) + 1e-12);
                // The mean of the coefficients is that of the determinant, whose integral is the volume.
                let mean = coefficients.iter().sum::<f64>() / coefficients.len() as f64 * scale;
                let rule = &kind.table().rule;
                let (sum, all) = rule.iter().fold((0.0, 0.0), |(sum, all), at| {
                    (sum + at.weight * determinant(kind.info().dim, at.tangents(|b| x[b])), all + at.weight)
                });
                prop_assert!((mean - sum / all).abs() < 1e-12, "{:?}: {} and {}", kind, mean, sum / all);
            }
        }
    }

    #[test]
    fn undistorted_elements_are_steady_however_flat() {
        for kind in KINDS {
            let net = Net::of(kind).unwrap();
            let x = |b: usize| {
                let xi = kind.info().shape.nodes[b];
                [xi[0] + 0.9 * xi[1], 1e-3 * xi[1] + if kind.info().dim == 3 { xi[2] } else { 0.0 }, 1e-6 * xi[2]]
            };
            assert!(net.is_steady(&net.tangents(&net.sums(&net.of_nodes, x))), "{kind:?}");
        }
    }
}
