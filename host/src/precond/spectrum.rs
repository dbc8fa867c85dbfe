//! Bounds of the spectrum of `D^-1/2 K D^-1/2` by a few steps of Lanczos (SBELL sec. 5.3).
//!
//! Conjugate gradients with Jacobi are the Lanczos process of that matrix: their coefficients alpha and beta make its
//! tridiagonal matrix (Saad 2003, sec. 6.7.3),
//!
//! ```text
//! T_jj = 1 / alpha_j + beta_(j-1) / alpha_(j-1),   T_j,j+1 = sqrt(beta_j) / alpha_j
//! ```
//!
//! Eigenvalues theta of T lie within the spectrum, so a safeguard is added: of a step's residual, `|f| = T_k,k+1`, as
//! much as theta's eigenvector has in the last component. That is the residual of the Ritz pair. The safeguard that
//! SBELL cites (Zhou, Saad, Tiago, Chelikowsky 2006) adds all of `|f|` to the largest theta, which hardly shrinks with
//! the number of steps: a bound a fifth too high on finite element meshes. Zhou and Li (Linear Algebra Appl. 435, 2011)
//! give this one.

use super::jacobi::to_single;
use crate::device::Buffer;
use crate::linalg::{Quotient, Scalar, Space};
use crate::result::Result;
use crate::sparse::LinOp;
use kernels_rs::precond::LanczosStart;
use kernels_rs::real::Real;

/// Steps of Lanczos at most.
pub const STEPS: usize = 20;

/// Steps that find the largest eigenvalue to some percent.
pub const FEW: usize = 10;

/// Bounds of a spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum {
    /// Not above the smallest eigenvalue; 0 if nothing better is known.
    pub lower: f64,
    /// Not below the largest one.
    pub upper: f64,
}

/// Where step j leaves `r . D^-1 r`.
const fn rho(j: usize) -> Scalar {
    Scalar::new(j)
}

/// Where step j leaves `p . K p`.
const fn pq(j: usize) -> Scalar {
    Scalar::new(STEPS + 1 + j)
}

/// Where `r . r` goes, which nobody reads.
const UNREAD: Scalar = Scalar::new(2 * STEPS + 1);

/// Bounds of the spectrum of `D^-1 K` by so many `steps`, from the inverse of the diagonal D, of which no entry is beyond
/// what single precision holds (1e-38 to 3e38). Rows where that is 0 are left out.
pub fn estimate<T: Real>(
    space: &Space,
    operator: &dyn LinOp<T>,
    inverse: &Buffer<T>,
    steps: usize,
) -> Result<Spectrum> {
    let n = operator.n();
    let [mut r, mut z] = [space.zeros(n)?, space.zeros(n)?];
    let [mut p, mut q] = [space.zeros(n)?, space.zeros(n)?];
    // SAFETY: both live and have n entries.
    unsafe { space.run(n, LanczosStart { inverse: inverse.view(), r: r.view_mut() }) }?;
    let inverse = &to_single(space, inverse)?;
    space.mul(inverse, &r, &mut z)?;
    space.copy(&z, &mut p)?;
    space.dot(&r, &p, rho(0))?;
    for j in 0..steps {
        let alpha = Quotient::new(rho(j), pq(j));
        let beta = Quotient::new(rho(j + 1), rho(j));
        operator.apply_dot(space, &p, &mut q, pq(j))?;
        space.cg_residual(alpha, &q, inverse, &mut z, [rho(j + 1), UNREAD])?;
        // r is needed no longer, and collects the solution, which nobody needs: the fused step is cheaper than its
        // parts.
        space.cg_update([alpha, beta], &z, &mut r, &mut p)?;
    }
    found::<T>(space, steps)
}

/// As [`estimate`], of `D^-1 K` with a block diagonal D, whose inverse is a matrix; `diagonal` is the inverse of that of
/// K.
pub fn estimate_blocks<T: Real>(
    space: &Space,
    operator: &dyn LinOp<T>,
    inverse: &dyn LinOp<T>,
    diagonal: &Buffer<T>,
    steps: usize,
) -> Result<Spectrum> {
    let n = operator.n();
    let [mut r, mut z] = [space.zeros(n)?, space.zeros(n)?];
    let [mut p, mut q, mut u] = [space.zeros(n)?, space.zeros(n)?, space.zeros(n)?];
    // SAFETY: both live and have n entries.
    unsafe { space.run(n, LanczosStart { inverse: diagonal.view(), r: r.view_mut() }) }?;
    inverse.apply(space, &r, &mut z)?;
    space.copy(&z, &mut p)?;
    space.dot(&r, &p, rho(0))?;
    for j in 0..steps {
        let alpha = Quotient::new(rho(j), pq(j));
        let beta = Quotient::new(rho(j + 1), rho(j));
        operator.apply_dot(space, &p, &mut q, pq(j))?;
        space.axpy(alpha.minus(), &q, &mut r)?;
        inverse.apply(space, &r, &mut z)?;
        space.dot(&r, &z, rho(j + 1))?;
        space.cg_update([alpha, beta], &z, &mut u, &mut p)?;
    }
    found::<T>(space, steps)
}

fn found<T: Real>(space: &Space, steps: usize) -> Result<Spectrum> {
    let rhos = space.read::<{ STEPS + 1 }>(core::array::from_fn(|j| rho(j.min(steps))))?;
    let pqs = space.read::<STEPS>(core::array::from_fn(|j| pq(j.min(steps - 1))))?;
    Ok(bounds(&rhos[..=steps], &pqs[..steps], T::EPSILON.to_f64()))
}

/// The bounds from `rho [k + 1]` and `pq [k]`, of which only what precedes the end of the process counts: where nothing
/// is left but rounding, or where K turns out to be indefinite, which the iteration itself will find and report.
fn bounds(rho: &[f64], pq: &[f64], epsilon: f64) -> Spectrum {
    let done = |j: usize| !(rho[j] > epsilon * epsilon * rho[0] && pq[j] > 0.0);
    let k = (0..pq.len()).find(|j| done(*j)).unwrap_or(pq.len());
    if k == 0 {
        return Spectrum { lower: 0.0, upper: 1.0 };
    }
    let alpha = |j: usize| rho[j] / pq[j];
    let beta = |j: usize| (rho[j + 1] / rho[j]).max(0.0);
    let mut diagonal: Vec<f64> = (0..k).map(|j| 1.0 / alpha(j)).collect();
    (1..k).for_each(|j| diagonal[j] += beta(j - 1) / alpha(j - 1));
    let mut beside: Vec<f64> = (0..k).map(|j| beta(j).sqrt() / alpha(j)).collect();
    let residual = beside[k - 1];
    beside[k - 1] = 0.0;
    let last = eigenvalues(&mut diagonal, &mut beside);
    let ends = diagonal.iter().zip(last).map(|(theta, last)| (*theta, residual * last.abs()));
    let (lower, upper) = ends.fold((f64::INFINITY, 0.0_f64), |(lower, upper), (theta, error)| {
        (lower.min(theta - error), upper.max(theta + error))
    });
    // What the process itself rounds, and what the rounded diagonal does to every eigenvalue.
    let (room, rounding) = (8.0 * k as f64 * epsilon * upper, f64::from(f32::EPSILON));
    Spectrum { lower: ((1.0 - rounding) * lower - room).max(0.0), upper: (1.0 + rounding) * upper + room }
}

/// The eigenvalues of a symmetric tridiagonal matrix, which replace its `diagonal [k]`, and the last component of each
/// unit eigenvector: implicit QL with Wilkinson's shift (Golub and Van Loan, sec. 8.3). `beside [k]` holds the entries
/// beside the diagonal and a 0; it is used up.
fn eigenvalues(diagonal: &mut [f64], beside: &mut [f64]) -> Vec<f64> {
    let k = diagonal.len();
    let mut last = vec![0.0; k];
    last[k - 1] = 1.0;
    for first in 0..k {
        loop {
            let is_split = |m: usize| beside[m].abs() <= f64::EPSILON * (diagonal[m].abs() + diagonal[m + 1].abs());
            let end = (first..k - 1).find(|m| is_split(*m)).unwrap_or(k - 1);
            if end == first {
                break;
            }
            let half = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first]);
            let shift = beside[first] / (half + half.hypot(1.0).copysign(half));
            let mut bulge = diagonal[end] - diagonal[first] + shift;
            let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
            for i in (first..end).rev() {
                let (f, b) = (sine * beside[i], cosine * beside[i]);
                let length = f.hypot(bulge);
                beside[i + 1] = length;
                (sine, cosine) = if length == 0.0 { (0.0, 1.0) } else { (f / length, bulge / length) };
                let from = diagonal[i + 1] - moved;
                let turned = (diagonal[i] - from) * sine + 2.0 * cosine * b;
                moved = sine * turned;
                diagonal[i + 1] = from + moved;
                bulge = cosine * turned - b;
                (last[i], last[i + 1]) = (cosine * last[i] - sine * last[i + 1], sine * last[i] + cosine * last[i + 1]);
            }
            diagonal[first] -= moved;
            beside[first] = bulge;
            beside[end] = 0.0;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_the_second_difference() {
        for k in [1, 2, 3, 10, 20] {
            let (mut diagonal, mut beside) = (vec![2.0; k], vec![-1.0; k]);
            beside[k - 1] = 0.0;
            let last = eigenvalues(&mut diagonal, &mut beside);
            let mut found: Vec<(f64, f64)> = diagonal.into_iter().zip(last).collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (j, (theta, last)) in found.into_iter().enumerate() {
                let angle = std::f64::consts::PI * (j + 1) as f64 / (k + 1) as f64;
                let component = (2.0 / (k + 1) as f64).sqrt() * (k as f64 * angle).sin();
                assert!((theta - (2.0 - 2.0 * angle.cos())).abs() < 1e-13, "{k}, {j}: {theta}");
                assert!((last.abs() - component.abs()).abs() < 1e-12, "{k}, {j}: {last}, not {component}");
            }
        }
    }

    #[test]
    fn the_bounds_of_what_is_no_spectrum() {
        let nothing = bounds(&[0.0; 4], &[0.0; 3], 1e-16);
        assert_eq!(nothing, Spectrum { lower: 0.0, upper: 1.0 });
        assert_eq!(bounds(&[1.0; 4], &[-1.0; 3], 1e-16), nothing);
        assert_eq!(bounds(&[-1.0; 4], &[1.0; 3], 1e-16), nothing);
    }
}
