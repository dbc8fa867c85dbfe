//! The vector steps of preconditioned conjugate gradients (DSM table III; Saad 2003, alg. 9.1), fused so that an
//! iteration moves ten words per unknown besides the matrix product. Reached on an H200, product included: 93 % (tet4)
//! and 95 % (hex8) of the copy bandwidth at 3.1 million unknowns, 97 and 98 % at 10.3 million.
//!
//! | line of the algorithm | function |
//! | --- | --- |
//! | `q = K p`, `p . q` | `sparse::ebw::ebw_spmv_dot` |
//! | `alpha = r.z / p.q`, `r -= alpha q`, `z = M^-1 r`, `r . z`, `r . r` | [`cg_residual`] |
//! | `u += alpha p`, `beta = new r.z / r.z`, `p = z + beta p` | [`cg_direction`] |
//!
//! Where the preconditioner is not a diagonal, `z` is a vector of its own: [`cg_residual_norm`], the preconditioner, a
//! product `r . z`, and [`cg_update`].

use crate::blas::Ratio;
use crate::real::{Real, fma};
use crate::reduce::{Reduction, sum_over_grid};
use cuda_std::prelude::*;

/// Computes, for a diagonal preconditioner `M^-1 = diag(inverse)`:
/// `r -= alpha q`, then `scalars[out] = [sum r_i inverse_i r_i, sum r_i^2]`.
///
/// Parameters: `q, inverse, r [n]`. Thread mapping: a grid-stride loop, blocks of [`crate::reduce::BLOCK`].
/// Memory moved: four words per entry (32 B in f64).
///
/// # Safety
/// See the crate's section on safety.
#[kernel(T = [f32, f64])]
pub unsafe fn cg_residual<T: Real>(n: usize, alpha: Ratio, q: View<T>, inverse: View<T>, r: ViewMut<T>, to: Reduction) {
    let minus_alpha = T::from_f64(-alpha.value());
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = thread::index_1d() as usize;
    let mut sums = [0.0; 2];
    while i < n {
        let residual = fma(minus_alpha, q.at(i), r.at(i));
        r.set(i, residual);
        let residual = residual.to_f64();
        sums[0] = fma(residual * inverse.at(i).to_f64(), residual, sums[0]);
        sums[1] = fma(residual, residual, sums[1]);
        i += stride;
    }
    sum_over_grid(sums, to);
}

/// Computes, for a diagonal preconditioner: `u_i += alpha p_i`, then `p_i = inverse_i r_i + beta p_i`.
///
/// Parameters: `r, inverse, u, p [n]`. Thread mapping: an item per entry.
/// Memory moved: six words per entry (48 B in f64); the old direction serves both steps.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn cg_direction<T: Real>(
    i: usize,
    alpha: Ratio,
    beta: Ratio,
    r: View<T>,
    inverse: View<T>,
    u: ViewMut<T>,
    p: ViewMut<T>,
) {
    let (alpha, beta) = (T::from_f64(alpha.value()), T::from_f64(beta.value()));
    let direction = p.at(i);
    u.set(i, fma(alpha, direction, u.at(i)));
    p.set(i, fma(beta, direction, inverse.at(i) * r.at(i)));
}

/// Computes, for any preconditioner: `r -= alpha q`, then `scalars[out[0]] = sum r_i^2`.
///
/// Parameters: `q, r [n]`. Thread mapping: a grid-stride loop, blocks of [`crate::reduce::BLOCK`].
/// Memory moved: three words per entry.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(T = [f32, f64])]
pub unsafe fn cg_residual_norm<T: Real>(n: usize, alpha: Ratio, q: View<T>, r: ViewMut<T>, to: Reduction) {
    let minus_alpha = T::from_f64(-alpha.value());
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = thread::index_1d() as usize;
    let mut sum = 0.0;
    while i < n {
        let residual = fma(minus_alpha, q.at(i), r.at(i));
        r.set(i, residual);
        sum = fma(residual.to_f64(), residual.to_f64(), sum);
        i += stride;
    }
    sum_over_grid([sum], to);
}

/// Computes, for any preconditioner: `u_i += alpha p_i`, then `p_i = z_i + beta p_i`.
///
/// Parameters: `z, u, p [n]`. Thread mapping: an item per entry. Memory moved: five words per entry.
///
/// # Safety
/// See the crate's section on safety.
#[kernel(items, T = [f32, f64])]
pub unsafe fn cg_update<T: Real>(i: usize, alpha: Ratio, beta: Ratio, z: View<T>, u: ViewMut<T>, p: ViewMut<T>) {
    let (alpha, beta) = (T::from_f64(alpha.value()), T::from_f64(beta.value()));
    let direction = p.at(i);
    u.set(i, fma(alpha, direction, u.at(i)));
    p.set(i, fma(beta, direction, z.at(i)));
}
