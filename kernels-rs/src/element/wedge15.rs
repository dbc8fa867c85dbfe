//! The serendipity wedge (Zienkiewicz and Taylor, sec. 8.12), with the barycentric coordinates L of a triangle:
//!
//! - corners at zeta = s: `N = L (1 + s zeta) (2 L - 2 + s zeta) / 2`,
//! - edges of the triangle at zeta = s: `N = 2 L_i L_j (1 + s zeta)`,
//! - edges along zeta: `N = L (1 - zeta^2)`.

use super::{Domain, Element, Point, barycentric, barycentric_gradient, rules, with_middles};
use crate::real::{Real, fma};

/// Corners as [`Wedge6`](super::Wedge6), then the middles of `EDGES`.
#[derive(Debug, Clone, Copy)]
pub struct Wedge15;

/// In Gmsh's order.
const EDGES: [[usize; 2]; 9] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [3, 5], [4, 5]];
const NODE: [[f64; 3]; 15] = with_middles(Domain::Wedge.corners(), &EDGES);

/// The two corners of the triangle that a node is between; of corners and of nodes on edges along zeta twice the same.
const fn between(b: usize) -> [usize; 2] {
    if b < 6 { [b % 3, b % 3] } else { [EDGES[b - 6][0] % 3, EDGES[b - 6][1] % 3] }
}

const BETWEEN: [[usize; 2]; 15] = {
    let (mut all, mut b) = ([[0; 2]; 15], 0);
    while b < 15 {
        all[b] = between(b);
        b += 1;
    }
    all
};

impl Element for Wedge15 {
    const NAME: &'static str = "wedge15";
    const DOMAIN: Domain = Domain::Wedge;
    const GMSH: i32 = 18;
    const VTK: u8 = 26;
    const ABAQUS: &str = "15";
    // VTK runs round the first triangle, round the other, then along.
    const VTK_ORDER: &'static [usize] = &[0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11];
    type Nodal<X: Copy> = [X; 15];
    const NODES: &'static [[f64; 3]] = &NODE;
    const QUADRATURE: &'static [Point] = &rules::WEDGE_6_3;
    const SAMPLED: &'static [Point] = &rules::WEDGE_3_2;
    type Points<X: Copy> = [X; 18];

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let ([i, j], s, two) = (BETWEEN[b], T::from_f64(NODE[b][2]), T::from_f64(2.0));
        let (li, along) = (barycentric(2, i, xi), fma(s, xi[2], T::ONE));
        if s == T::ZERO {
            li * fma(-xi[2], xi[2], T::ONE)
        } else if i == j {
            T::from_f64(0.5) * li * along * (two * li - two + s * xi[2])
        } else {
            two * li * barycentric(2, j, xi) * along
        }
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let ([i, j], s, two) = (BETWEEN[b], T::from_f64(NODE[b][2]), T::from_f64(2.0));
        let (li, lj, along) = (barycentric(2, i, xi), barycentric(2, j, xi), fma(s, xi[2], T::ONE));
        // Derivatives by L_i, by L_j unless it is the same, and by zeta.
        let (by_i, by_j, by_zeta) = if s == T::ZERO {
            (fma(-xi[2], xi[2], T::ONE), T::ZERO, -two * xi[2] * li)
        } else if i == j {
            let (half, factor) = (T::from_f64(0.5), two * li - two + s * xi[2]);
            (half * along * (factor + two * li), T::ZERO, half * s * li * (factor + along))
        } else {
            (two * lj * along, two * li * along, two * s * li * lj)
        };
        let (di, dj) = (barycentric_gradient::<T>(2, i), barycentric_gradient::<T>(2, j));
        [by_i * di[0] + by_j * dj[0], by_i * di[1] + by_j * dj[1], by_zeta]
    }
}
