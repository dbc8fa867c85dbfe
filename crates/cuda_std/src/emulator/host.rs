//! The parts of the API that need no emulated thread: loads, stores, atomics and arithmetic of the host.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

macro_rules! loads {
    ($($load:ident $stream:ident $get:ident $put:ident $type:ty;)*) => {$(
        /// # Safety
        /// `p` points to a readable value.
        #[inline(always)]
        pub unsafe fn $load(p: *const $type) -> $type {
            // SAFETY: the caller's promise.
            unsafe { p.read() }
        }

        /// # Safety
        /// `p` points to a readable value.
        #[inline(always)]
        pub unsafe fn $stream(p: *const $type) -> $type {
            // SAFETY: the caller's promise.
            unsafe { p.read() }
        }

        /// # Safety
        /// `p` points to a readable value.
        #[inline(always)]
        pub unsafe fn $get(p: *const $type) -> $type {
            // SAFETY: the caller's promise.
            unsafe { p.read() }
        }

        /// # Safety
        /// `p` points to a writable value.
        #[inline(always)]
        pub unsafe fn $put(p: *mut $type, value: $type) {
            // SAFETY: the caller's promise.
            unsafe { p.write(value) }
        }
    )*};
}

loads! {
    load_8 stream_8 get_8 put_8 u8;
    load_16 stream_16 get_16 put_16 u16;
    load_32 stream_32 get_32 put_32 u32;
    load_64 stream_64 get_64 put_64 u64;
}

macro_rules! atomics_u32 {
    ($($name:ident $method:ident;)*) => {$(
        /// # Safety
        /// `p` points to a live value that only atomics touch while other threads may.
        #[inline]
        pub unsafe fn $name(p: *mut u32, value: u32) -> u32 {
            // SAFETY: the caller's promise.
            unsafe { AtomicU32::from_ptr(p) }.$method(value, Ordering::Relaxed)
        }
    )*};
}

atomics_u32! {
    add_u32 fetch_add;
    min_u32 fetch_min;
    or_u32 fetch_or;
    max_u32 fetch_max;
}

macro_rules! atomic_sums {
    ($($name:ident $type:ident $atomic:ident $bits:ty;)*) => {$(
        /// # Safety
        /// `p` points to a live value that only atomics touch while other threads may.
        #[inline]
        pub unsafe fn $name(p: *mut $type, value: $type) -> $type {
            // SAFETY: the caller's promise; the bits have the size and alignment of the type.
            let cell = unsafe { $atomic::from_ptr(p.cast::<$bits>()) };
            let mut old = cell.load(Ordering::Relaxed);
            loop {
                let new = ($type::from_bits(old) + value).to_bits();
                match cell.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return $type::from_bits(old),
                    Err(current) => old = current,
                }
            }
        }
    )*};
}

atomic_sums! {
    add_f32 f32 AtomicU32 u32;
    add_f64 f64 AtomicU64 u64;
}

macro_rules! accumulations {
    ($($name:ident $add:ident $type:ty;)*) => {$(
        /// # Safety
        /// `p` points to a live value that only atomics touch while other threads may.
        #[inline]
        pub unsafe fn $name(p: *mut $type, value: $type) {
            // SAFETY: the caller's promise.
            unsafe { $add(p, value) };
        }
    )*};
}

accumulations! {
    accumulate_u32 add_u32 u32;
    accumulate_f32 add_f32 f32;
    accumulate_f64 add_f64 f64;
    accumulate_shared_u32 add_u32 u32;
    accumulate_shared_f32 add_f32 f32;
    accumulate_shared_f64 add_f64 f64;
    or_shared_u32 or_u32 u32;
}

macro_rules! fences {
    ($($name:ident)*) => {$(
        pub fn $name() {
            fence(Ordering::SeqCst);
        }
    )*};
}

fences!(block_fence device_fence system_fence);

macro_rules! arithmetic {
    ($($type:ident: $fma:ident $sqrt:ident $floor:ident $ceil:ident;)*) => {$(
        #[inline(always)]
        pub fn $fma(a: $type, b: $type, c: $type) -> $type {
            if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c }
        }
        #[inline(always)]
        pub fn $sqrt(x: $type) -> $type {
            x.sqrt()
        }
        #[inline(always)]
        pub fn $floor(x: $type) -> $type {
            x.floor()
        }
        #[inline(always)]
        pub fn $ceil(x: $type) -> $type {
            x.ceil()
        }
    )*};
}

arithmetic! {
    f32: fma_f32 sqrt_f32 floor_f32 ceil_f32;
    f64: fma_f64 sqrt_f64 floor_f64 ceil_f64;
}
