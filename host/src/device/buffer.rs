//! Arrays on a device.

use super::gpu::DeviceMemory;
use cuda_std::prelude::{DeviceCopy, View, ViewMut};
use std::marker::PhantomData;

/// A plain value that can be copied to a device bit by bit.
pub trait Plain: DeviceCopy + bytemuck::Pod + Send + Sync {}
impl<T: DeviceCopy + bytemuck::Pod + Send + Sync> Plain for T {}

/// An array on a device.
pub enum Buffer<T> {
    /// In the host's own memory.
    Host(Vec<T>),
    /// In the memory of a GPU, whose bytes are values of `T`, as all of a plain type are; or of the emulated one.
    Gpu(DeviceMemory, PhantomData<T>),
}

/// Somebody has mixed up devices: a bug.
const ELSEWHERE: &str = "the array is on another device";

impl<T: Plain> Buffer<T> {
    pub(super) fn on_gpu(memory: DeviceMemory) -> Self {
        Buffer::Gpu(memory, PhantomData)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Buffer::Host(entries) => entries.len(),
            Buffer::Gpu(memory, _) => memory.bytes() / size_of::<T>(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of its entries.
    pub fn bytes(&self) -> u64 {
        (self.len() * size_of::<T>()) as u64
    }

    /// How kernels read it. The view is valid while the buffer lives.
    pub fn view(&self) -> View<T> {
        match self {
            Buffer::Host(entries) => View::from_slice(entries),
            // SAFETY: for kernels alone, on the device whose address it is; it holds so many entries.
            Buffer::Gpu(memory, _) => unsafe { View::new(memory.address().cast(), self.len()) },
        }
    }

    /// How kernels write it. The view is valid while the buffer lives.
    pub fn view_mut(&mut self) -> ViewMut<T> {
        let n = self.len();
        match self {
            Buffer::Host(entries) => ViewMut::from_slice(entries),
            // SAFETY: as above, and the buffer is borrowed uniquely.
            Buffer::Gpu(memory, _) => unsafe { ViewMut::new(memory.address().cast(), n) },
        }
    }

    /// The entries of an array of the CPU.
    ///
    /// # Panics
    ///
    /// Of a GPU's.
    pub fn host(&self) -> &[T] {
        match self {
            Buffer::Host(entries) => entries,
            Buffer::Gpu(..) => panic!("{ELSEWHERE}"),
        }
    }

    /// As [`Buffer::host`], to be changed.
    pub fn host_mut(&mut self) -> &mut [T] {
        match self {
            Buffer::Host(entries) => entries,
            Buffer::Gpu(..) => panic!("{ELSEWHERE}"),
        }
    }

    pub(crate) fn memory(&self) -> &DeviceMemory {
        match self {
            Buffer::Gpu(memory, _) => memory,
            Buffer::Host(_) => panic!("{ELSEWHERE}"),
        }
    }

    pub(crate) fn memory_mut(&mut self) -> &mut DeviceMemory {
        match self {
            Buffer::Gpu(memory, _) => memory,
            Buffer::Host(_) => panic!("{ELSEWHERE}"),
        }
    }
}
