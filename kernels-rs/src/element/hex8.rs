//! The trilinear hexahedron on [-1, 1]^3: `N_b = (1 + s_b xi)(1 + t_b eta)(1 + r_b zeta) / 8` (WARP sec. 2).

use super::{Element, Point};
use crate::real::{Real, fma};

/// Eight nodes, bottom face counter-clockwise then top face.
#[derive(Debug, Clone, Copy)]
pub struct Hex8;

/// Reference coordinates of the nodes.
const CORNER: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

/// `1 / sqrt(3)`: two-point Gauss rule in each direction.
const G: f64 = 0.577_350_269_189_625_8;

const fn gauss_points() -> [Point; 8] {
    let mut points = [([0.0; 3], 1.0); 8];
    let mut q = 0;
    while q < 8 {
        points[q].0 = [CORNER[q][0] * G, CORNER[q][1] * G, CORNER[q][2] * G];
        q += 1;
    }
    points
}

/// `1 + corner coordinate * xi` in the three directions.
#[inline(always)]
fn factors<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
    core::array::from_fn(|i| fma(T::from_f64(CORNER[b][i]), xi[i], T::ONE))
}

impl Element for Hex8 {
    const NAME: &'static str = "hex8";
    const N: usize = 8;
    type Nodal<X: Copy> = [X; 8];
    const QUADRATURE: &'static [Point] = &gauss_points();
    const CENTROID: [f64; 3] = [0.0; 3];

    #[inline(always)]
    fn nodal<X: Copy>(f: impl FnMut(usize) -> X) -> [X; 8] {
        core::array::from_fn(f)
    }

    #[inline(always)]
    fn shape<T: Real>(xi: [T; 3]) -> [T; 8] {
        core::array::from_fn(|b| {
            let [x, y, z] = factors(b, xi);
            T::from_f64(0.125) * x * y * z
        })
    }

    #[inline(always)]
    fn shape_gradient<T: Real>(xi: [T; 3]) -> [[T; 3]; 8] {
        core::array::from_fn(|b| {
            let [x, y, z] = factors(b, xi);
            let [s, t, r] = CORNER[b].map(|c| T::from_f64(0.125 * c));
            [s * y * z, t * x * z, r * x * y]
        })
    }
}
