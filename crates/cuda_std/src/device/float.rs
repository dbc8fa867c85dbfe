//! Arithmetic that `core` and LLVM have no function for.

use super::fma_f64;
use core::arch::asm;

/// See [`crate::Number::near_recip`].
#[inline(always)]
pub fn near_recip_f32(x: f32) -> f32 {
    let r: u32;
    // SAFETY: arithmetic has no precondition.
    unsafe {
        asm!("rcp.approx.ftz.f32 {r}, {x};", r = out(reg32) r, x = in(reg32) x.to_bits(),
            options(pure, nomem, nostack, preserves_flags));
    }
    f32::from_bits(r)
}

/// See [`crate::Number::near_recip`]: two of Newton's steps from 20 bits.
#[inline(always)]
pub fn near_recip_f64(x: f64) -> f64 {
    let r: u64;
    // SAFETY: arithmetic has no precondition.
    unsafe {
        asm!("rcp.approx.ftz.f64 {r}, {x};", r = out(reg64) r, x = in(reg64) x.to_bits(),
            options(pure, nomem, nostack, preserves_flags));
    }
    let step = |r: f64| fma_f64(fma_f64(-x, r, 1.0), r, r);
    step(step(f64::from_bits(r)))
}
