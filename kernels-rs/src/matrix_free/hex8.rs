//! The forces of a trilinear hexahedron by its modes: at the points of the rule their slopes are sums with signs alone.
//!
//! `8 v(xi) = m_0 + m_x xi + m_y eta + m_z zeta + m_xy xi eta + m_yz eta zeta + m_zx zeta xi + m_xyz xi eta zeta`, and the
//! points are at `+-g`, `g = 1 / sqrt 3`

use super::formulas::{FixedCell, cofactors, each, stress};
use crate::element::{Hex8, in_steps};
use crate::material::Lame;
use crate::real::{dot3, fma};
use cuda_std::Number;

/// A trilinear hexahedron.
#[derive(Debug, Clone, Copy)]
pub struct TrilinearHex8;

const G: f64 = 0.577_350_269_189_625_8;
/// The node at each corner, x fastest.
const AT: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// The modes x, y, z, xy, yz, zx, xyz of values `v(node)`, those of products times g, and g g.
#[inline(always)]
fn modes<T: Number>(v: impl Fn(usize) -> T) -> [T; 7] {
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
fn signed<T: Number>(is_positive: bool, a: T) -> T {
    if is_positive { a } else { -a }
}

/// The slopes along the coordinates at the two points with these signs of eta and zeta, from the modes: `[xi -g or g]`.
#[inline(always)]
fn slopes<T: Number>([y, z]: [T; 2], m: [T; 7]) -> [[T; 3]; 2] {
    let (xy, along_x, along_y) = (fma(z, m[6], m[3]), fma(z, m[5], m[0]), fma(z, m[4], m[1]));
    let (along_x, along_z, xz) = (fma(y, xy, along_x), fma(y, m[4], m[2]), fma(y, m[6], m[5]));
    [[along_x, along_y - xy, along_z - xz], [along_x, along_y + xy, along_z + xz]]
}

/// Adds to modes what belongs to slopes at two points: the transpose of [`slopes`].
#[inline(always)]
fn add_slopes<T: Number>([y, z]: [T; 2], [low, high]: [[T; 3]; 2], m: &mut [T; 7]) {
    let sum = [low[0] + high[0], low[1] + high[1], low[2] + high[2]];
    let (xy, xz) = (fma(y, sum[0], high[1] - low[1]), high[2] - low[2]);
    m[0] += sum[0];
    m[1] += sum[1];
    m[2] += sum[2];
    m[3] += xy;
    m[4] = fma(z, sum[1], fma(y, sum[2], m[4]));
    m[5] = fma(z, sum[0], m[5] + xz);
    m[6] = fma(z, xy, fma(y, xz, m[6]));
}

/// The cofactors at a point and the constants over the determinant, from the slopes of coordinates.
#[inline(always)]
fn geometry<T: Number>(lame: Lame<T>, place: [[T; 3]; 3]) -> ([[T; 3]; 3], Lame<T>) {
    let along = |j: usize| [place[0][j], place[1][j], place[2][j]];
    let (inverse, det) = cofactors([along(0), along(1), along(2)]);
    let per_det = det.near_recip();
    (inverse, Lame { lambda: per_det * lame.lambda, mu: per_det * lame.mu })
}

/// The slopes along the reference coordinates that belong to the forces at a point: the stress times the cofactors, from the
/// slopes of displacements.
#[inline(always)]
fn at_point<T: Number>((inverse, lame): ([[T; 3]; 3], Lame<T>), moved: [[T; 3]; 3]) -> [[T; 3]; 3] {
    let h = moved.map(|slope| [0, 1, 2].map(|k| dot3(slope, [inverse[0][k], inverse[1][k], inverse[2][k]])));
    stress(lame, h).map(|row| inverse.map(|slope| dot3(row, slope)))
}

/// What belongs to the node at a corner, from modes: the transpose of [`modes`], whose factors have been applied.
#[inline(always)]
fn at_corner<T: Number>(k: usize, m: [T; 7]) -> T {
    let [x, y, z] = [k & 1 != 0, k & 2 != 0, k & 4 != 0];
    let even = signed(y, m[1]) + signed(z, m[2]) + signed(y == z, m[4]);
    even + signed(x, m[0] + signed(y, m[3]) + signed(z, m[5]) + signed(y == z, m[6]))
}

impl FixedCell for TrilinearHex8 {
    type Element = Hex8;

    /// Operations: about 1,500, of which 900 are fused.
    #[inline(always)]
    fn forces<const W: usize, T: Number>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize, usize) -> [T; 3],
        mut set: impl FnMut(usize, usize, [T; 3]),
    ) {
        let place: [[T; 7]; 3] = core::array::from_fn(|c| modes(|b| x(b)[c]));
        let mut moved = [[[T::ZERO; 7]; 3]; W];
        each::<W>(|m| moved[m] = core::array::from_fn(|c| modes(|b| u(m, b)[c])));
        // Modes are eight times the slopes' scale: the determinant is 512 times that of the element.
        let scale = T::from_f64(1.0 / 512.0);
        let lame = Lame { lambda: scale * lame.lambda, mu: scale * lame.mu };
        let mut force = [[[T::ZERO; 7]; 3]; W];
        // A loop: what points have in common would not fit in registers. Compilers that know the signs would compute with both.
        let mut at = [-T::ONE; 2];
        in_steps!(false, pair in 0..4, {
            let places = place.map(|modes| slopes(at, modes));
            let points = [0, 1].map(|x| geometry(lame, places.map(|slopes| slopes[x])));
            each::<W>(|m| {
                let moves = moved[m].map(|modes| slopes(at, modes));
                let [low, high] = [0, 1].map(|x| at_point(points[x], moves.map(|slopes| slopes[x])));
                for c in 0..3 {
                    add_slopes(at, [low[c], high[c]], &mut force[m][c]);
                }
            });
            at = [-at[0], signed(pair != 1, at[1])];
        });
        let (g, gg) = (T::from_f64(G), T::from_f64(1.0 / 3.0));
        each::<W>(|m| {
            let force = force[m].map(|f| [f[0], f[1], f[2], g * f[3], g * f[4], g * f[5], gg * f[6]]);
            for k in 0..8 {
                set(m, AT[k], force.map(|modes| at_corner(k, modes)));
            }
        });
    }
}
