//! Atomic updates of global memory, relaxed, at device scope, and of shared memory. On the emulator they are the host's
//! own atomics.
//!
//! Sums of floating-point numbers by atomics depend on the order of arrival in their last bits.

use crate::{DeviceCopy, ViewMut, target};

/// A type that can be added to atomically.
pub trait AtomicAdd: DeviceCopy {
    /// Adds at `p` and returns the old value.
    ///
    /// # Safety
    /// `p` points to a live value in global memory, which only atomics touch while other threads may.
    unsafe fn atomic_add(p: *mut Self, value: Self) -> Self;

    /// Adds at `p`.
    ///
    /// # Safety
    /// As for [`AtomicAdd::atomic_add`].
    unsafe fn atomic_accumulate(p: *mut Self, value: Self);

    /// Adds at `p` in shared memory.
    ///
    /// # Safety
    /// `p` points to a live value in the block's shared memory, which only atomics touch while other threads may.
    unsafe fn atomic_accumulate_shared(p: *mut Self, value: Self);
}

macro_rules! atomic_add {
    ($($type:ty: $add:ident $accumulate:ident $accumulate_shared:ident;)*) => {$(
        impl AtomicAdd for $type {
            #[inline(always)]
            unsafe fn atomic_add(p: *mut Self, value: Self) -> Self {
                // SAFETY: the caller's promise.
                unsafe { target::$add(p, value) }
            }
            #[inline(always)]
            unsafe fn atomic_accumulate(p: *mut Self, value: Self) {
                // SAFETY: the caller's promise.
                unsafe { target::$accumulate(p, value) }
            }
            #[inline(always)]
            unsafe fn atomic_accumulate_shared(p: *mut Self, value: Self) {
                // SAFETY: the caller's promise.
                unsafe { target::$accumulate_shared(p, value) }
            }
        }
    )*};
}

atomic_add! {
    u32: add_u32 accumulate_u32 accumulate_shared_u32;
    f32: add_f32 accumulate_f32 accumulate_shared_f32;
    f64: add_f64 accumulate_f64 accumulate_shared_f64;
}

/// `y[i] += value`; returns the old `y[i]`.
///
/// # Safety
/// `i` is less than `y`'s length, and no other thread touches `y[i]` except by atomics.
#[inline(always)]
#[track_caller]
pub unsafe fn add<T: AtomicAdd>(y: ViewMut<T>, i: usize, value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_add(y.element(i), value) }
}

/// `y[i] += value` for those who need no old value: on a device it does not wait for one.
///
/// # Safety
/// As for [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn accumulate<T: AtomicAdd>(y: ViewMut<T>, i: usize, value: T) {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_accumulate(y.element(i), value) }
}

/// `*p += value` in shared memory.
///
/// # Safety
/// `p` points to a live value in the block's shared memory, which no other thread touches except by atomics.
#[inline(always)]
#[track_caller]
pub unsafe fn accumulate_shared<T: AtomicAdd>(p: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_accumulate_shared(p, value) }
}

/// `y[i] = min(y[i], value)`; returns the old `y[i]`.
///
/// # Safety
/// As for [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn min(y: ViewMut<u32>, i: usize, value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { target::min_u32(y.element(i), value) }
}

/// `y[i] = max(y[i], value)`; returns the old `y[i]`.
///
/// # Safety
/// As for [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn max(y: ViewMut<u32>, i: usize, value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { target::max_u32(y.element(i), value) }
}
