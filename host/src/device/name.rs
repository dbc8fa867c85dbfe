//! Which device to run on, as people ask for it.

use super::{Device, Emulated, Factors};
#[cfg(not(feature = "cuda"))]
use crate::result::Error;
use crate::result::Result;
use std::str::FromStr;

/// A device by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceName {
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

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceName::Auto),
            "cpu" => Ok(DeviceName::Cpu),
            "cuda" => Ok(DeviceName::Cuda(0)),
            "emulate" => Ok(DeviceName::Emulate),
            _ => {
                let index = text.strip_prefix("cuda:").ok_or("expected auto, cpu, cuda, cuda:1 or emulate")?;
                index.parse().map(DeviceName::Cuda).map_err(|_| format!("`{index}` is not a device number"))
            }
        }
    }
}

impl DeviceName {
    /// Replaces `Auto` by what it stands for on this machine.
    pub fn resolve(self) -> DeviceName {
        match self {
            DeviceName::Auto if has_gpu() => DeviceName::Cuda(0),
            DeviceName::Auto => DeviceName::Cpu,
            device => device,
        }
    }

    /// Opens it.
    pub fn open(self) -> Result<Device> {
        match self.resolve() {
            DeviceName::Cpu => Ok(Device::Cpu),
            DeviceName::Emulate => Ok(Device::Gpu(Box::new(Emulated::default()))),
            DeviceName::Cuda(index) => open_cuda(index),
            DeviceName::Auto => open_cuda(0),
        }
    }

    /// So many devices from this one on; where there are fewer they take turns.
    pub fn several(self, number: usize) -> Vec<DeviceName> {
        let of = |k: u32| match self.resolve() {
            DeviceName::Cuda(first) => DeviceName::Cuda((first + k) % n_gpus().max(1)),
            device => device,
        };
        if number == 1 { vec![self] } else { (0..number as u32).map(of).collect() }
    }

    /// Whether it can be opened, as far as that can be said without opening it; `Auto` always finds something.
    ///
    /// # Errors
    ///
    /// [`crate::result::Error::Device`] of a GPU that is not there, or cannot run the kernels.
    pub fn check(self) -> Result<()> {
        match self {
            DeviceName::Cuda(index) => check_cuda(index),
            _ => Ok(()),
        }
    }
}

fn n_gpus() -> u32 {
    cfg_select! {
        feature = "cuda" => super::gpu::devices().map_or(0, |devices| devices.len() as u32),
        _ => 0,
    }
}

fn has_gpu() -> bool {
    cfg_select! {
        feature = "cuda" => super::gpu::unavailable().is_none(),
        _ => false,
    }
}

/// The direct solver of a device, as far as that can be said without opening it; see [`super::Device::factors`].
pub fn factors(device: DeviceName) -> Factors {
    match device.resolve() {
        DeviceName::Cpu if cfg!(feature = "direct") => Factors::Sparse,
        #[cfg(feature = "cuda")]
        DeviceName::Cuda(_) => super::gpu::factors(),
        _ => Factors::None,
    }
}

fn open_cuda(index: u32) -> Result<Device> {
    cfg_select! {
        feature = "cuda" => Ok(Device::Gpu(Box::new(super::gpu::Cuda::new(index)?))),
        _ => Err(without_cuda(index)),
    }
}

fn check_cuda(index: u32) -> Result<()> {
    cfg_select! {
        feature = "cuda" => super::gpu::usable(index).map(drop),
        _ => Err(without_cuda(index)),
    }
}

#[cfg(not(feature = "cuda"))]
fn without_cuda(index: u32) -> Error {
    Error::Device(format!("cuda:{index}: warpfem was built without its `cuda` feature"))
}
