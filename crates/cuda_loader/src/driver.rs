//! The driver library of the machine, opened once.

use crate::open;
use libloading::Library;
use std::sync::OnceLock;

/// Status of a driver call, as in `cuda.h`.
pub type CuResult = u32;

pub const SUCCESS: CuResult = 0;
pub const NO_DEVICE: CuResult = 100;
pub const NOT_SUPPORTED: CuResult = 801;
pub const UNKNOWN: CuResult = 999;

/// The name the driver has on every Linux, WSL included. `libcuda.so`, without the number, may be the toolkit's stub.
pub const LIBRARY: &str = "libcuda.so.1";

/// The driver library, or the dynamic loader's reason for not opening it.
pub fn library() -> Result<&'static Library, &'static str> {
    static DRIVER: OnceLock<Result<&Library, String>> = OnceLock::new();
    // SAFETY: the driver's initialisers are those that every CUDA program runs at its start.
    DRIVER.get_or_init(|| unsafe { open(LIBRARY) }).as_ref().copied().map_err(String::as_str)
}

/// The driver's function `name` (ending in a zero byte), or the status to return in its place: no device without a
/// driver, not supported where this driver is too old (or too new) to have the function.
///
/// # Safety
///
/// `F` must be the type of a pointer to that function.
pub unsafe fn function<F: Copy>(name: &[u8]) -> Result<F, CuResult> {
    let library = library().map_err(|_| NO_DEVICE)?;
    // SAFETY: the caller vouches for `F`; the library stays open as long as the process.
    unsafe { library.get::<F>(name) }.map(|symbol| *symbol).map_err(|_| NOT_SUPPORTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_function_is_a_status() {
        let expected = if library().is_ok() { NOT_SUPPORTED } else { NO_DEVICE };
        // SAFETY: no such function exists, so none is ever called with this type.
        let found = unsafe { function::<unsafe extern "C" fn() -> CuResult>(b"cuNoSuchFunction\0") };
        assert_eq!(found.err(), Some(expected));
    }
}
