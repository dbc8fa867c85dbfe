//! Arrays in a device's memory.

use crate::backend::{Buffer, Plain};
use cuda_std::prelude::{View, ViewMut};
use std::any::Any;
use std::marker::PhantomData;

/// Bytes in a device's memory, given back when dropped.
pub struct DeviceMemory {
    address: *mut u8,
    bytes: usize,
    /// What gives them back when it is dropped.
    _owner: Box<dyn Any>,
}

impl DeviceMemory {
    /// The bytes from an address on, which is aligned for every plain type, and what gives them back when dropped.
    ///
    /// # Safety
    /// The bytes stay there while the owner lives, and nobody else uses them.
    pub unsafe fn new(address: *mut u8, bytes: usize, owner: impl Any) -> Self {
        DeviceMemory { address, bytes, _owner: Box::new(owner) }
    }

    /// Where they begin, in the device's own address space.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// How many.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// An array in a device's memory.
pub struct DeviceBuffer<T> {
    memory: DeviceMemory,
    marker: PhantomData<T>,
}

impl<T: Plain> DeviceBuffer<T> {
    /// The array that fills some memory, whose bytes are values of `T`, as all of a plain type are.
    pub(super) fn new(memory: DeviceMemory) -> Self {
        DeviceBuffer { memory, marker: PhantomData }
    }

    pub(super) fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    pub(super) fn memory_mut(&mut self) -> &mut DeviceMemory {
        &mut self.memory
    }
}

impl<T: Plain> Buffer<T> for DeviceBuffer<T> {
    fn len(&self) -> usize {
        self.memory.bytes / size_of::<T>()
    }

    fn view(&self) -> View<T> {
        // SAFETY: for kernels alone, on the device whose address it is; it holds so many entries.
        unsafe { View::new(self.memory.address.cast(), self.len()) }
    }

    fn view_mut(&mut self) -> ViewMut<T> {
        // SAFETY: as above, and the buffer is borrowed uniquely.
        unsafe { ViewMut::new(self.memory.address.cast(), self.len()) }
    }
}
