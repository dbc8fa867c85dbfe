//! Pointers to shared memory, as generic addresses.

use crate::place::{Place, SharedValue};
use core::arch::{asm, global_asm};

global_asm!(".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];");

/// The block's dynamic shared memory, aligned to 16 bytes.
#[inline(always)]
pub fn dynamic_shared() -> *mut u8 {
    let p: *mut u8;
    // SAFETY: taking an address has no precondition and touches no memory.
    unsafe {
        asm!("mov.u64 {p}, cuda_std_dynamic_shared;", "cvta.shared.u64 {p}, {p};", p = out(reg64) p,
            options(pure, nomem, nostack, preserves_flags));
    }
    p
}

/// The static shared array of the call site `SITE`, for values of type `T`.
///
/// Not inlined: PTX declares the variable where the assembly stands, so that a pass which duplicated it into two
/// branches would give their threads two arrays. The call costs a kernel tens of cycles once.
#[inline(never)]
pub fn static_shared<T, const SITE: u64>() -> *mut T {
    let p: *mut T;
    // SAFETY: declares a variable in the scope of this function and takes its address.
    unsafe {
        asm!(
            "{{",
            ".shared .align {align} .b8 array[{size}];",
            "mov.u64 {p}, array;",
            "cvta.shared.u64 {p}, {p};",
            "}}",
            align = const if align_of::<T>() < 16 { 16 } else { align_of::<T>() },
            size = const size_of::<T>(),
            p = out(reg64) p,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    p
}

/// The address that a generic pointer to shared memory stands for.
///
/// # Safety
/// The pointer leads to shared memory.
#[inline(always)]
pub unsafe fn place(p: *mut u8) -> Place {
    let place: u64;
    // SAFETY: the caller's promise; it touches no memory.
    unsafe {
        asm!("cvta.to.shared.u64 {place}, {p};", place = out(reg64) place, p = in(reg64) p,
            options(pure, nomem, nostack, preserves_flags));
    }
    place as u32
}

/// The address so many bytes further on.
#[inline(always)]
pub fn advance(place: Place, bytes: usize) -> Place {
    place.wrapping_add(bytes as u32)
}

macro_rules! shared_values {
    ($($type:ty: $class:ident $register:ty, $width:literal $size:literal, $bits:ident => $from:expr, $value:ident => $to:expr;)*) => {$(
        impl SharedValue for $type {
            #[inline(always)]
            unsafe fn get_shared(place: Place) -> Self {
                let $bits: $register;
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(concat!("ld.shared.", $width, " {r}, [{p}];"), r = out($class) $bits, p = in(reg32) place,
                        options(pure, readonly, nostack, preserves_flags));
                }
                $from
            }

            #[inline(always)]
            unsafe fn put_shared(place: Place, $value: Self) {
                let bits: $register = $to;
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(concat!("st.shared.", $width, " [{p}], {v};"), p = in(reg32) place, v = in($class) bits,
                        options(nostack, preserves_flags));
                }
            }

            #[inline(always)]
            unsafe fn get3_shared(place: Place) -> [Self; 3] {
                // Three statements: what is not used goes.
                macro_rules! load {
                    ($offset:literal) => {{
                        let $bits: $register;
                        // SAFETY: the caller's promise.
                        unsafe {
                            asm!(concat!("ld.shared.", $width, " {r}, [{p} + ", $offset, " * ", $size, "];"),
                                r = out($class) $bits, p = in(reg32) place,
                                options(pure, readonly, nostack, preserves_flags));
                        }
                        $from
                    }};
                }
                [load!(0), load!(1), load!(2)]
            }

            #[inline(always)]
            unsafe fn put3_shared(place: Place, values: [Self; 3]) {
                let [x, y, z] = values.map(|$value| -> $register { $to });
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        concat!("st.shared.", $width, " [{p}], {x};"),
                        concat!("st.shared.", $width, " [{p} + ", $size, "], {y};"),
                        concat!("st.shared.", $width, " [{p} + 2 * ", $size, "], {z};"),
                        p = in(reg32) place, x = in($class) x, y = in($class) y, z = in($class) z,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    )*};
}

shared_values! {
    u16: reg16 u16, "u16" 2, b => b, v => v;
    u32: reg32 u32, "u32" 4, b => b, v => v;
    f32: reg32 u32, "u32" 4, b => f32::from_bits(b), v => v.to_bits();
    f64: reg64 u64, "u64" 8, b => f64::from_bits(b), v => v.to_bits();
}

/// See [`crate::shared::copy_async`].
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn copy_async(to: Place, from: *const u8, bytes: usize) {
    macro_rules! copy {
        ($cache:literal $bytes:literal) => {
            // SAFETY: the caller's promise.
            unsafe {
                asm!(concat!("cp.async.", $cache, ".shared.global [{to}], [{from}], ", $bytes, ";"),
                    to = in(reg32) to, from = in(reg64) from, options(nostack, preserves_flags));
            }
        };
    }
    match bytes {
        4 => copy!("ca" 4),
        8 => copy!("ca" 8),
        // Past the first-level cache.
        _ => copy!("cg" 16),
    }
}

/// See [`crate::shared::wait_copies`].
#[inline(always)]
pub fn wait_copies() {
    // SAFETY: waiting has no precondition.
    unsafe { asm!("cp.async.wait_all;", options(nostack, preserves_flags)) }
}
