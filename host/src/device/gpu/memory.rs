//! Arrays' memory on a GPU, from the driver's pool: to make or drop one waits for nothing, and takes its turn in the
//! stream.
//!
//! Memory of its own for each array (`cuMemAlloc`) stops the device at every release; it is for devices that have no
//! pool, as some virtual ones have not.

use super::DeviceMemory;
use super::driver::{check, failure};
use crate::result::Result;
use cust::device::Device;
use cust::memory::mem_get_info;
use cust::stream::Stream;
use cust::sys;
use std::rc::Rc;

struct Allocation {
    address: sys::CUdeviceptr,
    /// The stream in whose order that is done, if it is from a pool.
    stream: Option<Rc<Stream>>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `Memory::allocate` made it, and nobody else has it. A failure leaves nothing to be done.
        unsafe {
            match &self.stream {
                Some(stream) => sys::cuMemFreeAsync(self.address, stream.as_inner()),
                None => sys::cuMemFree_v2(self.address),
            }
        };
    }
}

/// The memory of a GPU.
pub(super) struct Memory {
    /// The device's own pool, if it has one.
    pool: Option<sys::CUmemoryPool>,
    stream: Rc<Stream>,
}

impl Memory {
    /// That of a device, used in the order of a stream. Memory that is dropped is kept for the arrays to come.
    pub(super) fn new(device: Device, stream: &Rc<Stream>) -> Result<Self> {
        let (mut pool, mut keep) = (std::ptr::null_mut(), u64::MAX);
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the device is open; the attribute is a number of 64 bits.
        unsafe {
            let found = sys::cuDeviceGetDefaultMemPool(&raw mut pool, device.as_raw());
            if found == sys::cudaError_enum::CUDA_ERROR_NOT_SUPPORTED {
                return Ok(Memory { pool: None, stream: stream.clone() });
            }
            check(found, "name its pool of memory")?;
            check(sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut keep).cast()), "keep memory")?;
        }
        Ok(Memory { pool: Some(pool), stream: stream.clone() })
    }

    /// This many bytes, or `None` if there is no room for them. They are whatever is there.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Option<DeviceMemory>> {
        let (at_least, mut address) = (bytes.max(1), 0);
        // SAFETY: the stream lives; what is made is dropped with the array.
        let mut allocate = || unsafe {
            match self.pool {
                Some(_) => sys::cuMemAllocAsync(&raw mut address, at_least, self.stream.as_inner()),
                None => sys::cuMemAlloc_v2(&raw mut address, at_least),
            }
        };
        let mut result = allocate();
        if result == sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY
            && let Some(pool) = self.pool
        {
            // What is kept may be in pieces that are too small.
            self.stream.synchronize().map_err(|e| failure(e, "finish its work"))?;
            // SAFETY: the pool is the device's own.
            check(unsafe { sys::cuMemPoolTrimTo(pool, 0) }, "release memory")?;
            result = allocate();
        }
        if result == sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY {
            return Ok(None);
        }
        check(result, "allocate memory")?;
        let stream = self.pool.map(|_| self.stream.clone());
        // SAFETY: just made, for nobody else, and freed when the allocation is dropped. Drivers align for every type.
        Ok(Some(unsafe { DeviceMemory::new(address as *mut u8, bytes, Allocation { address, stream }) }))
    }

    /// Bytes that can be had, those that are kept included; `None` if the driver does not say.
    pub(super) fn free(&self) -> Option<u64> {
        let (free, _) = mem_get_info().ok()?;
        let Some(pool) = self.pool else { return Some(free as u64) };
        let attribute = |attribute| {
            let mut bytes = 0_u64;
            // SAFETY: the pool is the device's own; the attribute is a number of 64 bits.
            let result = unsafe { sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut bytes).cast()) };
            (result == sys::cudaError_enum::CUDA_SUCCESS).then_some(bytes)
        };
        let reserved = attribute(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        let used = attribute(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        Some(free as u64 + reserved.saturating_sub(used))
    }
}
