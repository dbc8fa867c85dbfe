//! What a decision depends on beside the model.

use crate::device::{self, DeviceName, Factors, host_memory};
use crate::linalg::Space;

/// A device, as far as decisions go by it.
pub struct DeviceFacts<'a> {
    /// Whether its memory is the host's.
    pub on_host: bool,
    /// Bytes that can be had, where that is known.
    pub free: Option<u64>,
    /// Its direct solver; to ask may load a library.
    pub factors: Box<dyn Fn() -> Factors + 'a>,
}

impl<'a> DeviceFacts<'a> {
    /// Of a device that is open.
    pub fn of(space: &'a Space) -> Self {
        DeviceFacts { on_host: space.on_host(), free: space.free_memory(), factors: Box::new(move || space.factors()) }
    }

    /// Of a device that is not: a GPU is taken to have memory enough.
    pub fn guess(device: DeviceName) -> Self {
        let on_host = device.resolve() == DeviceName::Cpu;
        let free = if on_host { host_memory::available() } else { None };
        DeviceFacts { on_host, free, factors: Box::new(move || device::factors(device)) }
    }
}
