//! Quadrature rules.

use super::Point;

/// Gauss' rule of two points, at `1 / sqrt(3)`, and their weights.
const GAUSS_2: ([f64; 2], [f64; 2]) = ([-0.577_350_269_189_625_8, 0.577_350_269_189_625_8], [1.0, 1.0]);

/// That of three points, the outer ones at `sqrt(3/5)`.
const GAUSS_3: ([f64; 3], [f64; 3]) =
    ([-0.774_596_669_241_483_4, 0.0, 0.774_596_669_241_483_4], [5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0]);

/// Three points on the line: exact to degree 5.
pub const LINE_3: [Point; 3] = tensor_product(1, GAUSS_3);
/// Two points a direction: exact to degree 3 in each.
pub const SQUARE_2: [Point; 4] = tensor_product(2, GAUSS_2);
/// Three points a direction: exact to degree 5 in each.
pub const SQUARE_3: [Point; 9] = tensor_product(2, GAUSS_3);
/// Two points a direction: exact to degree 3 in each.
pub const CUBE_2: [Point; 8] = tensor_product(3, GAUSS_2);
/// Three points a direction: exact to degree 5 in each.
pub const CUBE_3: [Point; 27] = tensor_product(3, GAUSS_3);

/// Degree 2 on the triangle (Strang and Fix 1973): the points at two thirds of the medians.
pub const TRIANGLE_3: [Point; 3] = [
    ([1.0 / 6.0, 1.0 / 6.0, 0.0], 1.0 / 6.0),
    ([2.0 / 3.0, 1.0 / 6.0, 0.0], 1.0 / 6.0),
    ([1.0 / 6.0, 2.0 / 3.0, 0.0], 1.0 / 6.0),
];

/// `(5 - sqrt(5)) / 20` and `(5 + 3 sqrt(5)) / 20`.
const TET_A: f64 = 0.138_196_601_125_010_5;
const TET_B: f64 = 0.585_410_196_624_968_5;

/// Degree 2 on the tetrahedron (Hammer and Stroud 1956).
pub const TETRAHEDRON_4: [Point; 4] = [
    ([TET_A, TET_A, TET_A], 1.0 / 24.0),
    ([TET_B, TET_A, TET_A], 1.0 / 24.0),
    ([TET_A, TET_B, TET_A], 1.0 / 24.0),
    ([TET_A, TET_A, TET_B], 1.0 / 24.0),
];

/// A rule of the line in each of `dim` directions.
const fn tensor_product<const M: usize, const Q: usize>(dim: usize, (x, w): ([f64; M], [f64; M])) -> [Point; Q] {
    let mut points = [([0.0; 3], 1.0); Q];
    let mut q = 0;
    while q < Q {
        let (mut i, mut rest) = (0, q);
        while i < dim {
            points[q].0[i] = x[rest % M];
            points[q].1 *= w[rest % M];
            rest /= M;
            i += 1;
        }
        q += 1;
    }
    points
}
