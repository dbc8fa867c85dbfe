//! Several numbers at a time, on a CPU.

use crate::Number;
use core::simd::{Simd, f32x8, f64x4};
use std::simd::StdFloat;

/// Numbers that are computed with at a time, each as if it were alone: 256 bits.
pub trait Lanes: Number {
    /// What they are.
    type Of;
    /// How many.
    const N: usize;

    /// The numbers, one of each lane.
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
