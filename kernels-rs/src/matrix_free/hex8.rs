//! The forces of a trilinear hexahedron by its modes: at the points of the rule their slopes are sums with signs alone.
//!
//! `8 v(xi) = m_0 + m_x xi + m_y eta + m_z zeta + m_xy xi eta + m_yz eta zeta + m_zx zeta xi + m_xyz xi eta zeta`, and the
//! points are at `+-g`, `g = 1 / sqrt 3`

use super::fixed::{FixedCell, cofactors, stress};
use crate::element::Hex8;
use crate::material::Lame;
use crate::real::{Real, dot3};

/// A trilinear hexahedron.
#[derive(Debug, Clone, Copy)]
pub struct TrilinearHex8;

const G: f64 = 0.577_350_269_189_625_8;
/// The node at each corner, x fastest.
const AT: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// The modes x, y, z, xy, yz, zx, xyz of values `v(node)`, those of products times g, and g g.
#[inline(always)]
fn modes<T: Real>(v: impl Fn(usize) -> T) -> [T; 7] {
    let (g, gg) = (T::from_f64(G), T::from_f64(1.0 / 3.0));
    // Sums and differences along x, [y][z], then along y, then z.
    let pair = |k: usize| {
        let (low, high) = (v(AT[2 * k]), v(AT[2 * k + 1]));
        [low + high, high - low]
    };
    let along_x = [pair(0), pair(1), pair(2), pair(3)];
    let along_y = |z: usize, of: usize| {
        let (low, high) = (along_x[2 * z][of], along_x[2 * z + 1][of]);
        [low + high, high - low]
    };
    let ([s0, d0], [s1, d1]) = (along_y(0, 0), along_y(1, 0));
    let ([xs0, xd0], [xs1, xd1]) = (along_y(0, 1), along_y(1, 1));
    [xs0 + xs1, d0 + d1, s1 - s0, g * (xd0 + xd1), g * (d1 - d0), g * (xs1 - xs0), gg * (xd1 - xd0)]
}

/// `a` or `-a`.
#[inline(always)]
fn signed<T: Real>(is_positive: bool, a: T) -> T {
    if is_positive { a } else { -a }
}

/// The slopes along the coordinates at a point, from the modes.
#[inline(always)]
fn slopes<T: Real>(q: usize, m: [T; 7]) -> [T; 3] {
    let [x, y, z] = [q & 1 != 0, q & 2 != 0, q & 4 != 0];
    let xy = m[3] + signed(z, m[6]);
    [
        m[0] + signed(z, m[5]) + signed(y, xy),
        m[1] + signed(z, m[4]) + signed(x, xy),
        m[2] + signed(y, m[4]) + signed(x, m[5] + signed(y, m[6])),
    ]
}

/// Adds to modes what belongs to slopes at a point: the transpose of [`slopes`].
#[inline(always)]
fn add_slopes<T: Real>(q: usize, t: [T; 3], m: &mut [T; 7]) {
    let [x, y, z] = [q & 1 != 0, q & 2 != 0, q & 4 != 0];
    let xy = signed(y, t[0]) + signed(x, t[1]);
    m[0] += t[0];
    m[1] += t[1];
    m[2] += t[2];
    m[3] += xy;
    m[4] += signed(z, t[1]) + signed(y, t[2]);
    m[5] += signed(z, t[0]) + signed(x, t[2]);
    m[6] += signed(z, xy) + signed(x == y, t[2]);
}

/// What belongs to the node at a corner, from modes: the transpose of [`modes`], whose factors have been applied.
#[inline(always)]
fn at_corner<T: Real>(k: usize, m: [T; 7]) -> T {
    let [x, y, z] = [k & 1 != 0, k & 2 != 0, k & 4 != 0];
    let even = signed(y, m[1]) + signed(z, m[2]) + signed(y == z, m[4]);
    even + signed(x, m[0] + signed(y, m[3]) + signed(z, m[5]) + signed(y == z, m[6]))
}

impl FixedCell for TrilinearHex8 {
    type Element = Hex8;

    /// Operations: about 2,200, of which 850 are fused.
    #[inline(always)]
    fn forces<T: Real>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize) -> [T; 3],
        mut set: impl FnMut(usize, [T; 3]),
    ) {
        let place: [[T; 7]; 3] = core::array::from_fn(|c| modes(|b| x(b)[c]));
        let moved: [[T; 7]; 3] = core::array::from_fn(|c| modes(|b| u(b)[c]));
        // Modes are eight times the slopes' scale: the determinant is 512 times that of the element.
        let scale = T::from_f64(1.0 / 512.0);
        let lame = Lame { lambda: scale * lame.lambda, mu: scale * lame.mu };
        let mut force = [[T::ZERO; 7]; 3];
        for q in 0..8 {
            let of = [slopes(q, place[0]), slopes(q, place[1]), slopes(q, place[2])];
            let along = |j: usize| [of[0][j], of[1][j], of[2][j]];
            let (inverse, det) = cofactors([along(0), along(1), along(2)]);
            let per_det = T::ONE / det;
            let of_point = Lame { lambda: per_det * lame.lambda, mu: per_det * lame.mu };
            let mut h = [[T::ZERO; 3]; 3];
            for c in 0..3 {
                let slope = slopes(q, moved[c]);
                for k in 0..3 {
                    h[c][k] = dot3(slope, [inverse[0][k], inverse[1][k], inverse[2][k]]);
                }
            }
            let rows = stress(of_point, h);
            for c in 0..3 {
                add_slopes(q, inverse.map(|slope| dot3(rows[c], slope)), &mut force[c]);
            }
        }
        let (g, gg) = (T::from_f64(G), T::from_f64(1.0 / 3.0));
        for c in 0..3 {
            let m = force[c];
            force[c] = [m[0], m[1], m[2], g * m[3], g * m[4], g * m[5], gg * m[6]];
        }
        for k in 0..8 {
            set(AT[k], [at_corner(k, force[0]), at_corner(k, force[1]), at_corner(k, force[2])]);
        }
    }
}
