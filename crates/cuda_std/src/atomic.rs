//! Atomic updates of global memory, relaxed, at device scope, and of shared memory. On the emulator they are the host's
//! own atomics.
//!
//! Sums of floating-point numbers by atomics depend on the order of arrival in their last bits.

pub use crate::copy::AtomicAdd;
use crate::{ViewMut, target};

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

/// `*p |= bits` in shared memory.
///
/// # Safety
/// As for [`accumulate_shared`].
#[inline(always)]
#[track_caller]
pub unsafe fn or_shared(p: *mut u32, bits: u32) {
    // SAFETY: the caller's promise.
    unsafe { target::or_shared_u32(p, bits) };
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
