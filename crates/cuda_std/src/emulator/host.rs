//! The parts of the API that need no emulated thread: atomics, fences and arithmetic of the host.

use crate::copy::AtomicAdd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};

macro_rules! atomics_u32 {
    ($($name:ident $method:ident;)*) => {$(
        /// # Safety
        /// As for [`AtomicAdd::atomic_add`].
        #[inline]
        pub unsafe fn $name(p: *mut u32, value: u32) -> u32 {
            // SAFETY: the caller's promise.
            unsafe { AtomicU32::from_ptr(p) }.$method(value, Relaxed)
        }
    )*};
}

atomics_u32! {
    add_u32 fetch_add;
    min_u32 fetch_min;
    max_u32 fetch_max;
    or_shared_u32 fetch_or;
}

impl AtomicAdd for u32 {
    #[inline]
    unsafe fn atomic_add(p: *mut Self, value: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { add_u32(p, value) }
    }
}

macro_rules! atomic_sums {
    ($($type:ident $atomic:ident;)*) => {$(
        impl AtomicAdd for $type {
            #[inline]
            unsafe fn atomic_add(p: *mut Self, value: Self) -> Self {
                // SAFETY: the caller's promise; the bits have the size and alignment of the type.
                let cell = unsafe { $atomic::from_ptr(p.cast()) };
                let add = |bits| Some(($type::from_bits(bits) + value).to_bits());
                let (Ok(old) | Err(old)) = cell.fetch_update(Relaxed, Relaxed, add);
                $type::from_bits(old)
            }
        }
    )*};
}

atomic_sums! {
    f32 AtomicU32;
    f64 AtomicU64;
}

macro_rules! fences {
    ($($name:ident $seen_by:literal;)*) => {$(
        #[doc = concat!("Orders this thread's writes before the fence ahead of those after it, as seen by ", $seen_by, ".")]
        pub fn $name() {
            fence(SeqCst);
        }
    )*};
}

fences! {
    block_fence "the threads of its block";
    device_fence "the whole device";
    system_fence "all devices and the host";
}

macro_rules! arithmetic {
    ($($type:ident: $fma:ident $($forwarded:ident $method:ident),*;)*) => {$(
        #[inline(always)]
        pub fn $fma(a: $type, b: $type, c: $type) -> $type {
            if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c }
        }
        $(
            #[inline(always)]
            pub fn $forwarded(x: $type) -> $type {
                x.$method()
            }
        )*
    )*};
}

arithmetic! {
    f32: fma_f32 sqrt_f32 sqrt, floor_f32 floor, ceil_f32 ceil, near_recip_f32 recip;
    f64: fma_f64 sqrt_f64 sqrt, floor_f64 floor, ceil_f64 ceil, near_recip_f64 recip;
}
