//! What a cell adds to `K x`, and to the diagonal blocks of K, as pure functions. Its element's rule is in tables, so that
//! one function serves all elements of a dimension: the element type in it is [`Solid`](super::Solid) or another that
//! stands for them.

use crate::element::*;
use crate::form::{Flux, Form, size};
use crate::real::{Real, add_outer, fma};
use cuda_std::prelude::*;

/// The rule of an element's stiffness in tables.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tables<T> {
    /// Nodes of a cell, N.
    pub n: usize,
    /// Weights of the points, `[Q]`.
    pub weights: View<T>,
    /// `N_b`, `[Q][N]`; of bodies of revolution alone.
    pub shape: View<T>,
    /// `dN_b/dxi`, `[Q][N]`.
    pub slopes: View<[T; 3]>,
}

impl<T: Real> Tables<T> {
    /// `N_b` at a point, where it is asked for.
    #[inline(always)]
    unsafe fn shape<E: Element>(self, q: usize, b: usize) -> T {
        if E::REVOLVED { self.shape.at(q * self.n + b) } else { T::ZERO }
    }
}

/// Calls `add(b, force)` with what each point of the rule adds to the force on each node b of a cell with nodes at `x(b)`
/// of displacements, or potentials, `u(b)`: `w |J| s(h) g_b`, with `h = (sum_b (u_b - u_0) (dN_b/dxi)^T) J^-1`. The
/// differences keep a translation of the cell out of rounding errors.
///
/// Operations per point in space: 36 N, 42 for the Jacobian's inverse and 63 around the stress.
#[inline(always)]
pub unsafe fn forces<E: Element, P: Flux, T: Real>(
    tables: Tables<T>,
    constants: P::Constants<T>,
    x: impl Fn(usize) -> [T; 3],
    u: impl Fn(usize) -> [T; 3],
    mut add: impl FnMut(usize, [T; 3]),
) {
    let size = size::<E, P>();
    let first = u(0);
    for q in 0..tables.weights.len() {
        let (mut jac, mut slope, mut more, mut radius) = ([[T::ZERO; 3]; 3], [[T::ZERO; 3]; 3], [T::ZERO; 3], T::ZERO);
        for b in 0..tables.n {
            let (dn, shape) = (tables.slopes.at(q * tables.n + b), tables.shape::<E>(q, b));
            let (xb, ub) = (x(b), u(b));
            add_outer(E::DIM, &mut jac, xb, dn);
            for i in 0..size {
                let moved = ub[i] - first[i];
                for j in 0..E::DIM {
                    slope[i][j] = fma(moved, dn[j], slope[i][j]);
                }
                if E::REVOLVED {
                    more[i] = fma(moved, shape, more[i]);
                }
            }
            if E::REVOLVED {
                radius = fma(shape, xb[0], radius);
            }
        }
        let at = Mapping::of_jacobian::<E>(jac, radius);
        let mut h = slope.map(|row| transform(E::DIM, at.inverse, row));
        if E::REVOLVED {
            for i in 0..size {
                h[i][2] = (first[i] + more[i]) * at.per_radius;
            }
        }
        let weight = tables.weights.at(q) * at.det_j;
        let stress = P::flux::<E, T>(h, constants).map(|row| row.map(|s| weight * s));
        let (pulled, hoop) = pull_back::<E, T>(stress, &at);
        for b in 0..tables.n {
            let (dn, shape) = (tables.slopes.at(q * tables.n + b), tables.shape::<E>(q, b));
            let mut force = [T::ZERO; 3];
            for i in 0..size {
                for j in 0..E::DIM {
                    force[i] = fma(pulled[i][j], dn[j], force[i]);
                }
                if E::REVOLVED {
                    force[i] = fma(hoop[i], shape, force[i]);
                }
            }
            add(b, force);
        }
    }
}

/// The stress by which `dN_b/dxi` is multiplied instead of g_b, `s J^-T`, and by which N_b is in a body of revolution.
#[inline(always)]
fn pull_back<E: Element, T: Real>(stress: [[T; 3]; 3], at: &Mapping<T>) -> ([[T; 3]; 3], [T; 3]) {
    let mut pulled = [[T::ZERO; 3]; 3];
    for i in 0..E::DIM {
        for j in 0..E::DIM {
            for k in 0..E::DIM {
                pulled[i][j] = fma(stress[i][k], at.inverse[k][j], pulled[i][j]);
            }
        }
    }
    (pulled, stress.map(|row| if E::REVOLVED { row[2] * at.per_radius } else { T::ZERO }))
}

/// Calls `add(b, block)` with what each point of the rule adds to the block `K_bb` of each node b of a cell with nodes at
/// `x(b)`.
#[inline(always)]
pub unsafe fn node_blocks<E: Element, P: Form, T: Real>(
    tables: Tables<T>,
    constants: P::Constants<T>,
    x: impl Fn(usize) -> [T; 3],
    mut add: impl FnMut(usize, [[T; 3]; 3]),
) {
    in_steps!(false, q in 0..tables.weights.len(), {
        let (mut jac, mut radius) = ([[T::ZERO; 3]; 3], T::ZERO);
        in_steps!(false, b in 0..tables.n, {
            let xb = x(b);
            add_outer(E::DIM, &mut jac, xb, tables.slopes.at(q * tables.n + b));
            if E::REVOLVED {
                radius = fma(tables.shape::<E>(q, b), xb[0], radius);
            }
        });
        let at = Mapping::of_jacobian::<E>(jac, radius);
        let weight = tables.weights.at(q) * at.det_j;
        in_steps!(false, b in 0..tables.n, {
            let mut g = transform(E::DIM, at.inverse, tables.slopes.at(q * tables.n + b));
            if E::REVOLVED {
                g[2] = tables.shape::<E>(q, b) * at.per_radius;
            }
            let mut product = P::zero();
            P::add::<E, T>(&mut product, g.map(|g| weight * g), g);
            add(b, P::block::<E, T>(product, constants));
        });
    });
}
