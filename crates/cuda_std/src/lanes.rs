//! Several numbers at a time, on a CPU.

use crate::Number;
use core::simd::{Simd, f32x8, f64x4};
use std::simd::StdFloat;

/// A vector of 256 bits: several numbers, each computed with as if it were alone. Vectors are equal where all of their numbers are.
pub trait Lanes: Number {
    /// The type of a number.
    type Of;
    /// Numbers in a vector.
    const N: usize;

    /// The numbers.
    fn lanes(&mut self) -> &mut [Self::Of];
}

macro_rules! lanes {
    ($($lanes:ident: $type:ident $n:literal;)*) => {$(
        impl Number for $lanes {
            const ZERO: Self = Simd::from_array([0.0; $n]);
            const ONE: Self = Simd::from_array([1.0; $n]);

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                Simd::splat(x as $type)
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                if cfg!(target_feature = "fma") { StdFloat::mul_add(self, a, b) } else { self * a + b }
            }
            #[inline(always)]
            fn near_recip(self) -> Self {
                Self::ONE / self
            }
        }

        impl Lanes for $lanes {
            type Of = $type;
            const N: usize = $n;

            #[inline(always)]
            fn lanes(&mut self) -> &mut [$type] {
                self.as_mut_array()
            }
        }
    )*};
}

lanes! {
    f32x8: f32 8;
    f64x4: f64 4;
}
