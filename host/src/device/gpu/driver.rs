//! What the CUDA driver answers, as results.

use super::DeviceMemory;
use crate::result::{Error, Result};
use cuda_loader::Library;
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

/// What is found in a CUDA library: in the file that an environment variable names, or else under the first of some names that
/// opens.
pub(super) fn load<F>(
    variable: &str,
    names: &[&str],
    of: fn(&'static Library) -> Result<F, String>,
) -> Result<F, String> {
    let named = std::env::var(variable).ok();
    let mut why = String::new();
    for name in named.as_deref().map_or(names.to_vec(), |name| vec![name]) {
        // SAFETY: the initialisers of a CUDA library.
        match unsafe { cuda_loader::open(name) } {
            Ok(library) => return of(library).map_err(|why| format!("{name}: {why}")),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

/// Where memory begins, as the driver has it.
pub(super) fn device_address(memory: &DeviceMemory) -> sys::CUdeviceptr {
    memory.address() as sys::CUdeviceptr
}
