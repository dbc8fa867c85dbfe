//! Which device to run on.

use super::{Emulated, Factors, GpuBackend};
#[cfg(not(feature = "cuda"))]
use crate::result::Error;
use crate::result::Result;
use std::str::FromStr;

/// A device as people ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The first NVIDIA GPU, or the CPU where there is none.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(u32),
    /// The GPU's kernels on the SIMT emulator.
    Emulate,
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None => match text {
                "auto" => Ok(Device::Auto),
                "cpu" => Ok(Device::Cpu),
                "cuda" => Ok(Device::Cuda(0)),
                "emulate" => Ok(Device::Emulate),
                _ => Err("expected auto, cpu, cuda, cuda:1 or emulate".into()),
            },
            Some(("cuda", index)) => {
                index.parse().map(Device::Cuda).map_err(|_| format!("`{index}` is not a device number"))
            }
            Some(_) => Err("expected auto, cpu, cuda, cuda:1 or emulate".into()),
        }
    }
}

impl Device {
    /// Replaces `Auto` by what it stands for on this machine.
    pub fn resolve(self) -> Device {
        match self {
            Device::Auto if has_gpu() => Device::Cuda(0),
            Device::Auto => Device::Cpu,
            device => device,
        }
    }

    /// Whether it can be opened, as far as that can be said without opening it; `Auto` always finds something.
    ///
    /// # Errors
    ///
    /// [`crate::result::Error::Device`] of a GPU that is not there, or cannot run the kernels.
    pub fn check(self) -> Result<()> {
        match self {
            Device::Cuda(index) => check_cuda(index),
            _ => Ok(()),
        }
    }
}

#[cfg(feature = "cuda")]
fn has_gpu() -> bool {
    super::gpu::unavailable().is_none()
}

#[cfg(not(feature = "cuda"))]
fn has_gpu() -> bool {
    false
}

/// Opens the emulator or a GPU: the first one where the device does not say which.
///
/// # Errors
///
/// [`crate::result::Error::Device`]
pub fn open_gpu(device: Device) -> Result<GpuBackend> {
    match device {
        Device::Emulate => GpuBackend::new(Emulated::default()),
        Device::Cuda(index) => open_cuda(index),
        Device::Cpu | Device::Auto => open_cuda(0),
    }
}

/// The direct solver of a device, as far as that can be said without opening it; see [`super::Backend::factors`].
pub fn factors(device: Device) -> Factors {
    match device.resolve() {
        Device::Cpu if cfg!(feature = "direct") => Factors::Sparse,
        #[cfg(feature = "cuda")]
        Device::Cuda(_) => super::gpu::factors(),
        _ => Factors::None,
    }
}

#[cfg(feature = "cuda")]
fn open_cuda(index: u32) -> Result<GpuBackend> {
    GpuBackend::new(super::gpu::Cuda::new(index)?)
}

#[cfg(feature = "cuda")]
fn check_cuda(index: u32) -> Result<()> {
    super::gpu::usable(index).map(drop)
}

#[cfg(not(feature = "cuda"))]
fn open_cuda(index: u32) -> Result<GpuBackend> {
    Err(without_cuda(index))
}

#[cfg(not(feature = "cuda"))]
fn check_cuda(index: u32) -> Result<()> {
    Err(without_cuda(index))
}

#[cfg(not(feature = "cuda"))]
fn without_cuda(index: u32) -> Error {
    Error::Device(format!("cuda:{index}: warpfem was built without its `cuda` feature"))
}

/// Evaluates `$body` with `$backend` naming an open backend of `$device`, in a function that returns [`Result`].
#[macro_export]
macro_rules! with_backend {
    ($device:expr, $backend:ident => $body:expr) => {
        match $crate::backend::Device::resolve($device) {
            $crate::backend::Device::Cpu => {
                let $backend = &$crate::backend::CpuBackend::default();
                $body
            }
            device => {
                let $backend = &$crate::backend::device::open_gpu(device)?;
                $body
            }
        }
    };
}
pub use with_backend;
