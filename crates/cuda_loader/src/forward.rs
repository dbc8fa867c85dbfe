//! `forward!`: turns a table of driver functions into exported symbols of the same names.

/// Status of a driver call, as in `cuda.h`.
pub type CuResult = u32;

pub const SUCCESS: CuResult = 0;
pub const NO_DEVICE: CuResult = 100;
pub const NOT_SUPPORTED: CuResult = 801;
const UNKNOWN: CuResult = 999;

/// Ranges of the status codes in `cust_raw` 0.11, which reads them into a Rust `enum`: any other value there would be
/// undefined behaviour, and newer drivers do have others.
const KNOWN: &[std::ops::RangeInclusive<CuResult>] = &[
    0..=8,
    34..=34,
    100..=102,
    200..=202,
    205..=224,
    300..=304,
    400..=401,
    500..=500,
    600..=600,
    700..=705,
    708..=720,
    800..=809,
    900..=911,
    999..=999,
];

/// The status as the bindings can represent it: a code that they do not know becomes `CUDA_ERROR_UNKNOWN`.
pub fn representable(code: CuResult) -> CuResult {
    if KNOWN.iter().any(|range| range.contains(&code)) { code } else { UNKNOWN }
}

/// Exports `name(arguments)` for each line, forwarding to the driver's function of that name. The address is looked up
/// at the first call. Without a driver the call returns `CUDA_ERROR_NO_DEVICE`; where the driver has no such function,
/// `CUDA_ERROR_NOT_SUPPORTED`.
macro_rules! forward {
    ($($name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {$(
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::forward::CuResult {
            type Function = unsafe extern "C" fn($($ty),*) -> $crate::forward::CuResult;
            static FUNCTION: std::sync::OnceLock<Result<Function, $crate::forward::CuResult>> = std::sync::OnceLock::new();
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
