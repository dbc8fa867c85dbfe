//! The types that kernels keep in global memory.

use crate::target;

/// A plain value that may live in device memory: any bytes a device writes are a valid value of it on the host.
///
/// The two loads have bodies that fit any type; the scalars override them with single instructions.
///
/// # Safety
/// The type is `repr(C)`, a primitive or an array of such, with the same layout on the device and the host, and holds no
/// pointer into host memory that a device would follow.
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {
    /// Loads through the read-only cache.
    ///
    /// # Safety
    /// `p` points to a live value in global memory that nobody writes during the launch.
    #[inline(always)]
    unsafe fn load(p: *const Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.read() }
    }

    /// Loads data that is used once, past the first-level cache.
    ///
    /// # Safety
    /// As for [`DeviceCopy::load`].
    #[inline(always)]
    unsafe fn stream(p: *const Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::load(p) }
    }
}

macro_rules! device_copy {
    ($($type:ty: $bits:ty, $load:ident, $stream:ident, $value:ident => $from:expr;)*) => {$(
        // SAFETY: a primitive of the same size and alignment on both sides.
        unsafe impl DeviceCopy for $type {
            #[inline(always)]
            unsafe fn load(p: *const Self) -> Self {
                // SAFETY: the caller's promise; the bits have the size and alignment of the type.
                let $value = unsafe { target::$load(p.cast::<$bits>()) };
                $from
            }
            #[inline(always)]
            unsafe fn stream(p: *const Self) -> Self {
                // SAFETY: as above.
                let $value = unsafe { target::$stream(p.cast::<$bits>()) };
                $from
            }
        }
    )*};
}

device_copy! {
    u8: u8, load_8, stream_8, v => v;
    u16: u16, load_16, stream_16, v => v;
    u32: u32, load_32, stream_32, v => v;
    u64: u64, load_64, stream_64, v => v;
    usize: u64, load_64, stream_64, v => v as usize;
    i32: u32, load_32, stream_32, v => v as i32;
    f32: u32, load_32, stream_32, v => f32::from_bits(v);
    f64: u64, load_64, stream_64, v => f64::from_bits(v);
}

// SAFETY: an array has no bytes but its elements'.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    #[inline(always)]
    unsafe fn load(p: *const Self) -> Self {
        let first = p.cast::<T>();
        // SAFETY: the caller's promise, element by element.
        core::array::from_fn(|i| unsafe { T::load(first.add(i)) })
    }
    #[inline(always)]
    unsafe fn stream(p: *const Self) -> Self {
        let first = p.cast::<T>();
        // SAFETY: the caller's promise, element by element.
        core::array::from_fn(|i| unsafe { T::stream(first.add(i)) })
    }
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("kernel parameters hold 64-bit pointers and lengths: build for a 64-bit host");
