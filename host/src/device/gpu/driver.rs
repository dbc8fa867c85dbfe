//! What the CUDA driver answers, as results.

use super::DeviceMemory;
use crate::result::{Error, Result};
use cust::error::CudaError;
use cust::sys;

/// An error of the driver while it was doing something.
pub(super) fn failure(error: CudaError, doing: &str) -> Error {
    Error::Device(format!("the GPU failed to {doing}: {error:?}"))
}

/// The `CudaError` of a raw driver call.
pub(super) fn check(result: sys::CUresult, doing: &str) -> Result<()> {
    match result {
        sys::cudaError_enum::CUDA_SUCCESS => Ok(()),
        code => Err(Error::Device(format!("the GPU failed to {doing}: {code:?}"))),
    }
}

/// Where memory begins, as the driver has it.
pub(super) fn device_address(memory: &DeviceMemory) -> sys::CUdeviceptr {
    memory.address() as sys::CUdeviceptr
}
