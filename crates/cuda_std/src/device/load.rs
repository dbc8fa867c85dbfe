//! Loads and stores of global memory by width. Their state space is spelled out: LLVM knows nothing of where a pointer
//! that came in a parameter leads, and would emit generic ones, which ptxas keeps.

use crate::DeviceCopy;
use core::arch::asm;

macro_rules! load {
    ($name:ident $instruction:literal, $width:literal, $class:ident $register:ty, $bits:ident => $from:expr) => {
        #[inline(always)]
        unsafe fn $name(p: *const Self) -> Self {
            #[inline(always)]
            unsafe fn raw(p: *const $register) -> $register {
                let bits: $register;
                // SAFETY: the caller's promise about p; the instruction touches nothing else.
                unsafe {
                    asm!(concat!($instruction, $width, " {r}, [{p}];"), r = out($class) bits, p = in(reg64) p,
                        options(pure, readonly, nostack, preserves_flags));
                }
                bits
            }
            // SAFETY: the caller's promise; the bits have the size and alignment of the type.
            let $bits = unsafe { raw(p.cast()) };
            $from
        }
    };
}

/// By the register that a type's bits are in, and how they become a value and the other way round. PTX loads a byte
/// into a register of 16 bits, zero-extended.
macro_rules! scalars {
    ($($type:ty: $class:ident $register:ty, $width:literal, $bits:ident => $from:expr, $value:ident => $to:expr;)*) => {$(
        // SAFETY: a primitive of the same size and alignment on both sides.
        unsafe impl DeviceCopy for $type {
            load!(load "ld.global.nc.", $width, $class $register, $bits => $from);
            load!(stream "ld.global.nc.L1::no_allocate.", $width, $class $register, $bits => $from);
            load!(get "ld.global.", $width, $class $register, $bits => $from);

            #[inline(always)]
            unsafe fn put(p: *mut Self, $value: Self) {
                let bits: $register = $to;
                // SAFETY: the caller's promise about p.
                unsafe {
                    asm!(concat!("st.global.", $width, " [{p}], {v};"), p = in(reg64) p, v = in($class) bits,
                        options(nostack, preserves_flags));
                }
            }
        }
    )*};
}

scalars! {
    u8: reg16 u16, "u8", b => b as u8, v => v as u16;
    u16: reg16 u16, "u16", b => b, v => v;
    u32: reg32 u32, "u32", b => b, v => v;
    u64: reg64 u64, "u64", b => b, v => v;
    usize: reg64 u64, "u64", b => b as usize, v => v as u64;
    i32: reg32 u32, "u32", b => b as i32, v => v as u32;
    f32: reg32 u32, "u32", b => f32::from_bits(b), v => v.to_bits();
    f64: reg64 u64, "u64", b => f64::from_bits(b), v => v.to_bits();
}
