//! Arrays in global memory as kernel parameters: a pointer and a length.
//!
//! On the device an access costs its load or store and nothing else. On the host every access checks the index, so that
//! the emulator and the CPU back end find index errors; the panic names the index, the length and the caller's line.

use crate::DeviceCopy;
use core::ops::Range;

/// A read-only array of `len` values. Two words; pass it by value.
#[repr(C)]
#[derive(Debug)]
pub struct View<T> {
    ptr: *const T,
    len: usize,
}

/// A writable array of `len` values, shared by all threads: who writes which item is the kernel's affair.
#[repr(C)]
#[derive(Debug)]
pub struct ViewMut<T> {
    ptr: *mut T,
    len: usize,
}

macro_rules! view_basics {
    ($($view:ident)*) => {$(
        impl<T> Clone for $view<T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $view<T> {}
        // SAFETY: a view is an address; every access through it is unsafe and carries its own conditions.
        unsafe impl<T: DeviceCopy> Send for $view<T> {}
        // SAFETY: as above.
        unsafe impl<T: DeviceCopy> Sync for $view<T> {}
        impl<T> $view<T> {
            /// Number of items.
            #[inline(always)]
            pub const fn len(self) -> usize {
                self.len
            }
            /// True if there are no items.
            #[inline(always)]
            pub const fn is_empty(self) -> bool {
                self.len == 0
            }
            /// Some of the items.
            ///
            /// # Panics
            /// On a host for a range that is not in the array.
            #[inline(always)]
            #[track_caller]
            pub fn part(self, items: Range<usize>) -> Self {
                #[cfg(not(target_arch = "nvptx64"))]
                if items.start > items.end || items.end > self.len {
                    index_error(items.end, self.len);
                }
                Self { ptr: self.ptr.wrapping_add(items.start), len: items.end - items.start }
            }
        }
    )*};
}

view_basics!(View ViewMut);

impl<T: DeviceCopy> View<T> {
    /// A view of `len` values from `ptr` on, an address on the device that will use it.
    ///
    /// # Safety
    /// The values are initialized, and live and unmoved while kernels use the view.
    #[inline(always)]
    pub const unsafe fn new(ptr: *const T, len: usize) -> Self {
        Self { ptr, len }
    }

    /// A view of host memory, for the emulator and the CPU. The caller keeps `values` alive and unmoved while it is
    /// used.
    #[inline(always)]
    pub const fn from_slice(values: &[T]) -> Self {
        Self { ptr: values.as_ptr(), len: values.len() }
    }

    /// The address of the first item.
    #[inline(always)]
    pub const fn as_ptr(self) -> *const T {
        self.ptr
    }

    /// The same memory as values of another type, as many as there are whole ones.
    ///
    /// # Safety
    /// The memory holds values of that type, and is aligned for them.
    #[inline(always)]
    pub const unsafe fn reinterpret<U: DeviceCopy>(self) -> View<U> {
        View { ptr: self.ptr.cast(), len: self.len * size_of::<T>() / size_of::<U>() }
    }

    /// The address of item `i`, checked on the host.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn element(self, i: usize) -> *const T {
        check(i, self.len);
        self.ptr.wrapping_add(i)
    }

    /// Some items as a slice, on a host.
    ///
    /// # Safety
    /// They live as long as the slice is used, and nobody writes them in that time.
    ///
    /// # Panics
    /// For a range that is not in the array.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn slice<'a>(self, items: Range<usize>) -> &'a [T] {
        // SAFETY: the caller's promise, and that of who made the view.
        unsafe { &core::slice::from_raw_parts(self.ptr, self.len)[items] }
    }

    /// Item `i`, through the read-only cache.
    ///
    /// # Safety
    /// `i` is less than the length, and nobody writes the item during the launch.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn at(self, i: usize) -> T {
        check(i, self.len);
        // SAFETY: the caller's promise.
        unsafe { T::load(self.ptr.add(i)) }
    }

    /// Item `i`, which is used once: it is not kept in the first-level cache.
    ///
    /// # Safety
    /// As for [`View::at`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn stream(self, i: usize) -> T {
        check(i, self.len);
        // SAFETY: the caller's promise.
        unsafe { T::stream(self.ptr.add(i)) }
    }
}

impl<T: DeviceCopy> ViewMut<T> {
    /// A view of `len` values from `ptr` on, an address on the device that will use it.
    ///
    /// # Safety
    /// The values are initialized, and live, unmoved and used by nobody else while kernels use the view.
    #[inline(always)]
    pub const unsafe fn new(ptr: *mut T, len: usize) -> Self {
        Self { ptr, len }
    }

    /// A view of host memory, for the emulator and the CPU. The caller keeps `values` alive and unmoved while it is
    /// used.
    #[inline(always)]
    pub const fn from_slice(values: &mut [T]) -> Self {
        Self { ptr: values.as_mut_ptr(), len: values.len() }
    }

    /// The address of the first item.
    #[inline(always)]
    pub const fn as_mut_ptr(self) -> *mut T {
        self.ptr
    }

    /// The same array, read-only. Reads through it may be cached, so it must not be written in the same launch.
    #[inline(always)]
    pub const fn as_view(self) -> View<T> {
        View { ptr: self.ptr, len: self.len }
    }

    /// Item `i`.
    ///
    /// # Safety
    /// `i` is less than the length, and nobody writes the item at the same time.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn at(self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::get(self.element(i)) }
    }

    /// Writes item `i`.
    ///
    /// # Safety
    /// `i` is less than the length, and nobody reads or writes the item at the same time.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::put(self.element(i), value) }
    }

    /// Adds to item `i`: a load, an addition and a store, not an atomic.
    ///
    /// # Safety
    /// As for [`ViewMut::set`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add(self, i: usize, value: T)
    where
        T: core::ops::Add<Output = T>,
    {
        let p = self.element(i);
        // SAFETY: the caller's promise.
        unsafe { T::put(p, T::get(p) + value) }
    }

    /// The address of item `i`, checked on the host.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn element(self, i: usize) -> *mut T {
        check(i, self.len);
        self.ptr.wrapping_add(i)
    }
}

#[inline(always)]
#[track_caller]
fn check(i: usize, len: usize) {
    #[cfg(not(target_arch = "nvptx64"))]
    if i >= len {
        index_error(i, len);
    }
    #[cfg(target_arch = "nvptx64")]
    let _ = (i, len);
}

#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[inline(never)]
#[track_caller]
fn index_error(i: usize, len: usize) -> ! {
    panic!("index {i} is out of bounds of a view of length {len}")
}
