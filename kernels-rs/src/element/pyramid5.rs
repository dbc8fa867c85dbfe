//! The pyramid of five nodes (Bedrosian 1992): `N = (1 + s xi / t)(1 + r eta / t) t / 4` with `t = 1 - zeta` at the base's
//! corner (s, r), `N = zeta` at the apex.
//!
//! In `u = xi / t` and `v = eta / t` these are polynomials, `N = t M(u, v, t)`, and so are their gradients:
//! `dN/dxi = M_u`, `dN/deta = M_v`, `dN/dzeta = u M_u + v M_v - M - t M_t`. At the apex, where u and v depend on where one
//! comes from, they are those on the way down the axis.

use super::{Domain, Element, Point, rules};
use crate::real::{Real, fma};

/// The base counter-clockwise from (-1,-1,0), then the apex at (0,0,1).
#[derive(Debug, Clone, Copy)]
pub struct Pyramid5;

const NODE: &[[f64; 3]] = Domain::Pyramid.corners();

/// `(u, v, t)` of a point.
#[inline(always)]
pub(super) fn folded<T: Real>(xi: [T; 3]) -> [T; 3] {
    let t = T::ONE - xi[2];
    let inverse = if t == T::ZERO { T::ZERO } else { T::ONE / t };
    [inverse * xi[0], inverse * xi[1], t]
}

/// The gradient of `t M` from the value of M and its derivatives by u, v and t.
#[inline(always)]
pub(super) fn unfolded<T: Real>([u, v, t]: [T; 3], m: T, [mu, mv, mt]: [T; 3]) -> [T; 3] {
    [mu, mv, u * mu + v * mv - m - t * mt]
}

impl Element for Pyramid5 {
    const NAME: &'static str = "pyramid5";
    const DOMAIN: Domain = Domain::Pyramid;
    const GMSH: i32 = 7;
    const VTK: u8 = 14;
    type Nodal<X: Copy> = [X; 5];
    const NODES: &'static [[f64; 3]] = NODE;
    const QUADRATURE: &'static [Point] = &rules::PYRAMID_4;
    type Points<X: Copy> = [X; 4];

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        if b == 4 {
            return xi[2];
        }
        let ([u, v, t], [s, r, _]) = (folded(xi), NODE[b].map(T::from_f64));
        T::from_f64(0.25) * t * fma(s, u, T::ONE) * fma(r, v, T::ONE)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        if b == 4 {
            return [T::ZERO, T::ZERO, T::ONE];
        }
        let (at, [s, r, _], quarter) = (folded(xi), NODE[b].map(T::from_f64), T::from_f64(0.25));
        let (p, q) = (quarter * fma(s, at[0], T::ONE), fma(r, at[1], T::ONE));
        unfolded(at, p * q, [quarter * s * q, r * p, T::ZERO])
    }
}
