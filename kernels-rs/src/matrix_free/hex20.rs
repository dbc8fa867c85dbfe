//! The forces of a quadratic serendipity hexahedron by monomials, one component after the other or each by a lane of its own.
//!
//! Its 20 functions span the monomials `x^i y^j z^k` of exponents up to 2 with one 2 at most. In coordinates scaled by the
//! abscissa g of Gauss' rule the 27 points are at -1, 0 and 1: there values and slopes are sums and differences of the
//! monomials' coefficients. Coefficient `i + 3 j + 9 k` is of `x^i y^j z^k`.
//!
//! With D the cofactors of the Jacobian and `h = grad u det J`, component c of the force's slopes at a point is
//! `w / det J (lambda tr(h) D_c + mu sum_k (h_ck + h_kc) D_k)`.

use super::formulas::{FixedCell, cofactors, each, three};
use crate::element::{Element, Hex20, in_steps};
use crate::material::Lame;
use crate::real::{Real, dot3, fma};
use cuda_std::prelude::*;

/// A quadratic serendipity hexahedron, by the 27 points of its rule.
#[derive(Debug, Clone, Copy)]
pub struct SerendipityHex20;

/// The abscissa of the outer points.
const G: f64 = 0.774_596_669_241_483_4;
/// The weights along a coordinate.
const WEIGHTS: [f64; 3] = [5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0];
/// Steps from a coefficient to those of the next powers of each coordinate.
const STEP: [usize; 3] = [1, 3, 9];
/// The node at each point `i + 3 j + 9 k` of the grid of nodes, where there is one.
const AT: [usize; 27] = {
    let (mut at, mut node) = ([usize::MAX; 27], 0);
    while node < 20 {
        let [x, y, z] = Hex20::NODES[node];
        at[(x + 1.0 + 3.0 * (y + 1.0) + 9.0 * (z + 1.0)) as usize] = node;
        node += 1;
    }
    at
};

/// Coefficients of all monomials; those of two squares are not used.
type Modes<T> = [T; 27];

/// The monomials that are used.
pub(super) const MODES: [usize; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 21, 22];
/// The number of each among these.
pub(super) const NUMBER: [usize; 27] = {
    let (mut numbers, mut n) = ([usize::MAX; 27], 0);
    while n < 20 {
        numbers[MODES[n]] = n;
        n += 1;
    }
    numbers
};
/// The power of g of each.
const POWERS: [f64; 20] = {
    let (mut powers, mut n) = ([1.0; 20], 0);
    while n < 20 {
        let mut degree = MODES[n] % 3 + MODES[n] / 3 % 3 + MODES[n] / 9;
        while degree > 0 {
            powers[n] *= G;
            degree -= 1;
        }
        n += 1;
    }
    powers
};

/// `of_pair` of the corners along each edge in a direction.
#[inline(always)]
fn along<T: Number, const BIT: usize>(h: [T; 8], of_pair: impl Fn(T, T) -> [T; 2]) -> [T; 8] {
    core::array::from_fn(|k| of_pair(h[k & !BIT], h[k | BIT])[(k & BIT != 0) as usize])
}

/// `of_pair` along all three directions, one after the other.
#[inline(always)]
fn butterflies<T: Number>(h: [T; 8], of_pair: impl Fn(T, T) -> [T; 2]) -> [T; 8] {
    along::<T, 4>(along::<T, 2>(along::<T, 1>(h, &of_pair), &of_pair), &of_pair)
}

/// The point of the grid at a corner.
#[inline(always)]
const fn corner(k: usize) -> usize {
    2 * (k & 1) + 6 * (k >> 1 & 1) + 18 * (k >> 2)
}

/// Multiplies coefficients by the powers of g.
#[inline(always)]
fn scale<T: Number>(modes: &mut Modes<T>) {
    for n in 1..20 {
        modes[MODES[n]] = T::from_f64(POWERS[n]) * modes[MODES[n]];
    }
}

/// The scaled coefficients of values `v(node)`.
#[inline(always)]
pub(super) fn modes<T: Number>(v: impl Fn(usize) -> T) -> Modes<T> {
    let (eighth, quarter) = (T::from_f64(0.125), T::from_f64(0.25));
    let h = butterflies(core::array::from_fn(|k| v(AT[corner(k)])), |low, high| [low + high, high - low]);
    let h = h.map(|sum| eighth * sum);
    let mut m = [T::ZERO; 27];
    for d in 0..3 {
        let (p, q) = ((d + 1) % 3, (d + 2) % 3);
        let (sp, sq, square) = (STEP[p], STEP[q], 2 * STEP[d]);
        let edge = |at: usize| v(AT[STEP[d] + at]);
        let [e0, e1, e2, e3] = [edge(0), edge(2 * sp), edge(2 * sq), edge(2 * sp + 2 * sq)];
        let ([a, b], [f, o]) = ([e0 + e1, e1 - e0], [e2 + e3, e3 - e2]);
        m[sp + sq] = quarter * (o - b);
        m[square + sp + sq] = h[1 << p | 1 << q] - m[sp + sq];
        m[square] = fma(-quarter, a + f, h[0]);
        m[square + sp] = fma(-quarter, b + o, h[1 << p]);
        m[square + sq] = fma(-quarter, f - a, h[1 << q]);
    }
    for p in 0..3 {
        m[STEP[p]] = h[1 << p] - (m[STEP[p] + 2 * STEP[(p + 1) % 3]] + m[STEP[p] + 2 * STEP[(p + 2) % 3]]);
    }
    m[0] = h[0] - (m[2] + m[6] + m[18]);
    m[13] = h[7];
    scale(&mut m);
    m
}

/// The transpose of [`modes`]: calls `set(node, value)` with what belongs to the nodes of what belongs to the coefficients.
#[inline(always)]
pub(super) fn modes_transposed<T: Number>(mut m: Modes<T>, mut set: impl FnMut(usize, T)) {
    let (eighth, quarter) = (T::from_f64(0.125), T::from_f64(0.25));
    scale(&mut m);
    let mut h = [T::ZERO; 8];
    (h[0], h[7]) = (m[0], m[13]);
    for p in 0..3 {
        let (first, own) = (STEP[p], m[STEP[p]]);
        h[1 << p] = own;
        m[2 * first] -= m[0];
        m[first + 2 * STEP[(p + 1) % 3]] -= own;
        m[first + 2 * STEP[(p + 2) % 3]] -= own;
    }
    for d in 0..3 {
        let (p, q) = ((d + 1) % 3, (d + 2) % 3);
        let (sp, sq, square) = (STEP[p], STEP[q], 2 * STEP[d]);
        let [r0, rp, rq, rr] = [m[square], m[square + sp], m[square + sq], m[square + sp + sq]];
        h[0] += r0;
        h[1 << p] += rp;
        h[1 << q] += rq;
        h[1 << p | 1 << q] += rr;
        let both = m[sp + sq] - rr;
        let ([low, high], [low_odd, high_odd]) = ([rq - r0, -(r0 + rq)], [-(rp + both), both - rp]);
        let mut edge = |at: usize, sum: T| set(AT[STEP[d] + at], quarter * sum);
        edge(0, low - low_odd);
        edge(2 * sp, low + low_odd);
        edge(2 * sq, high - high_odd);
        edge(2 * sp + 2 * sq, high + high_odd);
    }
    let h = butterflies(h, |sum, difference| [sum - difference, sum + difference]);
    for k in 0..8 {
        set(AT[corner(k)], eighth * h[k]);
    }
}

/// Slopes along the three coordinates at the nine points of a level, `[coordinate][i + 3 j]`.
type Level<T> = [[T; 9]; 3];

/// `a + b x + c x^2` at -1, 0 and 1.
#[inline(always)]
fn values<T: Number>([a, b, c]: [T; 3]) -> [T; 3] {
    let even = a + c;
    [even - b, a, even + b]
}

/// `b + 2 c x` at -1, 0 and 1.
#[inline(always)]
fn slopes<T: Number>([b, c]: [T; 2]) -> [T; 3] {
    let c = c + c;
    [b - c, b, b + c]
}

/// What belongs to a, b and c of what belongs to [`values`].
#[inline(always)]
fn values_transposed<T: Number>([low, middle, high]: [T; 3]) -> [T; 3] {
    let even = low + high;
    [even + middle, high - low, even]
}

/// What belongs to b and c of what belongs to [`slopes`].
#[inline(always)]
fn slopes_transposed<T: Number>([low, middle, high]: [T; 3]) -> [T; 2] {
    let odd = high - low;
    [low + high + middle, odd + odd]
}

/// Slopes at the points with this third coordinate, -1, 0 or 1, of coefficients `m(mode)`.
#[inline(always)]
pub(super) fn level<T: Number>(z: T, m: impl Fn(usize) -> T) -> Level<T> {
    // The sums along z and their slopes, `[i + 3 j]`.
    let (mut b, mut d) = ([T::ZERO; 8], [T::ZERO; 8]);
    for i in 0..8 {
        (b[i], d[i]) = (m(i), m(i + 9));
        if i % 3 == 2 || i / 3 == 2 {
            b[i] = fma(z, d[i], b[i]);
        } else {
            let square = m(i + 18);
            let half = fma(z, square, d[i]);
            b[i] = fma(z, half, b[i]);
            d[i] = fma(z, square, half);
        }
    }
    // Along x, for each power of y: the sums, their slopes, and the sums of slopes along z.
    let (row, last) = (|s: &[T; 8], j: usize| values([s[3 * j], s[3 * j + 1], s[3 * j + 2]]), [6, 7]);
    let pair = |s: &[T; 8]| [s[last[0]] - s[last[1]], s[last[0]], s[last[0]] + s[last[1]]];
    let (sums, along_z) = ([row(&b, 1), pair(&b)], [row(&d, 0), row(&d, 1), pair(&d)]);
    let along_x = [slopes([b[1], b[2]]), slopes([b[4], b[5]])];
    let mut at = [[T::ZERO; 9]; 3];
    for i in 0..3 {
        let of = [
            values([along_x[0][i], along_x[1][i], b[7]]),
            slopes([sums[0][i], sums[1][i]]),
            values([along_z[0][i], along_z[1][i], along_z[2][i]]),
        ];
        for j in 0..3 {
            (at[0][i + 3 * j], at[1][i + 3 * j], at[2][i + 3 * j]) = (of[0][j], of[1][j], of[2][j]);
        }
    }
    at
}

/// Adds to coefficients what belongs to slopes at the points of a level: the transpose of [`level`].
#[inline(always)]
pub(super) fn add_level<T: Number>(z: T, at: &Level<T>, m: &mut Modes<T>) {
    // `[power of y][i]`
    let (mut sums, mut along_x, mut along_z) = ([[T::ZERO; 3]; 3], [[T::ZERO; 3]; 3], [[T::ZERO; 3]; 3]);
    for i in 0..3 {
        let column = |of: usize| [at[of][i], at[of][i + 3], at[of][i + 6]];
        [along_x[0][i], along_x[1][i], along_x[2][i]] = values_transposed(column(0));
        [sums[1][i], sums[2][i]] = slopes_transposed(column(1));
        [along_z[0][i], along_z[1][i], along_z[2][i]] = values_transposed(column(2));
    }
    let ([s1, s2], x0) = ([values_transposed(sums[1]), values_transposed(sums[2])], slopes_transposed(along_x[0]));
    let (x1, x2) = (slopes_transposed(along_x[1]), along_x[2][0] + along_x[2][1] + along_x[2][2]);
    let b = [T::ZERO, x0[0], x0[1], s1[0], s1[1] + x1[0], s1[2] + x1[1], s2[0], s2[1] + x2];
    let [z0, z1, z2] = along_z.map(values_transposed);
    let d = [z0[0], z0[1], z0[2], z1[0], z1[1], z1[2], z2[0], z2[1]];
    for i in 0..8 {
        let sum = fma(z, b[i], d[i]);
        m[i] += b[i];
        m[i + 9] += sum;
        if i % 3 != 2 && i / 3 != 2 {
            m[i + 18] = fma(z, sum + d[i], m[i + 18]);
        }
    }
}

/// What a component has at a point.
#[derive(Clone, Copy)]
pub(super) struct AtPoint<T> {
    /// The columns of cofactors of this component and of the two that follow.
    columns: [[T; 3]; 3],
    /// The inverse of the determinant.
    per_det: T,
}

impl<T: Number> AtPoint<T> {
    /// From the slopes of the coordinates, this component's first.
    #[inline(always)]
    pub(super) fn new(places: [[T; 3]; 3]) -> Self {
        let (columns, det) = cofactors(places);
        AtPoint { columns, per_det: det.near_recip() }
    }

    /// The same point for component c: the columns begin with its own.
    #[inline(always)]
    fn of_component(self, c: usize) -> Self {
        AtPoint { columns: three!(k => self.columns[(c + k) % 3]), ..self }
    }

    /// The slopes of the displacement along this component and the two that follow, times the determinant.
    #[inline(always)]
    pub(super) fn slopes(self, moved: [T; 3]) -> [T; 3] {
        three!(k => dot3(moved, self.columns[k]))
    }

    /// The force's slopes at point q of a level, from [`AtPoint::slopes`] and what the two components that follow have of
    /// theirs.
    #[inline(always)]
    pub(super) fn stress(self, q: usize, lame: Lame<T>, h: [T; 3], next: [T; 2], last: [T; 2]) -> [T; 3] {
        let scale = T::from_f64(WEIGHTS[q % 3] * WEIGHTS[q / 3]) * self.per_det;
        let (lambda, mu) = (scale * lame.lambda, scale * lame.mu);
        let own = fma(lambda, h[0] + next[0] + last[0], (mu + mu) * h[0]);
        let (first, second) = (mu * (h[1] + next[1]), mu * (h[2] + last[1]));
        let [a, b, c] = self.columns;
        three!(i => fma(own, a[i], fma(first, b[i], second * c[i])))
    }
}

/// What another lane has.
#[inline(always)]
pub(super) unsafe fn of_lane<T: Real>(value: T, lane: u32) -> T {
    warp::warp_shuffle_idx(u32::MAX, value, lane, 32).0
}

/// Material constants for scaled coordinates.
#[inline(always)]
pub(super) fn scaled<T: Number>(lame: Lame<T>) -> Lame<T> {
    let scale = T::from_f64(1.0 / (G * G * G));
    Lame { lambda: scale * lame.lambda, mu: scale * lame.mu }
}

/// Material constants with the weight of the level at this third coordinate.
#[inline(always)]
pub(super) fn of_level<T: Number>(z: T, lame: Lame<T>) -> Lame<T> {
    let weight = T::from_f64(if z == T::ZERO { WEIGHTS[1] } else { WEIGHTS[0] });
    Lame { lambda: weight * lame.lambda, mu: weight * lame.mu }
}

impl FixedCell for SerendipityHex20 {
    type Element = Hex20;
    const CELLS: usize = 40;
    const SCRATCH: usize = 20 * 128;

    /// Operations: about 8,700.
    #[inline(always)]
    fn forces<const W: usize, T: Number>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize, usize) -> [T; 3],
        mut set: impl FnMut(usize, usize, [T; 3]),
    ) {
        let lame = scaled(lame);
        let places = three!(c => modes(|b| x(b)[c]));
        let mut moves = [[[T::ZERO; 27]; 3]; W];
        each::<W>(|m| moves[m] = three!(c => modes(|b| u(m, b)[c])));
        let mut sums = [[[T::ZERO; 27]; 3]; W];
        let mut z = -T::ONE;
        in_steps!(false, _level in 0..3, {
            let lame = of_level(z, lame);
            let place = three!(c => level(z, |mode| places[c][mode]));
            let mut moved = [[[[T::ZERO; 9]; 3]; 3]; W];
            each::<W>(|m| moved[m] = three!(c => level(z, |mode| moves[m][c][mode])));
            for q in 0..9 {
                let of = |level: &Level<T>| three!(k => level[k][q]);
                let first = AtPoint::new(three!(c => of(&place[c])));
                let at = three!(c => first.of_component(c));
                each::<W>(|m| {
                    let h = three!(c => at[c].slopes(of(&moved[m][c])));
                    for c in 0..3 {
                        let (next, last) = (h[(c + 1) % 3], h[(c + 2) % 3]);
                        let force = at[c].stress(q, lame, h[c], [next[0], next[2]], [last[0], last[1]]);
                        (moved[m][c][0][q], moved[m][c][1][q], moved[m][c][2][q]) = (force[0], force[1], force[2]);
                    }
                });
            }
            each::<W>(|m| {
                for c in 0..3 {
                    add_level(z, &moved[m][c], &mut sums[m][c]);
                }
            });
            z += T::ONE;
        });
        each::<W>(|m| {
            let mut forces = [[T::ZERO; 3]; 20];
            for c in 0..3 {
                modes_transposed(sums[m][c], |b, force| forces[b][c] = force);
            }
            for b in 0..20 {
                set(m, b, forces[b]);
            }
        });
    }
}
