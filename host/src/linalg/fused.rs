//! Vector operations that an iteration does in one pass: `u`, `r`, `z` and `p` are those of conjugate gradients.

use super::{Blocks, CHUNK, Quotient, Scalar, Space, rows_mut};
use crate::device::Buffer;
use crate::parallel;
use crate::result::Result;
use kernels_rs::blas::quotient;
use kernels_rs::cg::{CgResidual, CgResidualNorm, CgUpdate};
use kernels_rs::precond::CgResidualBlocks;
use kernels_rs::real::{Real, fma};

/// `u += alpha p`, then `p = z + beta p`.
pub(crate) fn advance<T: Real>([alpha, beta]: [T; 2], z: impl Iterator<Item = T>, u: &mut [T], p: &mut [T]) {
    for ((u, p), z) in u.iter_mut().zip(p).zip(z) {
        *u = fma(alpha, *p, *u);
        *p = fma(beta, *p, z);
    }
}

impl Space {
    /// For a diagonal preconditioner and `z = inverse r`: `z -= alpha inverse q`, `out = [r . z, r . r]`.
    pub fn cg_residual<T: Real>(
        &self,
        alpha: Quotient,
        q: &Buffer<T>,
        inverse: &Buffer<f32>,
        z: &mut Buffer<T>,
        out: [Scalar; 2],
    ) -> Result<()> {
        assert!(q.len() == z.len() && inverse.len() == z.len(), "vectors of different lengths");
        let (n, ratio, q, inverse, z) = (z.len(), self.ratio(alpha), q.view(), inverse.view(), z.view_mut());
        let alpha = if self.on_host() { T::from_f64(self.quotient(alpha)) } else { T::ZERO };
        let on_cpu = |rows: std::ops::Range<usize>| {
            let mut sums = [0.0; 2];
            // SAFETY: all live and have these rows, which belong to one part; z is borrowed uniquely.
            let (q, inverse, z) = unsafe { (q.slice(rows.clone()), inverse.slice(rows.clone()), rows_mut(z, rows)) };
            for ((z, q), inverse) in z.iter_mut().zip(q).zip(inverse) {
                let inverse = f64::from(*inverse);
                *z -= alpha * T::from_f64(inverse) * *q;
                let residual = quotient(z.to_f64(), inverse);
                sums[0] += residual * z.to_f64();
                sums[1] += residual * residual;
            }
            sums
        };
        // SAFETY: all live and have n entries; z is borrowed uniquely.
        unsafe { self.sum(n, out, |to| CgResidual { n, alpha: ratio, q, inverse, z, to }, on_cpu) }
    }

    /// For any preconditioner, `r -= alpha q`, `out = r . r`.
    pub fn cg_residual_norm<T: Real>(
        &self,
        alpha: Quotient,
        q: &Buffer<T>,
        r: &mut Buffer<T>,
        out: Scalar,
    ) -> Result<()> {
        if self.on_host() {
            self.axpy(alpha.minus(), q, r)?;
            return self.dot(r, r, out);
        }
        assert_eq!(q.len(), r.len(), "vectors of different lengths");
        let (n, alpha, q, r) = (r.len(), self.ratio(alpha), q.view(), r.view_mut());
        // SAFETY: both live and have n entries; r is borrowed uniquely.
        unsafe { self.sum_on_gpu(n, [out], |to| CgResidualNorm { n, alpha, q, r, to }) }
    }

    /// For a preconditioner of symmetric diagonal blocks, `r -= alpha q`, `z = blocks r`, `out = [r . z, r . r]`.
    pub fn cg_residual_blocks<T: Real>(
        &self,
        alpha: Quotient,
        q: &Buffer<T>,
        blocks: &Blocks<T>,
        r: &mut Buffer<T>,
        z: &mut Buffer<T>,
        out: [Scalar; 2],
    ) -> Result<()> {
        if self.on_host() {
            self.axpy(alpha.minus(), q, r)?;
            self.block_mul(blocks, r, z)?;
            self.dot(r, z, out[0])?;
            return self.dot(r, r, out[1]);
        }
        let Blocks { size, n_rows, ref values } = *blocks;
        assert!([q.len(), r.len(), z.len()] == [size * n_rows; 3], "vectors of different lengths");
        let alpha = self.ratio(alpha);
        let (q, blocks, r, z) = (q.view(), values.view(), r.view_mut(), z.view_mut());
        // SAFETY: all live and have the rows of the blocks; r and z are borrowed uniquely.
        unsafe {
            match size {
                1 => self.sum_on_gpu(n_rows, out, |to| CgResidualBlocks::<T, 1> { n_rows, alpha, q, blocks, r, z, to }),
                2 => self.sum_on_gpu(n_rows, out, |to| CgResidualBlocks::<T, 2> { n_rows, alpha, q, blocks, r, z, to }),
                _ => self.sum_on_gpu(n_rows, out, |to| CgResidualBlocks::<T, 3> { n_rows, alpha, q, blocks, r, z, to }),
            }
        }
    }

    /// `u += alpha p`, then `p = z + beta p`.
    pub fn cg_update<T: Real>(
        &self,
        [alpha, beta]: [Quotient; 2],
        z: &Buffer<T>,
        u: &mut Buffer<T>,
        p: &mut Buffer<T>,
    ) -> Result<()> {
        let n = p.len();
        assert!([z.len(), u.len()] == [n; 2], "vectors of different lengths");
        if self.on_host() {
            let factors = [alpha, beta].map(|quotient| T::from_f64(self.quotient(quotient)));
            let (u, p) = (u.host_mut().chunks_mut(CHUNK), p.host_mut().chunks_mut(CHUNK));
            parallel::map(u.zip(p).zip(z.host().chunks(CHUNK)), &|((u, p), z)| {
                advance(factors, z.iter().copied(), u, p);
            });
            return Ok(());
        }
        let (alpha, beta) = (self.ratio(alpha), self.ratio(beta));
        let kernel = CgUpdate { alpha, beta, z: z.view(), u: u.view_mut(), p: p.view_mut() };
        // SAFETY: all live and have the same length; u and p are borrowed uniquely.
        unsafe { self.run(n, kernel) }
    }
}

/// `r -= alpha q`; `[r . z, r . r]` of `z = inverse r`.
pub(crate) fn descend<T: Real>(alpha: T, q: &[T], inverse: &[f32], r: &mut [T]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for ((r, q), inverse) in r.iter_mut().zip(q).zip(inverse) {
        *r -= alpha * *q;
        let residual = r.to_f64();
        sums[0] += residual * f64::from(*inverse) * residual;
        sums[1] += residual * residual;
    }
    sums
}
