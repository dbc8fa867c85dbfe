//! The SIMT emulator as a device: the GPU's launches, on the host, with every index checked.

use super::Launcher;
use crate::backend::{Grid, HostBuffer, Plain, host_memory};
use crate::error::{Error, Result};
use cuda_std::emulator::Emulator;
use cuda_std::launch::Kernel;
use std::convert::Infallible;

/// Launches on the emulator.
#[derive(Debug, Default)]
pub struct Emulated {
    emulator: Emulator,
}

impl Emulated {
    /// A device that runs lanes and blocks in the emulator's order.
    pub fn new(emulator: Emulator) -> Self {
        Emulated { emulator }
    }
}

impl Launcher for Emulated {
    type Buffer<T: Plain> = HostBuffer<T>;
    type Recording = Infallible;

    fn name(&self) -> String {
        "emulator".into()
    }

    fn free_memory(&self) -> Option<u64> {
        host_memory::available()
    }

    fn upload<T: Plain>(&self, data: &[T]) -> Result<HostBuffer<T>> {
        Ok(HostBuffer(data.to_vec()))
    }

    fn zeros<T: Plain>(&self, n: usize) -> Result<HostBuffer<T>> {
        Ok(HostBuffer(vec![T::zeroed(); n]))
    }

    fn download<T: Plain>(&self, buffer: &HostBuffer<T>, first: usize, to: &mut [T]) -> Result<()> {
        to.copy_from_slice(&buffer.0[first..first + to.len()]);
        Ok(())
    }

    fn copy<T: Plain>(&self, from: &HostBuffer<T>, to: &mut HostBuffer<T>) -> Result<()> {
        to.0.copy_from_slice(&from.0);
        Ok(())
    }

    unsafe fn launch(&self, grid: Grid, kernel: &dyn Kernel) -> Result<()> {
        let (blocks, threads) = (grid.blocks as u32, grid.threads as u32);
        // SAFETY: the caller keeps the kernel's contract.
        unsafe { self.emulator.launch(blocks, threads, grid.shared_bytes, kernel) }
            .map_err(|e| Error::Device(e.to_string()))
    }

    unsafe fn launch_cooperative(&self, grid: Grid, kernel: &dyn Kernel) -> Result<bool> {
        let (blocks, threads) = (grid.blocks as u32, grid.threads as u32);
        // SAFETY: the caller keeps the kernel's contract.
        unsafe { self.emulator.launch_cooperative(blocks, threads, grid.shared_bytes, kernel) }
            .map_err(|e| Error::Device(e.to_string()))?;
        Ok(true)
    }

    fn resident_grid(&self, threads: usize, _: &dyn Kernel) -> Result<Grid> {
        // Little enough for kernels to meet what they have no room for.
        Ok(Grid { blocks: self.full_grid(), threads, shared_bytes: 16 << 10 })
    }

    fn record(&self, _: &mut dyn FnMut() -> Result<()>) -> Result<Option<Infallible>> {
        Ok(None)
    }

    unsafe fn replay(&self, recording: &Infallible) -> Result<()> {
        match *recording {}
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn full_grid(&self) -> usize {
        8
    }
}
