//! The quadratic tetrahedron in volume coordinates `L = (1 - xi - eta - zeta, xi, eta, zeta)`: `L_a (2 L_a - 1)` at the
//! corners, `4 L_a L_b` on the edges.

use super::{Domain, Element, Point, Tet4, rules, with_middles};
use crate::real::Real;

/// Corners as [`Tet4`], then the middles of `EDGES`.
#[derive(Debug, Clone, Copy)]
pub struct Tet10;

/// In Gmsh's order.
const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [3, 0], [2, 3], [1, 3]];

impl Element for Tet10 {
    const NAME: &'static str = "tet10";
    const DOMAIN: Domain = Domain::Tetrahedron;
    const GMSH: i32 = 11;
    const VTK: u8 = 24;
    const ABAQUS: &str = "10";
    // VTK swaps the last two edges.
    const VTK_ORDER: &'static [usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8];
    type Nodal<X: Copy> = [X; 10];
    const NODES: &'static [[f64; 3]] = &with_middles::<10>(Tet4::NODES, &EDGES);
    const QUADRATURE: &'static [Point] = &rules::TETRAHEDRON_4;
    type Points<X: Copy> = [X; 4];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let l = |b| Tet4::shape::<T>(b, xi);
        match b {
            0..4 => l(b) * (l(b) + l(b) - T::ONE),
            _ => T::from_f64(4.0) * l(EDGES[b - 4][0]) * l(EDGES[b - 4][1]),
        }
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let (l, dl) = (|b| Tet4::shape::<T>(b, xi), |b| Tet4::shape_gradient::<T>(b, xi));
        let four = T::from_f64(4.0);
        match b {
            0..4 => dl(b).map(|d| (four * l(b) - T::ONE) * d),
            _ => {
                let [i, j] = EDGES[b - 4];
                let (li, lj, di, dj) = (l(i), l(j), dl(i), dl(j));
                core::array::from_fn(|k| four * (li * dj[k] + lj * di[k]))
            }
        }
    }
}
