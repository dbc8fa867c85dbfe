//! The quadratic triangle in area coordinates `L = (1 - xi - eta, xi, eta)`: `L_a (2 L_a - 1)` at the corners,
//! `4 L_a L_b` on the edges.

use super::{Domain, Element, Point, Tri3, rules, with_middles};
use crate::real::Real;

/// Corners as [`Tri3`], then the middles of `EDGES`.
#[derive(Debug, Clone, Copy)]
pub struct Tri6;

const EDGES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

impl Element for Tri6 {
    const NAME: &'static str = "tri6";
    const DOMAIN: Domain = Domain::Triangle;
    const GMSH: i32 = 9;
    const VTK: u8 = 22;
    const ABAQUS: &str = "6";
    type Nodal<X: Copy> = [X; 6];
    const NODES: &'static [[f64; 3]] = &with_middles::<6>(Tri3::NODES, &EDGES);
    const QUADRATURE: &'static [Point] = &rules::TRIANGLE_3;
    type Points<X: Copy> = [X; 3];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let l = |b| Tri3::shape::<T>(b, xi);
        match b {
            0..3 => l(b) * (l(b) + l(b) - T::ONE),
            _ => T::from_f64(4.0) * l(EDGES[b - 3][0]) * l(EDGES[b - 3][1]),
        }
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let (l, dl) = (|b| Tri3::shape::<T>(b, xi), |b| Tri3::shape_gradient::<T>(b, xi));
        let four = T::from_f64(4.0);
        match b {
            0..3 => dl(b).map(|d| (four * l(b) - T::ONE) * d),
            _ => {
                let [i, j] = EDGES[b - 3];
                let (li, lj, di, dj) = (l(i), l(j), dl(i), dl(j));
                core::array::from_fn(|k| four * (li * dj[k] + lj * di[k]))
            }
        }
    }
}
