//! Quadrature rules.

use super::Point;

/// `1 / sqrt(3)`, the points of the two-point Gauss rule, whose weights are 1.
const G2: f64 = 0.577_350_269_189_625_8;

/// `sqrt(3/5)`: the three-point Gauss rule's outer points.
const G3: f64 = 0.774_596_669_241_483_4;

/// Three points on the line: exact to degree 5.
pub const LINE_3: [Point; 3] = [([-G3, 0.0, 0.0], 5.0 / 9.0), ([0.0; 3], 8.0 / 9.0), ([G3, 0.0, 0.0], 5.0 / 9.0)];
/// Two points a direction: exact to degree 3 in each.
pub const SQUARE_2: [Point; 4] = square([-G2, G2], [1.0, 1.0]);
/// Three points a direction: exact to degree 5 in each.
pub const SQUARE_3: [Point; 9] = square([-G3, 0.0, G3], [5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0]);
/// Two points a direction: exact to degree 3 in each.
pub const CUBE_2: [Point; 8] = cube([-G2, G2], [1.0, 1.0]);
/// Three points a direction: exact to degree 5 in each.
pub const CUBE_3: [Point; 27] = cube([-G3, 0.0, G3], [5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0]);

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

const fn square<const M: usize, const Q: usize>(x: [f64; M], w: [f64; M]) -> [Point; Q] {
    let mut points = [([0.0; 3], 0.0); Q];
    let mut q = 0;
    while q < Q {
        let (i, j) = (q % M, q / M);
        points[q] = ([x[i], x[j], 0.0], w[i] * w[j]);
        q += 1;
    }
    points
}

const fn cube<const M: usize, const Q: usize>(x: [f64; M], w: [f64; M]) -> [Point; Q] {
    let mut points = [([0.0; 3], 0.0); Q];
    let mut q = 0;
    while q < Q {
        let (i, j, k) = (q % M, q / M % M, q / (M * M));
        points[q] = ([x[i], x[j], x[k]], w[i] * w[j] * w[k]);
        q += 1;
    }
    points
}
