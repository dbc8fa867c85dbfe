//! Floating-point arithmetic that kernels and the CPU share.

use crate::atomic::AtomicAdd;
use crate::shared::SharedValue;
use crate::warp::WarpShuffleValue;
use crate::{DeviceCopy, target};
use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// What formulas compute with: `f32` or `f64`, or several of them at a time on a CPU.
pub trait Number:
    Copy
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest value to `x`.
    fn from_f64(x: f64) -> Self;
    /// `self * a + b`. On a device one instruction with one rounding. On a host built without the `fma` target feature
    /// it is a product and a sum, rounded twice: a call of the C library's `fma` would cost forty times as much.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `1 / self` to two units in the last place, of normal numbers, without a branch.
    fn near_recip(self) -> Self;
}

/// `f32` or `f64`: what a kernel needs of its scalar type.
pub trait GpuFloat:
    Number + DeviceCopy + AtomicAdd + SharedValue + WarpShuffleValue + PartialOrd + Debug + Default
{
    /// The difference between 1 and the next larger number.
    const EPSILON: Self;

    /// The value as `f64`.
    fn to_f64(self) -> f64;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The larger of the two; of a number and NaN, the number.
    fn max(self, other: Self) -> Self;
    /// The smaller of the two; of a number and NaN, the number.
    fn min(self, other: Self) -> Self;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The smallest integer not below.
    fn ceil(self) -> Self;
    /// 1 or -1 by the sign bit; NaN for NaN.
    fn signum(self) -> Self;
    /// `1 / self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::ONE / self
    }
    /// True for NaN.
    fn is_nan(self) -> bool;
    /// False for infinities and NaN.
    fn is_finite(self) -> bool;
}

/// Methods that are functions elsewhere.
macro_rules! forward {
    ($place:ident: $($name:ident($($other:ident)?) -> $result:ty = $function:ident;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $other: Self)?) -> $result {
            $place::$function(self $(, $other)?)
        }
    )*};
}
macro_rules! gpu_float {
    ($($type:ident: $fma:ident $sqrt:ident $floor:ident $ceil:ident $recip:ident;)*) => {$(
        impl Number for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                target::$fma(self, a, b)
            }
            forward! { target: near_recip() -> Self = $recip; }
        }

        impl GpuFloat for $type {
            const EPSILON: Self = $type::EPSILON;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            forward! { target:
                sqrt() -> Self = $sqrt;
                floor() -> Self = $floor;
                ceil() -> Self = $ceil;
            }
            forward! { $type:
                abs() -> Self = abs;
                max(other) -> Self = max;
                min(other) -> Self = min;
                signum() -> Self = signum;
                is_nan() -> bool = is_nan;
                is_finite() -> bool = is_finite;
            }
        }
    )*};
}

gpu_float! {
    f32: fma_f32 sqrt_f32 floor_f32 ceil_f32 near_recip_f32;
    f64: fma_f64 sqrt_f64 floor_f64 ceil_f64 near_recip_f64;
}
