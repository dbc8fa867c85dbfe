//! The serendipity pyramid (Bedrosian 1992), in u, v and t as [`Pyramid5`](super::Pyramid5), with (s, r) the base's corner
//! that a node is at or above:
//!
//! - base corners: `N = t (1 + s u)(1 + r v)(s u t + r v t - 1) / 4`; apex: `N = zeta (2 zeta - 1)`,
//! - base edges along xi: `N = t^2 (1 - u^2)(1 + r v) / 2`, and likewise along eta,
//! - edges to the apex: `N = t (1 - t)(1 + s u)(1 + r v)`.

use super::pyramid5::{folded, unfolded};
use super::{Domain, Element, Point, rules, with_middles};
use crate::real::{Real, fma};

/// Corners as [`Pyramid5`](super::Pyramid5), then the middles of `EDGES`.
#[derive(Debug, Clone, Copy)]
pub struct Pyramid13;

/// In Gmsh's order.
const EDGES: [[usize; 2]; 8] = [[0, 1], [0, 3], [0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]];
const NODE: [[f64; 3]; 13] = with_middles(Domain::Pyramid.corners(), &EDGES);
const APEX: usize = 4;

/// M, with `N = t M`, and its derivatives by u, v and t.
#[inline(always)]
fn divided<T: Real>(b: usize, [u, v, t]: [T; 3]) -> (T, [T; 3]) {
    let ([s, r, zeta], half) = (NODE[b].map(T::from_f64), T::from_f64(0.5));
    if zeta != T::ZERO {
        // Half way up to the apex s and r are halves.
        let (s, r) = (s + s, r + r);
        let (p, q, rest) = (fma(s, u, T::ONE), fma(r, v, T::ONE), T::ONE - t);
        return (rest * p * q, [rest * s * q, rest * r * p, -(p * q)]);
    }
    let (p, q) = (fma(s, u, T::ONE), fma(r, v, T::ONE));
    if s == T::ZERO {
        let bubble = half * fma(-u, u, T::ONE);
        (t * bubble * q, [-(t * u * q), t * bubble * r, bubble * q])
    } else if r == T::ZERO {
        let bubble = half * fma(-v, v, T::ONE);
        (t * bubble * p, [t * bubble * s, -(t * v * p), bubble * p])
    } else {
        let (sum, quarter) = (s * u + r * v, T::from_f64(0.25));
        let factor = fma(t, sum, -T::ONE);
        let by = |slope: T, own: T, other: T| quarter * slope * other * fma(t, own, factor);
        (quarter * p * q * factor, [by(s, p, q), by(r, q, p), quarter * p * q * sum])
    }
}

impl Element for Pyramid13 {
    const NAME: &'static str = "pyramid13";
    const DOMAIN: Domain = Domain::Pyramid;
    const GMSH: i32 = 19;
    const VTK: u8 = 27;
    // VTK runs round the base, then up.
    const VTK_ORDER: &'static [usize] = &[0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12];
    type Nodal<X: Copy> = [X; 13];
    const NODES: &'static [[f64; 3]] = &NODE;
    const QUADRATURE: &'static [Point] = &rules::PYRAMID_18;
    const SAMPLED: &'static [Point] = &rules::PYRAMID_8;
    type Points<X: Copy> = [X; 18];

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        if b == APEX {
            return xi[2] * (xi[2] + xi[2] - T::ONE);
        }
        let at = folded(xi);
        at[2] * divided(b, at).0
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        if b == APEX {
            return [T::ZERO, T::ZERO, T::from_f64(4.0) * xi[2] - T::ONE];
        }
        let at = folded(xi);
        let (m, slopes) = divided(b, at);
        unfolded(at, m, slopes)
    }
}
