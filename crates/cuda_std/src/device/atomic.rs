//! Relaxed read-modify-write on global memory, at device scope, and on shared memory. `add` and its like return the old
//! value; ptxas does not turn such an `atom` into the cheaper `red` where the value goes unused, so `accumulate` says
//! it.

use core::arch::asm;

macro_rules! atomics {
    ($($name:ident $type:ty, $class:ident, $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a value in global memory that only atomics touch while others may.
        #[inline(always)]
        pub unsafe fn $name(p: *mut $type, value: $type) -> $type {
            let old: $type;
            // SAFETY: the caller's promise about p.
            unsafe {
                asm!($text, r = out($class) old, p = in(reg64) p, v = in($class) value,
                    options(nostack, preserves_flags));
            }
            old
        }
    )*};
}

atomics! {
    add_u32 u32, reg32, "atom.global.add.u32 {r}, [{p}], {v};";
    min_u32 u32, reg32, "atom.global.min.u32 {r}, [{p}], {v};";
    max_u32 u32, reg32, "atom.global.max.u32 {r}, [{p}], {v};";
    add_f32 f32, reg32, "atom.global.add.f32 {r}, [{p}], {v};";
    add_f64 f64, reg64, "atom.global.add.f64 {r}, [{p}], {v};";
}

macro_rules! reductions {
    ($($name:ident $type:ty, $class:ident, $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a value in global memory that only atomics touch while others may.
        #[inline(always)]
        pub unsafe fn $name(p: *mut $type, value: $type) {
            // SAFETY: the caller's promise about p.
            unsafe {
                asm!($text, p = in(reg64) p, v = in($class) value, options(nostack, preserves_flags));
            }
        }
    )*};
}

reductions! {
    accumulate_u32 u32, reg32, "red.global.add.u32 [{p}], {v};";
    accumulate_f32 f32, reg32, "red.global.add.f32 [{p}], {v};";
    accumulate_f64 f64, reg64, "red.global.add.f64 [{p}], {v};";
}

macro_rules! shared_reductions {
    ($($name:ident $type:ty, $class:ident, $text:literal;)*) => {$(
        /// # Safety
        /// `p` is the generic address of a value in shared memory that only atomics touch while others may.
        #[inline(always)]
        pub unsafe fn $name(p: *mut $type, value: $type) {
            // SAFETY: the caller's promise about p.
            unsafe {
                asm!("cvta.to.shared.u64 {p}, {p};", $text, p = inout(reg64) p => _, v = in($class) value,
                    options(nostack, preserves_flags));
            }
        }
    )*};
}

shared_reductions! {
    accumulate_shared_u32 u32, reg32, "red.shared.add.u32 [{p}], {v};";
    accumulate_shared_f32 f32, reg32, "red.shared.add.f32 [{p}], {v};";
    accumulate_shared_f64 f64, reg64, "red.shared.add.f64 [{p}], {v};";
}
