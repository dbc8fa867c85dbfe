//! The scalar types the kernels are written for, and what matrices keep of them.

use core::fmt::Display;
use cuda_std::prelude::*;

/// What a matrix keeps a value in. Kernels compute with what it stands for, and move only what is kept.
pub trait Stored: DeviceCopy + bytemuck::Pod + Send + Sync + 'static {
    /// What the value is in products.
    type Arithmetic: Real;
    /// Name in summaries and benchmarks.
    const NAME: &'static str;
    /// The nearest one.
    fn rounded(value: Self::Arithmetic) -> Self;
    /// What it stands for, exactly.
    fn value(self) -> Self::Arithmetic;
    /// An array of values as one of numbers, if that is what they are.
    fn numbers(values: View<Self>) -> Option<View<Self::Arithmetic>>;
}

/// What a matrix of `V` is multiplied in.
pub type Arithmetic<V> = <V as Stored>::Arithmetic;

/// A floating-point type of matrices and vectors: `f32` or `f64`.
pub trait Real: GpuFloat + Stored<Arithmetic = Self> + Display {
    /// Several of them, on a CPU.
    #[cfg(not(target_arch = "nvptx64"))]
    type Lanes: cuda_std::Lanes<Of = Self>;
}

impl Real for f32 {
    #[cfg(not(target_arch = "nvptx64"))]
    type Lanes = core::simd::f32x8;
}
impl Real for f64 {
    #[cfg(not(target_arch = "nvptx64"))]
    type Lanes = core::simd::f64x4;
}

macro_rules! stored_as_they_are {
    ($($type:ident)*) => {$(
        impl Stored for $type {
            type Arithmetic = $type;
            const NAME: &'static str = stringify!($type);
            #[inline(always)]
            fn numbers(values: View<Self>) -> Option<View<Self>> {
                Some(values)
            }
            #[inline(always)]
            fn rounded(value: $type) -> $type {
                value
            }
            #[inline(always)]
            fn value(self) -> $type {
                self
            }
        }
    )*};
}

stored_as_they_are!(f32 f64);

/// `a b + c`, fused where the machine can: see [`Number::mul_add`].
#[inline(always)]
pub fn fma<T: Number>(a: T, b: T, c: T) -> T {
    Number::mul_add(a, b, c)
}

/// Bits that follow no pattern, for an index: SplitMix64 (Steele, Lea, Flood 2014) but for its last step.
#[inline(always)]
pub fn mixed(i: usize) -> u64 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB)
}

/// `a . b`.
#[inline(always)]
pub fn dot3<T: Number>(a: [T; 3], b: [T; 3]) -> T {
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
