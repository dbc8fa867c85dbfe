//! The CUDA driver API without a CUDA installation.
//!
//! A program that links this crate finds the driver's functions (`cuInit`, `cuLaunchKernel`, ..) here at link time, and
//! each of them finds the real one in `libcuda.so.1` at its first call. So one binary runs on machines with and without
//! an NVIDIA driver: without one, every call returns `CUDA_ERROR_NO_DEVICE`.
//!
//! `cust` needs nothing else to build: see the README for what takes the place of the import library it asks for. A
//! crate that uses `cust` must mention this one (`use cuda_loader as _;` is enough), or the linker will not see it.

mod driver;
mod forward;
mod symbols;
mod text;

pub use libloading::{self, Library};

use driver::{CuResult, NO_DEVICE, SUCCESS};
use std::error::Error as _;
use std::ffi::c_int;
use std::fmt;

/// Opens a library for the rest of the process: the driver, and what builds on it, does not survive being unloaded.
///
/// # Errors
///
/// The dynamic loader's reason.
///
/// # Safety
///
/// The library's initialisers run, and must be fit to.
pub unsafe fn open(name: &str) -> Result<&'static Library, String> {
    // SAFETY: the caller vouches for the initialisers.
    match unsafe { Library::new(name) } {
        Ok(library) => Ok(Box::leak(Box::new(library))),
        // What the dynamic loader says is behind the error.
        Err(error) => Err(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
    }
}

/// The newest CUDA version that the installed driver can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion {
    /// 12 of 12.4.
    pub major: u32,
    /// 4 of 12.4.
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl DriverVersion {
    /// From `cuDriverGetVersion`, which writes 12.4 as 12040.
    fn from_number(number: c_int) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|&n| n > 0)?;
        Some(Self { major: number / 1000, minor: number % 1000 / 10 })
    }
}

/// Version of the driver; `None` without a driver. Needs no device.
pub fn driver_version() -> Option<DriverVersion> {
    let mut number: c_int = 0;
    // SAFETY: the function writes one int.
    let status = unsafe { symbols::cuDriverGetVersion((&raw mut number).cast()) };
    if status == SUCCESS { DriverVersion::from_number(number) } else { None }
}

/// Whether kernels can run here: the driver library opens, initialises, and sees at least one device.
///
/// # Errors
///
/// In plain words what is missing, fit to be shown after "no GPU: ".
pub fn available() -> Result<(), String> {
    driver::library().map_err(no_library)?;
    // SAFETY: zero is the only flag value there is.
    let mut status = unsafe { symbols::cuInit(0) };
    let mut count: c_int = 0;
    if status == SUCCESS {
        // SAFETY: the function writes one int.
        status = unsafe { symbols::cuDeviceGetCount((&raw mut count).cast()) };
    }
    judge(driver_version(), status, count)
}

fn no_library(reason: &str) -> String {
    format!("no NVIDIA driver: {} could not be opened ({reason})", driver::LIBRARY)
}

/// The verdict of [`available`] from the driver's answers: its version, the status of starting it and counting its
/// devices, and their number.
fn judge(version: Option<DriverVersion>, status: CuResult, count: c_int) -> Result<(), String> {
    let driver = match version {
        Some(version) => format!("the NVIDIA driver (CUDA {version})"),
        None => "the NVIDIA driver".to_owned(),
    };
    match status {
        SUCCESS if count > 0 => Ok(()),
        SUCCESS | NO_DEVICE => Err(format!("{driver} is installed but sees no device")),
        code => Err(format!("{driver} is installed but does not start: {}", text::error_text(code))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA_12_4: Option<DriverVersion> = Some(DriverVersion { major: 12, minor: 4 });

    #[test]
    fn version_numbers_are_read_as_cuda_writes_them() {
        assert_eq!(DriverVersion::from_number(12040), CUDA_12_4);
        assert_eq!(DriverVersion::from_number(13000).map(|v| v.to_string()).as_deref(), Some("13.0"));
        assert_eq!(DriverVersion::from_number(0), None);
        assert_eq!(DriverVersion::from_number(-1), None);
    }

    #[test]
    fn the_verdict_names_what_is_missing() {
        assert_eq!(judge(CUDA_12_4, SUCCESS, 1), Ok(()));
        let no_device = judge(CUDA_12_4, SUCCESS, 0).unwrap_err();
        assert_eq!(no_device, "the NVIDIA driver (CUDA 12.4) is installed but sees no device");
        assert_eq!(judge(CUDA_12_4, NO_DEVICE, 0).unwrap_err(), no_device);
        let broken = judge(None, 999, 0).unwrap_err();
        assert!(broken.starts_with("the NVIDIA driver is installed but does not start: "), "{broken}");
        assert!(no_library("no such file").contains("libcuda.so.1"));
    }

    #[test]
    fn availability_and_version_agree() {
        match available() {
            Ok(()) => assert!(driver_version().is_some()),
            Err(reason) => assert!(reason.contains("NVIDIA driver"), "{reason}"),
        }
    }
}
