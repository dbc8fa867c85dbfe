//! Loads through the read-only cache, by width.

use core::arch::asm;

macro_rules! loads {
    ($($name:ident $type:ty, $class:ident, $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a readable value in global memory that nobody writes during the launch.
        #[inline(always)]
        pub unsafe fn $name(p: *const $type) -> $type {
            let value: $type;
            // SAFETY: the caller's promise about p; the instruction touches nothing else.
            unsafe {
                asm!($text, r = out($class) value, p = in(reg64) p, options(pure, readonly, nostack, preserves_flags));
            }
            value
        }
    )*};
}

loads! {
    load_16 u16, reg16, "ld.global.nc.u16 {r}, [{p}];";
    load_32 u32, reg32, "ld.global.nc.u32 {r}, [{p}];";
    load_64 u64, reg64, "ld.global.nc.u64 {r}, [{p}];";
    stream_16 u16, reg16, "ld.global.nc.L1::no_allocate.u16 {r}, [{p}];";
    stream_32 u32, reg32, "ld.global.nc.L1::no_allocate.u32 {r}, [{p}];";
    stream_64 u64, reg64, "ld.global.nc.L1::no_allocate.u64 {r}, [{p}];";
}

macro_rules! byte_loads {
    ($($name:ident $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a readable byte in global memory that nobody writes during the launch.
        #[inline(always)]
        pub unsafe fn $name(p: *const u8) -> u8 {
            let value: u16;
            // SAFETY: the caller's promise about p; PTX loads a byte into a 16-bit register, zero-extended.
            unsafe {
                asm!($text, r = out(reg16) value, p = in(reg64) p, options(pure, readonly, nostack, preserves_flags));
            }
            value as u8
        }
    )*};
}

byte_loads! {
    load_8 "ld.global.nc.u8 {r}, [{p}];";
    stream_8 "ld.global.nc.L1::no_allocate.u8 {r}, [{p}];";
}
