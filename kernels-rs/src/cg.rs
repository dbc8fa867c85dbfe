//! The vector steps of preconditioned conjugate gradients (DSM table III; Saad 2003, alg. 9.1), fused so that an
//! iteration moves eight and a half words (f64) per unknown besides the matrix product. Reached on an H200, product
//! included: 95 % (tet4) and 97 % (hex8) of the copy bandwidth at 3.1 million unknowns, 99 and 100 % at 10.3 million.
//! To go from the last entry to the first in one of the steps, to meet in the second-level cache what the step before
//! has left there, took longer.
//!
//! | line of the algorithm | function |
//! | --- | --- |
//! | `q = K p`, `p . q` | `sparse::ebw::ebw_spmv_dot` |
//! | `alpha = r.z / p.q`, `r -= alpha q`, `z = M^-1 r`, `r . z`, `r . r` | [`cg_residual`] |
//! | `u += alpha p`, `beta = new r.z / r.z`, `p = z + beta p` | [`cg_update`] |
//!
//! Of a diagonal preconditioner [`cg_residual`] keeps `z` alone, from which `r` is a division away: with `r` in its
//! place the next step would read the diagonal too. The diagonal is in single precision whatever the vectors are: any
//! positive one makes a preconditioner, and on the cubes measured it took as many iterations as before it was rounded.
//! Where the preconditioner is another: [`cg_residual_norm`], the preconditioner, and a product `r . z`.

use crate::blas::{Ratio, quotient};
use crate::real::{Real, fma};
use crate::reduce::{Reduction, sum_over_grid, sum_strided};
use cuda_std::prelude::*;

/// Computes, for a diagonal preconditioner `M^-1 = diag(inverse)` and `z = M^-1 r`:
/// `z -= alpha M^-1 q`, then `scalars[out] = [sum r_i z_i, sum r_i^2]`. Where the inverse is 0, so is r.
///
/// Parameters: `q, inverse, z [n]`. Thread mapping: a grid-stride loop, blocks of [`crate::reduce::BLOCK`].
/// Memory moved: three words and 4 bytes per entry (28 B in f64).
#[kernel(launch_bounds(256, 4), T = [f32, f64])]
pub unsafe fn cg_residual<T: Real>(
    n: usize,
    alpha: Ratio,
    q: View<T>,
    inverse: View<f32>,
    z: ViewMut<T>,
    to: Reduction,
) {
    let minus_alpha = T::from_f64(-alpha.value());
    let load = |i| (inverse.at(i), q.at(i), z.at(i));
    let sums = sum_strided(n, load, |i, (inverse, q, old), [rz, rr]| {
        let inverse = f64::from(inverse);
        let new = fma(minus_alpha * T::from_f64(inverse), q, old);
        z.set(i, new);
        let residual = quotient(new.to_f64(), inverse);
        *rz = fma(residual, new.to_f64(), *rz);
        *rr = fma(residual, residual, *rr);
    });
    sum_over_grid(sums, to);
}

/// Computes, for any preconditioner: `r -= alpha q`, then `scalars[out[0]] = sum r_i^2`.
///
/// Parameters: `q, r [n]`. Thread mapping: a grid-stride loop, blocks of [`crate::reduce::BLOCK`].
/// Memory moved: three words per entry.
#[kernel(launch_bounds(256, 4), T = [f32, f64])]
pub unsafe fn cg_residual_norm<T: Real>(n: usize, alpha: Ratio, q: View<T>, r: ViewMut<T>, to: Reduction) {
    let minus_alpha = T::from_f64(-alpha.value());
    let sums = sum_strided(
        n,
        |i| [q.at(i), r.at(i)],
        |i, [q, old], [sum]| {
            let residual = fma(minus_alpha, q, old);
            r.set(i, residual);
            *sum = fma(residual.to_f64(), residual.to_f64(), *sum);
        },
    );
    sum_over_grid(sums, to);
}

/// Computes: `u_i += alpha p_i`, then `p_i = z_i + beta p_i`.
///
/// Parameters: `z, u, p [n]`. Thread mapping: an item per entry.
/// Memory moved: five words per entry (40 B in f64); the old direction serves both steps.
#[kernel(items, T = [f32, f64])]
pub unsafe fn cg_update<T: Real>(i: usize, alpha: Ratio, beta: Ratio, z: View<T>, u: ViewMut<T>, p: ViewMut<T>) {
    let (alpha, beta) = (T::from_f64(alpha.value()), T::from_f64(beta.value()));
    let direction = p.at(i);
    u.set(i, fma(alpha, direction, u.at(i)));
    p.set(i, fma(beta, direction, z.at(i)));
}
