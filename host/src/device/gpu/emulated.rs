//! The SIMT emulator as a device: the GPU's launches, on the host, with every index checked.

use super::{DeviceMemory, Launcher};
use crate::device::{Grid, host_memory};
use crate::result::{Error, Result};
use cuda_std::emulator::Emulator;
use cuda_std::launch::Kernel;

/// Launches on the emulator.
#[derive(Debug, Clone, Default)]
pub struct Emulated {
    emulator: Emulator,
}

impl Emulated {
    /// A device that runs lanes and blocks in the emulator's order.
    pub fn new(emulator: Emulator) -> Self {
        Emulated { emulator }
    }
}

/// Memory in words that are aligned for every plain type.
type Words = Vec<u128>;

fn memory(mut words: Words, bytes: usize) -> DeviceMemory {
    // SAFETY: the words hold these bytes, and stay where they are while the vector lives, wherever that is moved.
    unsafe { DeviceMemory::new(words.as_mut_ptr().cast(), bytes, words) }
}

impl Launcher for Emulated {
    fn name(&self) -> String {
        "emulator".into()
    }

    fn free_memory(&self) -> Option<u64> {
        host_memory::available()
    }

    fn upload(&self, data: &[u8]) -> Result<DeviceMemory> {
        let mut words = vec![0; data.len().div_ceil(size_of::<u128>())];
        bytemuck::cast_slice_mut(&mut words)[..data.len()].copy_from_slice(data);
        Ok(memory(words, data.len()))
    }

    fn zeros(&self, bytes: usize) -> Result<DeviceMemory> {
        Ok(memory(vec![0; bytes.div_ceil(size_of::<u128>())], bytes))
    }

    fn download(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        assert!(first + to.len() <= from.bytes(), "{} bytes from {first} on, of {}", to.len(), from.bytes());
        // SAFETY: memory of the host that holds these bytes; launches are done when they return.
        unsafe { from.address().add(first).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn copy(&self, from: &DeviceMemory, to: &mut DeviceMemory) -> Result<()> {
        assert_eq!(from.bytes(), to.bytes(), "copy between arrays of different lengths");
        // SAFETY: as above, and `to` is borrowed uniquely.
        unsafe { from.address().copy_to_nonoverlapping(to.address(), from.bytes()) };
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

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn full_grid(&self) -> usize {
        8
    }
}
