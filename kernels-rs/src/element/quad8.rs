//! The serendipity quadrilateral on [-1, 1]^2 (Zienkiewicz and Taylor, sec. 8.6), with `(s, t)` a node's coordinates:
//!
//! - corners: `N = (1 + s xi)(1 + t eta)(s xi + t eta - 1) / 4`,
//! - edges along xi: `N = (1 - xi^2)(1 + t eta) / 2`, and likewise along eta.

use super::{Domain, Element, Point, Quad4, rules, with_middles};
use crate::real::{Real, fma};

/// Corners as [`Quad4`], then the middles of the edges in the same sense.
#[derive(Debug, Clone, Copy)]
pub struct Quad8;

const NODE: [[f64; 3]; 8] = with_middles(Quad4::NODES, &[[0, 1], [1, 2], [2, 3], [3, 0]]);

impl Element for Quad8 {
    const NAME: &'static str = "quad8";
    const DOMAIN: Domain = Domain::Quadrilateral;
    const GMSH: i32 = 16;
    const VTK: u8 = 23;
    const ABAQUS: &str = "8";
    const REDUCED: Option<[&str; 2]> = Some(["quad8r", "8R"]);
    type Nodal<X: Copy> = [X; 8];
    const NODES: &'static [[f64; 3]] = &NODE;
    const QUADRATURE: &'static [Point] = &rules::SQUARE_3;
    const SAMPLED: &'static [Point] = &rules::SQUARE_2;
    type Points<X: Copy> = [X; 9];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let (quarter, half) = (T::from_f64(0.25), T::from_f64(0.5));
        let [s, t, _] = NODE[b].map(T::from_f64);
        let (p, q) = (fma(s, xi[0], T::ONE), fma(t, xi[1], T::ONE));
        match b {
            0..4 => quarter * p * q * (s * xi[0] + t * xi[1] - T::ONE),
            4 | 6 => half * (T::ONE - xi[0] * xi[0]) * q,
            _ => half * (T::ONE - xi[1] * xi[1]) * p,
        }
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let (quarter, half, two) = (T::from_f64(0.25), T::from_f64(0.5), T::from_f64(2.0));
        let [s, t, _] = NODE[b].map(T::from_f64);
        let (p, q) = (fma(s, xi[0], T::ONE), fma(t, xi[1], T::ONE));
        let (sx, ty) = (s * xi[0], t * xi[1]);
        match b {
            0..4 => [quarter * s * q * (two * sx + ty), quarter * t * p * (sx + two * ty), T::ZERO],
            4 | 6 => [-xi[0] * q, half * t * (T::ONE - xi[0] * xi[0]), T::ZERO],
            _ => [half * s * (T::ONE - xi[1] * xi[1]), -xi[1] * p, T::ZERO],
        }
    }
}
