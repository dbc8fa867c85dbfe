//! The linear triangle: `N = (1 - xi - eta, xi, eta)`. Its gradients are constant, so one quadrature point is exact.

use super::{Domain, Element, Point, barycentric, barycentric_gradient};
use crate::real::Real;

/// Three nodes at (0,0), (1,0), (0,1).
#[derive(Debug, Clone, Copy)]
pub struct Tri3;

impl Element for Tri3 {
    const NAME: &'static str = "tri3";
    const DOMAIN: Domain = Domain::Triangle;
    const GMSH: i32 = 2;
    const VTK: u8 = 5;
    const ABAQUS: &str = "3";
    type Nodal<X: Copy> = [X; 3];
    const NODES: &'static [[f64; 3]] = Domain::Triangle.corners();
    const QUADRATURE: &'static [Point] = &[(Self::CENTROID, 0.5)];
    type Points<X: Copy> = [X; 1];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        barycentric(2, b, xi)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, _: [T; 3]) -> [T; 3] {
        barycentric_gradient(2, b)
    }
}
