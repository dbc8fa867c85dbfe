//! Places in shared memory, and the values that are loaded from and stored to them.

use crate::DeviceCopy;

/// A place in shared memory: its address there.
#[cfg(target_arch = "nvptx64")]
pub type Place = u32;

/// A place in shared memory, or in that of a host's thread.
#[cfg(not(target_arch = "nvptx64"))]
pub type Place = *mut u8;

/// A value that [`Shared`](crate::shared::Shared) loads and stores.
pub trait SharedValue: DeviceCopy {
    /// See [`Shared::get`](crate::shared::Shared::get).
    ///
    /// # Safety
    /// As there.
    unsafe fn get_shared(place: Place) -> Self;
    /// See [`Shared::put`](crate::shared::Shared::put).
    ///
    /// # Safety
    /// As there.
    unsafe fn put_shared(place: Place, value: Self);
    /// See [`Shared::get3`](crate::shared::Shared::get3).
    ///
    /// # Safety
    /// As there.
    unsafe fn get3_shared(place: Place) -> [Self; 3];
    /// See [`Shared::put3`](crate::shared::Shared::put3).
    ///
    /// # Safety
    /// As there.
    unsafe fn put3_shared(place: Place, values: [Self; 3]);
}
