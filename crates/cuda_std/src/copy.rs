//! The types that kernels keep in global memory.

use crate::target;

/// A plain value that may live in device memory: any bytes a device writes are a valid value of it on the host.
///
/// The accesses to global memory have bodies that fit any type; the scalars override them with single instructions.
///
/// # Safety
/// The type is `repr(C)`, a primitive or an array of such, with the same layout on the device and the host, and holds
/// no pointer into host memory that a device would follow.
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

    /// Loads from memory that the kernel also writes.
    ///
    /// # Safety
    /// `p` points to a live value in global memory that nobody writes at the same time.
    #[inline(always)]
    unsafe fn get(p: *const Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.read() }
    }

    /// Stores.
    ///
    /// # Safety
    /// `p` points to a live value in global memory that nobody else uses at the same time.
    #[inline(always)]
    unsafe fn put(p: *mut Self, value: Self) {
        // SAFETY: the caller's promise.
        unsafe { p.write(value) }
    }
}

macro_rules! device_copy {
    ($($type:ty: $bits:ty, $load:ident $stream:ident $get:ident $put:ident,
        $bits_in:ident => $from:expr, $value_in:ident => $to:expr;)*) => {$(
        // SAFETY: a primitive of the same size and alignment on both sides.
        unsafe impl DeviceCopy for $type {
            #[inline(always)]
            unsafe fn load(p: *const Self) -> Self {
                // SAFETY: the caller's promise; the bits have the size and alignment of the type.
                let $bits_in = unsafe { target::$load(p.cast::<$bits>()) };
                $from
            }
            #[inline(always)]
            unsafe fn stream(p: *const Self) -> Self {
                // SAFETY: as above.
                let $bits_in = unsafe { target::$stream(p.cast::<$bits>()) };
                $from
            }
            #[inline(always)]
            unsafe fn get(p: *const Self) -> Self {
                // SAFETY: as above.
                let $bits_in = unsafe { target::$get(p.cast::<$bits>()) };
                $from
            }
            #[inline(always)]
            unsafe fn put(p: *mut Self, value: Self) {
                let $value_in = value;
                // SAFETY: as above.
                unsafe { target::$put(p.cast::<$bits>(), $to) }
            }
        }
    )*};
}

device_copy! {
    u8: u8, load_8 stream_8 get_8 put_8, b => b, v => v;
    u16: u16, load_16 stream_16 get_16 put_16, b => b, v => v;
    u32: u32, load_32 stream_32 get_32 put_32, b => b, v => v;
    u64: u64, load_64 stream_64 get_64 put_64, b => b, v => v;
    usize: u64, load_64 stream_64 get_64 put_64, b => b as usize, v => v as u64;
    i32: u32, load_32 stream_32 get_32 put_32, b => b as i32, v => v as u32;
    f32: u32, load_32 stream_32 get_32 put_32, b => f32::from_bits(b), v => v.to_bits();
    f64: u64, load_64 stream_64 get_64 put_64, b => f64::from_bits(b), v => v.to_bits();
}

macro_rules! array_loads {
    ($($name:ident)*) => {$(
        #[inline(always)]
        unsafe fn $name(p: *const Self) -> Self {
            let first = p.cast::<T>();
            // SAFETY: the caller's promise, element by element.
            core::array::from_fn(|i| unsafe { T::$name(first.add(i)) })
        }
    )*};
}

// SAFETY: an array has no bytes but its elements'.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    array_loads!(load stream get);

    #[inline(always)]
    unsafe fn put(p: *mut Self, value: Self) {
        let first = p.cast::<T>();
        for (i, element) in value.into_iter().enumerate() {
            // SAFETY: the caller's promise, element by element.
            unsafe { T::put(first.add(i), element) }
        }
    }
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("kernel parameters hold 64-bit pointers and lengths: build for a 64-bit host");
