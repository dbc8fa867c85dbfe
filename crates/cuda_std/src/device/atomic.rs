//! Relaxed read-modify-write on global memory, at device scope, and on shared memory, by its generic address.
//! `atomic_add` and its like return the old value; ptxas does not turn such an `atom` into the cheaper `red` where the
//! value goes unused, so `atomic_accumulate` says it.

use crate::copy::AtomicAdd;
use core::arch::asm;

macro_rules! atomic_add {
    ($($type:ident $class:ident $suffix:literal;)*) => {$(
        impl AtomicAdd for $type {
            #[inline(always)]
            unsafe fn atomic_add(p: *mut Self, value: Self) -> Self {
                let old: $type;
                // SAFETY: the caller's promise about p.
                unsafe {
                    asm!(concat!("atom.global.add.", $suffix, " {r}, [{p}], {v};"), r = out($class) old,
                        p = in(reg64) p, v = in($class) value, options(nostack, preserves_flags));
                }
                old
            }
            #[inline(always)]
            unsafe fn atomic_accumulate(p: *mut Self, value: Self) {
                // SAFETY: the caller's promise about p.
                unsafe {
                    asm!(concat!("red.global.add.", $suffix, " [{p}], {v};"), p = in(reg64) p, v = in($class) value,
                        options(nostack, preserves_flags));
                }
            }
            #[inline(always)]
            unsafe fn atomic_accumulate_shared(p: *mut Self, value: Self) {
                // SAFETY: the caller's promise about p.
                unsafe {
                    asm!("cvta.to.shared.u64 {p}, {p};", concat!("red.shared.add.", $suffix, " [{p}], {v};"),
                        p = inout(reg64) p => _, v = in($class) value, options(nostack, preserves_flags));
                }
            }
        }
    )*};
}

atomic_add! {
    u32 reg32 "u32";
    f32 reg32 "f32";
    f64 reg64 "f64";
}

macro_rules! extremes {
    ($($name:ident $text:literal;)*) => {$(
        /// # Safety
        /// As for [`AtomicAdd::atomic_add`].
        #[inline(always)]
        pub unsafe fn $name(p: *mut u32, value: u32) -> u32 {
            let old: u32;
            // SAFETY: the caller's promise about p.
            unsafe {
                asm!($text, r = out(reg32) old, p = in(reg64) p, v = in(reg32) value,
                    options(nostack, preserves_flags));
            }
            old
        }
    )*};
}

extremes! {
    min_u32 "atom.global.min.u32 {r}, [{p}], {v};";
    max_u32 "atom.global.max.u32 {r}, [{p}], {v};";
}

/// # Safety
/// As for [`AtomicAdd::atomic_accumulate_shared`].
#[inline(always)]
pub unsafe fn or_shared_u32(p: *mut u32, bits: u32) {
    // SAFETY: the caller's promise about p.
    unsafe {
        asm!("cvta.to.shared.u64 {p}, {p};", "red.shared.or.b32 [{p}], {v};", p = inout(reg64) p => _,
            v = in(reg32) bits, options(nostack, preserves_flags));
    }
}
