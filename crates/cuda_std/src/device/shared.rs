//! Pointers to shared memory, as generic addresses.

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

/// See [`crate::shared::copy_async`].
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn copy_async(to: *mut u8, from: *const u8, bytes: usize) {
    macro_rules! copy {
        ($bytes:literal) => {
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{",
                    ".reg .b64 place;",
                    "cvta.to.shared.u64 place, {to};",
                    concat!("cp.async.ca.shared.global [place], [{from}], ", $bytes, ";"),
                    "}}",
                    to = in(reg64) to, from = in(reg64) from, options(nostack, preserves_flags)
                );
            }
        };
    }
    match bytes {
        4 => copy!(4),
        8 => copy!(8),
        _ => copy!(16),
    }
}

/// See [`crate::shared::wait_copies`].
#[inline(always)]
pub fn wait_copies() {
    // SAFETY: waiting has no precondition.
    unsafe { asm!("cp.async.wait_all;", options(nostack, preserves_flags)) }
}
