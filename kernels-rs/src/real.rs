//! The scalar types the kernels are written for.

use core::fmt::Display;
use cuda_std::prelude::*;

/// A floating-point type of matrices and vectors: `f32` or `f64`.
pub trait Real: GpuFloat + bytemuck::Pod + Send + Sync + Display + 'static {
    /// Name in summaries and benchmarks.
    const NAME: &'static str;
}

impl Real for f32 {
    const NAME: &'static str = "f32";
}

impl Real for f64 {
    const NAME: &'static str = "f64";
}

/// `a b + c`, fused where the machine can: see [`GpuFloat::mul_add`].
#[inline(always)]
pub fn fma<T: GpuFloat>(a: T, b: T, c: T) -> T {
    GpuFloat::mul_add(a, b, c)
}

/// `a . b`.
#[inline(always)]
pub fn dot3<T: Real>(a: [T; 3], b: [T; 3]) -> T {
    fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]))
}

/// `m += a b^T` over the first `dim` components.
#[inline(always)]
pub fn add_outer<T: Real>(dim: usize, m: &mut [[T; 3]; 3], a: [T; 3], b: [T; 3]) {
    for i in 0..dim {
        for j in 0..dim {
            m[i][j] = fma(a[i], b[j], m[i][j]);
        }
    }
}
