//! `forward!`: turns a table of driver functions into exported symbols of the same names.

use crate::driver::{CuResult, UNKNOWN};

/// The status as the bindings can represent it: a code that they do not know becomes `CUDA_ERROR_UNKNOWN`. `cust_raw`
/// 0.11 reads these into a Rust `enum`: any other value there would be undefined behaviour, and newer drivers do have
/// others.
pub fn representable(code: CuResult) -> CuResult {
    match code {
        0..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400 | 401 | 500 | 600 => code,
        700..=705 | 708..=720 | 800..=809 | 900..=911 | 999 => code,
        _ => UNKNOWN,
    }
}

/// Exports `name(arguments)` for each line, forwarding to the driver's function of that name. The address is looked up
/// at the first call. Without a driver the call returns `CUDA_ERROR_NO_DEVICE`; where the driver has no such function,
/// `CUDA_ERROR_NOT_SUPPORTED`.
macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {$(
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::driver::CuResult {
            type Function = unsafe extern "C" fn($($ty),*) -> $crate::driver::CuResult;
            static FUNCTION: std::sync::OnceLock<Result<Function, $crate::driver::CuResult>> = std::sync::OnceLock::new();
            let found = FUNCTION.get_or_init(|| {
                // SAFETY: `Function` has the parameters that `cuda.h` declares for this name.
                unsafe { $crate::driver::function::<Function>(concat!(stringify!($name), "\0").as_bytes()) }
            });
            match found {
                // SAFETY: the caller keeps the contract of the driver's function, whose arguments these are.
                Ok(function) => $crate::forward::representable(unsafe { function($($arg),*) }),
                Err(code) => *code,
            }
        }
    )*};
}
pub(crate) use forward;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{NO_DEVICE, NOT_SUPPORTED, SUCCESS};

    #[test]
    fn codes_that_the_bindings_lack_become_unknown() {
        for known in [SUCCESS, 1, NO_DEVICE, 222, 700, NOT_SUPPORTED, UNKNOWN] {
            assert_eq!(representable(known), known);
        }
        for new in [36, 107, 226, 915, 1000, u32::MAX] {
            assert_eq!(representable(new), UNKNOWN);
        }
    }
}
