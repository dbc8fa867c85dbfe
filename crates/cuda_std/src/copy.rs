//! The types that kernels keep in global memory.

/// A plain value that may live in device memory: any bytes a device writes are a valid value of it on the host.
///
/// The accesses to global memory have bodies that fit any type; on a device the scalars override them with single
/// instructions.
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

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! scalars {
    ($($type:ty)*) => {$(
        // SAFETY: a primitive of the same size and alignment on both sides.
        unsafe impl DeviceCopy for $type {}
    )*};
}

#[cfg(not(target_arch = "nvptx64"))]
scalars!(u8 u16 u32 u64 usize i32 f32 f64);

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
    #[inline]
    unsafe fn atomic_accumulate(p: *mut Self, value: Self) {
        // SAFETY: the caller's promise.
        unsafe { Self::atomic_add(p, value) };
    }

    /// Adds at `p` in shared memory.
    ///
    /// # Safety
    /// As for [`AtomicAdd::atomic_add`], but that `p` points to the block's shared memory.
    #[inline]
    unsafe fn atomic_accumulate_shared(p: *mut Self, value: Self) {
        // SAFETY: the caller's promise; a host has one kind of memory.
        unsafe { Self::atomic_add(p, value) };
    }
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("kernel parameters hold 64-bit pointers and lengths: build for a 64-bit host");
