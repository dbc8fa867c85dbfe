//! The bilinear quadrilateral on [-1, 1]^2: `N_b = (1 + s_b xi)(1 + t_b eta) / 4`.

use super::{Domain, Element, Point, rules};
use crate::real::{Real, fma};

/// Four nodes, counter-clockwise from (-1,-1).
#[derive(Debug, Clone, Copy)]
pub struct Quad4;

const CORNER: &[[f64; 3]] = Domain::Quadrilateral.corners();

impl Element for Quad4 {
    const NAME: &'static str = "quad4";
    const DOMAIN: Domain = Domain::Quadrilateral;
    const GMSH: i32 = 3;
    const VTK: u8 = 9;
    const ABAQUS: &str = "4";
    type Nodal<X: Copy> = [X; 4];
    const NODES: &'static [[f64; 3]] = CORNER;
    const QUADRATURE: &'static [Point] = &rules::SQUARE_2;
    type Points<X: Copy> = [X; 4];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let [s, t, _] = CORNER[b].map(T::from_f64);
        T::from_f64(0.25) * fma(s, xi[0], T::ONE) * fma(t, xi[1], T::ONE)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let [s, t, _] = CORNER[b].map(T::from_f64);
        let quarter = T::from_f64(0.25);
        [quarter * s * fma(t, xi[1], T::ONE), quarter * t * fma(s, xi[0], T::ONE), T::ZERO]
    }
}
