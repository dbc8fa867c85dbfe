//! Memory shared by the threads of a block.
//!
//! It starts undefined on a device and as 0xFF bytes (NaN, `u32::MAX`) on the emulator, fresh for each block.

use crate::place::Place;
pub use crate::place::SharedValue;
#[doc(hidden)]
pub use crate::target::static_shared;
use crate::{DeviceCopy, View, target};
use core::marker::PhantomData;

/// A static array in shared memory: `shared_array![f64; 256]` is a `*mut f64` to room for 256 values, the same for all
/// threads of the block. Each place in the source that writes the macro has an array of its own, for each type and
/// length; but a place is known by its line and column, and those of a kernel with a list that a macro holds
/// (`E = for_each_element!`) are all the attribute's: there, take one array and divide it.
///
/// The element type may be a generic parameter, the length any constant that depends on no generic type.
#[macro_export]
macro_rules! shared_array {
    ($type:ty; $len:expr) => {
        $crate::shared::static_shared::<
            [$type; $len],
            { $crate::shared::call_site(::core::module_path!(), ::core::line!(), ::core::column!()) },
        >()
        .cast::<$type>()
    };
}

/// The dynamic shared memory given at launch, as a pointer to `T`; aligned to 16 bytes.
///
/// Every call of a block returns the same address, whatever `T`.
#[inline(always)]
#[track_caller]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const { assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes") }
    target::dynamic_shared().cast()
}

/// A place in shared memory. On a device it is an address of shared memory alone, of 32 bits: loads through pointers find out
/// first what memory they lead to.
pub struct Shared<T> {
    place: Place,
    of: PhantomData<*mut T>,
}

impl<T> Clone for Shared<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    /// The place that a pointer leads to.
    ///
    /// # Safety
    /// It leads to shared memory; on a host to any.
    #[inline(always)]
    pub unsafe fn new(pointer: *mut T) -> Self {
        // SAFETY: the caller's promise.
        Shared { place: unsafe { target::place(pointer.cast()) }, of: PhantomData }
    }

    /// The place so many values further on.
    #[inline(always)]
    pub fn offset(self, n: usize) -> Self {
        Shared { place: target::advance(self.place, n * size_of::<T>()), of: PhantomData }
    }

    /// The same place for values of another type.
    #[inline(always)]
    pub fn cast<U>(self) -> Shared<U> {
        Shared { place: self.place, of: PhantomData }
    }
}

impl<T: SharedValue> Shared<T> {
    /// The value there.
    ///
    /// # Safety
    /// The place is in the block's memory, has been written, and nobody writes it at the same time.
    #[inline(always)]
    pub unsafe fn get(self) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::get_shared(self.place) }
    }

    /// Writes the value there.
    ///
    /// # Safety
    /// The place is in the block's memory, and nobody else uses it at the same time.
    #[inline(always)]
    pub unsafe fn put(self, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::put_shared(self.place, value) }
    }

    /// The three values from there on.
    ///
    /// # Safety
    /// As for [`Shared::get`].
    #[inline(always)]
    pub unsafe fn get3(self) -> [T; 3] {
        // SAFETY: the caller's promise.
        unsafe { T::get3_shared(self.place) }
    }

    /// Writes three values from there on.
    ///
    /// # Safety
    /// As for [`Shared::put`].
    #[inline(always)]
    pub unsafe fn put3(self, values: [T; 3]) {
        // SAFETY: the caller's promise.
        unsafe { T::put3_shared(self.place, values) }
    }
}

/// Starts to copy item `i` of an array to shared memory, past the registers. It is there after [`wait_copies`] of the same
/// thread, and for the others after a barrier behind that. Until then nobody may use the place.
///
/// # Safety
/// As for [`View::at`], and the place is aligned like the item. Items have 4, 8 or 16 bytes.
#[inline(always)]
#[track_caller]
pub unsafe fn copy_async<T: DeviceCopy>(from: View<T>, i: usize, to: Shared<T>) {
    const { assert!(matches!(size_of::<T>(), 4 | 8 | 16), "4, 8 or 16 bytes are copied at a time") }
    // SAFETY: the caller's promise.
    unsafe { target::copy_async(to.place, from.element(i).cast(), size_of::<T>()) }
}

/// Waits for the copies that this thread has started.
#[inline(always)]
#[track_caller]
pub fn wait_copies() {
    target::wait_copies();
}

/// A number for a place in the source: FNV-1a over the module's path, line and column. The module's path is the same in
/// every checkout, where a file's would not be.
#[doc(hidden)]
pub const fn call_site(module: &str, line: u32, column: u32) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bytes = module.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    hash = (hash ^ line as u64).wrapping_mul(0x100_0000_01b3);
    (hash ^ column as u64).wrapping_mul(0x100_0000_01b3)
}
