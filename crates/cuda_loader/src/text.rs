//! `cuGetErrorString` and `cuGetErrorName`: forwarded like the rest, but answered here when there is no driver.
//!
//! `cust` prints its errors with the first of them, so without this the error "no device" could not be printed on
//! the very machines where it occurs.

use crate::driver::{CuResult, NO_DEVICE, NOT_SUPPORTED, SUCCESS, function};
use crate::forward::representable;
use std::ffi::{CStr, c_char};

type Text = unsafe extern "C" fn(CuResult, *mut *const c_char) -> CuResult;

/// Asks the driver's `name` for the text of `code`; without a driver the text is `absent`.
///
/// # Safety
///
/// `text` must be valid for writing a pointer, or null.
unsafe fn answer(name: &[u8], absent: &'static CStr, code: CuResult, text: *mut *const c_char) -> CuResult {
    // SAFETY: `Text` is what `cuda.h` declares for both functions.
    if let Ok(function) = unsafe { function::<Text>(name) } {
        // SAFETY: the caller keeps the function's contract.
        let status = representable(unsafe { function(code, text) });
        if status == SUCCESS {
            return SUCCESS;
        }
    }
    if !text.is_null() {
        // SAFETY: not null, and valid for writing by the caller's contract.
        unsafe { *text = absent.as_ptr() };
    }
    SUCCESS
}

/// Name and text of what can occur without a driver.
fn absent(code: CuResult) -> (&'static CStr, &'static CStr) {
    match code {
        NO_DEVICE => (c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected"),
        NOT_SUPPORTED => (c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported by the NVIDIA driver"),
        _ => (c"CUDA_ERROR_UNKNOWN", c"an error that the NVIDIA driver has no text for"),
    }
}

#[allow(non_snake_case)]
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(code: CuResult, text: *mut *const c_char) -> CuResult {
    // SAFETY: the caller keeps the contract of this function.
    unsafe { answer(b"cuGetErrorString\0", absent(code).1, code, text) }
}

#[allow(non_snake_case)]
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(code: CuResult, text: *mut *const c_char) -> CuResult {
    // SAFETY: the caller keeps the contract of this function.
    unsafe { answer(b"cuGetErrorName\0", absent(code).0, code, text) }
}

/// The driver's words for a status.
pub fn error_text(code: CuResult) -> String {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: `text` is valid for writing.
    unsafe { cuGetErrorString(code, &mut text) };
    if text.is_null() {
        return format!("CUDA error {code}");
    }
    // SAFETY: the driver's texts and ours are static strings that end in a zero byte.
    let words = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    format!("{words} (CUDA error {code})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_device_has_a_text_with_or_without_a_driver() {
        assert!(error_text(NO_DEVICE).contains("no CUDA-capable device"));
    }

    #[test]
    fn a_code_nobody_knows_still_has_a_text() {
        assert!(error_text(12_345).ends_with("(CUDA error 12345)"));
    }
}
