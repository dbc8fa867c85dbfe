//! GPUs: kernels are launched through a [`Launcher`], on an NVIDIA GPU or on the SIMT emulator. Both see the same
//! launches with the same parameters.

#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
mod cudss;
#[cfg(feature = "cuda")]
mod driver;
mod emulated;
#[cfg(feature = "cuda")]
mod graph;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod nccl;
#[cfg(feature = "cuda")]
mod ptx;
pub(super) mod sort;
#[cfg(feature = "cuda")]
mod staging;

#[cfg(feature = "cuda")]
pub use cuda::{Cuda, DeviceInfo, devices, factors, unavailable, usable};
pub use emulated::Emulated;

use super::{Factorised, Factors, Grid};
use crate::result::{Error, Result};
use cuda_std::launch::Kernel;
use std::any::Any;

/// Bytes in a device's memory, given back when dropped.
pub struct DeviceMemory {
    address: *mut u8,
    bytes: usize,
    /// What gives them back when it is dropped.
    _owner: Box<dyn Any>,
}

impl DeviceMemory {
    /// The bytes from an address on, which is aligned for every plain type, and what gives them back when dropped.
    ///
    /// # Safety
    /// The bytes stay there while the owner lives, and nobody else uses them.
    pub unsafe fn new(address: *mut u8, bytes: usize, owner: impl Any) -> Self {
        DeviceMemory { address, bytes, _owner: Box::new(owner) }
    }

    /// Where they begin, in the device's own address space.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// How many.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Memory and launches of one GPU. It knows bytes, not types.
pub trait Launcher {
    /// What people call this device.
    fn name(&self) -> String;
    /// Bytes of memory that can be had; `None` where there is no saying.
    fn free_memory(&self) -> Option<u64>;
    /// Copies bytes to the device.
    fn upload(&self, data: &[u8]) -> Result<DeviceMemory>;
    /// Memory with all bits 0.
    fn zeros(&self, bytes: usize) -> Result<DeviceMemory>;
    /// Copies the bytes from `first` on back; waits.
    fn download(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()>;
    /// `to = from`, of the same length.
    fn copy(&self, from: &DeviceMemory, to: &mut DeviceMemory) -> Result<()>;
    /// Starts a kernel on a one-dimensional grid.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn launch(&self, grid: Grid, kernel: &dyn Kernel) -> Result<()>;
    /// Starts a kernel whose blocks wait for one another: all of them run at the same time. False, with nothing
    /// started, where the device cannot do that.
    ///
    /// # Safety
    /// The kernel's own contract.
    unsafe fn launch_cooperative(&self, grid: Grid, kernel: &dyn Kernel) -> Result<bool>;
    /// As many blocks of this many threads of a kernel as can run at the same time, with the dynamic shared memory that
    /// each can have without there being fewer.
    fn resident_grid(&self, threads: usize, kernel: &dyn Kernel) -> Result<Grid>;
    /// Notes the launches and copies that `work` makes instead of making them; `None` where that gains nothing. The
    /// arrays that it uses live as long as the recording is replayed.
    fn record(&self, _work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Box<dyn Recording>>> {
        Ok(None)
    }
    /// See [`super::Device::factors`].
    fn factors(&self) -> Factors {
        Factors::None
    }
    /// See [`super::Device::lacks_factors`].
    fn lacks_factors(&self) -> Option<String> {
        Some(format!("{} has no library of them", self.name()))
    }
    /// See [`super::Device::factorise`].
    fn factorise(&self, _lower: LowerBytes, _smallest: f64) -> Result<Factorised> {
        Err(Error::Device(self.lacks_factors().unwrap_or_default()))
    }
    /// What tells this device from all others, if it can be linked with others.
    fn identity(&self) -> Option<String> {
        None
    }
    /// The name of a new link between devices, which all of them are told.
    fn new_link(&self) -> Option<Vec<u8>> {
        None
    }
    /// Links this device with others by the name of the link; all of them do so at once, each with its number.
    fn link(&self, _name: &[u8], _rank: usize, _size: usize) -> Result<Box<dyn Link>> {
        Err(Error::Device(format!("{} has no link with others", self.name())))
    }
    /// Waits until every launch is done.
    fn finish(&self) -> Result<()>;
    /// Blocks that fill the device; the grid of grid-stride loops.
    fn full_grid(&self) -> usize;
}

/// A piece of an array that goes to another device or comes from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The number of the device.
    pub rank: usize,
    /// Its first byte.
    pub first: usize,
    /// Its bytes.
    pub bytes: usize,
}

/// The devices' own way to each other, in the order of their launches; but exchanges run beside these.
pub trait Link {
    /// What it is, in words.
    fn name(&self) -> String;
    /// Sends pieces of an array, and receives pieces of another, while launches go on until [`Link::end_exchange`]. These use
    /// neither array, and both live until then.
    fn begin_exchange(&self, from: &DeviceMemory, sent: &[Piece], to: &mut DeviceMemory, come: &[Piece]) -> Result<()>;
    /// The device makes later launches after the exchange; the host does not wait.
    fn end_exchange(&self) -> Result<()>;
    /// `to` is what all have, in the order of their numbers.
    fn gather(&self, own: &DeviceMemory, to: &mut DeviceMemory) -> Result<()>;
    /// Seconds that all this has taken on the device so far, waiting for the others included; waits.
    fn seconds(&self) -> Result<f64>;
    /// Ends the link from another thread: what waits for other devices waits no more.
    fn breaker(&self) -> Box<dyn FnOnce() + Send>;
}

/// Launches to be made again.
pub trait Recording {
    /// Makes the launches that were noted.
    ///
    /// # Safety
    /// The arrays that they use live still, and nobody has borrowed those that they write.
    unsafe fn replay(&self) -> Result<()>;
}

/// A [`LowerTriangle`](super::LowerTriangle) whose values are bytes.
#[derive(Debug, Clone, Copy)]
pub struct LowerBytes<'a> {
    /// Where each row starts, `[n + 1]`.
    pub row_start: &'a [usize],
    /// Of each entry.
    pub columns: &'a [usize],
    /// The entries, f32 or f64.
    pub values: &'a [u8],
    /// Bytes of each: 4 or 8.
    pub value_bytes: usize,
}
