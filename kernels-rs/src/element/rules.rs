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

/// Degree 4 on the triangle (Cowper 1973): `a = (8 - sqrt(10) +- sqrt(38 - 44 sqrt(2/5))) / 18`.
pub const TRIANGLE_6: [Point; 6] = {
    const A: [f64; 2] = [0.445_948_490_915_964_86, 0.091_576_213_509_770_74];
    const W: [f64; 2] = [0.111_690_794_839_005_73, 0.054_975_871_827_660_93];
    [
        ([A[0], A[0], 0.0], W[0]),
        ([1.0 - 2.0 * A[0], A[0], 0.0], W[0]),
        ([A[0], 1.0 - 2.0 * A[0], 0.0], W[0]),
        ([A[1], A[1], 0.0], W[1]),
        ([1.0 - 2.0 * A[1], A[1], 0.0], W[1]),
        ([A[1], 1.0 - 2.0 * A[1], 0.0], W[1]),
    ]
};

/// Degree 5 on the triangle (Radon 1948): the centroid, and `a = (6 -+ sqrt(15)) / 21`.
pub const TRIANGLE_7: [Point; 7] = {
    const A: [f64; 2] = [0.101_286_507_323_456_34, 0.470_142_064_105_115_1];
    const W: [f64; 2] = [0.062_969_590_272_413_58, 0.066_197_076_394_253_1];
    [
        ([1.0 / 3.0, 1.0 / 3.0, 0.0], 9.0 / 80.0),
        ([A[0], A[0], 0.0], W[0]),
        ([1.0 - 2.0 * A[0], A[0], 0.0], W[0]),
        ([A[0], 1.0 - 2.0 * A[0], 0.0], W[0]),
        ([A[1], A[1], 0.0], W[1]),
        ([1.0 - 2.0 * A[1], A[1], 0.0], W[1]),
        ([A[1], 1.0 - 2.0 * A[1], 0.0], W[1]),
    ]
};

/// Degree 5 on the tetrahedron (Walkington 2000): two quadruples `(a, a, a, 1 - 3 a)`, a sextuple `(a, a, 1/2 - a, 1/2 - a)`.
pub const TETRAHEDRON_14: [Point; 14] = {
    const A: [f64; 3] = [0.310_885_919_263_300_6, 0.092_735_250_310_891_23, 0.045_503_704_125_649_65];
    const W: [f64; 3] = [0.018_781_320_953_002_643, 0.012_248_840_519_393_658, 0.007_091_003_462_846_911];
    const B: [f64; 3] = [1.0 - 3.0 * A[0], 1.0 - 3.0 * A[1], 0.5 - A[2]];
    [
        ([A[0], A[0], A[0]], W[0]),
        ([B[0], A[0], A[0]], W[0]),
        ([A[0], B[0], A[0]], W[0]),
        ([A[0], A[0], B[0]], W[0]),
        ([A[1], A[1], A[1]], W[1]),
        ([B[1], A[1], A[1]], W[1]),
        ([A[1], B[1], A[1]], W[1]),
        ([A[1], A[1], B[1]], W[1]),
        ([A[2], A[2], B[2]], W[2]),
        ([A[2], B[2], A[2]], W[2]),
        ([B[2], A[2], A[2]], W[2]),
        ([A[2], B[2], B[2]], W[2]),
        ([B[2], A[2], B[2]], W[2]),
        ([B[2], B[2], A[2]], W[2]),
    ]
};

/// [`TRIANGLE_3`] times two points: of degree 2 in the triangle, 3 along.
pub const WEDGE_3_2: [Point; 6] = stacked(&TRIANGLE_3, GAUSS_2, false);
/// [`TRIANGLE_6`] times three points: of degree 4 in the triangle, 5 along.
pub const WEDGE_6_3: [Point; 18] = stacked(&TRIANGLE_6, GAUSS_3, false);

/// Gauss and Jacobi's rules with the weight `t^2` on [0, 1]: one point of degree 1, two of degree 3.
const JACOBI_1: ([f64; 1], [f64; 1]) = ([0.25], [1.0 / 3.0]);
const JACOBI_2: ([f64; 2], [f64; 2]) =
    ([0.122_514_822_655_441_38, 0.544_151_844_011_225_3], [0.232_547_451_253_507_9, 0.100_785_882_079_825_43]);

/// Points of the square in planes through the pyramid (Stroud 1971, sec. 2.5), exact in u, v and t up to degrees 3, 3, 1.
pub const PYRAMID_4: [Point; 4] = stacked(&SQUARE_2, JACOBI_1, true);
/// Of degrees 3, 3, 3.
pub const PYRAMID_8: [Point; 8] = stacked(&SQUARE_2, JACOBI_2, true);
/// Of degrees 5, 5, 3.
pub const PYRAMID_18: [Point; 18] = stacked(&SQUARE_3, JACOBI_2, true);

/// A rule of a plane shape at each point of one along zeta; towards an apex at zeta = 1 it shrinks.
const fn stacked<const M: usize, const Q: usize>(
    plane: &[Point],
    (z, w): ([f64; M], [f64; M]),
    has_apex: bool,
) -> [Point; Q] {
    let mut points = [([0.0; 3], 0.0); Q];
    let mut q = 0;
    while q < Q {
        let (([x, y, _], weight), k) = (plane[q % plane.len()], q / plane.len());
        let t = if has_apex { 1.0 - z[k] } else { 1.0 };
        points[q] = ([x * t, y * t, z[k]], weight * w[k]);
        q += 1;
    }
    points
}

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
