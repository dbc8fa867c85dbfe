//! The linear tetrahedron: `N = (1 - xi - eta - zeta, xi, eta, zeta)`. Its gradients are constant, so one quadrature
//! point is exact and the element matrix is `K_e = V B^T D B` (DSM eq. 1).

use super::{Domain, Element, Point, barycentric, barycentric_gradient};
use crate::real::Real;

/// Four nodes at (0,0,0), (1,0,0), (0,1,0), (0,0,1).
#[derive(Debug, Clone, Copy)]
pub struct Tet4;

impl Element for Tet4 {
    const NAME: &'static str = "tet4";
    const DOMAIN: Domain = Domain::Tetrahedron;
    const GMSH: i32 = 4;
    const VTK: u8 = 10;
    const ABAQUS: &str = "4";
    type Nodal<X: Copy> = [X; 4];
    const NODES: &'static [[f64; 3]] = Domain::Tetrahedron.corners();
    const QUADRATURE: &'static [Point] = &[(Self::CENTROID, 1.0 / 6.0)];
    type Points<X: Copy> = [X; 1];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        barycentric(3, b, xi)
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, _: [T; 3]) -> [T; 3] {
        barycentric_gradient(3, b)
    }
}
