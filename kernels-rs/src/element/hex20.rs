//! The serendipity hexahedron on [-1, 1]^3 (Zienkiewicz and Taylor, sec. 8.8), with `(s, t, r)` a node's coordinates:
//!
//! - corners: `N = (1 + s xi)(1 + t eta)(1 + r zeta)(s xi + t eta + r zeta - 2) / 8`,
//! - edges along xi: `N = (1 - xi^2)(1 + t eta)(1 + r zeta) / 4`, and likewise along eta and zeta.

use super::{Domain, Element, Hex8, Point, rules, with_middles};
use crate::real::{Real, fma};

/// Corners as [`Hex8`], then the middles of `EDGES`.
#[derive(Debug, Clone, Copy)]
pub struct Hex20;

/// In Gmsh's order.
const EDGES: [[usize; 2]; 12] =
    [[0, 1], [0, 3], [0, 4], [1, 2], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 7], [5, 6], [6, 7]];
const NODE: [[f64; 3]; 20] = with_middles(Hex8::NODES, &EDGES);

/// The direction of the edge in whose middle node `b` lies; 3 for corners.
const fn along(b: usize) -> usize {
    let mut i = 0;
    while i < 3 && NODE[b][i] != 0.0 {
        i += 1;
    }
    i
}

/// What a node's shape function is a product of in the three directions: `1 + s xi` at an end, `1 - xi^2` in a middle;
/// and the derivatives of these.
#[inline(always)]
fn factors<T: Real>(b: usize, xi: [T; 3]) -> ([T; 3], [T; 3]) {
    let s = NODE[b].map(T::from_f64);
    let factor = |i: usize| if along(b) == i { fma(-xi[i], xi[i], T::ONE) } else { fma(s[i], xi[i], T::ONE) };
    let slope = |i: usize| if along(b) == i { -(xi[i] + xi[i]) } else { s[i] };
    (core::array::from_fn(factor), core::array::from_fn(slope))
}

/// `s xi + t eta + r zeta - 2` of a corner.
#[inline(always)]
fn corner_factor<T: Real>(b: usize, xi: [T; 3]) -> T {
    let [s, t, r] = NODE[b].map(T::from_f64);
    s * xi[0] + t * xi[1] + r * xi[2] - T::from_f64(2.0)
}

impl Element for Hex20 {
    const NAME: &'static str = "hex20";
    const DOMAIN: Domain = Domain::Hexahedron;
    const GMSH: i32 = 17;
    const VTK: u8 = 25;
    const ABAQUS: &str = "20";
    const REDUCED: Option<[&str; 2]> = Some(["hex20r", "20R"]);
    // VTK runs round the bottom, round the top, then up.
    const VTK_ORDER: &'static [usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15];
    type Nodal<X: Copy> = [X; 20];
    const NODES: &'static [[f64; 3]] = &NODE;
    const QUADRATURE: &'static [Point] = &rules::CUBE_3;
    const SAMPLED: &'static [Point] = &rules::CUBE_2;
    type Points<X: Copy> = [X; 27];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let ([x, y, z], _) = factors(b, xi);
        let product = x * y * z;
        match b {
            0..8 => T::from_f64(0.125) * product * corner_factor(b, xi),
            _ => T::from_f64(0.25) * product,
        }
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let ([x, y, z], [dx, dy, dz]) = factors(b, xi);
        let gradient = [dx * y * z, dy * x * z, dz * x * y];
        if b >= 8 {
            return gradient.map(|d| T::from_f64(0.25) * d);
        }
        // The slope of the corner's own factor along i is s_i, which is that of `1 + s_i xi_i`.
        let (c, product) = (corner_factor(b, xi), x * y * z);
        core::array::from_fn(|i| T::from_f64(0.125) * fma(gradient[i], c, product * [dx, dy, dz][i]))
    }
}
