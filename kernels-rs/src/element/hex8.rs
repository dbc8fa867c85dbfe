//! The trilinear hexahedron on [-1, 1]^3: `N_b = (1 + s_b xi)(1 + t_b eta)(1 + r_b zeta) / 8` (WARP sec. 2).

use super::{Domain, Element, Point, rules};
use crate::real::{Real, fma};

/// Eight nodes, bottom face counter-clockwise then top face.
#[derive(Debug, Clone, Copy)]
pub struct Hex8;

const CORNER: &[[f64; 3]] = Domain::Hexahedron.corners();

/// `1 + corner coordinate * xi` in the three directions.
#[inline(always)]
fn factors<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
    core::array::from_fn(|i| fma(T::from_f64(CORNER[b][i]), xi[i], T::ONE))
}

impl Element for Hex8 {
    const NAME: &'static str = "hex8";
    const DOMAIN: Domain = Domain::Hexahedron;
    const GMSH: i32 = 5;
    const VTK: u8 = 12;
    const ABAQUS: &str = "8";
    const WITH_MODES: Option<[&str; 2]> = Some(["hex8i", "8I"]);
    type Nodal<X: Copy> = [X; 8];
    const NODES: &'static [[f64; 3]] = CORNER;
    const QUADRATURE: &'static [Point] = &rules::CUBE_2;
    type Points<X: Copy> = [X; 8];
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
        let [x, y, z] = factors(b, xi);
        T::from_f64(0.125) * x * y * z
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
        let [x, y, z] = factors(b, xi);
        let [s, t, r] = CORNER[b].map(|c| T::from_f64(0.125 * c));
        [s * y * z, t * x * z, r * x * y]
    }
}
