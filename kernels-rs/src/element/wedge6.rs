//! The linear wedge: `N = L_t(xi, eta) (1 + s zeta) / 2` with the barycentric coordinates L of a triangle, at `zeta = s`.

use super::{Domain, Element, Point, barycentric, barycentric_gradient, rules};
use crate::real::{Real, fma};

/// The triangle at zeta = -1, then the one at zeta = 1.
#[derive(Debug, Clone, Copy)]
pub struct Wedge6;

const NODE: &[[f64; 3]] = Domain::Wedge.corners();

impl Element for Wedge6 {
    const NAME: &'static str = "wedge6";
    const DOMAIN: Domain = Domain::Wedge;
    const GMSH: i32 = 6;
    const VTK: u8 = 13;
    const ABAQUS: &str = "6";
    type Nodal<X: Copy> = [X; 6];
    const NODES: &'static [[f64; 3]] = NODE;
    const QUADRATURE: &'static [Point] = &rules::WEDGE_3_2;
    type Points<X: Copy> = [X; 6];

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let half = T::from_f64(0.5);
        half * barycentric(2, b % 3, xi) * fma(T::from_f64(NODE[b][2]), xi[2], T::ONE)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let (s, half) = (T::from_f64(NODE[b][2]), T::from_f64(0.5));
        let [dx, dy, _] = barycentric_gradient::<T>(2, b % 3);
        let along = half * fma(s, xi[2], T::ONE);
        [dx * along, dy * along, half * s * barycentric(2, b % 3, xi)]
    }
}
