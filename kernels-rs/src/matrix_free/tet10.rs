//! The forces of a quadratic tetrahedron from values at its corners alone, without quadrature points where its edges are
//! straight.
//!
//! With `L_j` the volume coordinates, `e(v, j)` the node between corners v and j and `e(v, v) = v`, the gradient at corner v
//! is `4 sum_j u_e(v,j) grad L_j - sum_k u_k grad L_k`. Of a straight element it is linear in between, and so is the stress:
//! the integral with the gradients of the shape functions, which are linear too, is
//!
//! `f_e(w,j) += 4 S_w grad L_j`, `f_k -= sum_w S_w grad L_k`, with `S_w = V / 20 (sigma_w + sum_v sigma_v)`

use super::formulas::{FixedCell, cofactors, each, stress, three};
use crate::element::Tet10;
use crate::material::Lame;
use crate::real::{dot3, fma};
use cuda_std::Number;

/// A quadratic tetrahedron with straight edges.
#[derive(Debug, Clone, Copy)]
pub struct StraightTet10;

/// The node between two corners in Gmsh's order; the corner itself if they are the same.
const BETWEEN: [[usize; 4]; 4] = [[0, 4, 6, 7], [4, 1, 5, 9], [6, 5, 2, 8], [7, 9, 8, 3]];

impl FixedCell for StraightTet10 {
    type Element = Tet10;
    const PLACED: usize = 4;

    /// Operations: about 1,000, of which 470 are fused.
    #[inline(always)]
    fn forces<const W: usize, T: Number>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize, usize) -> [T; 3],
        mut set: impl FnMut(usize, usize, [T; 3]),
    ) {
        let first = x(0);
        let edge = |j: usize| {
            let at = x(j);
            three!(c => at[c] - first[c])
        };
        // Rows: grad L_1, grad L_2, grad L_3, times the determinant, which is six volumes.
        let (slopes, det) = cofactors([edge(1), edge(2), edge(3)]);
        let scale = T::from_f64(1.0 / 120.0) * det.near_recip();
        let lame = Lame { lambda: scale * lame.lambda, mu: scale * lame.mu };
        each::<W>(|m| {
            let mut moved = [[T::ZERO; 3]; 10];
            for b in 0..10 {
                moved[b] = u(m, b);
            }
            let force = straight_forces(slopes, lame, moved);
            for b in 0..10 {
                set(m, b, force[b]);
            }
        });
    }
}

/// The forces on the nodes of a straight element of displacements u, from the gradients of the volume coordinates and the
/// constants, both scaled.
#[inline(always)]
fn straight_forces<T: Number>(slopes: [[T; 3]; 3], lame: Lame<T>, u: [[T; 3]; 10]) -> [[T; 3]; 10] {
    let mut linear = [[T::ZERO; 3]; 3];
    for c in 0..3 {
        let d = three!(j => u[j + 1][c] - u[0][c]);
        for k in 0..3 {
            linear[c][k] = dot3(d, [slopes[0][k], slopes[1][k], slopes[2][k]]);
        }
    }
    let (mut stresses, mut total) = ([[[T::ZERO; 3]; 3]; 4], [[T::ZERO; 3]; 3]);
    let four = T::from_f64(4.0);
    for v in 0..4 {
        let mut h = [[T::ZERO; 3]; 3];
        for c in 0..3 {
            let base = u[BETWEEN[v][0]][c];
            let d = three!(j => four * (u[BETWEEN[v][j + 1]][c] - base));
            for k in 0..3 {
                let sum = fma(d[2], slopes[2][k], -linear[c][k]);
                h[c][k] = fma(d[0], slopes[0][k], fma(d[1], slopes[1][k], sum));
            }
        }
        stresses[v] = stress(lame, h);
        for c in 0..3 {
            for k in 0..3 {
                total[c][k] += stresses[v][c][k];
            }
        }
    }
    let mut force = [[T::ZERO; 3]; 10];
    for w in 0..4 {
        for c in 0..3 {
            let row = three!(k => stresses[w][c][k] + total[c][k]);
            let [t1, t2, t3] = three!(k => dot3(row, slopes[k]));
            let along = [-(t1 + t2 + t3), t1, t2, t3];
            for j in 0..4 {
                force[j][c] -= along[j];
                let to = &mut force[BETWEEN[w][j]][c];
                *to = fma(four, along[j], *to);
            }
        }
    }
    force
}

/// A quadratic tetrahedron of any shape, by the four points of its rule.
#[derive(Debug, Clone, Copy)]
pub struct CurvedTet10;

/// The volume coordinate of a point of the rule that is nearest to its corner, less the others.
const SPREAD: f64 = 0.447_213_595_499_957_9;
/// The others.
const OTHERS: f64 = 0.138_196_601_125_010_5;

/// Slopes along the three coordinates at the points of the rule, `[point][coordinate]`, of values `v(node)`: those at the
/// corners are by differences, and in between they are linear.
#[inline(always)]
fn slopes<T: Number>(v: impl Fn(usize) -> T) -> [[T; 3]; 4] {
    let (four, spread, others) = (T::from_f64(4.0), T::from_f64(SPREAD), T::from_f64(OTHERS));
    let linear = [1, 2, 3].map(|j| v(j) - v(0));
    let at_corner = |w: usize| {
        let base = v(BETWEEN[w][0]);
        core::array::from_fn(|j| fma(four, v(BETWEEN[w][j + 1]) - base, -linear[j]))
    };
    let mut slopes: [[T; 3]; 4] = core::array::from_fn(at_corner);
    for j in 0..3 {
        let mean = others * (slopes[0][j] + slopes[1][j] + slopes[2][j] + slopes[3][j]);
        for w in 0..4 {
            slopes[w][j] = fma(spread, slopes[w][j], mean);
        }
    }
    slopes
}

/// The transpose of [`slopes`]: what belongs to the nodes of what belongs to the slopes.
#[inline(always)]
fn slopes_transposed<T: Number>(t: [[T; 3]; 4]) -> [T; 10] {
    let (four, spread, others) = (T::from_f64(4.0), T::from_f64(SPREAD), T::from_f64(OTHERS));
    let mut values = [T::ZERO; 10];
    for j in 0..3 {
        let total = t[0][j] + t[1][j] + t[2][j] + t[3][j];
        // At the corners the sum is the same, as `spread + 4 others = 1`.
        values[j + 1] -= total;
        values[0] += total;
        for w in 0..4 {
            let corner = four * fma(spread, t[w][j], others * total);
            values[BETWEEN[w][j + 1]] += corner;
            values[BETWEEN[w][0]] -= corner;
        }
    }
    values
}

impl FixedCell for CurvedTet10 {
    type Element = Tet10;

    /// Operations: about 1,450.
    #[inline(always)]
    fn forces<const W: usize, T: Number>(
        lame: Lame<T>,
        x: impl Fn(usize) -> [T; 3],
        u: impl Fn(usize, usize) -> [T; 3],
        mut set: impl FnMut(usize, usize, [T; 3]),
    ) {
        let sixth_of_four = T::from_f64(1.0 / 24.0);
        let place = three!(c => slopes(|b| x(b)[c]));
        let mut moved = [[[[T::ZERO; 3]; 4]; 3]; W];
        each::<W>(|m| moved[m] = three!(c => slopes(|b| u(m, b)[c])));
        for q in 0..4 {
            let along = |j: usize| [place[0][q][j], place[1][q][j], place[2][q][j]];
            let (inverse, det) = cofactors([along(0), along(1), along(2)]);
            let scale = sixth_of_four * det.near_recip();
            let of_point = Lame { lambda: scale * lame.lambda, mu: scale * lame.mu };
            each::<W>(|m| {
                let mut h = [[T::ZERO; 3]; 3];
                for c in 0..3 {
                    for k in 0..3 {
                        h[c][k] = dot3(moved[m][c][q], [inverse[0][k], inverse[1][k], inverse[2][k]]);
                    }
                }
                let rows = stress(of_point, h);
                for c in 0..3 {
                    moved[m][c][q] = inverse.map(|slope| dot3(rows[c], slope));
                }
            });
        }
        each::<W>(|m| {
            let by_component = moved[m].map(slopes_transposed);
            for b in 0..10 {
                set(m, b, [by_component[0][b], by_component[1][b], by_component[2][b]]);
            }
        });
    }
}
