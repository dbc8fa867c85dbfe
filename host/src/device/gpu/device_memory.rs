//! Bytes in a device's memory.

use std::any::Any;

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
