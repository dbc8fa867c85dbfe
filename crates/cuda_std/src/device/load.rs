//! Loads and stores of global memory by width. Their state space is spelled out: LLVM knows nothing of where a pointer
//! that came in a parameter leads, and would emit generic ones, which ptxas keeps.

use core::arch::asm;

macro_rules! loads {
    ($($name:ident $type:ty, $class:ident, $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a readable value in global memory; that nobody writes during the launch, but for `get`.
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
    get_16 u16, reg16, "ld.global.u16 {r}, [{p}];";
    get_32 u32, reg32, "ld.global.u32 {r}, [{p}];";
    get_64 u64, reg64, "ld.global.u64 {r}, [{p}];";
}

macro_rules! byte_loads {
    ($($name:ident $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a readable byte in global memory; that nobody writes during the launch, but for `get`.
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
    get_8 "ld.global.u8 {r}, [{p}];";
}

macro_rules! stores {
    ($($name:ident $type:ty, $class:ident, $register:ty, $text:literal;)*) => {$(
        /// # Safety
        /// `p` points to a value in global memory that nobody else uses at the same time.
        #[inline(always)]
        pub unsafe fn $name(p: *mut $type, value: $type) {
            // SAFETY: the caller's promise about p.
            unsafe {
                asm!($text, p = in(reg64) p, v = in($class) value as $register, options(nostack, preserves_flags));
            }
        }
    )*};
}

stores! {
    put_8 u8, reg16, u16, "st.global.u8 [{p}], {v};";
    put_16 u16, reg16, u16, "st.global.u16 [{p}], {v};";
    put_32 u32, reg32, u32, "st.global.u32 [{p}], {v};";
    put_64 u64, reg64, u64, "st.global.u64 [{p}], {v};";
}
